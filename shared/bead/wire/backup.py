"""A backup's request and answer: `POST /v1/backup` of the store."""

from pydantic import Field

from bead.wire.store import Model

MAX_PATH = 4_096


class StartBackup(Model):
    """What to bring up to date, or only to check."""

    path: str | None = Field(default=None, max_length=MAX_PATH)
    """Absolute, on the store's machine; without it the setting `backup.dir`."""
    only_verify: bool = False
    """Write nothing: compare every object with what was written."""


class BackupDone(Model):
    """What a run did."""

    path: str | None
    """None when no folder is named and none is set: nothing was done."""
    files: int = 0
    """In the backup now."""
    written: int = 0
    removed: int = 0
    """Objects whose file is gone or has changed."""
    wrong: int = 0
    """Objects that were missing or not as they were written; a run that writes has replaced them."""
    bytes: int = 0
    """Of the home's files that are in it."""
