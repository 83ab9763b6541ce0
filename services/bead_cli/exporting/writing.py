"""Puts what is exported on the disk: a new folder whole, or the section of a file of the person's, by a rename."""

import os
import secrets
import stat
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bead.errors import BadRequest, Exists, HomeUnusable, Refused
from bead.section import Unclear, with_section
from bead_cli.exporting.okf import Page

_MAX_BYTES = 16 << 20


def write_folder(path: str, pages: Iterable[Page]) -> int:
    """Write every page into a folder that is not there yet, or empty; how many.

    Raises:
        Exists: something lies there.
        HomeUnusable: it cannot be written.
    """
    if os.path.lexists(path) and (not os.path.isdir(path) or os.path.islink(path) or os.listdir(path)):
        raise Exists(f"{path} is there already, and bead writes over nothing; choose another name")
    count = 0
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        for page in pages:
            target = os.path.join(path, *page.path.split("/"))
            os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
            with open(target, "x", encoding="utf-8", newline="", opener=_private) as file:
                file.write(page.text)
            count += 1
    except OSError as error:
        raise HomeUnusable(f"{path} cannot be written ({error.strerror})") from None
    return count


def section_lines(facts: Sequence[Mapping[str, Any]]) -> str:
    """A bullet for each fact; its further lines belong to it."""
    return "\n".join("- " + "\n  ".join(str(fact["body"]).strip().splitlines()) for fact in facts)


def write_section(path: str, lines: str) -> str:
    """Bring the section of the file up to date: `created`, `updated` or `unchanged`. A link is followed to its file.

    Raises:
        Refused: its markers are not clear, or somebody changed it meanwhile.
        BadRequest: it is no text.
        HomeUnusable: it cannot be read or written.
    """
    path = os.path.realpath(path)
    try:
        before = _read(path)
        text = before[0].decode("utf-8") if before else ""
        after = with_section(text, lines).encode()
        if before and after == before[0]:
            return "unchanged"
        if not before and not after:
            return "unchanged"
        _replace(path, after, before[1] if before else None)
    except UnicodeDecodeError:
        raise BadRequest(f"{path} is not UTF-8; nothing was changed") from None
    except Unclear:
        raise Refused(
            f"{path} does not hold exactly one pair of bead's markers; mend or remove them, nothing was changed"
        ) from None
    except OSError as error:
        raise HomeUnusable(f"{path} cannot be written ({error.strerror})") from None
    return "updated" if before else "created"


def _read(path: str) -> tuple[bytes, os.stat_result] | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MAX_BYTES:
            raise BadRequest(f"{path} is no plain file of at most {_MAX_BYTES >> 20} MB")
        return file.read(), state


def _replace(path: str, data: bytes, before: os.stat_result | None) -> None:
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{secrets.token_hex(4)}")
    mode = stat.S_IMODE(before.st_mode) if before else 0o600
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with open(handle, "wb") as file:
            os.fchmod(handle, mode)
            file.write(data)
            file.flush()
            os.fsync(handle)
        now = os.stat(path) if os.path.exists(path) else None
        if _identity(now) != _identity(before):
            raise Refused(f"{path} was changed meanwhile; nothing was written, try again")
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _identity(state: os.stat_result | None) -> tuple[int, ...] | None:
    return (state.st_ino, state.st_size, state.st_mtime_ns) if state else None


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
