"""`os` as one module sees it, with every fsync noted by path, and calls that fail as they would on a bad day."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


class Recorded:
    """Stands in the place of `os`."""

    def __init__(self, fail: Mapping[str, OSError], fail_open_of: Path | None, fail_unlink_of: Path | None) -> None:
        self.synced: list[Path] = []
        """What fsync was asked for, in order, also when it failed."""
        self.dropped: list[Path] = []
        """Whose cached bytes the kernel was told to let go of."""
        self._fail = fail
        self._fail_open_of = fail_open_of
        self._fail_unlink_of = fail_unlink_of

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        return self._failing(found, self._fail[name]) if name in self._fail else found

    def fsync(self, descriptor: int) -> None:
        """`os.fsync`."""
        self.synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))
        if "fsync" in self._fail:
            raise self._fail["fsync"]
        os.fsync(descriptor)

    def posix_fadvise(self, descriptor: int, offset: int, length: int, advice: int) -> None:
        """`os.posix_fadvise`."""
        assert (offset, length, advice) == (0, 0, os.POSIX_FADV_DONTNEED)
        self.dropped.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    def open(self, path: str | Path, flags: int, mode: int = 0o777) -> int:
        """`os.open`."""
        if self._fail_open_of is not None and Path(path) == self._fail_open_of:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))
        return os.open(path, flags, mode)

    def unlink(self, path: str | Path) -> None:
        """`os.unlink`."""
        if self._fail_unlink_of is not None and Path(path) == self._fail_unlink_of:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.unlink(path)

    def _failing(self, call: Any, error: OSError) -> Any:
        def fail(*args: Any, **kwargs: Any) -> None:
            if call is os.close:
                os.close(*args)  # the number is free, whatever is answered
            raise error

        return fail


@contextmanager
def recorded(
    module: ModuleType,
    *,
    fail: Mapping[str, OSError] | None = None,
    fail_open_of: Path | None = None,
    fail_unlink_of: Path | None = None,
) -> Iterator[Recorded]:
    """`module` sees the stand-in while the block runs."""
    stand_in = Recorded(fail or {}, fail_open_of, fail_unlink_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "os", stand_in)
        yield stand_in
