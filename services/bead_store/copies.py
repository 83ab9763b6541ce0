"""What leaves the home and is still bead's to forget in: exports and backups, `store/copies.json`.

    copies.note("export", "/somewhere/facts.jsonl")        # whoever makes one says so
    copies.handlers["backup"] = forget_in_backup           # whoever makes a kind says how a text is taken out of it

A copy that cannot be reached, or of a kind nobody handles, is a debt: the receipt names it, and it stays noted here
with the facts it may still hold. Paths of a person's own are in the file, texts and keys never.
"""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from bead.errors import BeadError, DamagedFile
from bead_store import blanking, files
from bead_store.disk import Disk
from bead_store.redaction import Wanted

MOST = 1_000
_MAX_BYTES = 4 << 20
_MAX_EXPORT_BYTES = 256 << 20
_MARKDOWN = ".md"
_LINES = ".jsonl"
_NO_FACT = b"{}"
_FACTS = "store/facts/"


class Copy(msgspec.Struct, frozen=True):
    """One export or backup."""

    id: str
    kind: str
    path: str
    owes: tuple[str, ...] = ()
    """Facts (by uid) that were forgotten while it could not be reached."""


class Gone(NamedTuple):
    """What was forgotten, for a handler."""

    wanted: Wanted
    files: tuple[str, ...]
    """Files of the home, from its root, that are gone or say less now; a name that ends with `/` is a whole folder."""

    def __repr__(self) -> str:  # names of folders are keys
        return f"Gone(files={len(self.files)})"


class Outcome(NamedTuple):
    """What a handler did."""

    removed: int
    left: tuple[str, ...] = ()
    """What still holds it and why."""


Handler = Callable[[Path, Gone, Disk], Outcome]
"""Takes what is gone out of one copy. Blocks. Raises OSError or BeadError when it cannot be done now."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[Copy]).decode


class Copies:
    """The copies of one home; asked and changed in the facts' lane."""

    def __init__(self, file: Path, disk: Disk) -> None:
        self._file = file
        self._disk = disk
        self.handlers: dict[str, Handler] = {"export": forget_in_export}

    def known(self) -> list[Copy]:
        """Every copy that was noted and not dropped.

        Raises:
            DamagedFile: the file cannot be read.
        """
        try:
            return _decode(files.read(self._file, _MAX_BYTES))
        except FileNotFoundError:
            return []
        except msgspec.DecodeError:
            raise files.damaged(
                self._file, None, "is no list of copies; a forget does not know where they are"
            ) from None

    def note(self, kind: str, path: Path) -> str:
        """Remember a copy, durable on return; its id, the same for the same place."""
        known = self.known()
        for copy in known:
            if (copy.kind, copy.path) == (kind, str(path)):
                return copy.id
        new = Copy(secrets.token_hex(8), kind, str(path))
        self._keep([*known, new][-MOST:])
        return new.id

    def paid(self, path: Path) -> None:
        """What was owed to the copy at `path` is done."""
        known = self.known()
        now = [msgspec.structs.replace(copy, owes=()) if copy.path == str(path) else copy for copy in known]
        if now != known:
            self._keep(now)

    def drop(self, id: str) -> None:
        """A copy is no more."""
        self._keep([copy for copy in self.known() if copy.id != id])

    def forget(self, gone: Gone) -> tuple[int, Outcome]:
        """Take it out of every copy that can be reached; how many there are, and what was done."""
        try:
            known = self.known()
        except DamagedFile as error:
            return 0, Outcome(0, (error.message,))
        removed = 0
        left: list[str] = []
        now = list(known)
        for place, copy in enumerate(known):
            outcome = self._in_one(copy, gone)
            removed += outcome.removed
            left += outcome.left
            if outcome.left:
                owes = tuple(sorted({*copy.owes, *gone.wanted.uids}))
                now[place] = msgspec.structs.replace(copy, owes=owes)
        if now != known:
            self._keep(now)
        return len(known), Outcome(removed, tuple(left))

    def _in_one(self, copy: Copy, gone: Gone) -> Outcome:
        path, handler = Path(copy.path), self.handlers.get(copy.kind)
        if handler is None:
            return Outcome(
                0, (f"{path}: nobody here can forget in a copy of this kind ({copy.kind}); remove it by hand",)
            )
        if not path.exists():
            return Outcome(0, (f"{path}: not there now; if it exists elsewhere it still holds it ({copy.kind})",))
        try:
            return handler(path, gone, self._disk)
        except (OSError, BeadError) as error:
            reason = error.message if isinstance(error, BeadError) else error.strerror
            return Outcome(0, (f"{path}: {reason}",))

    def _keep(self, copies: list[Copy]) -> None:
        self._disk.replace(self._file, _encode(copies))


def forget_in_export(path: Path, gone: Gone, disk: Disk) -> Outcome:
    """Of an export, a file or a folder: Markdown files that hold it are erased, JSON strings blanked where they lie."""
    found = [path] if path.is_file() else [each for each in sorted(path.rglob("*")) if each.is_file()]
    removed, left = 0, []
    for each in found:
        if each.is_symlink():
            continue
        data = files.read(each, _MAX_EXPORT_BYTES)
        if facts := _facts_in_lines(each, data, gone):
            disk.overwrite(each, facts)
            data = files.read(each, _MAX_EXPORT_BYTES)
        if not gone.wanted.holds(data.decode("utf-8", "replace")):
            removed += bool(facts)
            continue
        changes = None if each.suffix == _MARKDOWN else blanking.changes(each.name, data, gone.wanted.holds)
        if each.suffix == _MARKDOWN:
            disk.erase(each)
        elif changes:
            disk.overwrite(each, changes)
        else:
            left.append(f"{each}: it holds it and cannot be changed in place; remove it by hand")
            continue
        removed += 1
    return Outcome(removed, tuple(left))


def _facts_in_lines(path: Path, data: bytes, gone: Gone) -> list[tuple[int, bytes]]:
    """What takes the lines of JSONL that are the forgotten facts: whole, for a key may be made of the fact's words."""
    changes: list[tuple[int, bytes]] = []
    keys = {name[len(_FACTS) : -1] for name in gone.files if name.startswith(_FACTS) and name.endswith("/")}
    at = 0
    for line in data.split(b"\n") if path.suffix == _LINES else ():
        if (key := _key_of(line)) and (key in keys or gone.wanted.holds(line.decode("utf-8", "replace"))):
            changes.append((at, _NO_FACT.ljust(len(line))))
        at += len(line) + 1
    return changes


def _key_of(line: bytes) -> str:
    """The key of a fact as an export tells one; empty for any other line."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    is_fact = isinstance(found, dict) and found.get("_type") == "memory"
    return str(found.get("key", "")) if is_fact else ""
