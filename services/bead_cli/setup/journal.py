"""What setup has done to a person's files, so that unsetup can give each back byte for byte.

`setup/journal.json` in bead's home, with the bytes of each file as it was beside it. A file is noted before it is
written: a crash in between leaves a note of a file that is still as it was.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from bead.errors import HomeUnusable
from bead_cli.setup import files

_NAME = "journal.json"
_PRIVATE = 0o600


@dataclass(slots=True)
class Entry:
    """One file."""

    path: str
    """As it is called; a link perhaps."""
    real: str
    before: str | None
    """Name of the file that holds its bytes as they were; None where there was no file."""
    before_hash: str
    mode: int
    after_hash: str
    """Of what setup wrote; another hash means that somebody has changed the file since."""
    part: dict[str, Any]
    """What is bead's in it, for a file that was changed since: see `undoing`."""
    folders: list[str] = field(default_factory=list)
    """Folders that were made for it, the outermost first."""
    is_touched: bool = False
    """Whether somebody else has changed it between two runs of setup."""


class Journal:
    """The notes of one home."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "setup"
        self.entries: dict[str, Entry] = {}
        self.unit: dict[str, Any] = {}
        """How bead is kept alive, as `units` notes it."""
        self.choices: dict[str, bool] = {}
        """What the person chose once and need not say again."""
        self._read()

    def before(self, entry: Entry) -> bytes | None:
        """A file's bytes as they were. Raises HomeUnusable."""
        if entry.before is None:
            return None
        try:
            data = (self._folder / entry.before).read_bytes()
        except OSError as error:
            raise HomeUnusable(f"{self._folder / entry.before} cannot be read ({error.strerror})") from None
        if hash_of(data) != entry.before_hash:
            raise HomeUnusable(f"{self._folder / entry.before} is not what setup has kept; {entry.path} is left alone")
        return data

    def note(self, path: Path, found: files.Found, after: bytes, part: Mapping[str, Any]) -> None:
        """Note what is about to be written to `path`; durable on return. Raises Refused."""
        known = self.entries.get(str(path))
        if known is not None:
            known.is_touched = known.is_touched or known.after_hash != hash_of(found.data)
            known.after_hash, known.part = hash_of(after), dict(part)
        else:
            name = None
            if found.data is not None:
                name = self._free_name()
                self._write(name, found.data)
            self.entries[str(path)] = Entry(
                str(path),
                str(found.path),
                name,
                hash_of(found.data),
                found.mode,
                hash_of(after),
                dict(part),
                [str(folder) for folder in files.missing_folders(found.path)],
            )
        self.keep()

    def keep(self) -> None:
        """Write the notes down, when they have changed. Raises Refused."""
        document = {
            "version": 1,
            "files": [_document(entry) for entry in self.entries.values()],
            "unit": self.unit,
            "choices": self.choices,
        }
        data = json.dumps(document, indent=1).encode() + b"\n"
        if files.read(self._folder / _NAME).data != data:
            self._write(_NAME, data)

    def drop(self, path: str) -> None:
        """The file is as it was: forget it. Raises Refused."""
        entry = self.entries.pop(path)
        self.keep()
        if entry.before is not None:
            files.remove(self._folder / entry.before)

    def _free_name(self) -> str:
        """A name that no file in the folder has: what is kept of another file is never written over."""
        taken = {path.name for path in self._folder.glob("*.before")}
        return next(name for number in count() if (name := f"{number:03d}.before") not in taken)

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.replace(self._folder / name, data, _PRIVATE)

    def _read(self) -> None:
        path = self._folder / _NAME
        try:
            document = json.loads(path.read_bytes())
            self.unit = dict(document["unit"])
            self.choices = dict(document.get("choices", {}))
            self.entries = {each["path"]: Entry(**each) for each in document["files"]}
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HomeUnusable(
                f"{path} cannot be read ({type(error).__name__}); what setup has changed is not known any more: see"
                " `bead doctor`"
            ) from None


def hash_of(data: bytes | None) -> str:
    """What tells two states of a file apart; empty for none."""
    return "" if data is None else sha256(data).hexdigest()


def _document(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in Entry.__slots__}
