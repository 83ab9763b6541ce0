"""Snippets show the original text, marked where it matched."""

import pytest

from bead.text.terms import query_terms
from bead_index.chunks import chunks
from bead_index.snippets import WIDTH, snippet

MARKED = [
    ("Tickets look like POL-358 and ORD-77.", "pol-358", "Tickets look like [POL-358] and ORD-77."),
    ("Deploys go out on Tuesday.", "deploy tuesdays", "[Deploys] go out on [Tuesday]."),
    ("用户身份数据在db-main里", "身份数据", "用户[身份数据]在db-main里"),
    ("ต้องรันเทสต์ก่อนส่ง", "เทสต์", "ต้องรัน[เทสต์]ก่อนส่ง"),
    ("two\n  lines\tof text", "lines", "two [lines] of text"),
    ("nothing matches", "zebra", "nothing matches"),
]


@pytest.mark.parametrize(("text", "query", "expected"), MARKED)
def test_the_matched_words_are_marked_in_the_original(text: str, query: str, expected: str) -> None:
    assert snippet(text, set(query_terms(query, 20))) == expected


def test_a_long_text_is_cut_around_its_densest_match() -> None:
    text = "alpha " * 200 + "the deploy day is tuesday " + "omega " * 200 + "deploy"

    found = snippet(text, {"deploy", "tuesday"})

    assert "[deploy] day is [tuesday]" in found
    assert found.startswith("…") and found.endswith("…") and len(found) <= WIDTH + 10


@pytest.mark.parametrize("text", ["", "short", "word " * 2_000, "x" * 9_000, "line\n" * 1_500])
def test_chunks_are_all_of_the_text_in_order(text: str) -> None:
    pieces = list(chunks(text, 500))

    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 500 for piece in pieces)


def test_a_chunk_ends_where_a_line_ends_when_one_is_near() -> None:
    assert next(iter(chunks("a" * 300 + "\n" + "b" * 500, 500))).endswith("\n")
