"""How far the file system below a home keeps its word when bytes are overwritten in place.

On ext4 and xfs zeros take the place of the text. File systems that write elsewhere keep the old blocks until they are
used again, as flash does below any of them: there disk encryption protects what was erased, and a receipt says so.
"""

from pathlib import Path

_IN_PLACE = frozenset({"ext2", "ext3", "ext4", "xfs", "tmpfs", "ramfs", "vfat", "exfat"})
_MOUNTS = Path("/proc/self/mountinfo")


def file_system(path: Path) -> str:
    """Name of the file system that `path` lies on; `unknown` where the system does not say."""
    try:
        lines = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return "unknown"
    real = path.resolve()
    best, found = -1, "unknown"
    for line in lines:
        mount, dash, kind = line.partition(" - ")
        fields = mount.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(fields[4].replace("\\040", " "))
        if real.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), kind.split(" ", 1)[0]
    return found


def overwrites(name: str) -> bool:
    """Whether a file system of this name writes over what lies there."""
    return name in _IN_PLACE
