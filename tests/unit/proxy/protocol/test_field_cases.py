"""Failures that users of similar tools met, as far as reading and splicing can hold them (B01, B05, B07, B20, B33)."""

import json

import pytest

from bead import blocks
from bead.conversations import BlockKind
from bead.recall import RecalledFact
from bead_proxy import anthropic
from bead_proxy.protocol import Insertion, SideRequest, splice
from bead_proxy.remember import wishes
from tests.unit.proxy.protocol.bodies import field_case, positions

_DIRECTORY = "/home/dev/shop-api"


def _everywhere(body: bytes) -> list[Insertion]:
    """A block at every place where one can go."""
    request = anthropic.read(body)
    anchors = [anchor for anchor in (request.system, *(message.anchor for message in request.users)) if anchor]
    return [insertion for anchor in anchors for insertion in anchor.insertions("<bead-memory>x</bead-memory>")]


def _taken_out(spliced: bytes, insertions: list[Insertion]) -> bytes:
    """What is left when the inserted bytes are removed again, found by place alone."""
    kept, at, shift = [], 0, 0
    for offset, data in sorted(insertions, key=lambda insertion: insertion.offset):
        start = offset + shift
        assert spliced[start : start + len(data)] == data
        kept.append(spliced[at:start])
        at = start + len(data)
        shift += len(data)
    return b"".join(kept) + spliced[at:]


def test_b05_odd_but_valid_json_keeps_every_other_byte() -> None:
    """Signed thinking, a 20-digit integer, 1E2, escaped slashes, half an emoji: no round trip survives them."""
    body = field_case("B05/odd-but-valid.json")
    insertions = _everywhere(body)
    spliced = splice(body, insertions)

    assert len(insertions) == 1 + 2 + 1  # the system part, a string (both its ends), an array
    assert _taken_out(spliced, insertions) == body
    for kept in (b'"n":12345678901234567890,"f":1E2', rb"a <b> & c \u2028 \/path", rb"cut emoji: \ud83d end", b"0.10]"):
        assert kept in spliced
    found = json.loads(spliced)
    assert [len(message["content"]) for message in found["messages"]] == [2, 3, 3]


def test_b05_a_body_with_half_an_emoji_still_gets_memory() -> None:
    request = anthropic.read(field_case("B05/odd-but-valid.json"))

    assert request.newest_is_user
    assert request.turn_text == "cut emoji: \ufffd end"


def test_b01_and_b20_positions_grow_along_and_branches_part() -> None:
    names = ("B01/turn1", "B01/turn2", "B20/01-before", "B20/02-compact-request", "B20/04-other-branch-same-session")
    first, second, before, compacting, branch = (
        positions(anthropic.read(field_case(f"{name}.json"))) for name in names
    )

    assert second[:1] == first
    assert before == second
    assert compacting == before
    assert branch[0] == before[0] and branch[1] != before[1]


def test_b20_after_compaction_nothing_is_where_it_was() -> None:
    before, after = (anthropic.read(field_case(f"B20/{name}.json")) for name in ("01-before", "03-after"))

    assert not set(positions(after)) & set(positions(before))
    assert after.users[0].human_text == ""
    assert after.turn_text == "Which port was it?"


def test_b20_the_summary_request_is_a_side_request() -> None:
    request = anthropic.read(field_case("B20/02-compact-request.json"))

    assert (request.side, request.turn_text, request.cues) == (SideRequest.COMPACTION, "", ())


def test_b07_only_the_last_sentence_of_the_wrapped_turn_is_the_persons() -> None:
    request = anthropic.read(field_case("B07/wrapped-turn.json"))

    sentence = "Please remember that invoices are rounded to 2 decimals."
    assert (request.turn_text, request.directory) == (sentence, _DIRECTORY)
    assert [wish.text for wish in wishes(request.typed)] == ["invoices are rounded to 2 decimals"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "talks-about-tags",
            "Our docs mention the <bead-memory> tag. Explain what an unclosed <system-reminder> would do, and keep this"
            " sentence.",
        ),
        ("nested-and-broken", "a  b </bead-memory> c <bead-memory> d"),
    ],
)
def test_b07_tags_that_are_talked_about_or_broken_eat_nothing(name: str, words: str) -> None:
    request = anthropic.read(field_case(f"B07/{name}.json"))

    assert request.turn_text == request.users[0].human_text == words


def test_b07_broken_tags_that_come_back_as_a_fact_cannot_close_the_block() -> None:
    words = anthropic.read(field_case("B07/nested-and-broken.json")).turn_text
    fact = RecalledFact("u", "user/x", 1, "user", "user_stated", "2026-11-05T00:00:00Z", words)

    assert blocks.strip(blocks.render(BlockKind.RECALL, [fact]) + "after") == "after"


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("image-turn", "[image image/png, 68 bytes]\n\nWhat is wrong in this screenshot?"),
        ("tool-image", "[tool result: Shot]\n[image image/png, 68 bytes]\n[end of tool text]"),
    ],
)
def test_b33_images_are_placeholders_with_type_and_size(name: str, turn: str) -> None:
    request = anthropic.read(field_case(f"B33/{name}.json"))

    assert request.turn_text == turn
    assert all("image/png" not in cue.text for cue in request.cues)
