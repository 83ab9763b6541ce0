"""A person at a terminal: runs a command on a pseudo-terminal of its own and types what it asks for."""

import fcntl
import os
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import select

LIMIT_S = 60.0


def typed(
    command: Sequence[str],
    answers: Sequence[tuple[str, str]],
    environ: Mapping[str, str],
    folder: Path,
    *,
    is_whole_screen: bool = False,
) -> subprocess.CompletedProcess[str]:
    """The command, with each answer typed when its question is on the terminal; standard output is a pipe.

    With `is_whole_screen` it is the terminal too, for a program that brings another one's terminal here.
    """
    master, slave = os.openpty()
    process = subprocess.Popen(
        command,
        env=dict(environ),
        cwd=folder,
        stdin=slave,
        stdout=slave if is_whole_screen else subprocess.PIPE,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(slave)
    try:
        said = b""
        for question, answer in answers:
            said = _until(master, question.encode(), said)
            os.write(master, f"{answer}\n".encode())
        out = process.stdout.read().decode() if process.stdout else _screen(master)
        code = process.wait(LIMIT_S)
        return subprocess.CompletedProcess(command, code, out, (said + _rest(master)).decode("utf-8", "replace"))
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        os.close(master)


def _until(master: int, question: bytes, said: bytes) -> bytes:
    """What is on the terminal once the question is, without what came before it the last time."""
    start, end = len(said), time.monotonic() + LIMIT_S
    while question not in said[start:]:
        ready, _, _ = select([master], [], [], end - time.monotonic())
        more = os.read(master, 4_096) if ready else b""
        if not more:
            raise AssertionError(f"{question!r} was not asked; the terminal shows {said!r}")
        said += more
    return said


def _screen(master: int) -> str:
    """What is on the terminal until nobody writes there any more."""
    said, end = b"", time.monotonic() + LIMIT_S
    while select([master], [], [], max(0.0, end - time.monotonic()))[0]:
        try:
            more = os.read(master, 4_096)
        except OSError:  # the other end is closed
            break
        said += more
    return said.decode("utf-8", "replace")


def _rest(master: int) -> bytes:
    said = b""
    while select([master], [], [], 0)[0]:
        try:
            said += os.read(master, 4_096)
        except OSError:  # the other end is closed
            break
    return said
