"""Finds files that were written, added or removed by their time and size, where file events do not arrive.

It knows the folders it has seen, so that a folder in which nothing was added or removed costs one look and each file
another: a hundred thousand files about half a second. Runs in the watching process; what a change means is the store's.
"""

import os
import time
from collections.abc import Iterable, Iterator

from bead_store.files import TEMPORARY_PREFIX, stamp

_EVERY_NAME = 20
"""Each so many passes every folder is listed again: some network mounts keep an old time on a folder."""
_YOUNG_NS = 2_000_000_000
"""A folder changed this short before it was listed is listed again: its clock may be too coarse for two changes."""


class Sweep:
    """Remembers how the files below `roots` looked."""

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = tuple(roots)
        self._files: dict[str, dict[str, int]] = {}
        """By folder, the stamp of each file."""
        self._times: dict[str, tuple[int, bool]] = {}
        """By folder, its time when it was listed, and whether that was too young to be trusted."""
        self._inside: dict[str, list[str]] = {}
        """By folder, the folders in it, where there are any."""
        self._passes = 0

    def begin(self, since_ns: int) -> list[str]:
        """Look at everything for the first time; what was written or moved here after `since_ns`."""
        found = list(self.changed())
        return [path for path in found if _is_after(path, since_ns)]

    def changed(self) -> Iterator[str]:
        """Files that are new, gone or look different since the last time; folders in which something came and went."""
        self._passes += 1
        if self._passes % _EVERY_NAME == 0:
            self._times.clear()
        yield from self._known_folders()
        for root in self._roots:
            if root not in self._files:
                yield from self._new_folder(root)

    def _known_folders(self) -> Iterator[str]:
        for folder in list(self._files):
            if folder not in self._files:
                continue  # went away with the folder above it
            try:
                time_ns = os.stat(folder).st_mtime_ns
            except OSError:
                yield from self._gone(folder)
                continue
            if (time_ns, False) != self._times.get(folder):
                yield from self._new_folder(folder)
            else:
                yield from self._same_names(folder)

    def _same_names(self, folder: str) -> Iterator[str]:
        files = self._files[folder]
        for name, before in files.items():
            path = f"{folder}/{name}"
            try:
                now = stamp(os.lstat(path))
            except OSError:
                now = 0
            if now != before:
                files[name] = now
                yield path

    def _new_folder(self, start: str) -> Iterator[str]:
        """Everything in a folder that must be listed, and in folders inside that were not known."""
        pending = [start]
        while pending:
            changed, inside = self._listed(pending.pop())
            yield from changed
            pending += [each for each in inside if each not in self._files]

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        """Changed files of one folder, and the folders in it."""
        before = self._files.get(folder, {})
        now: dict[str, int] = {}
        inside: list[str] = []
        try:
            own = os.stat(folder)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        inside.append(entry.path)
                    elif not entry.name.startswith(TEMPORARY_PREFIX):
                        now[entry.name] = _stamp(entry)
        except OSError:
            return list(self._gone(folder)), []
        inside.sort()
        self._files[folder] = now
        changed = [f"{folder}/{name}" for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
        before_ns, _ = self._times.get(folder, (0, False))
        if own.st_mtime_ns != before_ns and not changed and inside == self._inside.get(folder, []):
            changed.append(folder)
        if inside:
            self._inside[folder] = inside
        else:
            self._inside.pop(folder, None)
        self._times[folder] = own.st_mtime_ns, time.time_ns() - own.st_mtime_ns < _YOUNG_NS
        return changed, inside

    def _gone(self, folder: str) -> Iterator[str]:
        for each in [name for name in self._files if name == folder or name.startswith(f"{folder}/")]:
            self._times.pop(each, None)
            self._inside.pop(each, None)
            for name in self._files.pop(each):
                yield f"{each}/{name}"


def _stamp(entry: "os.DirEntry[str]") -> int:
    try:
        return stamp(entry.stat(follow_symlinks=False))
    except OSError:
        return 0


def _is_after(path: str, since_ns: int) -> bool:
    try:
        state = os.lstat(path)
    except OSError:
        return True
    # The change time too: a file that was moved here, or copied with its times, is as new as that.
    return max(state.st_mtime_ns, state.st_ctime_ns) >= since_ns
