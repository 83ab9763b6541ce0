"""Whether agents used what they were told: noted behind their turns, and kept over a refresh."""

import asyncio
import json
from datetime import UTC, datetime

from bead.clients.views import ViewClient
from bead.facts import TriggerCard
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn
from bead.wire.views import Use
from tests.contract.store.opening import Open, opened
from tests.contract.store.test_use import inject

CARD = TriggerCard(do=("make deploy",))


async def say(store: Open, number: int, text: str, role: Role = Role.ASSISTANT, session: str = "s") -> None:
    at = datetime.now(UTC).isoformat()
    await store.client.append_turn(AppendTurn(session=session, turn_id=f"t{number}", role=role, text=text, at=at))


async def uses_once(store: Open, uid: str, used: int) -> tuple[Use, ...]:
    """The uses of a fact when so many of them are noted as used."""
    async with asyncio.timeout(5):
        while True:
            uses = (await ViewClient(store.bus).uses(uid)).uses
            if sum(use.used for use in uses) == used:
                return uses


def lines_of_use(home: Home) -> list[list[str]]:
    return [line["facts"] for line in map(json.loads, home.use.read_text().splitlines()) if "kind" not in line]


async def test_literal_in_the_agents_turn_is_noted_once(local: Open) -> None:
    uid = (await local.write("Deploys go through make.", when=CARD)).uid
    await inject(local, uid, versions=(1,))

    await say(local, 1, "I run make deploy.")
    await uses_once(local, uid, 1)
    await say(local, 2, "make deploy again")
    other = (await local.write("Format with `ruff format`.", "user/format")).uid
    await inject(local, other, session="s2")
    await say(local, 1, "ruff format src", session="s2")
    await uses_once(local, other, 1)  # what came before has been listened to by now

    assert lines_of_use(local.home) == [[f"{uid}@1"], [other]]


async def test_what_the_person_says_or_another_session_says_is_no_use(local: Open) -> None:
    uid = (await local.write("Deploys go through make.", when=CARD)).uid
    known = (await local.write("Format with `ruff format`.", "user/format")).uid
    await inject(local, uid, known)

    await say(local, 1, "make deploy", Role.USER)
    await say(local, 1, "make deploy", session="other")
    await say(local, 2, "ruff format")
    await uses_once(local, known, 1)

    assert lines_of_use(local.home) == [[known]]


async def test_use_is_kept_over_a_refresh_and_told_after_a_restart(home: Home) -> None:
    async with opened(home) as store:
        uid = (await store.write("Deploys go through make.", when=CARD)).uid
        await inject(store, uid)
    async with opened(home) as store:
        await say(store, 1, "make deploy")
        await uses_once(store, uid, 1)
        await store.client.refresh_use()
        await store.client.refresh_use()
        assert lines_of_use(home) == [[uid]]
    async with opened(home) as store:
        (use,) = await uses_once(store, uid, 1)
        assert (use.conversation, use.used) == ("s-t", True)
