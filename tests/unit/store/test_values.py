"""When two texts are the same value, pinned by a table, and what is looked for in a log."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_store.values import fold, holds, may_hold, needles, normal

TABLE = Path(__file__).parents[2] / "vectors" / "normal-values.tsv"
ROWS = [tuple(json.loads(cell) for cell in line.split("\t")) for line in TABLE.read_text().splitlines()]


@pytest.mark.parametrize(("text", "expected"), ROWS)
def test_normal_form_is_the_one_that_tombstones_were_written_with(text: str, expected: str) -> None:
    assert normal(text) == expected, "people's tombstones would not match any more: forgotten values could come back"


@given(st.text())
def test_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(st.characters(codec="ascii")))
def test_ascii_folds_the_short_way_as_it_does_the_long_way(text: str) -> None:
    assert fold(text) == " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@pytest.mark.parametrize(
    "text",
    [
        "we said: DEPLOY   on\nThursdays!",
        'a tool got {"text": "deploy on\\nthursdays"}',
        "\uff44\uff45\uff50\uff4c\uff4f\uff59 on thurs\u200bdays",
    ],
)
def test_value_is_found_whatever_its_case_space_and_spelling(text: str) -> None:
    assert holds(text, needles(["Deploy on\nThursdays."]))


@pytest.mark.parametrize("text", ["deploy on Tuesdays", "deployonthursdays", ""])
def test_other_text_is_not_found(text: str) -> None:
    assert not holds(text, needles(["Deploy on Thursdays."]))


@pytest.mark.parametrize("value", ["", "Go", "?!", "  x  "])
def test_too_short_a_value_is_not_looked_for(value: str) -> None:
    assert needles([value]) == ()


@given(
    st.text(),
    st.sampled_from(["ss kiss", "\u0390x", "file", "\u00e9t\u00e9 kelvin", "i\u0307stanbul", "deploy on"]),
    st.text(),
)
def test_cheap_look_never_hides_a_value(before: str, value: str, after: str) -> None:
    wanted = needles([value])
    for spelled in (value, value.upper(), value.title(), unicodedata.normalize("NFD", value)):
        text = before + spelled + after
        assert may_hold(text.encode(), wanted) or not any(needle in fold(text) for needle in wanted)


def test_cheap_look_meets_every_character_that_folds_into_ascii() -> None:
    wanted = needles(["abcdefghijklmnopqrstuvwxyz"])
    for code in range(0x80, 0x30000):
        folded = "" if 0xD800 <= code < 0xE000 else fold(chr(code))
        if folded and folded.isascii() and folded in "abcdefghijklmnopqrstuvwxyz":
            text = "abcdefghijklmnopqrstuvwxyz".replace(folded, chr(code))
            assert may_hold(text.encode(), wanted) and holds(text, wanted), hex(code)
