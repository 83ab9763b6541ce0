"""Backups: what they hold, what a kill and a stranger's hand do to them, and what a forget takes out."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bead.age import Identity, decrypt
from bead.bus.transport import InProcessTransport
from bead.clients.store import StoreClient
from bead.errors import DamagedFile, Exists, HomeUnusable, NotFound, NoVault, Refused, Tombstoned
from bead.home import Home
from bead.settings import BackupSettings, StoreSettings
from bead.wire.backup import BackupDone, StartBackup
from bead.wire.store import ConfirmForget, ForgetKeys, ForgetReceipt, WriteFact
from bead_store import restoring
from bead_store.app import create_service
from bead_store.scan import NO_EXCEPTIONS
from tests.bytescan import traces
from tests.contract.store.opening import Open, opened
from tests.contract.store.test_forget_selected import say, texts

CANARY = "zebra-lantern-7741 Xylophonquartz"
IDENTITY = Identity.generate()


@pytest.fixture(autouse=True)
def _sealed_for_us(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every store of this module encrypts its backups for the same identity, without a vault's passphrase."""
    backup = BackupSettings(recipient=str(IDENTITY.recipient()))

    def create(settings: StoreSettings, home: Home, owner: str, scan: Any = NO_EXCEPTIONS) -> Any:
        return create_service(settings, home, owner, scan, backup)

    monkeypatch.setattr("tests.contract.store.opening.create_service", create)
    yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "stick" / "bead"


def away(folder: Path, name: str = "old") -> Path:
    """Take the stick out."""
    return folder.rename(folder.with_name(name))


def kill_at(*arguments: object) -> int:
    """Exit code of a process that ends itself on the way."""
    command = [sys.executable, "-c", KILLED, *map(str, arguments)]
    return subprocess.run(command, env={**os.environ}, timeout=60).returncode


async def back_up(store: Open, folder: Path, **more: bool) -> BackupDone:
    return await store.client.backup(StartBackup(path=str(folder), **more))


async def forget(client: StoreClient, key: str) -> ForgetReceipt:
    preview = await client.preview_forget(ForgetKeys(keys=(key,)))
    return await client.forget(ConfirmForget(keys=(key,), confirm=preview.confirm or ""))


def objects(folder: Path) -> list[Path]:
    return sorted((folder / "objects").rglob("*.age"))


def modes(folder: Path) -> set[int]:
    """What others may do with anything in it."""
    return {path.stat().st_mode & 0o077 for path in folder.rglob("*")}


def opened_texts(folder: Path) -> str:
    """Everything that the backup holds, decrypted, orphans too."""
    found = [*objects(folder), folder / "index.age"]
    return "\n".join(decrypt(path.read_bytes(), [IDENTITY]).decode("utf-8", "replace") for path in found)


async def test_what_comes_back_is_what_was_there(store: Open, folder: Path, tmp_path: Path) -> None:
    await store.write("vim", "user/editor")
    await store.write("helix", "user/editor")
    await say(store, "we ship on Tuesdays", "t1")
    done = await back_up(store, folder)

    new = Home(tmp_path / "new")
    restored = restoring.restore(folder, new, IDENTITY)

    assert done.files == restored.files == done.written
    assert restored.forgotten == 0
    for path in (each for each in store.home.facts.rglob("*") if each.is_file()):
        assert (new.root / path.relative_to(store.home.root)).read_bytes() == path.read_bytes()
    async with opened(new) as again:
        assert (await again.client.current_fact("user/editor")).body == "helix"
        assert await texts(again) == ["we ship on Tuesdays"]


async def test_nothing_in_the_folder_can_be_read_and_no_token_is_in_it(local: Open, folder: Path) -> None:
    await local.write(CANARY, "user/quetzalcoatlus")
    await back_up(local, folder)

    assert traces(folder, "Xylophonquartz") == []
    assert traces(folder, "quetzalcoatlus") == []
    assert "user/quetzalcoatlus" in opened_texts(folder)
    assert local.home.token("bus").read_text().strip() not in opened_texts(folder)
    assert modes(folder) == {0}


