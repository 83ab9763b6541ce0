"""How turns lie in a file: what was written is read, and only a last one without its end is torn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_store.turnfile import Record, escape, render, scan, unescape

LINES = st.sampled_from(
    ["## turn-1 user x y", "\\## turn-", "<!-- /turn-1 -->", "\\\\<!-- /turn-2 -->", "", " ", "#", "## turn", "text\r"]
)
TEXTS = st.lists(LINES | st.text(max_size=20), max_size=6).map("\n".join)


def record(text: str, ordinal: int = 1) -> Record:
    return Record(ordinal, "user", "2026-11-05T09:12:00Z", f"id-{ordinal}", "shop", True, text)


@given(TEXTS)
def test_escaped_text_comes_back_and_holds_no_line_of_ours(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not [line for line in escape(text).split("\n") if line.startswith(("## turn-", "<!-- /turn-"))]


@given(st.lists(TEXTS.filter(lambda text: text.isprintable() or "\n" in text), min_size=1, max_size=4))
def test_written_turns_are_read_as_they_were(texts: list[str]) -> None:
    records = tuple(record(text, number) for number, text in enumerate(texts, 1))
    data = "".join(render(each) for each in records).encode()

    assert scan(data).records == records
    assert scan(data).whole_bytes == len(data)


@pytest.mark.parametrize("text", ["hello", "two\nlines", "", "## turn-9 user a b"])
def test_turn_cut_anywhere_is_whole_or_absent(text: str) -> None:
    first, second = render(record("first")).encode(), render(record(text, 2)).encode()
    whole = len(second.rstrip(b"\n"))
    for cut in range(1, len(second)):
        found = scan(first + second[:cut])

        assert len(found.records) == (2 if cut >= whole else 1), cut
        if cut < whole:
            assert found.whole_bytes == len(first), cut


def test_end_line_removed_by_hand_does_not_lose_a_turn_in_the_middle() -> None:
    data = render(record("first")).replace("<!-- /turn-1 -->\n", "") + render(record("second", 2))

    assert [found.text.strip() for found in scan(data.encode()).records] == ["first", "second"]
