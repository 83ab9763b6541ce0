"""A person's desk for the CLI: a home, curate on a real socket before a store in memory, and commands to run."""

import asyncio
import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from bead.bus.serve import listen, serving
from bead.bus.service import Access
from bead.bus.transport import InProcessTransport
from bead.settings import CurateSettings
from bead_cli import runtime
from bead_cli.__main__ import run
from bead_curate.app import create_service
from tests.fakes.store import FakeStore

ADMIN_TOKEN = "admin-of-this-test"
HOME_ID = "home-of-this-test"
_LIMIT_S = 10.0


class Done(NamedTuple):
    """What one command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on standard output; fails when there is more or less than one."""
        return json.loads(self.out)


class Desk:
    """Runs commands in this process, with an environment of their own."""

    def __init__(self, home: Path, store: FakeStore, port: int) -> None:
        self.home, self.store, self.port = home, store, port

    def bead(self, *argv: str, environ: Mapping[str, str] | None = None) -> Done:
        """One command line."""
        out, err = io.StringIO(), io.StringIO()
        try:
            code = run([*argv, "--home", str(self.home)], environ or {}, out, err)
        except SystemExit as end:
            code = int(str(end.code))
        return Done(code, out.getvalue(), err.getvalue())

    def json(self, *argv: str, environ: Mapping[str, str] | None = None) -> Any:
        """The document of a command that succeeds."""
        done = self.bead(*argv, "--json", environ=environ)
        assert done.code == 0, done.err
        return done.document


@contextmanager
def running_desk(root: Path) -> Iterator[Desk]:
    """A desk whose home says that this process serves it, until the block ends."""
    home, store = root / "home", FakeStore()
    (home / "tokens").mkdir(parents=True)
    for name in ("admin", "proxy"):
        (home / "tokens" / name).write_text(f"{name}-of-this-test\n")
    listener = listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    write_runtime(home, {"curate": port, "store": port, "proxy": port})
    ended, ready = Event(), Event()

    async def serve() -> None:
        curate = create_service(CurateSettings(), HOME_ID, {"store": InProcessTransport("store", store.service.app)})
        async with serving(curate.guarded(Access(ADMIN_TOKEN, port)), listener, "curate"):
            ready.set()
            await asyncio.to_thread(ended.wait)

    thread = Thread(target=lambda: asyncio.run(serve()), name="desk")
    thread.start()
    try:
        assert ready.wait(_LIMIT_S)
        yield Desk(home, store, port)
    finally:
        ended.set()
        thread.join(_LIMIT_S)
        listener.close()


def write_runtime(home: Path, ports: dict[str, int], pid: int | None = None) -> runtime.Runtime:
    """Say that a process (this one, unless another is named) serves the home."""
    pid = os.getpid() if pid is None else pid
    who = runtime.Runtime(HOME_ID, "0.1.0", "2026-11-30T21:00:00Z", ports, pid, runtime.birth_of(pid))
    runtime.write(str(home), who)
    return who
