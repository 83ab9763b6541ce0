"""Makes glibc give large buffers back and reuse them: request bodies of megabytes come and go (PERFORMANCE 1a)."""

import ctypes
import sys

# malloc.h
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_MIB = 1 << 20


def tune_allocator() -> bool:
    """Tune this process's malloc, once, at its start; whether that was possible (glibc only)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018 -- only glibc has it; others know other parameters by these numbers
        mallopt = libc.mallopt
    except (OSError, AttributeError):
        return False
    wanted = ((_M_MMAP_THRESHOLD, 256 * _MIB), (_M_TRIM_THRESHOLD, 512 * _MIB), (_M_ARENA_MAX, 2))
    return all([mallopt(parameter, value) == 1 for parameter, value in wanted])
