"""`python -m bead_store.watching`: tells which files below some folders change, one JSON document a line.

A process of its own, because putting a watch on each of a hundred thousand folders takes a second and more in which
nothing else of its process runs. It ends when its standard input does, that is with the store, however that ends.

    {"way": "events", "why": null}       how changes are found, and why not by events
    {"changed": ["/home/…/v1.md"]}       files or folders to look at

What a change means is `edits`; how the lines come in is `watch`.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bead_store.sweep import Sweep

_BATCH = 200
_SAFETY_S = 60.0
"""Time between two sweeps where events arrive: for those that got lost."""
_MOST_OF_TIME = 0.2
"""A sweep takes at most this part of one core, so a large home is swept more seldom."""
_SAFETY_MOST_OF_TIME = 0.02
_NICENESS = 10
# Changes made on the other side of these mounts (the virtual machine's host, another machine) raise no event here.
_WITHOUT_EVENTS = frozenset({"9p", "virtiofs", "vboxsf", "fakeowner", "nfs", "nfs4", "cifs", "smb3", "afs", "ceph"})

_telling = threading.Lock()
"""Two threads tell; their lines must not mix."""

Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Watch until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=("events", "sweep"), required=True)
    parser.add_argument("--sweep-s", type=float, required=True)
    parser.add_argument("--since-ns", type=int, required=True)
    parser.add_argument("roots", nargs="+")
    args = parser.parse_args()
    os.nice(_NICENESS)
    # A signal to the whole group (a terminal's, a supervisor's) is the store's to answer: this ends with its input.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_store, daemon=True).start()
    run(args.roots, args.way, args.sweep_s, args.since_ns, _print)


def run(roots: list[str], way: str, sweep_s: float, since_ns: int, tell: Tell) -> None:
    """Tell changes for ever."""
    why = "the settings say so" if way == "sweep" else why_no_events(roots)
    lost = threading.Event()
    if why is None:
        threading.Thread(target=_tell_events, args=(roots, tell, lost), daemon=True).start()
    else:
        lost.set()
        tell({"way": "sweep", "why": why})
    sweep = Sweep(roots)
    found: Iterable[str] = sweep.begin(since_ns)
    pause_s = 0.0
    while True:
        started = time.monotonic()
        for batch in _batches(found):
            tell({"changed": batch})
        took_s = time.monotonic() - started
        # The first pause is short: it covers what changed while the watches were being put up.
        if lost.is_set():
            pause_s = max(sweep_s, took_s / _MOST_OF_TIME)
        else:
            pause_s = max(_SAFETY_S if pause_s else 1.0, took_s / _SAFETY_MOST_OF_TIME)
        _sleep_unless_newly(lost, pause_s)
        found = sweep.changed()


def why_no_events(roots: Iterable[str], mounts: str = "/proc/self/mountinfo") -> str | None:
    """Why changes below the roots may raise no events here; None where they do."""
    for root in roots:
        kind = mount_kind(root, mounts)
        if kind in _WITHOUT_EVENTS or kind.startswith("fuse"):
            return f"files on a '{kind}' mount may be changed from outside without an event"
    return None


def mount_kind(path: str, mounts: str) -> str:
    """The file system that holds `path`, empty where the system does not say."""
    try:
        lines = Path(mounts).read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    found, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        point = fields[4].replace("\\040", " ")
        if len(point) >= len(found) and (path == point or path.startswith(point.rstrip("/") + "/")):
            found, kind = point, fields[fields.index("-") + 1]
    return kind


def _tell_events(roots: list[str], tell: Tell, lost: threading.Event) -> None:
    from watchfiles import watch

    try:
        is_told = False
        for changes in watch(
            *roots,
            watch_filter=None,
            debounce=100,
            step=20,
            rust_timeout=5_000,
            yield_on_timeout=True,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            if not is_told:
                tell({"way": "events", "why": None})
                is_told = True
            for batch in _batches(path for _, path in changes):
                tell({"changed": batch})
        tell({"way": "sweep", "why": "the system stopped telling about changes"})
    except (OSError, RuntimeError) as error:
        tell({"way": "sweep", "why": _reason(error)})
    lost.set()


def _reason(error: Exception) -> str:
    if "watch limit" in str(error) or getattr(error, "errno", None) == 28:
        return "the system allows too few file watches (fs.inotify.max_user_watches)"
    return f"the system cannot watch these folders ({type(error).__name__})"


def _sleep_unless_newly(lost: threading.Event, pause_s: float) -> None:
    """Sleep; when events have been there, only as long as they last."""
    if lost.is_set():
        time.sleep(pause_s)
    else:
        lost.wait(pause_s)


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for path in paths:
        batch.append(path)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _print(document: dict[str, Any]) -> None:
    line = json.dumps(document).encode() + b"\n"  # odd bytes of a name travel as escapes
    try:
        with _telling:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)


def _end_with_the_store() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
