"""Children by fork: they start with everything imported, in milliseconds, and may be killed at any call."""

import json
import os
import selectors
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LIMIT_S = 60.0
_BROKE = 70


class Child:
    """A forked process that waits for `start`, then does its work and tells through a pipe."""

    def __init__(self, work: Callable[[Callable[[bytes], None]], None], log: Path, *, in_step: bool = False) -> None:
        told, self._telling = os.pipe()
        gate, self._gate = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(told)
            os.close(self._gate)
            _be_child(work, log, self._telling, gate, in_step)
        os.close(self._telling)
        os.close(gate)
        self._told = told
        self._in_step = in_step

    def start(self) -> None:
        """Let it go on."""
        os.write(self._gate, b"g")

    def listen(self, heard: Callable[[bytes], None] | None = None) -> "Ended":
        """Everything it told until its end, and how it ended. In step, it waits after each line for `heard` to return.

        Raises:
            TimeoutError: it did not end in time and was killed.
        """
        lines: list[bytes] = []
        deadline = time.monotonic() + LIMIT_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._told, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self.kill()
                    raise TimeoutError(f"the tortured process did not end within {LIMIT_S:g} s")
                part = os.read(self._told, 1 << 20)
                if not part:
                    break
                lines.append(part)
                if heard:
                    heard(part)
                if self._in_step:
                    self.start()
        os.close(self._told)
        os.close(self._gate)
        _, status = os.waitpid(self.pid, 0)
        return Ended(b"".join(lines), os.waitstatus_to_exitcode(status))

    def kill(self) -> None:
        """End it at once."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class Ended(NamedTuple):
    """A child's last words."""

    told: bytes
    code: int
    """Exit code; negative for the signal that ended it."""


def answer_of(work: Callable[[], Any], log: Path) -> Any:
    """What `work` returns in a child, as JSON carries it.

    Raises:
        RuntimeError: it broke; the text is its traceback.
    """
    child = Child(lambda tell: tell(json.dumps(work()).encode()), log)
    child.start()
    ended = child.listen()
    if ended.code:
        raise RuntimeError(f"a checking process ended with {ended.code}: {log.read_text()[-280:]}")
    return json.loads(ended.told)


def _be_child(work: Callable[[Callable[[bytes], None]], None], log: Path, telling: int, gate: int, step: bool) -> None:
    code = _BROKE
    try:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        os.read(gate, 1)

        def tell(line: bytes) -> None:
            while line:
                line = line[os.write(telling, line) :]
            if step:
                os.read(gate, 1)

        work(tell)
        code = 0
    except BaseException:  # a fork must never return into its parent's code
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
