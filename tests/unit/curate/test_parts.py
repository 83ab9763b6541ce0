"""Differences, charts and replays: what the pages show is put together right."""

import pytest

from bead.conversations import BlockKind
from bead.wire.traces import Chosen, TurnTrace
from bead.wire.views import SentBlock
from bead_curate.web import charts
from bead_curate.web.pages.sessions import Part, parts, replays
from bead_curate.web.rendering import ago, fact_url, name_of, query, scope_of, source_url
from bead_curate.web.words import difference


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("", "new"),
        ("old", ""),
        ("we ship on Tuesday", "we ship on Wednesday, never on Friday"),
        ("a b c d", "x b y d"),
        ("one\ntwo\n", "one\nthree\n"),
        ("word " * 2_000, "word " * 1_999 + "other "),
    ],
)
def test_a_difference_holds_both_texts_whole(old: str, new: str) -> None:
    pieces = difference(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == new


def test_words_that_changed_side_by_side_read_as_one_change() -> None:
    kinds = [piece.kind for piece in difference("we ship by hand", "we go with make")]
    assert kinds == ["same", "gone", "new"]


def test_the_highest_bar_fills_the_chart_and_none_leaves_it() -> None:
    chart = charts.bars([0, 5, 10], ["a", "b", "c"], "turns")
    assert [bar.height for bar in chart.bars][1:] == [charts.HEIGHT / 2, charts.HEIGHT]
    assert 0 < chart.bars[0].height < 2
    assert chart.bars[-1].x + chart.bars[-1].width == pytest.approx(charts.WIDTH, abs=0.1)
    assert "15 in all" in chart.summary and "at most 10" in chart.summary


def test_a_chart_of_nothing_is_flat() -> None:
    assert {bar.height for bar in charts.bars([0, 0], ["a", "b"], "x").bars} == {1.5}
    assert charts.bars([], [], "x").bars == ()


def test_parts_of_a_whole_fill_it() -> None:
    found = charts.parts((("a", 30), ("nothing", 0), ("b", 10)))
    assert [(part.name, part.start, part.share) for part in found] == [("a", 0.0, 75.0), ("b", 75.0, 25.0)]
    assert charts.parts((("a", 0),)) == ()


def test_percentiles_of_few_and_of_none() -> None:
    assert charts.percentile([], 0.5) == 0.0
    assert charts.percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert charts.percentile([1.0], 0.95) == 1.0


def test_tool_text_is_told_apart_from_words() -> None:
    text = "I look.\n[tool Bash input]\nls\n[end of tool text]\nDone."
    assert parts(text) == (Part("", "I look."), Part("tool Bash input", "ls"), Part("", "Done."))
    assert parts("[tool x] is only talk") == (Part("", "[tool x] is only talk"),)


def test_a_replay_has_the_pinned_block_the_earlier_ones_and_the_new_one() -> None:
    blocks = (
        block(BlockKind.PINNED, "p"),
        block(BlockKind.RECALL, "a"),
        block(BlockKind.RECALL, "b"),
        block(BlockKind.RECALL, "a", thread="sub"),
    )
    traces = [request("1", "a"), request("2"), request("3", "b"), request("1", "a", thread="sub")]
    found = replays(traces, blocks)
    assert [[each.text for each in replay.new] for replay in found] == [["a"], [], ["b"], ["a"]]
    assert [[each.text for each in replay.earlier] for replay in found] == [[], ["a"], ["a"], []]
    assert [[each.text for each in replay.pinned] for replay in found] == [["p"], ["p"], ["p"], []]


def block(kind: BlockKind, uid: str, thread: str = "main") -> SentBlock:
    return SentBlock(
        conversation=f"s-{thread}", kind=kind, position="0", text=uid, fact_uids=(uid,), fact_versions=(1,)
    )


def request(turn: str, *chosen: str, thread: str = "main") -> TurnTrace:
    selected = tuple(Chosen(uid) for uid in chosen)
    return TurnTrace(turn=f"s/turn-{turn}", at="", session="s", thread=thread, pinned=("p",), selected=selected)


@pytest.mark.parametrize(
    ("key", "scope", "name"),
    [
        ("user/editor", "user/", "editor"),
        ("project/shop/deploy/day", "project/shop/", "deploy/day"),
        ("global/x", "global/", "x"),
    ],
)
def test_a_key_is_its_scope_and_its_name(key: str, scope: str, name: str) -> None:
    assert (scope_of(key), name_of(key)) == (scope, name)


def test_addresses_are_quoted() -> None:
    assert fact_url('user/a"b c') == "/fact/user/a%22b%20c"
    assert source_url("raw/2026/11/30/s 1.md#turn-4") == "/sessions/s%201#turn-4"
    assert source_url("javascript:alert(1)") == ""
    assert query({"q": "a&b", "page": 2}, page=3, part="") == "?q=a%26b&page=3"


def test_times_are_told_in_one_unit() -> None:
    assert ago(None) == "never"
    assert ago("2026-01-01T00:00:00Z").endswith("2026") or ago("2026-01-01T00:00:00Z").endswith("days ago")
    assert ago("no time at all") == "1 Jan 1970"
