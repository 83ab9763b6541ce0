"""What is said between the index and the process that builds its file: a letter, a length, and an answer of the store.

Pure. The bodies are the store's answers as they came, so that the process which answers models need not read them.
"""

import struct
from typing import BinaryIO

MANIFEST, HISTORY, FACTS, SESSION, EPISODE, END = b"M", b"H", b"F", b"S", b"E", b"."

_HEAD = struct.Struct(">cI")


def frame(kind: bytes, body: bytes = b"") -> bytes:
    """One frame; `body` has less than 4 GiB."""
    return _HEAD.pack(kind, len(body)) + body


def head_of(stream: BinaryIO) -> tuple[bytes, int] | None:
    """Kind and length of the next frame; None where the stream has ended."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    kind, length = _HEAD.unpack(head)
    return kind, length
