"""The gates through the service: facts from files, steps over the bus, and what the evaluation says of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bead.bus.transport import InProcessTransport
from bead.clients.index import IndexClient
from bead.facts import FactType, TriggerCard, Trust
from bead.home import Home
from bead.recall import Cue, CueSource
from bead.settings import IndexSettings
from bead.wire.index import RecallAnswer, RecallRequest
from bead.wire.store import WriteFact
from bead_evals.recall import gates
from bead_evals.recall.scoring import Score, score
from bead_evals.recall.suites import Suite, load
from bead_index.app import create_service
from bead_index.gate.index import Subject
from tests.contract.store.opening import Open, opened

CARRIER = WriteFact(
    key="project/shop/carrier",
    body="Parcels travel with Flamingo Express only.",
    type=FactType.PROJECT,
    trust=Trust.USER_STATED,
    when=TriggerCard(say=("Add another delivery company.",), do=("carriers.yaml",), unless=("flamingo",)),
)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Open]:
    async with opened(Home(tmp_path / "home")) as running:
        yield running


@asynccontextmanager
async def indexed(home: Home, store: Open, settings: IndexSettings) -> AsyncIterator[IndexClient]:
    """An index that has read everything in `store`."""
    service = create_service(settings, home, store.client, "home-1")
    async with service.running():
        client = IndexClient(InProcessTransport("index", service.app))
        assert await client.applied((await store.client.manifest()).seq, wait_s=20)
        yield client


async def ask(index: IndexClient, *cues: Cue, project: str = "shop", session: str = "s") -> RecallAnswer:
    return await index.recall(RecallRequest(owner="me", project=project, session=session, cues=cues))


def person(text: str) -> Cue:
    return Cue(CueSource.PERSON, text)


@pytest.mark.parametrize(
    ("subjects", "row"), [("blind", "weights in use, blind cards"), ("rule", "weights in use, rule cards")]
)
async def test_the_service_chooses_what_the_evaluation_says(
    tmp_path: Path, store: Open, subjects: str, row: str
) -> None:
    """A suite written into files, its turns asked as one session: the row of the table, but for one turn at most."""
    (suite,) = load(["plotline"])
    found = gates.with_blind_cards(suite) if subjects == "blind" else gates.without_cards(suite)
    expected = next(each for each in gates.rows([suite], seed=1) if each.name == row).scores[0]

    measured = await through_the_service(tmp_path / "home", store, suite, found)

    assert measured.turns == expected.turns
    assert measured.needed == expected.needed
    assert abs(measured.found - expected.found) <= 1
    assert abs(measured.false_turns - expected.false_turns) <= 1


async def through_the_service(home: Path, store: Open, suite: Suite, subjects: Sequence[Subject]) -> Score:
    names: dict[str, str] = {}
    for subject in subjects:
        fact = gates.version(suite.name, subject)
        names[fact.key] = subject.key
        await store.client.write_fact(
            WriteFact(key=fact.key, body=fact.body, type=fact.type, trust=fact.trust, when=subject.card)
        )
    async with indexed(Home(home), store, IndexSettings()) as index:
        answers = [await ask(index, *turn.cues, project=suite.name) for turn in suite.turns]
    return score(suite.turns, ([names[fact.key] for fact in answer.facts] for answer in answers))


async def test_a_written_card_brings_its_fact_in_other_words_and_says_why(tmp_path: Path, store: Open) -> None:
    await store.client.write_fact(CARRIER)
    async with indexed(Home(tmp_path / "home"), store, IndexSettings()) as index:
        (fact,) = (await ask(index, person("can you add a second delivery company?"))).facts
        unrelated = await ask(index, person("why is the header of the page blue?"), session="t")

    assert fact.key == CARRIER.key
    assert 0.5 <= fact.score <= 1
    assert "Add another delivery company." in fact.reason
    assert "Add another delivery company." in fact.terms
    assert not unrelated.facts


async def test_a_rival_has_a_reason_and_stays_under_the_threshold(tmp_path: Path, store: Open) -> None:
    await store.client.write_fact(CARRIER)
    async with indexed(Home(tmp_path / "home"), store, IndexSettings()) as index:
        answer = await ask(index, person("is there another parcel on the way?"))

    assert not answer.facts
    (rejected,) = answer.rejected
    assert 0 < rejected.score < 0.5
    assert rejected.reason.startswith("not sure enough: ")


async def test_the_strict_gate_can_be_had_by_setting(tmp_path: Path, store: Open) -> None:
    await store.client.write_fact(CARRIER)
    async with indexed(Home(tmp_path / "home"), store, IndexSettings(gate="strict")) as index:
        by_card = await ask(index, person("can you add a second delivery company?"))
        (by_words,) = (await ask(index, person("ship it with flamingo express"))).facts

    assert not by_card.facts
    assert by_words.reason == "evidence 1.25 reaches 1.2"


async def test_a_card_by_rule_is_never_written_into_the_file(tmp_path: Path, store: Open) -> None:
    bare = WriteFact(key="user/tests", body="Run the tests with `just ci`, not `cargo test`.", trust=Trust.USER_STATED)
    await store.client.write_fact(bare)
    async with indexed(Home(tmp_path / "home"), store, IndexSettings()) as index:
        answer = await ask(index, Cue(CueSource.TOOL_INPUT, "cargo test --workspace"))

    assert {each.uid for each in answer.rejected} | {fact.uid for fact in answer.facts}
    assert not (await store.client.current_fact("user/tests")).when
    (file,) = (tmp_path / "home" / "store" / "facts" / "user" / "tests").glob("*.md")
    assert "when" not in file.read_text()
