"""What a process tree has used, read from the kernel: CPU time and peak memory. Linux; elsewhere None."""

import contextlib
import os
import time
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def process_tree(pid: int) -> list[int]:
    """`pid` and its living descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (fields := _stat_fields(int(entry.name))):
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [pid]
    for member in tree:
        tree += children.get(member, [])
    return tree


def cpu_ms(pid: int) -> float | None:
    """CPU milliseconds of `pid`, its living descendants, and the finished children it has collected."""
    if not Path("/proc/self/stat").exists():
        return None
    return sum(_own_cpu_ms(member) + _collected_children_ms(member) for member in process_tree(pid))


def peak_rss_mb(pid: int) -> float | None:
    """Sum of the largest resident sizes (MB) of the tree since `reset_peak`, or since each process began."""
    if not Path("/proc/self/stat").exists():
        return None
    return sum(_status_kb(member, "VmHWM") for member in process_tree(pid)) / 1024


def reset_peak(pid: int) -> None:
    """Make the kernel count the peak from now on, where it lets us."""
    for member in process_tree(pid) if Path("/proc/self/stat").exists() else []:
        with contextlib.suppress(OSError):
            Path(f"/proc/{member}/clear_refs").write_text("5")


def _own_cpu_ms(pid: int) -> float:
    """From the process's CPU clock (nanoseconds); /proc/PID/stat (10 ms steps) where that clock is refused."""
    with contextlib.suppress(OSError):
        # clock_getcpuclockid(3): a process's CPU clock is (~pid << 3) | CPUCLOCK_SCHED.
        return time.clock_gettime((~pid << 3) | 2) * 1000
    fields = _stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) * 1000 / _TICKS_PER_S if fields else 0.0


def _collected_children_ms(pid: int) -> float:
    fields = _stat_fields(pid)
    return (int(fields[13]) + int(fields[14])) * 1000 / _TICKS_PER_S if fields else 0.0


def _stat_fields(pid: int) -> list[str]:
    """/proc/PID/stat from the state on (index 0 is field 3); empty when the process is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return []


def _status_kb(pid: int, field: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return 0
