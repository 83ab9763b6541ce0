"""The form of a home: another one is refused in plain words, and an older one is migrated after a copy."""

from pathlib import Path

import pytest

from bead.errors import Exists, HomeUnusable, StoreLocked
from bead.home import Home
from bead_store.disk import Disk
from bead_store.formats import FORMAT, copy_of, migrate, read_format, require_format
from tests.contract.store.opening import opened


def to_two(home: Home, disk: Disk) -> None:
    for path in home.facts.rglob("*.md"):
        if not path.read_text().endswith("moved on\n"):
            disk.replace(path, path.read_bytes() + b"moved on\n")


def to_three(home: Home, disk: Disk) -> None:
    disk.replace(home.root / "three", b"yes\n")


STEPS = {FORMAT: to_two, FORMAT + 1: to_three}


async def begun(home: Home) -> Path:
    async with opened(home) as store:
        await store.write("vim", "user/editor")
        return store.file("user/editor", 1)


async def test_home_says_its_form_and_one_from_before_that_is_the_first(home: Home) -> None:
    await begun(home)
    assert read_format(home) == FORMAT
    (home.root / "format").unlink()
    await begun(home)
    assert read_format(home) == 1


async def test_home_of_a_newer_bead_is_refused_and_left_alone(home: Home) -> None:
    await begun(home)
    (home.root / "format").write_text(f"{FORMAT + 1}\n")
    before = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}

    with pytest.raises(HomeUnusable, match="newer bead"):
        async with opened(home):
            pass
    with pytest.raises(HomeUnusable, match="newer bead"):
        await migrate(home)

    after = {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path)} <= {home.lock}


async def test_home_of_an_older_bead_waits_for_migrate(home: Home) -> None:
    await begun(home)
    with pytest.raises(HomeUnusable, match="bead migrate"):
        require_format(home, Disk(), FORMAT + 1)


async def test_migration_copies_first_and_takes_every_step(home: Home) -> None:
    fact = await begun(home)
    before = fact.read_bytes()

    done = await migrate(home, FORMAT + 2, STEPS)

    assert (done.before, done.after, done.copy) == (FORMAT, FORMAT + 2, copy_of(home, FORMAT))
    assert fact.read_bytes() == before + b"moved on\n"
    assert read_format(home) == FORMAT + 2
    old = Home(copy_of(home, FORMAT))
    assert (old.root / fact.relative_to(home.root)).read_bytes() == before
    async with opened(old) as store:
        assert (await store.client.current_fact("user/editor")).body == "vim"


async def test_migration_that_was_ended_goes_on_and_keeps_the_first_copy(home: Home) -> None:
    fact = await begun(home)
    before = fact.read_bytes()

    def ended(home: Home, disk: Disk) -> None:
        to_two(home, disk)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await migrate(home, FORMAT + 1, {FORMAT: ended})
    assert read_format(home) == FORMAT

    await migrate(home, FORMAT + 1, STEPS)

    assert (copy_of(home, FORMAT) / fact.relative_to(home.root)).read_bytes() == before
    assert fact.read_bytes() == before + b"moved on\n"


async def test_nothing_is_migrated_while_bead_runs_or_where_the_copy_has_no_place(home: Home) -> None:
    async with opened(home):
        with pytest.raises(StoreLocked):
            await migrate(home, FORMAT + 1, STEPS)
    other = copy_of(home, FORMAT)
    other.mkdir()
    with pytest.raises(Exists):
        await migrate(home, FORMAT + 1, STEPS)
    assert read_format(home) == FORMAT


async def test_with_nothing_to_do_nothing_is_done(home: Home) -> None:
    await begun(home)
    assert (await migrate(home)).copy is None
    assert not copy_of(home, FORMAT).exists()


async def test_the_copy_goes_where_it_can_be_written(home: Home, tmp_path: Path) -> None:
    """In a container nothing beside the home can be."""
    await begun(home)
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = await migrate(home, FORMAT + 2, STEPS, folder)
    assert done.copy == folder / f"{home.root.name}.form-{FORMAT}"
    assert read_format(Home(done.copy)) == FORMAT
    assert not copy_of(home, FORMAT).exists()
