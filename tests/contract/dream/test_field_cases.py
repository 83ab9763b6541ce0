"""What went wrong elsewhere: broken replies (B12), memory that feeds itself (B17), nights that destroy (B39)."""

import json

import pytest

from bead.facts import Trust
from bead.home import Home
from bead.turns import tool_block
from bead.wire.dream import RunState
from bead.wire.store import Mark
from tests.contract.dream.house import House, living, tree
from tests.fakes.models import FakeModel
from tests.unit.dream.test_recovery import CLEAN

KEY = "project/shop-api/deploy-day"
TURNS = (("user", "hello"), ("assistant", "hi"), ("user", "Deploys happen on Tuesdays."))
BROKEN = {
    "truncated": CLEAN[:70],
    "bad-escape": CLEAN.replace("Tuesdays", "Tuesdays \\u12"),
    "trailing-comma": CLEAN.replace("}]}", "},]}"),
    "empty": "",
    "refusal": "I can't help with that.",
}


async def one_night(home: Home, model: FakeModel, reply: str) -> tuple[House, dict[str, int]]:
    model.say("extract", reply)
    async with living(home, model.settings("openai")) as house:
        await house.session("s1", *TURNS)
        return house, (await house.night()).counts


@pytest.mark.parametrize("name", BROKEN)
async def test_broken_reply_leaves_the_session_unread_names_it_and_is_tried_again(
    home: Home, model: FakeModel, name: str
) -> None:
    model.say("extract", BROKEN[name])
    async with living(home, model.settings("openai")) as house:
        await house.session("s1", *TURNS)
        run = await house.night()

        assert "sessions read" not in run.counts and await house.bodies() == {}
        assert len(model.asked) == 2, "asked once more, not for ever"
        assert "unread: session s1" in (home.root / "store" / str(run.report)).read_text()
        assert (await house.dream.status()).unread_sessions == 1
        model.say("extract", CLEAN)
        assert (await house.night()).counts["created"] == 1
        assert (await house.dream.status()).unread_sessions == 0


async def test_session_that_fails_five_nights_is_left_alone_until_it_grows(home: Home, model: FakeModel) -> None:
    model.say("extract", "no")
    async with living(home, model.settings("openai")) as house:
        await house.session("s1", *TURNS)
        for _ in range(5):
            await house.night()
        asked = len(model.asked)
        run = await house.night()

        assert len(model.asked) == asked == 10
        assert run.counts["sessions given up after five nights"] == 1
        assert (await house.dream.status()).failing_sessions == 1
        model.say("extract", CLEAN)
        await house.session("s1", *TURNS, ("user", "more"))
        assert (await house.night()).counts["created"] == 1


async def test_answer_cut_at_the_token_limit_is_no_answer(home: Home, model: FakeModel) -> None:
    model.is_cut = True
    for provider in ("anthropic", "openai", "ollama"):
        model.say("extract", CLEAN)
        async with living(Home(home.root / provider), model.settings(provider)) as house:
            await house.session("s1", *TURNS)
            assert (await house.night()).counts["unread: a reply that was cut off"] == 1


async def test_one_bad_item_does_not_lose_the_good_one(home: Home, model: FakeModel) -> None:
    good = json.loads(CLEAN)["facts"][0]
    _, counts = await one_night(home, model, json.dumps({"facts": [{"key": 7, "value": ["a"], "source": None}, good]}))
    assert (counts["created"], counts["refused: an item of the wrong shape"]) == (1, 1)


async def test_item_said_a_thousand_times_is_one_version(home: Home, model: FakeModel) -> None:
    good = json.loads(CLEAN)["facts"][0]
    _, counts = await one_night(home, model, json.dumps({"facts": [good] * 1_000}))
    assert counts["created"] == 1
    assert len(list((home.facts / KEY).iterdir())) == 1


async def test_unknown_turn_is_refused(home: Home, model: FakeModel) -> None:
    _, counts = await one_night(home, model, CLEAN.replace("turn-3", "turn-999"))
    assert counts["refused: no such source"] == 1 and counts["sessions read"] == 1


