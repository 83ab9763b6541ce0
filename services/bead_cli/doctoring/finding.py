"""One thing that somebody should know, with its cause and what mends it."""

from typing import NamedTuple


class Finding(NamedTuple):
    """See the module."""

    level: str
    """`person` (a file needs one), `unavailable`, or `note`."""
    check: str
    cause: str
    mend: str
    path: str | None = None
    line: int | None = None
