"""An explanation says what recall would say, names the terms, and leaves no trace in later answers."""

from bead.clients.index import IndexClient
from bead.facts import TriggerCard, Trust
from bead.recall import Cue, CueSource
from bead.wire.explain import ExplainRequest
from bead.wire.index import RecallRequest
from bead.wire.store import WriteFact
from bead_index.access import SCOPES
from tests.fakes.store import FakeStore

CARD = TriggerCard(say=("run the tests of the shop",), do=("pytest",), unless=("-m fast",))
CUES = (Cue(CueSource.PERSON, "Please run the tests of the shop."), Cue(CueSource.TOOL_INPUT, "pytest tests/"))


async def stored(store: FakeStore, index: IndexClient) -> None:
    bodies = {"tests": "Tests run with `make quick`, never by pytest itself.", "colour": "The brand colour is teal."}
    for name, body in bodies.items():
        when = CARD if name == "tests" else TriggerCard(say=("choose the brand colour",))
        await store.client.write_fact(
            WriteFact(key=f"project/shop/{name}", body=body, when=when, trust=Trust.USER_STATED)
        )
    assert await index.applied(store.seq)


def request(**fields: object) -> ExplainRequest:
    return ExplainRequest(owner="me", project="shop", cues=CUES, **fields)  # type: ignore[arg-type]


async def test_explanation_selects_what_recall_selects(index: IndexClient, store: FakeStore) -> None:
    await stored(store, index)

    why = await index.explain(request())
    given = await index.recall(RecallRequest(owner="me", project="shop", session="s", cues=CUES))

    assert [each.key for each in why.selected] == [fact.key for fact in given.facts] == ["project/shop/tests"]
    (chosen,) = why.selected
    assert chosen.score == given.facts[0].score >= why.threshold == 0.5
    assert (chosen.reason, chosen.terms) == (given.facts[0].reason, given.facts[0].terms)
    assert chosen.tokens > 0
    assert "shop" in why.terms["person"] and "pytest" in why.terms["tool_input"]


async def test_a_fact_already_seen_is_a_rejected_rival_with_that_reason(index: IndexClient, store: FakeStore) -> None:
    await stored(store, index)
    uid = store.current_fact("project/shop/tests").uid

    why = await index.explain(request(seen=(uid,)))

    assert [(each.key, each.reason) for each in why.rejected] == [
        ("project/shop/tests", "already in this conversation")
    ]


async def test_what_only_the_fact_can_have_brought_is_a_sign_of_use(index: IndexClient, store: FakeStore) -> None:
    await stored(store, index)

    used = await index.explain(request(then="I will call make quick now."))
    unused = await index.explain(request(then="Running pytest tests/ now."))

    assert {"make", "quick"} <= set(used.selected[0].used)
    assert unused.selected[0].used == ()


async def test_explaining_changes_no_later_answer(index: IndexClient, store: FakeStore) -> None:
    await stored(store, index)
    asked = RecallRequest(owner="me", project="shop", session="explain", cues=CUES)
    follows = (Cue(CueSource.ASSISTANT, "I run make quick -m fast."),)

    for _ in range(3):
        await index.explain(request(earlier=(follows,)))

    assert [fact.key for fact in (await index.recall(asked)).facts] == ["project/shop/tests"]


def test_only_a_person_may_ask_why() -> None:
    assert "POST /v1/explain" in SCOPES["curate"]
    assert all("POST /v1/explain" not in SCOPES[scope] for scope in ("proxy", "dream", "scheduler"))