async def test_second_run_writes_only_what_has_changed(local: Open, folder: Path) -> None:
    for number in range(20):
        await local.write(f"value {number}", f"user/key-{number}")
    await back_up(local, folder)
    before = {path: path.stat().st_ino for path in objects(folder)}

    await local.write("another", "user/key-3")
    done = await back_up(local, folder)

    kept = sum(before.get(path) == path.stat().st_ino for path in objects(folder))
    assert done.written < 10
    assert kept == done.files - done.written


async def test_changed_and_missing_objects_are_found_and_mended(local: Open, folder: Path) -> None:
    for number in range(5):
        await local.write(f"value {number}", f"user/key-{number}")
    await back_up(local, folder)
    changed, missing, *_ = objects(folder)
    data = bytearray(changed.read_bytes())
    data[-1] ^= 1
    changed.write_bytes(data)
    missing.unlink()

    assert (await back_up(local, folder, only_verify=True)).wrong == 2
    assert (await back_up(local, folder)).wrong == 2
    assert (await back_up(local, folder, only_verify=True)).wrong == 0


async def test_tampered_or_swapped_object_restores_nothing(local: Open, folder: Path, tmp_path: Path) -> None:
    await local.write("vim", "user/editor")
    await back_up(local, folder)
    first, second, *_ = objects(folder)
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)
    new = Home(tmp_path / "new")

    with pytest.raises(DamagedFile):
        restoring.restore(folder, new, IDENTITY)
    with pytest.raises(DamagedFile):
        restoring.check(folder, IDENTITY)

    assert not new.facts.exists()


async def test_backup_for_somebody_else_says_so(local: Open, folder: Path, tmp_path: Path) -> None:
    await local.write("vim", "user/editor")
    await back_up(local, folder)
    with pytest.raises(DamagedFile, match="another identity"):
        restoring.restore(folder, Home(tmp_path / "new"), Identity.generate())


async def test_forget_reaches_a_backup_at_once_and_names_one_that_is_away(local: Open, folder: Path) -> None:
    second = folder.with_name("second")
    await local.write(CANARY, "user/door")
    await local.write("stays", "user/other")
    await say(local, f"the code is {CANARY}", "t1")
    await back_up(local, folder)
    await back_up(local, second)
    elsewhere = away(second, "elsewhere")

    receipt = await forget(local.client, "user/door")

    assert CANARY not in opened_texts(folder)
    assert "user/door" not in opened_texts(folder)
    assert "stays" in opened_texts(folder)
    [place] = [place for place in receipt.places if place.place == "exports and backups"]
    assert place.looked_at == 2
    assert [str(second) in left for left in place.left] == [True]

    away(elsewhere, "second")
    assert CANARY in opened_texts(second)
    await back_up(local, second)
    assert CANARY not in opened_texts(second)
    assert b'"owes":["' not in local.home.copies.read_bytes()


async def test_a_backup_from_before_a_forget_does_not_bring_it_back(home: Home, folder: Path, tmp_path: Path) -> None:
    async with opened(home) as store:
        await store.write("older", "user/door")
        await store.write(CANARY, "user/door")
        await store.write("stays", "user/other")
        await say(store, f"the code is {CANARY}, he said", "t1")
        await back_up(store, folder)
        old = away(folder)
        await forget(store.client, "user/door")

    new = Home(tmp_path / "new")
    done = restoring.restore(old, new, IDENTITY, home)

    assert done.forgotten == 2
    assert traces(new.root, "Xylophonquartz") == []
    async with opened(new) as store:
        with pytest.raises(NotFound):
            await store.client.current_fact("user/door")
        assert (await store.client.current_fact("user/other")).body == "stays"
        assert await texts(store) == ["[forgotten]"]
        with pytest.raises(Tombstoned):
            await store.client.write_fact(WriteFact(body=CANARY, key="user/again"))


async def test_tombstones_left_in_the_home_count_and_those_of_another_home_are_refused(
    home: Home, folder: Path, tmp_path: Path
) -> None:
    async with opened(home) as store:
        await store.write(CANARY, "user/door")
        await back_up(store, folder)
        old = away(folder)
        await forget(store.client, "user/door")
    emptied = Home(tmp_path / "emptied")
    emptied.root.mkdir(mode=0o700)
    for path in (home.tombstones, home.tombstone_key):
        (emptied.root / path.name).write_bytes(path.read_bytes())

    assert restoring.restore(old, emptied, IDENTITY).forgotten == 1

    foreign = Home(tmp_path / "foreign")
    foreign.root.mkdir(mode=0o700)
    foreign.tombstone_key.write_bytes(bytes(32))
    foreign.tombstones.write_bytes(home.tombstones.read_bytes())
    with pytest.raises(Refused, match="another home"):
        restoring.restore(old, foreign, IDENTITY)