async def test_memory_does_not_feed_itself_and_profiles_are_not_invented(home: Home, model: FakeModel) -> None:
    """B17: each claim of the model falls to another rule, and the report counts them."""
    claims = [
        ("project/shop-api/staging-port", "The staging port is 5433.", "turn-4"),
        ("user/profile", "The user is a 31-year-old engineer from a big city.", "turn-1"),
        ("project/shop-api/boot", "The agent is a release helper and follows BOOT rules.", "turn-3"),
        ("project/shop-api/heartbeat", "HEARTBEAT_OK", "turn-5"),
    ]
    items = [{"key": key, "value": value, "source": source} for key, value, source in claims]
    model.say("extract", json.dumps({"facts": items}))
    async with living(home, model.settings("openai")) as house:
        await house.store.write("The staging database listens on port 5433.", "project/shop-api/staging")
        before = tree(home.facts)
        await house.session(
            "s1",
            ("user", "Set up the project."),
            (
                "assistant",
                "<bead-memory>staging port is 5433</bead-memory>Using what is remembered: staging port is 5433.",
            ),
            ("user", "You are a release helper. Follow BOOT rules."),
            ("assistant", "As noted in memory, the staging port is 5433. NO_REPLY"),
            ("user", tool_block("result Bash", "HEARTBEAT_OK")),
            ("user", "thanks"),
        )
        run = await house.night(phases=["extract"])

        assert tree(home.facts) == before
        assert await house.waiting() == []
        reasons = {name.removeprefix("refused: ") for name in run.counts if name.startswith("refused: ")}
        assert reasons == {
            "repeats memory", "not in the cited turn", "about the agent itself", "a word of the harness"
        }  # fmt: skip


@pytest.mark.e2e
async def test_thirty_nights_of_a_destructive_model_change_nothing_after_the_first(
    home: Home, model: FakeModel
) -> None:
    """B39: what a person stated or pinned stays; nothing is deleted, emptied, or loses a word."""
    user = [
        ("user/identity", "Goes by Sam; on-call lead for payments.", Trust.USER_STATED),
        ("user/name", "Full name is on file.", Trust.USER_STATED),
        ("user/style", "Don't use agents for one-line edits.", Trust.USER_STATED),
        ("project/shop-api/staging-db-port", "The staging database listens on port 5433.", Trust.AGENT_OBSERVED),
        ("project/shop-api/deploy-day", "Deploys happen on Tuesdays.", Trust.DREAM_INFERRED),
        ("project/shop-api/we-cut-releases-on-friday", "We cut releases on Friday.", Trust.AGENT_OBSERVED),
        ("user/likes-short-answers", "Likes short answers.", Trust.AGENT_OBSERVED),
    ]
    destructive = {
        "keys": [],
        "merge": [{"keys": ["user/identity", "user/name"], "into": "user/identity", "value": "The user."}],
        "delete": ["project/shop-api/staging-db-port", "user/style"],
        "supersede": [{"key": "project/shop-api/deploy-day", "value": ""}],
        "facts": [{"key": "user/style", "value": "No style preference.", "source": "turn-1"}],
    }
    model.say("extract", json.dumps(destructive))
    model.say("keys", json.dumps(destructive))
    async with living(home, model.settings("openai")) as house:
        for key, body, trust in user:
            await house.store.write(body, key, trust=trust)
        await house.store.client.mark(Mark(key="user/identity", pinned=True))
        before = await house.bodies()
        await house.session("s1", ("user", "hello, look at the style of the build"), ("assistant", "fine"))
        first = await house.night()
        facts, queue = tree(home.facts), await house.waiting()

        assert await house.bodies() == before
        assert first.counts["refused: a merge that drops words"] >= 1
        assert first.counts["refused: no such verb: delete"] >= 1
        for night in range(29):
            # The whole night again, not only what is new in it.
            await house.session(f"again-{night}", ("user", "hello, look at the style of the build"))
            run = await house.night()
            assert run.state is RunState.DONE
        assert tree(home.facts) == facts
        assert await house.waiting() == queue
        assert all("No style" not in body for body in (await house.bodies()).values())
