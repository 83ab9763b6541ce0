"""A power cut while a turn is overwritten: its blocks reach the disk in any order, and the next start ends it (I6)."""

from pathlib import Path

import pytest

from bead.facts import Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, ConfirmForget, ForgetKeys, WriteFact
from bead_store import disk
from bead_store.app import Store
from tests.bytescan import traces
from tests.contract.store.crashes import CrashingOs, Ended, living

KEY, VALUE = "user/day", "Zebrafinch parcels leave on Thursdays"
TEXT = f"before {VALUE} and {VALUE} after"


class UntilOverwritten(CrashingOs):
    """Ends the process at the first byte that is overwritten in place."""

    def __getattr__(self, name: str) -> object:
        if name == "pwrite":
            self.last = len(self.calls)
        return super().__getattr__(name)


async def forget(store: Store) -> None:
    preview = await store.forgetting.preview(ForgetKeys(keys=(KEY,)))
    await store.forgetting.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))


@pytest.mark.parametrize("part", [slice(0, 14), slice(14, 60), slice(40, None), slice(10, -10), slice(0, 0)])
async def test_turn_that_is_half_overwritten_is_overwritten_whole(
    tmp_path: Path, part: slice, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home")
    async with living(home, monkeypatch) as store:
        turn = AppendTurn(session="s", turn_id="t", role=Role.USER, text=TEXT, at="2026-11-05T09:12:00Z")
        source = store.raw.append(turn).source
        store.facts.write(WriteFact(body=VALUE, key=KEY, trust=Trust.USER_STATED))
        with monkeypatch.context() as patch, pytest.raises(Ended):
            patch.setattr(disk, "os", UntilOverwritten(None))
            await forget(store)
    path = home.root / "store" / source.partition("#")[0]
    data = path.read_bytes()
    start = data.index(TEXT.encode())
    changed = bytearray(TEXT.encode())
    changed[part] = b"[forgotten]".ljust(len(TEXT))[part]
    path.write_bytes(data[:start] + changed + data[start + len(TEXT) :])

    async with living(home, monkeypatch) as store:
        assert [each.text for each in store.raw.read("s").turns] == ["[forgotten]"]
    for word in ("Zebrafinch", "parcels", "Thursdays"):
        assert traces(home.root, word) == []