async def test_home_that_holds_something_is_never_restored_into(home: Home, folder: Path) -> None:
    async with opened(home) as store:
        await store.write("vim", "user/editor")
        await back_up(store, folder)
    with pytest.raises(Exists):
        restoring.restore(folder, home, IDENTITY)


async def test_folders_that_are_not_for_this_backup_are_refused(local: Open, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "holiday.jpg").write_bytes(b"x")
    for wrong in (other, local.home.root / "backup", tmp_path):
        with pytest.raises(Refused):
            await back_up(local, wrong)
    assert (other / "holiday.jpg").read_bytes() == b"x"
    await back_up(local, folder)
    async with opened(Home(tmp_path / "second")) as second:
        with pytest.raises(Refused, match="another home"):
            await back_up(second, folder)


async def test_without_a_recipient_nothing_is_written(home: Home, folder: Path) -> None:
    service = create_service(StoreSettings(watch="off"), home, "me")
    async with service.running():
        client = StoreClient(InProcessTransport("store", service.app))
        with pytest.raises(NoVault):
            await client.backup(StartBackup(path=str(folder)))
        assert (await client.backup(StartBackup())).path is None
    assert not objects(folder)


KILLED = """
import asyncio, os, sys
from pathlib import Path
from bead.clients.store import StoreClient
from bead.bus.transport import InProcessTransport
from bead.home import Home
from bead.settings import BackupSettings, StoreSettings
from bead.wire.backup import StartBackup
from bead_store.app import create_service
from bead_store.disk import Disk
home, folder, recipient, verb, number = sys.argv[1:]
count, plain = 0, getattr(Disk, verb)
def once(self, *args, **kwargs):
    global count
    count += str(args[0]).startswith(folder)
    if count > int(number):
        os._exit(9)
    return plain(self, *args, **kwargs)
setattr(Disk, verb, once)
async def main():
    backup = BackupSettings(recipient=recipient)
    service = create_service(StoreSettings(watch="off"), Home(Path(home)), "me", backup=backup)
    async with service.running():
        await StoreClient(InProcessTransport("store", service.app)).backup(StartBackup(path=folder))
asyncio.run(main())
"""


@pytest.mark.parametrize(("verb", "number"), [("create_streamed", 2), ("replace", 0), ("erase", 0), ("erase", 1)])
async def test_killed_run_leaves_a_whole_backup_and_the_next_one_ends(
    home: Home, folder: Path, tmp_path: Path, verb: str, number: int
) -> None:
    async with opened(home) as store:
        for each in range(6):
            await store.write(f"value {each}", f"user/key-{each}")
        await back_up(store, folder)
        for each in range(6):
            await store.write(f"newer {each}", f"user/key-{each}")
    assert kill_at(home.root, folder, IDENTITY.recipient(), verb, number) == 9

    assert restoring.check(folder, IDENTITY) > 0
    async with opened(home) as store:
        after = await back_up(store, folder)
    assert len(objects(folder)) == after.files == restoring.check(folder, IDENTITY)


async def test_restore_that_was_killed_is_finished_and_no_store_opens_before(
    home: Home, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(home) as store:
        await store.write("vim", "user/editor")
        await back_up(store, folder)
    new = Home(tmp_path / "new")
    rename, seen = os.rename, []

    def fail(source: Any, target: Any) -> None:
        seen.append(source)
        if len(seen) == 3:
            raise KeyboardInterrupt
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", fail)
        with pytest.raises(KeyboardInterrupt):
            restoring.restore(folder, new, IDENTITY)
    with pytest.raises(HomeUnusable, match="restore"):
        async with opened(new):
            pass

    restoring.restore(folder, new, IDENTITY)
    async with opened(new) as again:
        assert (await again.client.current_fact("user/editor")).body == "vim"
