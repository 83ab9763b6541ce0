"""Requests in the shapes of Claude Code: the same message has the same position in every later request."""

import pytest

from bead_proxy import anthropic
from bead_proxy.protocol import SideRequest
from tests.unit.proxy.protocol.bodies import fixture, positions

_SESSION = "11111111-2222-4333-8444-555555555555"
_SHAPES = ("new_shape", "old_shape")


@pytest.mark.parametrize("shape", _SHAPES)
def test_positions_of_a_conversation_only_grow(shape: str) -> None:
    first, second, third = (
        positions(anthropic.read(fixture(f"{name}_{shape}"))) for name in ("first_request", "second_turn", "tool_loop")
    )

    assert len(first) < len(second) < len(third)
    assert second[: len(first)] == first
    assert third[: len(second)] == second


def test_both_shapes_of_one_conversation_have_the_same_positions() -> None:
    new, old = (positions(anthropic.read(fixture(f"tool_loop_{shape}"))) for shape in _SHAPES)

    assert new == old


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("first_request_new_shape", "Which beds need water today?"),
        ("first_request_old_shape", "Which beds need water today?"),
        ("second_turn_new_shape", "Count the seed packets, please."),
        ("second_turn_old_shape", "Count the seed packets, please."),
        ("file_mention", "What does @plan.md say about water?"),
        ("after_compaction", "Count the seed packets, please."),
        ("after_compaction_with_kept_tail", "Count the seed packets, please."),
        ("subagent", "Find the dry beds."),
    ],
)
def test_the_newest_prompt_is_the_turn_and_nothing_else_is(name: str, words: str) -> None:
    request = anthropic.read(fixture(name))

    assert (request.side, request.newest_is_user, request.turn_text) == (None, True, words)
    assert request.users[-1].human_text == words
    assert (request.directory, request.session) == ("/home/alex/garden", _SESSION)


@pytest.mark.parametrize("shape", _SHAPES)
def test_a_tool_loop_has_no_words_of_the_person(shape: str) -> None:
    request = anthropic.read(fixture(f"tool_loop_{shape}"))

    assert request.users[-1].human_text == ""
    assert request.turn_text == "[tool result: Read]\n1\tten packets of beans\n[end of tool text]"
    assert all("reminder" not in cue.text for cue in request.cues)


def test_a_finished_background_agent_is_no_turn_of_the_person() -> None:
    request = anthropic.read(fixture("task_notification"))

    assert (request.newest_is_user, request.turn_text, request.cues) == (False, "", ())


@pytest.mark.parametrize(("name", "side"), [("title", SideRequest.TITLE), ("compaction", SideRequest.COMPACTION)])
def test_side_requests_are_known_by_their_shape(name: str, side: SideRequest) -> None:
    request = anthropic.read(fixture(name))

    assert (request.side, request.turn_text, request.cues) == (side, "", ())


def test_a_compaction_request_gets_the_blocks_of_the_conversation_again() -> None:
    conversation = positions(anthropic.read(fixture("first_request_new_shape")))

    assert positions(anthropic.read(fixture("compaction")))[:1] == conversation


def test_nothing_is_where_it_was_after_compaction() -> None:
    before = set(positions(anthropic.read(fixture("tool_loop_new_shape"))))

    for name in ("after_compaction", "after_compaction_with_kept_tail"):
        assert not before & set(positions(anthropic.read(fixture(name))))
