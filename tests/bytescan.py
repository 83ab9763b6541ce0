"""Looks for a text in every file below a folder, in the disguises in which software keeps text.

assert traces(home.root, "zebra-lantern") == []
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

_SHORTEST_WORD = 8


def traces(root: Path, text: str) -> list[str]:
    """Each file, or file name, below `root` that holds `text`, and the disguise in which it was found."""
    needles = [(name, needle) for name, needle in disguises(text) if needle]
    found: list[str] = []
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = Path(folder) / name
            data = _bytes_of(path)
            for disguise, needle in needles:
                if needle in data.lower() or needle in os.fsencode(name).lower():
                    found.append(f"{path.relative_to(root)}: {disguise}")
    return found


def _bytes_of(path: Path) -> bytes:
    """What a file holds; nothing when it was removed since it was listed, as a running bead does with its own."""
    try:
        return path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    except FileNotFoundError:
        return b""


def disguises(text: str) -> Iterator[tuple[str, bytes]]:
    """The text, and each of its longer words, as bytes in lower case. A word of eight letters or more finds what an
    index keeps word by word."""
    words = {word.strip(".,;:!?\"'") for word in text.split()}
    for piece in (text, *(word for word in words if len(word) >= _SHORTEST_WORD)):
        yield f"plain {piece!r}", piece.encode().lower()
        yield "JSON", json.dumps(piece)[1:-1].encode().lower()
        yield "UTF-16", piece.lower().encode("utf-16-le")
        yield "hex", piece.encode().hex().encode()
        for skipped in range(3):
            yield "base64", _base64_core(piece, skipped).lower()


def _base64_core(text: str, skipped: int) -> bytes:
    """The part of the text's base64 that does not depend on what stands around it."""
    data = text.encode()[skipped:]
    whole = data[: len(data) // 3 * 3]
    return base64.b64encode(whole) if len(whole) >= 2 * _SHORTEST_WORD else b""
