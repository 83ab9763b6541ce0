"""The homes that torture begins with: none at all, one in use, and one that a crash left in disorder."""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from bead.home import Home
from bead_store.files import TEMPORARY_PREFIX
from tests.torture import script
from tests.torture.events import Event
from tests.torture.workload import run_round


@dataclass(frozen=True)
class Scene:
    """A beginning; `events` is what the earlier rounds had acknowledged."""

    name: str
    template: Path | None
    events: tuple[Event, ...] = ()
    round: int = field(default=1)

    def set_up(self, home: Path) -> None:
        """Put the beginning at `home`, in the place of what is there."""
        shutil.rmtree(home, ignore_errors=True)
        if self.template:
            shutil.copytree(self.template, home, symlinks=True)


def build(folder: Path) -> dict[str, Scene]:
    """Every scene, by name; their templates lie below `folder`."""
    fresh = Scene("fresh", None)
    used = _used(folder / "used", "used", lambda home: None)
    debris = _used(folder / "debris", "debris", _disorder)
    return {scene.name: scene for scene in (fresh, used, debris)}


def _used(home: Path, name: str, then: Callable[[Path], None]) -> Scene:
    events: list[Event] = []
    asyncio.run(run_round(home, 1, events.append, 0))
    then(home)
    return Scene(name, home, tuple(events), 2)


def _disorder(home: Path) -> None:
    """What crashes leave: temporaries, torn ends, and an old version that nobody marked yet."""
    places = Home(home)
    for folder in (
        places.facts / "project" / script.PROJECT / "deploy",
        places.queue,
        home,
        places.token("bus").parent,
    ):
        (folder / f"{TEMPORARY_PREFIX}0123456789abcdef").write_bytes(b"---\nid: half a fi")
    raw = next(places.raw.rglob(f"{script.LONG_SESSION}.md"))
    _add(raw, b"## turn-3 user 2026-11-05T09:12:00Z torn project=shop\nhalf a tu")
    _add(places.sessions / f"{script.LONG_SESSION}-main.jsonl", b'{"block":["00')
    _add(places.audit_log, b'{"at": "2026-11')
    old = sorted((places.facts / "project" / script.PROJECT / "deploy").glob("v*.md"))[-2]
    old.write_bytes(old.read_bytes().replace(b"status: superseded", b"status: current"))


def _add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
