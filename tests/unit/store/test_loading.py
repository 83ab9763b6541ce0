"""A home is read the same in this process and in others, and in which order its folders come does not matter."""

import multiprocessing
from pathlib import Path

import pytest

from bead.errors import Unavailable
from bead_evals.bench.homes import build_home
from bead_store import loading
from bead_store.disk import Disk
from bead_store.files import stamp_of
from bead_store.loading import Place
from bead_store.reading import Entry

FACTS = 60


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    home = build_home(tmp_path_factory.mktemp("large") / "home", FACTS)
    (home.facts / "user/note-000000/.tmp-0123").write_text("half")
    (home.facts / "user/note-000002/v1.md").write_text("broken")
    (home.facts / "user/note-000004/v1 2.md").write_text("a copy")
    return Place(str(home.facts), "me", "home")


def test_processes_read_what_one_process_reads(place: Place) -> None:
    alone = loading.load(place)
    together = loading.load(place, small=1)

    assert len(alone.entries) == FACTS
    assert sorted(alone.entries, key=_key) == sorted(together.entries, key=_key)
    assert alone.leftovers == together.leftovers == [f"{place.facts}/user/note-000000/.tmp-0123"]
    assert [entry.key for entry in alone.entries if entry.trouble] == ["user/note-000002"]
    assert multiprocessing.active_children() == []


def _key(entry: Entry) -> str:
    return entry.key


def test_built_home_holds_what_bead_would_have_written(place: Place) -> None:
    fact = next(entry.fact for entry in loading.load(place).entries if entry.key == "user/note-000020")

    assert fact is not None and fact.version == 2 and len(fact.uid) == 32
    old = Path(place.facts, "user/note-000020/v1.md").read_text()
    assert "status: superseded" in old and fact.uid in old


def test_what_was_saved_since_it_was_read_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "v1.md"
    path.write_text("as bead read it")
    seen = stamp_of(str(path))
    path.write_text("as a person saved it meanwhile")

    with pytest.raises(Unavailable, match="edited by another program"):
        Disk().replace(path, b"made from the old text", seen)

    assert path.read_text() == "as a person saved it meanwhile"
    assert list(tmp_path.iterdir()) == [path]
