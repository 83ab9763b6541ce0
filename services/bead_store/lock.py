"""The home's lock: one process at a time may write. Held by flock for as long as the process lives."""

import asyncio
import contextlib
import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from bead.errors import HomeUnusable, StoreLocked
from bead_store.files import close

_POLL_S = 0.05
_SETTLED = b"settled\n"
"""In the place of the holder's number."""


class HomeLock:
    """`async with HomeLock(path, wait_s=2.0)`: the home is ours inside the block.

    The kernel gives the lock back when the process ends, however it ends. The file stays; what it says of the last
    holder is never synced, and need not be: after a power cut everything that can be read is on the disk.
    """

    def __init__(self, path: Path, wait_s: float) -> None:
        self._path = path
        self._wait_s = wait_s
        self._descriptor: int | None = None
        self.is_settled = False
        """Whether the last holder came to its end with everything on the disk (`note_settled`)."""

    async def __aenter__(self) -> Self:
        """Take the lock, waiting at most `wait_s`.

        Raises:
            StoreLocked: another process keeps it; names the process when it left its number.
        """
        deadline = asyncio.get_running_loop().time() + self._wait_s
        while not self._try():
            if asyncio.get_running_loop().time() >= deadline:
                raise StoreLocked(f"{self._path.parent} is in use by {self._holder()}; stop it or use another home")
            # flock has no asynchronous form; polling is bounded by wait_s.
            await asyncio.sleep(_POLL_S)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            close(self._descriptor)
            self._descriptor = None

    def note_settled(self) -> None:
        """Everything is on the disk and nothing more will be written: the next holder need not see to it."""
        assert self._descriptor is not None, "the lock is held"
        with contextlib.suppress(OSError):  # then the next one does it needlessly
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, _SETTLED, 0)

    def _try(self) -> bool:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise HomeUnusable(f"{self._path} cannot be opened ({error.strerror})") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Somebody may have removed the file between our open and our flock: then we hold a lock nobody sees.
            if os.path.samestat(os.fstat(descriptor), os.stat(self._path)):
                self.is_settled = os.pread(descriptor, len(_SETTLED) + 1, 0) == _SETTLED
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                self._descriptor = descriptor
                return True
        except OSError:
            pass
        close(descriptor)
        return False

    def _holder(self) -> str:
        try:
            number = self._path.read_text().strip()
        except OSError:
            number = ""
        return f"process {number}" if number.isdigit() else "another process"
