"""What a dream run may change through the store, and that all of it can be taken back."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bead.clients.night import NightClient
from bead.clients.store import StoreClient
from bead.errors import NotAllowed, NotFound, Refused, Tombstoned, Unavailable
from bead.facts import FactType, Status, TriggerCard, Trust
from bead.home import Home
from bead.wire.dream import (
    BeginRun,
    DreamCard,
    DreamEpisode,
    DreamMark,
    DreamWrite,
    FinishRun,
    NightState,
    ProposalKind,
    Propose,
    ProposeVerb,
    RunState,
    SessionState,
    Spend,
)
from bead.wire.store import ConfirmForget, ForgetKeys, Mark, Verb, WriteFact
from bead_store import disk
from bead_store.home import prepare
from tests.contract.store.opening import Open, on_socket, opened, write_by_hand
from tests.syscalls import recorded

BEGIN = BeginRun(provider="none")
DONE = FinishRun(state=RunState.DONE, lines=("- nothing",))
BY_HAND = """---
key: user/hand   # mine
status: current  # as I like it
trust: agent_observed
when:
    do: [make  release]
type: user
---
Releases are cut on Friday.
"""


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and every folder that is empty."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return found | {f"{path}/": b"" for path in folder.rglob("*") if path.is_dir() and not any(path.iterdir())}


def proposal(kind: ProposalKind, key: str, body: str, **more: object) -> Propose:
    return Propose.model_validate({"kind": kind, "key": key, "body": body, "type": FactType.USER, **more})


async def begun(store: Open) -> tuple[NightClient, str]:
    nights = NightClient(store.bus)
    return nights, (await nights.begin(BEGIN)).id


async def test_what_a_run_writes_is_inferred_and_never_the_persons(store: Open) -> None:
    await store.write("helix", "user/editor")
    nights, run = await begun(store)

    created = await nights.write(run, DreamWrite(key="user/shell", body="fish", type=FactType.USER))
    overruled = await nights.write(run, DreamWrite(key="user/editor", body="emacs", type=FactType.USER))

    assert (created.verb, overruled.verb) == (Verb.CREATED, Verb.QUEUED)
    assert (await store.client.current_fact("user/shell")).trust is Trust.DREAM_INFERRED
    assert (await store.client.current_fact("user/editor")).body == "helix"


async def test_undo_gives_back_the_same_bytes(store: Open) -> None:
    await store.write("fish", "user/shell", trust=Trust.DREAM_INFERRED)
    await store.write("helix", "user/editor", when={"say": ["open the editor"]})
    await store.write("tabs", "user/indent", trust=Trust.AGENT_OBSERVED)
    write_by_hand(store.home, "user/hand", 1, BY_HAND)
    await store.client.write_fact(WriteFact(key="user/hand", body="Releases are cut on Friday."))  # seen by the store
    before = tree(store.home.facts)
    nights, run = await begun(store)

    await nights.write(run, DreamWrite(key="user/shell", body="zsh", type=FactType.USER))
    await nights.write(run, DreamWrite(key="project/shop/deploy/day", body="Tuesday", type=FactType.PROJECT))
    await nights.write(run, DreamWrite(key="user/editor", body="emacs", type=FactType.USER))
    for key in ("user/editor", "user/hand"):
        await nights.widen(run, DreamCard(key=key, version=1, when=TriggerCard(do=("vi",), see=("E325",))))
    await nights.mark(run, DreamMark(key="user/indent", version=1, status=Status.DORMANT))
    await nights.propose(run, proposal(ProposalKind.STANDING_WISH, "user/tests", "Always run the tests."))
    await nights.episode(run, DreamEpisode(session="s1", situation="The build was red."))
    await nights.finish(run, DONE.model_copy(update={"night": NightState(sessions={"s1": SessionState(read=4)})}))
    assert tree(store.home.facts) != before
    undone = await nights.undo(run)

    assert tree(store.home.facts) == before
    assert (undone.removed_versions, undone.restored_files, undone.removed_items) == (2, 4, 2)
    assert (undone.episodes, undone.left) == (1, ())
    assert (await store.client.review_queue()).items == ()
    assert (await nights.state()).sessions == {}
    assert not list(store.home.episodes.rglob("*.md"))
    with pytest.raises(Refused, match="already"):
        await nights.undo(run)


async def test_undo_leaves_what_a_person_has_changed_since_and_says_so(local: Open) -> None:
    nights, run = await begun(local)
    for key in ("user/a", "user/b", "user/c"):
        await nights.write(run, DreamWrite(key=key, body=f"{key} says", type=FactType.USER))
    await nights.finish(run, DONE)
    await local.write("the person says", "user/a")
    edited = local.file("user/b", 1)
    edited.write_text(edited.read_text().replace("user/b says", "edited"))

    undone = await nights.undo(run)

    assert undone.removed_versions == 1
    assert len(undone.left) == 2
    assert (await local.client.current_fact("user/a")).body == "the person says"
    assert edited.exists() and not local.file("user/c", 1).exists()


async def test_undo_that_is_interrupted_is_finished_by_the_next_start(home: Home) -> None:
    async with opened(home) as store:
        await store.write("fish", "user/shell", trust=Trust.DREAM_INFERRED)
        await store.write("tabs", "user/indent", trust=Trust.AGENT_OBSERVED)
        before = tree(home.facts)
        nights, run = await begun(store)
        await nights.write(run, DreamWrite(key="user/shell", body="zsh", type=FactType.USER))
        await nights.write(run, DreamWrite(key="user/new", body="new", type=FactType.USER))
        await nights.mark(run, DreamMark(key="user/indent", version=1, status=Status.DORMANT))
        await nights.finish(run, DONE)
        stuck = store.file("user/new", 1)
        with recorded(disk, fail_unlink_of=stuck), pytest.raises(Unavailable, match="disk is full"):
            await nights.undo(run)
        assert tree(home.facts) != before

    async with opened(home) as store:
        assert tree(home.facts) == before
        assert (await NightClient(store.bus).runs()).runs[0].state is RunState.UNDONE


async def test_run_that_was_at_work_when_the_store_was_killed_can_be_undone(home: Home) -> None:
    """Also a version that was written and not noted any more: its own file says which run wrote it."""
    async with opened(home) as store:
        await store.write("fish", "user/shell", trust=Trust.DREAM_INFERRED)
        before = tree(home.facts)
        nights, run = await begun(store)
        await nights.write(run, DreamWrite(key="user/shell", body="zsh", type=FactType.USER))
        await nights.write(run, DreamWrite(key="user/new", body="new", type=FactType.USER))
        journal = home.dream / "runs" / run / "journal.jsonl"
        journal.write_bytes(journal.read_bytes().splitlines(keepends=True)[0])

    async with opened(home) as store:
        nights = NightClient(store.bus)
        assert (await nights.runs()).runs[0].state is RunState.FAILED
        undone = await nights.undo(run)
        assert tree(home.facts) == before
        assert (undone.removed_versions, undone.left) == (2, ())


async def test_a_run_that_has_died_changes_nothing_any_more(local: Open) -> None:
    nights, dead = await begun(local)
    await nights.begin(BEGIN)

    with pytest.raises(Refused, match="over"):
        await nights.write(dead, DreamWrite(key="user/shell", body="fish", type=FactType.USER))
    assert [record.state for record in (await nights.runs()).runs] == [RunState.RUNNING, RunState.FAILED]


async def test_pinned_fact_never_sleeps(local: Open) -> None:
    await local.write("fish", "user/shell")
    await local.client.mark(_pin("user/shell"))
    nights, run = await begun(local)

    answer = await nights.mark(run, DreamMark(key="user/shell", version=1, status=Status.DORMANT))

    assert answer.verb is Verb.UNCHANGED
    assert (await local.client.current_fact("user/shell")).status is Status.CURRENT


async def test_the_night_cannot_write_but_through_a_run(home: Home) -> None:
    async with opened(home) as store, on_socket(store.service, prepare(home).bus_secret, "dream") as bus:
        with pytest.raises(NotAllowed):
            await StoreClient(bus).write_fact(WriteFact(body="fish", trust=Trust.USER_STATED))
        assert (await NightClient(bus).begin(BEGIN)).state is RunState.RUNNING


async def test_same_proposal_waits_once_and_a_rejected_one_never_again(store: Open) -> None:
    nights, run = await begun(store)
    wish = proposal(ProposalKind.STANDING_WISH, "user/tests", "Always run the tests.", suspicious=True, reason="why")

    first, second = await nights.propose(run, wish), await nights.propose(run, wish)

    assert (first.verb, second.verb, second.id) == (ProposeVerb.QUEUED, ProposeVerb.KNOWN, first.id)
    item = (await store.client.review_queue()).items[0]
    assert (item.kind, item.suspicious, item.reason) == ("standing-wish", True, "why")
    await store.client.reject(first.id)
    with pytest.raises(Tombstoned):
        await nights.propose(run, wish)


async def test_accepted_rekey_moves_the_fact_and_keeps_its_trust(store: Open) -> None:
    await store.write("Deploys go out on Tuesday.", "user/deploys-go-out-on-tuesday", trust=Trust.AGENT_OBSERVED)
    nights, run = await begun(store)
    old = "user/deploys-go-out-on-tuesday"
    move = proposal(ProposalKind.REKEY, old, "Deploys go out on Tuesday.", new_key="user/deploy/day")
    item = (await nights.propose(run, move)).id

    decided = await store.client.accept(item)

    assert (decided.decision, decided.written) == ("accepted", None)
    assert (await store.client.current_fact("user/deploy/day")).trust is Trust.AGENT_OBSERVED
    with pytest.raises(NotFound):
        await store.client.current_fact(old)
    assert (await store.client.review_queue()).items == ()


async def test_rejected_rekey_is_not_proposed_again_but_another_is(local: Open) -> None:
    await local.write("fish", "user/fish")
    nights, run = await begun(local)
    move = proposal(ProposalKind.REKEY, "user/fish", "fish", new_key="user/shell")
    await local.client.reject((await nights.propose(run, move)).id)

    with pytest.raises(Tombstoned):
        await nights.propose(run, move)
    other = move.model_copy(update={"new_key": "user/terminal/shell"})
    assert (await nights.propose(run, other)).verb is ProposeVerb.QUEUED


async def test_accepted_merge_speaks_under_one_key_and_the_others_sleep_with_their_versions(store: Open) -> None:
    await store.write("We deploy on Tuesday.", "user/a")
    await store.write("Deploys are on Tuesdays.", "user/b")
    nights, run = await begun(store)
    merge = proposal(ProposalKind.MERGE, "user/a", "We deploy on Tuesdays.", others=["user/b"])

    decided = await store.client.accept((await nights.propose(run, merge)).id)

    assert decided.written is not None and decided.written.verb is Verb.SUPERSEDED
    assert (await store.client.current_fact("user/a")).body == "We deploy on Tuesdays."
    asleep = await store.client.current_fact("user/b")
    assert (asleep.status, asleep.body) == (Status.DORMANT, "Deploys are on Tuesdays.")
    assert len((await store.client.history("user/a")).versions) == 2


async def test_forget_takes_the_text_out_of_what_undoes_a_night(home: Home) -> None:
    async with opened(home) as store:
        await store.write("zebra stripes", "user/animal", trust=Trust.AGENT_OBSERVED)
        nights, run = await begun(store)
        await nights.mark(run, DreamMark(key="user/animal", version=1, status=Status.DORMANT))
        await nights.finish(run, DONE)
        assert any(b"zebra" in data for data in tree(home.dream).values())
        preview = await store.client.preview_forget(ForgetKeys(keys=("user/animal",)))
        assert preview.confirm
        await store.client.forget(ConfirmForget(keys=("user/animal",), confirm=preview.confirm))

        assert not any(b"zebra" in data for data in tree(home.root).values())
        assert (await nights.undo(run)).restored_files == 0


async def test_report_is_of_the_day_and_holds_what_each_run_said(local: Open) -> None:
    nights, first = await begun(local)
    record = await nights.finish(first, DONE)
    _, second = await begun(local)
    await nights.finish(second, FinishRun(state=RunState.STOPPED, lines=("- stopped",), counts={"written": 3}))

    text = (local.home.root / "store" / str(record.report)).read_text()
    assert text.index(first) < text.index("- nothing") < text.index(second) < text.index("- stopped")
    assert [run.counts for run in (await nights.runs()).runs] == [{"written": 3}, {}]


async def test_ledger_adds_up_the_calls_of_a_day(local: Open) -> None:
    nights = NightClient(local.bus)
    call = Spend(provider="openai", model="m", purpose="extract", input_tokens=100, output_tokens=10, usd=0.5)
    await nights.spend(call)
    await nights.spend(call.model_copy(update={"usd": None}))

    spent = await nights.spent(f"{datetime.now(UTC):%Y-%m-%d}")

    assert (spent.calls, spent.tokens, spent.usd, spent.unpriced) == (2, 220, 0.5, 1)
    assert (await nights.spent("2001-01-01")).calls == 0


def _pin(key: str) -> Mark:
    return Mark(key=key, pinned=True)
