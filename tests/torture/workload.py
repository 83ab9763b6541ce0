"""The process that is tortured: opens a home, does a round of the script, tells what was acknowledged.

Nothing here knows files: the store is asked through its client, as every other part of bead asks it.
"""

import asyncio
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bead.bus.transport import InProcessTransport
from bead.clients.store import StoreClient
from bead.errors import BeadError, NotFound, Tombstoned
from bead.facts import FactVersion
from bead.home import Home
from bead.settings import StoreSettings
from bead.wire.store import CommitBlocks, ConfirmForget, Decided, FindConversation, ForgetKeys, WriteFact
from bead_store.app import create_service
from tests.torture import script
from tests.torture.events import Event
from tests.torture.script import (
    Append,
    Commit,
    Decide,
    Forget,
    MarkFact,
    Move,
    Resolve,
    Settle,
    Step,
    Write,
)

Tell = Callable[[Event], None]

THREAD = "main"


@asynccontextmanager
async def opened(home: Path, group_fsync_ms: int) -> AsyncIterator[StoreClient]:
    """The store of `home`, as `bead up` runs it, and its client."""
    # Nobody edits files here. A group fsync after 0 ms, which no person may set, comes at the same place in every run.
    settings = StoreSettings(watch="off").model_copy(update={"group_fsync_ms": group_fsync_ms})
    service = create_service(settings, Home(home), script.OWNER)
    async with service.running():
        yield StoreClient(InProcessTransport("store", service.app))


async def run_round(home: Path, number: int, tell: Tell, group_fsync_ms: int, *, together: bool = False) -> None:
    """Open `home`, do the round `number`, close it; every event is told as it happens.

    `together` lets facts and appends run at the same time, as they do when an agent works.
    """
    do = do_steps_together if together else do_steps
    try:
        async with opened(home, group_fsync_ms) as store:
            await do(store, number, tell, group_fsync_ms)
    except BeadError as error:
        tell(Event("refused", number, code=error.code))
    except Exception as error:  # an error nobody planned is what the kit looks for
        tell(Event("broke", number, code=_place(error)))
    tell(Event("closed", number))


async def do_steps(store: StoreClient, number: int, tell: Tell, group_fsync_ms: int) -> None:
    """The round's steps; one that is refused does not keep the others from being tried."""
    await _do_some(store, number, range(len(script.steps(number))), tell, group_fsync_ms)
    facts = (await store.list_facts()).facts
    tell(Event("seen", number, current={fact.key: fact.version for fact in facts}))
    health = await store.health()
    tell(Event("health", number, ready=health.ready, degraded=health.degraded))


async def do_steps_together(store: StoreClient, number: int, tell: Tell, group_fsync_ms: int) -> None:
    """The same steps, those for facts beside those that append."""
    steps = script.steps(number)
    appends = [at for at, step in enumerate(steps) if isinstance(step, Append | Commit | Settle)]
    others = [at for at in range(len(steps)) if at not in appends]
    async with asyncio.TaskGroup() as group:
        for places in (appends, others):
            group.create_task(_do_some(store, number, places, tell, group_fsync_ms))


async def _do_some(store: StoreClient, number: int, places: Sequence[int], tell: Tell, group_fsync_ms: int) -> None:
    steps = script.steps(number)
    for at in places:
        step = steps[at]
        tell(Event("begin", number, at))
        try:
            tell(await _do(store, step, number, at, group_fsync_ms))
        except BeadError as error:
            tell(Event("refused", number, at, code=error.code))
        except Exception as error:  # as above
            tell(Event("broke", number, at, code=_place(error)))


async def _do(store: StoreClient, step: Step, number: int, at: int, group_fsync_ms: int) -> Event:
    if isinstance(step, Write):
        answer = await store.write_fact(step.request)
        return Event(
            "done",
            number,
            at,
            key=answer.key,
            version=answer.version,
            verb=answer.verb,
            uid=answer.uid,
            review_id=answer.review_id or "",
        )
    if isinstance(step, MarkFact):
        fact = await store.mark(step.request)
        return Event("done", number, at, key=fact.key, version=fact.version, verb="marked", uid=fact.uid)
    if isinstance(step, Append):
        await store.append_turn(step.request)
    elif isinstance(step, Resolve):
        project = await store.resolve_project(step.request)
        return Event("done", number, at, name=project.name if project else "")
    elif isinstance(step, Forget):
        await _forget(store, step)
    elif isinstance(step, Move):
        await store.rekey(step.request)
    elif isinstance(step, Decide):
        decided = await _decide(store, step)
        written = decided.written
        return Event("done", number, at, key=decided.key, version=written.version if written else 0)
    elif isinstance(step, Settle):
        await asyncio.sleep(_settle_s(group_fsync_ms))
    else:
        await _commit(store, step)
    return Event("done", number, at)


async def _forget(store: StoreClient, step: Forget) -> None:
    preview = await store.preview_forget(ForgetKeys(keys=(step.key,)))
    if preview.confirm is None:
        raise NotFound(f"nothing is stored under '{step.key}'")
    fact = await store.current_fact(step.key)
    receipt = await store.forget(ConfirmForget(keys=(step.key,), confirm=preview.confirm))
    assert receipt.forgot == (step.key,), "the receipt names what was asked for"
    await _require_refusal(store, fact)


async def _require_refusal(store: StoreClient, fact: FactVersion) -> None:
    """An agent that states again what was just forgotten."""
    try:
        await store.write_fact(WriteFact(key=fact.key, body=fact.body, type=fact.type))
    except Tombstoned:
        return
    raise AssertionError("what was forgotten was written again")


async def _decide(store: StoreClient, step: Decide) -> Decided:
    items = (await store.review_queue()).items
    item = next((item for item in items if (item.key, item.body) == (step.key, step.body)), None)
    if item is None:
        raise NotFound("no such item waits")
    return await (store.accept if step.verb == "accept" else store.reject)(item.id)


async def _commit(store: StoreClient, step: Commit) -> None:
    place = FindConversation(
        owner=script.OWNER,
        project=script.PROJECT,
        session=step.session,
        thread=THREAD,
        positions=(step.block.position,),
    )
    found = await store.find_conversation(place)
    await store.commit_blocks(
        CommitBlocks(
            conversation=found.id,
            generation=found.generation,
            owner=script.OWNER,
            project=script.PROJECT,
            blocks=(step.block,),
        )
    )


def _settle_s(group_fsync_ms: int) -> float:
    """Longer than the promise of D12 by what a busy machine may add."""
    return 6 * group_fsync_ms / 1000


def _place(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} in {last.name}"
