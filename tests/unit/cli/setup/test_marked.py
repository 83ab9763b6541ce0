"""A block in a person's file goes in and comes out without a trace (B30)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_cli.setup import marked

LINES = "if [ -r /x/shell.sh ]; then . /x/shell.sh; fi"
# Around a file's end, where a block goes, and with the words of the block in it.
PIECES = st.lists(
    st.sampled_from([b"export A=1", b"\n", b"\r\n", b"\t", marked.BEGIN, marked.END, b"# >>> conda >>>", b"\xff\x00"])
)


@given(PIECES.map(b"".join).filter(lambda data: marked.BEGIN not in data))
def test_a_block_that_is_taken_out_leaves_the_bytes_as_they_were(data: bytes) -> None:
    assert marked.without_block(marked.with_block(data, LINES)) == data
    assert marked.without_block(marked.with_block(data, LINES, first=True)) == data


@given(PIECES.map(b"".join).filter(lambda data: marked.BEGIN not in data))
def test_a_second_time_changes_nothing_and_another_text_only_the_block(data: bytes) -> None:
    once = marked.with_block(data, LINES)
    assert marked.with_block(once, LINES) == once
    assert marked.without_block(marked.with_block(once, "another")) == data


def test_a_file_without_a_last_line_end_keeps_its_last_line() -> None:
    written = marked.with_block(b"export A=1", LINES)
    assert written.splitlines()[0] == b"export A=1"
    assert marked.without_block(written + b"alias x=y\n") == b"export A=1\nalias x=y\n"


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_an_editor_that_changed_every_line_end_does_not_hide_the_block(ends: bytes) -> None:
    written = marked.with_block(b"export A=1\n", LINES).replace(b"\n", ends)
    assert marked.has_block(written)
    assert marked.without_block(written) == b"export A=1" + ends


def test_a_block_whose_end_is_gone_is_left_alone() -> None:
    torn = b"export A=1\n" + marked.BEGIN + b"\nsource something\n"
    assert marked.without_block(torn) == torn
