"""A long text in pieces small enough to rank and to quote. Pure."""

from collections.abc import Iterator

CHUNK_CHARACTERS = 2_000
EXCERPT_CHARACTERS = 800
"""Longest piece that is quoted to a model: some two hundred tokens."""
_LOOK_BACK = 400


def chunks(text: str, size: int = CHUNK_CHARACTERS) -> Iterator[str]:
    """All of `text` in order, at most `size` characters a piece, cut after a line's end or a blank if one is near."""
    at = 0
    while at < len(text):
        end = at + size
        if end < len(text):
            end = _good_cut(text, at, end)
        yield text[at:end]
        at = end


def _good_cut(text: str, start: int, end: int) -> int:
    for sign in ("\n", " "):
        found = text.rfind(sign, max(start + 1, end - _LOOK_BACK), end)
        if found > start:
            return found + 1
    return end
