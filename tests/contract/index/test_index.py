"""What `bead.clients.index` promises, whichever way it goes."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from bead.bus.transport import call
from bead.clients.index import IndexClient
from bead.errors import BadRequest
from bead.facts import Trust
from bead.recall import Cue, CueSource
from bead.turns import Role
from bead.wire.episodes import WriteEpisode
from bead.wire.index import PinnedRequest, RecallRequest
from bead.wire.store import AppendTurn, WriteFact
from bead_index.access import SCOPES
from tests.fakes.store import FakeStore

FIELD = Path(__file__).parents[2] / "vectors" / "field"


def recall_for(text: str, project: str = "shop-api") -> RecallRequest:
    return RecallRequest(owner="me", project=project, session="s", cues=(Cue(CueSource.PERSON, text),))


def lines(case: str, name: str) -> list[str]:
    return (FIELD / case / name).read_text(encoding="utf-8").split("\n")[:-1]


async def store_facts(store: FakeStore, index: IndexClient, case: str) -> None:
    for line in lines(case, "facts.txt"):
        key, body = line.split(" | ", 1)
        await store.client.write_fact(WriteFact(key=key, body=body))
    assert await index.applied(store.seq)


async def test_health_is_ready_once_the_copy_is_whole(index: IndexClient, store: FakeStore) -> None:
    assert await index.applied(store.seq)

    health = await index.health()

    assert (health.name, health.ready, health.home_id, health.degraded) == ("index", True, "home-1", ())


async def test_everyday_punctuation_is_no_syntax(index: IndexClient, store: FakeStore) -> None:
    """Every line is a question somebody asked; none may be an error, in search or in recall."""
    await store_facts(store, index, "B02")

    for query in lines("B02", "queries.txt"):
        await index.search(query)
        await index.search(query, project="shop-api", limit=1)
        await index.recall(recall_for(query))


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("POL-358", "project/shop-api/ticket-key"),
        ("docs/current.md", "project/shop-api/readme"),
        ('current.md "unfinished', "project/shop-api/readme"),
        ("don't use agents", "user/style"),
        ("grammar::fa", "project/shop-api/cpp"),
        ("C++", "project/shop-api/cpp"),
        ("NOT", "project/shop-api/readme"),
    ],
)
async def test_words_with_punctuation_find_their_fact(
    index: IndexClient, store: FakeStore, query: str, key: str
) -> None:
    await store_facts(store, index, "B02")

    assert (await index.search(query)).hits[0].id == key


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("is POL-358 done?", "project/shop-api/ticket-key"),
        ("please look into docs/current.md", "project/shop-api/readme"),
        ("does grammar::fa compile", "project/shop-api/cpp"),
    ],
)
async def test_words_with_punctuation_recall_their_fact(
    index: IndexClient, store: FakeStore, query: str, key: str
) -> None:
    await store_facts(store, index, "B02")

    assert [fact.key for fact in (await index.recall(recall_for(query))).facts] == [key]


async def test_words_of_scripts_without_blanks_are_found(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B22")

    for line in lines("B22", "queries.tsv")[1:]:
        query, ending = line.split("\t")
        assert (await index.search(query)).hits[0].id.endswith(ending), query


async def test_words_of_scripts_without_blanks_recall_their_fact(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B22")

    answer = await index.recall(recall_for("用户身份数据在哪里？"))  # noqa: RUF001 -- a question as it is written

    assert [fact.key for fact in answer.facts] == ["project/shop-api/db"]


@pytest.mark.parametrize("query", ["户", "据", "在"])
async def test_a_single_sign_is_found_wherever_it_stands(index: IndexClient, store: FakeStore, query: str) -> None:
    await store_facts(store, index, "B22")

    assert [hit.id for hit in (await index.search(query)).hits] == ["project/shop-api/db"]


async def test_the_beginning_of_a_word_is_found_where_no_whole_word_is(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B02")

    assert [hit.id for hit in (await index.search("gramm")).hits] == ["project/shop-api/cpp"]


async def test_a_snippet_marks_words_of_the_original_text(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B02")

    assert (await index.search("pol-358")).hits[0].snippet == "Tickets look like [POL-358] and ORD-77."


async def test_the_active_project_ranks_first_and_others_stay(index: IndexClient, store: FakeStore) -> None:
    for project in ("alpha", "beta"):
        await store.client.write_fact(WriteFact(key="birds", body="Herons nest in March.", project=project))
    await store.client.write_fact(WriteFact(key="user/unrelated", body="Storks migrate."))
    assert await index.applied(store.seq)

    for project in ("alpha", "beta"):
        hits = (await index.search("herons", project=project)).hits
        assert [hit.project for hit in hits] == [project, "beta" if project == "alpha" else "alpha"]
        assert hits[0].score > hits[1].score


async def test_what_the_person_stated_ranks_before_what_was_inferred(index: IndexClient, store: FakeStore) -> None:
    for name, trust in (("a", Trust.DREAM_INFERRED), ("b", Trust.USER_STATED)):
        await store.client.write_fact(WriteFact(key=f"user/birds-{name}", body="Herons nest in March.", trust=trust))
    await store.client.write_fact(WriteFact(key="user/unrelated", body="Storks migrate."))
    assert await index.applied(store.seq)

    assert [hit.id for hit in (await index.search("herons")).hits] == ["user/birds-b", "user/birds-a"]


async def test_a_turn_is_found_to_its_end_and_once(index: IndexClient, store: FakeStore) -> None:
    text = "herons everywhere\n" * 400 + "and a single ptarmigan"
    turn = AppendTurn(session="s1", turn_id="t1", role=Role.USER, text=text, at="2026-11-05T09:00:00Z", project="shop")
    source = (await store.client.append_turn(turn)).source
    assert await index.applied(store.seq)

    for query in ("ptarmigan", "herons"):
        (hit,) = (await index.search(query)).hits
        assert (hit.kind, hit.id, hit.project) == ("turn", source, "shop")
    assert "[ptarmigan]" in (await index.search("ptarmigan")).hits[0].snippet


async def test_search_answers_at_most_what_was_asked_for(index: IndexClient, store: FakeStore) -> None:
    for number in range(6):
        await store.client.write_fact(WriteFact(key=f"user/n{number}", body=f"heron {number}"))
    assert await index.applied(store.seq)

    assert len((await index.search("heron", limit=3)).hits) == 3


async def test_pinned_facts_come_over_the_bus(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B22")

    answer = await index.pinned(PinnedRequest(owner="me", project="shop-api", project_facts="off"))

    assert [(fact.key, fact.body) for fact in answer.facts] == [("user/lang", "回答请使用简体中文。")]


async def test_a_rebuild_returns_when_everything_is_back(index: IndexClient, store: FakeStore) -> None:
    await store_facts(store, index, "B02")

    await index.rebuild()

    assert (await index.search("POL-358")).hits


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"owner": 1}', b"\xff"])
@pytest.mark.parametrize("path", ["/v1/recall", "/v1/pinned"])
async def test_a_malformed_request_is_refused_without_quoting_it(index: IndexClient, path: str, body: bytes) -> None:
    with pytest.raises(BadRequest):
        await call(index._bus, "POST", path, body)


async def test_a_refusal_names_the_place_and_never_the_text(index: IndexClient) -> None:
    body = msgspec.json.encode(
        {"owner": "me", "project": "p", "session": "s", "cues": [{"source": "zebu", "text": ""}]}
    )

    with pytest.raises(BadRequest) as refusal:
        await call(index._bus, "POST", "/v1/recall", body)

    assert "cues" in refusal.value.message and "zebu" not in refusal.value.message


def test_the_proxy_may_recall_but_not_search_or_rebuild() -> None:
    assert "POST /v1/recall".startswith(SCOPES["proxy"])
    assert not "GET /v1/search".startswith(SCOPES["proxy"])
    assert not "POST /v1/rebuild".startswith(SCOPES["proxy"])


async def test_superseded_versions_are_found_only_when_asked_for(index: IndexClient, store: FakeStore) -> None:
    for body in ("Deploys go out on heronday.", "Deploys go out on storkday.", "Deploys go out on ibisday."):
        await store.client.write_fact(WriteFact(key="user/deploy-day", body=body, trust=Trust.USER_STATED))
    assert await index.applied(store.seq)

    plain = await index.search("heronday")
    history = await index.search("heronday", all_versions=True)
    everything = await index.search("deploys", all_versions=True)

    assert plain.hits == ()
    (old,) = history.hits
    assert (old.id, old.version, old.snippet) == ("user/deploy-day@v1", 1, "Deploys go out on [heronday].")
    assert old.since is not None and old.until is not None and old.since < old.until
    assert {hit.id for hit in everything.hits} == {"user/deploy-day", "user/deploy-day@v1", "user/deploy-day@v2"}


async def test_as_of_finds_what_held_at_that_time(index: IndexClient, store: FakeStore) -> None:
    for day, body in ((1, "Deploys go out on heronday."), (9, "Deploys go out on storkday.")):
        store.clock = datetime(2026, 11, day, 9, tzinfo=UTC)
        await store.client.write_fact(WriteFact(key="user/deploy-day", body=body, trust=Trust.USER_STATED))
    assert await index.applied(store.seq)

    found = {
        date: [hit.snippet for hit in (await index.search("deploys", as_of=date)).hits]
        for date in ("2026-10-31", "2026-11-01", "2026-11-09T08:00:00Z", "2026-11-10")
    }

    old, new = "[Deploys] go out on heronday.", "[Deploys] go out on storkday."
    assert found == {"2026-10-31": [], "2026-11-01": [old], "2026-11-09T08:00:00Z": [old], "2026-11-10": [new]}
    with pytest.raises(BadRequest):
        await index.search("deploys", as_of="yesterday")


async def test_explanation_gives_the_score_as_bm25_times_boosts(index: IndexClient, store: FakeStore) -> None:
    for project in ("shop", "mill"):
        await store.client.write_fact(
            WriteFact(key=f"project/{project}/day", body="Deploy herons on Tuesday.", trust=Trust.USER_STATED)
        )
    assert await index.applied(store.seq)

    answer = await index.search("heron storks", project="shop", explain=True)

    assert answer.terms == {"heron": 2, "stork": 0}
    best, other = answer.hits
    assert best.why is not None and other.why is not None
    assert best.why.terms == ("heron",)
    assert best.why.boosts == {"fact": 1.5, "trust": 1.3}
    assert other.why.boosts == {"fact": 1.5, "trust": 1.3, "other project": 0.5}
    assert best.score == pytest.approx(best.why.bm25 * 1.5 * 1.3, rel=0.01)


async def test_episodes_are_found_replaced_and_gone_with_the_store(index: IndexClient, store: FakeStore) -> None:
    written = await store.client.write_episode(
        WriteEpisode(session="s1", project="shop", lesson="Herons migrate twice.")
    )
    assert await index.applied(store.seq)
    (hit,) = (await index.search("heron")).hits
    await store.client.write_episode(WriteEpisode(session="s1", project="shop", lesson="Storks migrate once."))
    assert await index.applied(store.seq)
    replaced = [[each.kind for each in (await index.search(word)).hits] for word in ("heron", "stork")]
    seq = await store.episodes.drop(written.id)
    assert await index.applied(seq)

    assert (hit.kind, hit.id, hit.project) == ("episode", written.source, "shop")
    assert replaced == [[], ["episode"]]
    assert (await index.search("stork")).hits == ()
