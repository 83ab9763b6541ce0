"""What is hashed of a memory, where it is cut, and which lines of it could be taken for a header."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.drain.memory import CUT_MARK, MAX_BODY_BYTES, capped, escaped, memhash, normal, title, without_header

VECTORS = Path(__file__).parents[3] / "vectors" / "memhash.tsv"


def vectors() -> list[tuple[str, str]]:
    rows = [line.split("\t") for line in VECTORS.read_text().splitlines() if not line.startswith("#")]
    return [(text.encode("ascii").decode("unicode_escape"), expected) for text, expected in rows]


@pytest.mark.parametrize(("text", "expected"), vectors())
def test_hash_of_a_memory_is_the_promised_one(text: str, expected: str) -> None:
    assert memhash(text) == expected, "another hash brings every discarded memory back once"


@given(st.text())
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@given(st.text(alphabet="a\u00e9\U0001f600 \n", max_size=12_000))
def test_a_cut_never_makes_a_text_too_long_or_breaks_a_character(text: str) -> None:
    data = capped(text).encode()
    assert len(data) <= MAX_BODY_BYTES
    assert "\N{REPLACEMENT CHARACTER}" not in data.decode()


def test_exactly_eight_kibibytes_are_kept_and_one_more_is_cut() -> None:
    assert capped("x" * 8192) == "x" * 8192
    assert capped("x" * 8193).endswith(f"x\n{CUT_MARK}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: b\n---\ntext", "\\---\na: b\n\\---\ntext"),
        ("--- \n...", "\\--- \n\\..."),
        ("a --- b\n----\n - ---", "a --- b\n----\n - ---"),
    ],
)
def test_lines_that_fence_a_header_carry_a_backslash(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.mark.parametrize(
    ("text", "body", "first"),
    [
        ("---\nname: x\n---\n\n# Tea\nat five", "# Tea\nat five", "Tea"),
        ("---\nname: x\n---", "\\---\nname: x\n\\---", "name: x"),
        ("text\n---\nmore\n---", "text\n\\---\nmore\n\\---", "text"),
        ("- **bold** words", "- **bold** words", "bold** words"),
        ("w" * 100, "w" * 100, "w" * 79 + "…"),
    ],
)
def test_the_agents_own_header_is_not_what_a_fact_says(text: str, body: str, first: str) -> None:
    assert without_header(escaped(normal(text))) == body
    assert title(escaped(normal(text))) == first
