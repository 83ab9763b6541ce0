"""What a process does so that what it holds in memory does not reach a disk by accident."""

import resource


def forbid_core_dumps() -> None:
    """From now on a crash of this process, and of those it starts, leaves no image of its memory."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
