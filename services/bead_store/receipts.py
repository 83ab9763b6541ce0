"""Receipts of forgets: `store/receipts/<id>.json`, with ids and counts, never a key or a text."""

from datetime import datetime
from pathlib import Path

import msgspec

from bead.wire.store import ForgetPlace
from bead_store import files
from bead_store.disk import Disk
from bead_store.header import moment_text

MOST = 1_000
"""The oldest go."""


class KeptPlace(msgspec.Struct, frozen=True):
    """One place that was looked at."""

    place: str
    looked_at: int
    unit: str
    removed: int
    left: int


class Receipt(msgspec.Struct, frozen=True):
    """One forget."""

    id: str
    at: str
    uids: tuple[str, ...]
    level: int
    file_system: str
    places: tuple[KeptPlace, ...]


_encode = msgspec.json.Encoder().encode


class Receipts:
    """Written in the facts' lane."""

    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk

    def keep(
        self, id: str, at: datetime, uids: tuple[str, ...], medium: tuple[int, str], places: list[ForgetPlace]
    ) -> None:
        """Durable on return; one that is there already is written again. `medium` is level and file system."""
        kept = tuple(KeptPlace(each.place, each.looked_at, each.unit, each.removed, len(each.left)) for each in places)
        receipt = Receipt(id, str(moment_text(at)), uids, *medium, kept)
        self._disk.replace(self._folder / f"{id}.json", _encode(receipt))
        self._bound()

    def _bound(self) -> None:
        names = [name for name in files.names_in(self._folder) if name.endswith(".json")]
        if len(names) > MOST:
            oldest = sorted(names, key=lambda name: (self._folder / name).stat().st_mtime_ns)
            for name in oldest[: len(names) - MOST]:
                self._disk.remove(self._folder / name)
