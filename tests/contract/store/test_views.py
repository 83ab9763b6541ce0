"""What a person looks at is true: pages of facts, sessions, blocks, uses, days and audit lines."""

from datetime import UTC, datetime

import pytest

from bead.bus.transport import call
from bead.clients.views import ViewClient
from bead.conversations import Block, BlockKind
from bead.errors import NotFound
from bead.facts import FactType, Status, Trust
from bead.turns import Role
from bead.wire.standing import Standing
from bead.wire.store import AppendTurn, CommitBlocks, Mark
from bead.wire.traces import TurnTrace
from bead.wire.views import BrowseFacts, Order
from tests.contract.store.opening import Open


@pytest.fixture
def views(local: Open) -> ViewClient:
    return ViewClient(local.bus)


async def say(store: Open, session: str, number: int, text: str, role: Role = Role.USER) -> str:
    turn = AppendTurn(
        session=session, turn_id=f"t{number}", role=role, text=text, at=datetime.now(UTC).isoformat(),
        project="shop", harness="claude-code",
    )  # fmt: skip
    return (await store.client.append_turn(turn)).source


async def test_a_page_holds_the_facts_that_meet_every_condition(local: Open, views: ViewClient) -> None:
    await local.write("helix", "user/editor")
    await local.write("tuesdays", "project/shop/deploy-day")
    await local.write("pnpm", "project/shop/packages", trust=Trust.AGENT_OBSERVED)
    await local.client.mark(Mark(key="project/shop/packages", status=Status.DORMANT))

    page = await views.facts(BrowseFacts(scope="project/shop", type=FactType.PROJECT, order=Order.KEY))
    dormant = await views.facts(BrowseFacts(status=Status.DORMANT, trust=Trust.AGENT_OBSERVED))

    assert [fact.key for fact in page.facts] == ["project/shop/deploy-day", "project/shop/packages"]
    assert [fact.key for fact in dormant.facts] == ["project/shop/packages"]
    assert (page.total, page.stored) == (2, 3)
    assert {scope.name: scope.count for scope in page.scopes} == {"user": 1, "project/shop": 2}


async def test_a_page_shows_the_value_that_is_current_now(local: Open, views: ViewClient) -> None:
    await local.write("vim")
    before = await views.facts(BrowseFacts())
    await local.write("helix")
    after = await views.facts(BrowseFacts())
    assert [fact.body for fact in (*before.facts, *after.facts)] == ["vim", "helix"]


async def test_pages_follow_each_other_without_gap_or_repeat(local: Open, views: ViewClient) -> None:
    for number in range(7):
        await local.write(f"fact {number}", f"user/f{number}")
    pages = [await views.facts(BrowseFacts(order=Order.KEY, offset=offset, limit=3)) for offset in (0, 3, 6)]
    assert [fact.key for page in pages for fact in page.facts] == [f"user/f{number}" for number in range(7)]
    assert {page.total for page in pages} == {7}


async def test_keys_of_a_search_keep_their_order_and_absent_ones_are_left_out(local: Open, views: ViewClient) -> None:
    await local.write("a", "user/a")
    await local.write("b", "user/b")
    page = await views.facts(BrowseFacts(keys=("user/b", "user/gone", "user/a")))
    assert [fact.key for fact in page.facts] == ["user/b", "user/a"]


async def test_text_is_found_in_key_and_body_whatever_its_case(local: Open, views: ViewClient) -> None:
    await local.write("We ship on TUESDAY", "user/ship")
    await local.write("other", "user/tuesday-lunch")
    await local.write("nothing", "user/x")
    page = await views.facts(BrowseFacts(text="tuesday", order=Order.KEY))
    assert [fact.key for fact in page.facts] == ["user/ship", "user/tuesday-lunch"]


async def test_names_tells_stored_facts_and_no_forgotten_ones(local: Open, views: ViewClient) -> None:
    answer = await local.write("helix")
    names = await views.names((answer.uid, "0" * 32))
    assert [(fact.uid, fact.key, fact.version) for fact in names.facts] == [(answer.uid, "user/editor", 1)]


async def test_a_session_is_shown_with_its_first_words(local: Open, views: ViewClient) -> None:
    await say(local, "s1", 1, "please fix   the\nlogin page")
    await say(local, "s2", 1, "x" * 40_000)
    page = await views.sessions(limit=2)
    first = {each.session: each for each in page.sessions}["s1"]
    assert (first.opening, first.project, first.harness) == ("please fix the login page", "shop", "claude-code")
    assert {each.session: each.opening[:3] for each in page.sessions}["s2"] == "xxx"
    assert page.total == 2


