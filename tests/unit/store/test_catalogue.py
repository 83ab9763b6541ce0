"""What everybody sees while keys come and go, and after trouble in the middle of a look."""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from bead.errors import NotFound
from bead_store.catalogue import Catalogue
from bead_store.disk import Disk
from bead_store.reading import Entry

KEYS = [f"user/key-{number}" for number in range(40)]


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    for key in KEYS:
        write(tmp_path, key)
    return tmp_path


@pytest.fixture
def catalogue(facts: Path) -> Catalogue:
    found = Catalogue(facts, "me", "home", Disk())
    found.load()
    return found


def write(facts: Path, key: str, version: int = 1) -> None:
    path = facts / key / f"v{version}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nkey: {key}\ntype: user\nstatus: current\nversion: {version}\n---\nversion {version}\n")


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Another thread may go on after nearly every step."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_facts_are_listed_while_keys_come_and_go(facts: Path, catalogue: Catalogue, hasty_threads: None) -> None:
    """The list is made in the event loop, keys change in the facts' lane."""
    stop = Event()

    def come_and_go() -> None:
        while not stop.is_set():
            for key in KEYS[::2]:
                (facts / key / "v1.md").unlink()
                catalogue.refresh(key)
                write(facts, key)
                catalogue.refresh(key)

    lane = Thread(target=come_and_go)
    lane.start()
    try:
        for _ in range(300):
            found, _ = catalogue.page(None, None, 100)
            assert {fact.key for fact in found} >= set(KEYS[1::2])
            assert len(catalogue.keys_below("user")) >= len(KEYS) // 2
    finally:
        stop.set()
        lane.join()


class Breaking:
    """Somebody who is told of edits and breaks: no error that bead raises on purpose."""

    def __init__(self) -> None:
        self.breaks_at = ""

    def settle(self, before: Entry | None, after: Entry | None, versions: tuple[int, ...]) -> bool:
        self._break("settle")
        return False

    def tell(self, key: str, *, is_gone: bool) -> None:
        self._break("tell")

    def _break(self, where: str) -> None:
        if where == self.breaks_at:
            raise RuntimeError(where)


@pytest.mark.parametrize("where", ["settle", "tell"])
@pytest.mark.parametrize("change", ["new", "gone", "edited"])
def test_look_that_breaks_in_the_middle_leaves_a_list_that_can_be_read_and_the_next_look_right(
    facts: Path, catalogue: Catalogue, where: str, change: str
) -> None:
    catalogue.foreign = breaking = Breaking()
    breaking.breaks_at = where
    key = "user/new" if change == "new" else KEYS[3]
    if change == "gone":
        (facts / key / "v1.md").unlink()
    else:
        write(facts, key, 2)

    try:
        catalogue.notice(key, patient=False)
    except RuntimeError:
        pass
    listed = {fact.key for fact in catalogue.page(None, None, 100)[0]}
    assert set(KEYS) - {key} <= listed <= set(KEYS) | {key}
    breaking.breaks_at = ""
    catalogue.refresh(key)
    if change == "gone":
        with pytest.raises(NotFound):
            catalogue.current(key)
    else:
        assert catalogue.current(key).body.strip() == "version 2"
    assert len(catalogue.page(None, None, 100)[0]) == len(KEYS) + {"new": 1, "gone": -1, "edited": 0}[change]
