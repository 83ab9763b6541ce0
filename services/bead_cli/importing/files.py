"""Opens what a person names, and nothing else: no link is followed, no device waited for, no size taken on trust."""

import errno
import os
import stat
from collections.abc import Iterator

from bead.errors import BadRequest

MAX_TEXT_BYTES = 4 << 20
"""Of a file that is read at once."""
MAX_LINES_BYTES = 1 << 30
"""Of a file that is read line by line."""
MAX_LINE_BYTES = 16 << 20
"""A longer line is told and left out."""
MAX_FILES = 20_000


def text_of(path: str, limit: int = MAX_TEXT_BYTES) -> str:
    """The whole file.

    Raises:
        BadRequest: it is a link, no plain file, too large, or no text.
    """
    handle = opened(path, limit)
    with open(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BadRequest(f"{path} is larger than {limit >> 20} MB, which no such file is")
    if b"\0" in data:
        raise BadRequest(f"{path} holds NUL bytes: it is no text")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadRequest(f"{path} is not UTF-8 (line {line})") from None


def lines_of(path: str) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, however large the file is; one that is too long comes as nothing.

    Raises:
        BadRequest: it is a link or no plain file.
    """
    handle = opened(path, MAX_LINES_BYTES)
    with open(handle, "rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE_BYTES)
                line = b""
            yield number, line


def opened(path: str, limit: int) -> int:
    """A descriptor of a plain file of at most `limit` bytes.

    Raises:
        BadRequest: it is none.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        why = "is a link; name the file itself" if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"
        raise BadRequest(f"{path} {why}") from None
    state = os.fstat(handle)
    if not stat.S_ISREG(state.st_mode) or state.st_size > limit:
        os.close(handle)
        why = "is no plain file" if not stat.S_ISREG(state.st_mode) else f"is larger than {limit >> 20} MB"
        raise BadRequest(f"{path} {why}")
    return handle


def files_below(path: str, endings: tuple[str, ...]) -> list[str]:
    """The plain files of these endings below a folder, or the one file itself; links are left out.

    Raises:
        BadRequest: there is nothing there, or more than anybody has.
    """
    if os.path.islink(path):
        raise BadRequest(f"{path} is a link; name the file or folder itself")
    if not os.path.isdir(path):
        return [path]
    found: list[str] = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        mine = (os.path.join(folder, name) for name in sorted(names) if name.endswith(endings))
        found += [each for each in mine if os.path.isfile(each) and not os.path.islink(each)]
        if len(found) > MAX_FILES:
            raise BadRequest(f"{path} holds more than {MAX_FILES} files; name a folder in it")
    if not found:
        raise BadRequest(f"{path} holds no file that ends in {' or '.join(endings)}")
    return found
