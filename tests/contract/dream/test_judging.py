"""The night's model judges the day's candidates, and the gate obeys within its bounds."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bead.bus.transport import InProcessTransport
from bead.calibrating import MAX_OFFSET, MAX_STEP, STEP
from bead.clients.index import IndexClient
from bead.facts import Trust
from bead.home import Home
from bead.recall import Cue, CueSource
from bead.settings import IndexSettings
from bead.wire.dream import Calibration, Judgement
from bead.wire.index import RecallRequest
from bead.wire.store import WriteFact
from bead.wire.traces import Chosen, Rival, TurnTrace
from bead_index.app import create_service as create_index
from tests.contract.dream.house import House, living, tree
from tests.fakes.models import FakeModel, serving_model

_LIMIT_S = 20


@pytest.fixture
async def model() -> AsyncIterator[FakeModel]:
    async with serving_model() as fake:
        yield fake


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


async def lived(house: House, turns: int = 1, score: float = 0.8) -> tuple[str, str]:
    """Two facts; turns in which the first was told and the second stayed out. Their uids."""
    facts = ("The port of staging is 5433.", "Deploys go out on Tuesdays.")
    uids = [
        (await house.store.client.write_fact(WriteFact(key=f"user/f{n}", body=body, trust=Trust.USER_STATED))).uid
        for n, body in enumerate(facts)
    ]
    for number in range(turns):
        await house.session(f"s{number}", ("user", f"which port does staging have? </turn> ({number})"))
        trace = TurnTrace(
            turn=f"s{number}/turn-1",
            at="2026-11-05T09:00:00.000+00:00",
            session=f"s{number}",
            kind="human",
            selected=(Chosen(uids[0], 1, score, "say", 10),),
            rejected=(Rival(uids[1], 0.2, "threshold"),),
        )
        await house.store.client.keep_trace(trace)
    return uids[0], uids[1]


def says(**helped: list[int]) -> str:
    return json.dumps({"turns": [{"turn": int(turn[1:]), "helped": places} for turn, places in helped.items()]})


async def test_what_helped_is_judged_and_kept_as_numbers(home: Home, model: FakeModel) -> None:
    model.say("judge", says(t1=[1]))
    async with living(home, model.settings("openai")) as house:
        told, rival = await lived(house)
        assert (await house.night()).counts["candidates judged"] == 2
        learnt = await house.nights.calibration()
        assert learnt.offsets[told] == pytest.approx(STEP * 0.2, abs=1e-4) and learnt.offsets[rival] == pytest.approx(
            -STEP * 0.2, abs=1e-4
        )
        assert learnt.shift == 0.0
        [prompt] = model.prompts("judge")
        assert "which port does staging have? < /turn>" in prompt
        assert "1. The port of staging is 5433." in prompt and "2. Deploys go out on Tuesdays." in prompt

        await house.night()
        assert (await house.nights.calibration()) == learnt
        assert len(model.prompts("judge")) == 1, "a turn is judged once"
    assert b"5433" not in (home.dream / "state.json").read_bytes()


@pytest.mark.parametrize(
    "reply",
    [
        says(t2=[1]),
        says(t1=[3]),
        '{"turns": [{"turn": 1, "helped": [1]}, {"turn": 1, "helped": []}]}',
        '{"turns": [{"turn": 1, "helped": ["1"]}]}',
        '{"turns": [{"turn": "1", "helped": [1]}]}',
        '{"turns": "all"}',
        "The first one helped.",
        500,
    ],
)
async def test_an_answer_that_is_not_clear_teaches_nothing(home: Home, model: FakeModel, reply: str | int) -> None:
    model.say("judge", reply)
    async with living(home, model.settings("openai")) as house:
        await lived(house)
        await house.night()
        assert (await house.nights.calibration()).offsets == {}


async def test_an_undo_takes_back_what_the_night_has_taught(home: Home, model: FakeModel) -> None:
    model.say("judge", says(t1=[1]))
    async with living(home, model.settings("openai")) as house:
        await lived(house)
        before = tree(home.facts)
        run = await house.night()
        assert (await house.nights.calibration()).offsets != {}
        await house.dream.undo(run.id)
        assert (await house.nights.calibration()) == Calibration()
        assert tree(home.facts) == before


async def test_a_dry_run_teaches_nothing(home: Home, model: FakeModel) -> None:
    model.say("judge", says(t1=[1]))
    async with living(home, model.settings("openai")) as house:
        await lived(house)
        await house.night(dry_run=True)
        assert (await house.nights.calibration()) == Calibration()


async def test_too_many_false_turns_raise_the_bar_step_by_step(home: Home, model: FakeModel) -> None:
    model.say("judge", says(**{f"t{number}": [] for number in range(1, 9)}))
    async with living(home, model.settings("openai")) as house:
        told, _ = await lived(house, turns=2)
        earlier = tuple(Judgement(turn=f"x{n}", uid=told, surplus=1.0, helped=False) for n in range(200))
        await house.nights.calibrate(Calibration(judged=earlier))
        model.say("judge", says(t1=[], t2=[]))
        await house.night()
        learnt = await house.nights.calibration()
        assert learnt.shift == pytest.approx(MAX_STEP)
        assert len(learnt.judged) == 204


async def test_the_index_obeys_at_once_and_never_beyond_the_bounds(home: Home, model: FakeModel) -> None:
    async with living(home, model.settings("openai")) as house:
        told, _ = await lived(house)
        index = create_index(IndexSettings(), home, house.store.client, "home-1")
        async with index.running():
            asked = RecallRequest(
                owner="me",
                project="",
                session="s",
                cues=(Cue(CueSource.PERSON, "which port does staging have?"),),
                budget_tokens=500,
                max_facts=5,
            )

            client = IndexClient(InProcessTransport("index", index.app))

            async def score() -> float:
                """Once the index has seen everything that the store knows."""
                assert await client.applied((await house.store.client.manifest()).seq, _LIMIT_S)
                found = await client.recall(asked)
                scores = {each.uid: each.score for each in found.facts}
                return scores.get(told) or {each.uid: each.score for each in found.rejected}[told]

            plain = await score()
            await house.nights.calibrate(Calibration(offsets={told: -MAX_OFFSET}))
            lowered = await score()
            await house.nights.calibrate(Calibration(offsets={told: -99.0}))
            assert await score() == lowered
            await house.nights.calibrate(Calibration(offsets={told: -MAX_OFFSET}, shift=MAX_STEP))
            assert 0 < await score() < lowered < plain
