"""The home: private whatever the umask, ours alone, and used by one process at a time."""

import os
import stat
from pathlib import Path

import pytest

from bead.errors import HomeUnusable, StoreLocked
from bead.home import Home
from bead_store.home import prepare
from tests.contract.store.opening import opened


@pytest.fixture
def loose_umask() -> object:
    before = os.umask(0o000)
    yield
    os.umask(before)


def modes(root: Path) -> set[tuple[str, int]]:
    return {
        ("directory" if path.is_dir() else "file", stat.S_IMODE(path.stat().st_mode))
        for path in [root, *root.rglob("*")]
    }


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_prepared_home_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        prepare(Home(tmp_path / "home"))
    finally:
        os.umask(before)

    assert modes(tmp_path / "home") == {("directory", 0o700), ("file", 0o600)}


async def test_everything_written_is_private_under_a_loose_umask(home: Home, loose_umask: object) -> None:
    async with opened(home) as store:
        await store.write("one", "user/a/b/c")
        await store.write("two", "user/a/b/c")

    assert modes(home.root) == {("directory", 0o700), ("file", 0o600)}


def test_tokens_and_id_are_made_once(home: Home) -> None:
    first = prepare(home)

    assert prepare(home) == first
    tokens = {first.bus_secret, first.proxy_token, first.admin_token}
    assert len(tokens) == 3 and all(len(token) == 43 for token in tokens)
    assert first.bus_secret not in repr(first)


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720])
def test_home_that_others_can_write_is_refused(home: Home, mode: int) -> None:
    home.root.mkdir()
    home.root.chmod(mode)

    with pytest.raises(HomeUnusable, match="written by others"):
        prepare(home)
    assert list(home.root.iterdir()) == []


def test_home_that_others_can_only_read_is_made_private(home: Home) -> None:
    home.root.mkdir(mode=0o755)

    prepare(home)

    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_home_of_somebody_else_is_refused(home: Home) -> None:
    home.root.mkdir(mode=0o700)
    os.chown(home.root, 12345, -1)

    with pytest.raises(HomeUnusable, match="another user"):
        prepare(home)


def test_home_below_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(HomeUnusable) as refusal:
        prepare(Home(tmp_path / "file" / "home"))
    assert "\n" not in refusal.value.message


def test_file_in_the_place_of_a_folder_is_named_and_left_alone(home: Home) -> None:
    home.root.mkdir(mode=0o700)
    (home.root / "store").write_text("mine")

    with pytest.raises(HomeUnusable, match="store is not a folder"):
        prepare(home)
    assert (home.root / "store").read_text() == "mine"


def test_empty_token_is_not_used(home: Home) -> None:
    prepare(home)
    home.token("bus").write_text("")

    with pytest.raises(HomeUnusable, match="empty"):
        prepare(home)


async def test_second_store_on_a_home_is_refused_and_told_who_has_it(home: Home) -> None:
    async with opened(home):
        with pytest.raises(StoreLocked, match=f"process {os.getpid()}"):
            async with opened(home):
                pass


async def test_home_is_free_again_when_the_store_ends(home: Home) -> None:
    async with opened(home):
        pass
    async with opened(home) as store:
        assert (await store.client.health()).ready


async def test_lock_file_that_was_removed_does_not_let_two_in_at_once(home: Home) -> None:
    """The lock is taken on the file that is there now, not on one that somebody has just removed."""
    async with opened(home):
        held = home.lock.stat().st_ino
        assert home.lock.read_text().strip() == str(os.getpid())
    async with opened(home):
        assert home.lock.stat().st_ino == held


async def test_leftover_temporaries_are_swept_at_the_start(home: Home) -> None:
    async with opened(home) as store:
        await store.write("one")
    leftover = home.facts / "user/editor/.tmp-0123456789abcdef"
    leftover.write_text("half")

    async with opened(home) as store:
        assert not leftover.exists()
        assert (await store.client.damage()).notes == ()
