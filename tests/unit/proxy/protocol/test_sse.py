"""Events come out whole, wherever the bytes were cut."""

import pytest

from bead_proxy.sse import EventParser

_STREAM = (
    b"\xef\xbb\xbfdata: first\n\n: comment\n\nevent: a\ndata: one\n\ndata: two\r\ndata: lines\r\n\r\n"
    b"data:three\r\rdata\n\nid: 7\nretry: 1\n\ndata:  four \n\n\n\ndata: unfinished\n"
)
_EVENTS = [b"first", b"one", b"two\nlines", b"three", b"", b" four "]


def _events(*chunks: bytes) -> list[bytes]:
    parser = EventParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_each_complete_event_gives_its_data() -> None:
    assert _events(_STREAM) == _EVENTS


@pytest.mark.parametrize("at", range(len(_STREAM) + 1))
def test_a_cut_at_any_byte_changes_nothing(at: int) -> None:
    assert _events(_STREAM[:at], b"", _STREAM[at:]) == _EVENTS


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pieces_of_any_size_change_nothing(size: int) -> None:
    assert _events(*(_STREAM[at : at + size] for at in range(0, len(_STREAM), size))) == _EVENTS


def test_an_event_over_the_limit_is_skipped_and_the_next_is_read() -> None:
    parser = EventParser(limit_bytes=100)
    stream = b"data: " + b"x" * 500 + b"\n\n" + b"data: y\n" * 50 + b"\n" + b"data: fine\n\n"

    assert [event for at in range(len(stream)) for event in parser.feed(stream[at : at + 1])] == [b"fine"]
    assert parser.skipped == 2