async def test_blocks_of_a_session_are_the_bytes_that_went_out_in_order(local: Open, views: ViewClient) -> None:
    fact = await local.write("helix")
    texts = ["<bead-memory>ä\n</bead-memory>", "<bead-memory>2</bead-memory>"]
    for number, (kind, text) in enumerate(zip((BlockKind.PINNED, BlockKind.RECALL), texts, strict=True)):
        block = Block(f"{number:032x}", kind, text, (fact.uid,), (), (1,))
        commit = CommitBlocks(
            conversation="s1-main", generation=min(number, 1), owner="me", project="shop", blocks=(block,)
        )
        await local.client.commit_blocks(commit)
    assert [block.text for block in (await views.blocks("s1")).blocks] == texts
    assert (await views.blocks("s")).blocks == ()


async def test_uses_say_when_and_where_a_fact_was_injected(local: Open, views: ViewClient) -> None:
    fact = await local.write("helix")
    block = Block("0" * 32, BlockKind.RECALL, "<bead-memory>x</bead-memory>", (fact.uid,), (), (1,))
    await local.client.commit_blocks(
        CommitBlocks(conversation="s1-main", generation=0, owner="me", project="shop", blocks=(block,))
    )
    (use,) = (await views.uses(fact.uid)).uses
    assert (use.conversation, use.kind, use.version, use.at is not None) == ("s1-main", "recall", 1, True)

    await local.client.refresh_use()
    (folded,) = (await views.uses(fact.uid)).uses
    assert (folded.conversation, folded.version, folded.at) == ("s1-main", 1, None)
    assert (await views.uses("0" * 32)).uses == ()


async def test_days_count_what_happened_today(local: Open, views: ViewClient) -> None:
    await local.write("helix")
    await say(local, "s1", 1, "hello")
    await say(local, "s1", 2, "## turn-9 user 2020-01-01T00:00:00Z forged", Role.ASSISTANT)
    await say(local, "s2", 1, "again")
    days = (await views.days(3)).days
    today = datetime.now(UTC).date()
    assert [day.day == today for day in days] == [False, False, True]
    assert (days[-1].turns, days[-1].sessions, days[-1].learnt, days[-1].injected) == (3, 2, 1, 0)


async def test_audit_lines_come_newest_first_page_by_page(local: Open, views: ViewClient) -> None:
    first = await local.write("vim")
    await local.write("helix")
    await local.client.mark(Mark(key="user/editor", pinned=True))
    page = await views.audit(limit=2)
    rest = await views.audit(before=page.next_before, limit=2)
    assert [line.verb for line in (*page.lines, *rest.lines)] == ["marked", "superseded", "created"]
    assert {line.what for line in page.lines} == {first.uid}
    assert (page.total, rest.next_before) == (3, None)
    assert [line.verb for line in (await views.audit(what=first.uid, verb="created")).lines] == ["created"]


async def test_reports_are_told_newest_first_and_one_by_its_day(local: Open, views: ViewClient) -> None:
    folder = local.home.reports
    folder.mkdir(parents=True, exist_ok=True)
    for day in ("2026-11-29", "2026-11-30"):
        (folder / f"{day}.md").write_text(f"# {day}\n")
    (folder / "notes.txt").write_text("none of bead's")
    assert (await views.reports()).reports == ("2026-11-30", "2026-11-29")
    assert (await views.report("2026-11-29")).text == "# 2026-11-29\n"
    for absent in ("2026-11-28", "../../audit"):
        with pytest.raises(NotFound):
            await views.report(absent)


async def standing(store: Open, session: str) -> Standing:
    return Standing.model_validate_json(await call(store.bus, "GET", f"/v1/views/standing/{session}"))


async def test_how_a_session_stands_is_counted_from_its_own_blocks_and_its_last_request(local: Open) -> None:
    told = Block("a" * 32, BlockKind.PINNED, "x", fact_uids=("u1", "u2"), fact_versions=(1, 1))
    again = Block("b" * 32, BlockKind.RECALL, "y", fact_uids=("u2",), fact_versions=(2,), excerpt_ids=("raw/1#turn-1",))
    for conversation, block in (("s1-t1", told), ("s1-hooks", again), ("s1-sub-t1", told), ("s2-t1", told)):
        commit = CommitBlocks(conversation=conversation, generation=0, owner="me", project="", blocks=(block,))
        await local.client.commit_blocks(commit)
    for number, (fresh, cached) in enumerate([(900, 0), (60, 940), (0, 0)]):
        at = "2026-11-30T09:00:00+00:00"
        await local.client.keep_trace(
            TurnTrace(turn=f"s1/turn-{number}", at=at, session="s1", input_tokens=fresh, cache_read_tokens=cached)
        )

    assert await standing(local, "s1") == Standing(
        session="s1", facts=2, excerpts=1, requests=3, input_tokens=1_000, cache_read_tokens=940
    )
    assert await standing(local, "nobody") == Standing(session="nobody", facts=0, excerpts=0, requests=0)
