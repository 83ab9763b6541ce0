"""Each request shape of each harness is read as what it is: the person's words, the directory, side requests."""

import json
from pathlib import Path

import pytest

from bead_proxy.protocol import ModelRequest, SideRequest
from bead_proxy.remember import wishes
from tests.unit.proxy.protocols.talk import SPOKEN, positions

FOLDER = Path(__file__).parents[3] / "fixtures"
BY_NAME = {spoken.name: spoken for spoken in SPOKEN}
ASK = "remember that the kettle is blue"
NEXT = "and which colour has the teapot?"
DIRECTORY = "/home/ben/shop"

FIRST = [
    *("codex/first_request", "gemini_cli/first_request", "gemini_cli/hook_context", "opencode/chat_first_request"),
    *("opencode/messages_first_request", "qwen_code/first_request", "qwen_code/messages_first_request"),
    *("copilot/chat_first_request", "copilot/responses_first_request", "copilot/messages_first_request"),
    *("continue_cli/chat_first_request", "cline/chat_first_request", "openhands/chat_first_request"),
    "letta_code/chat_first_request",
]
LATER = ["codex/second_turn", "codex/interrupted", "gemini_cli/second_turn", "opencode/chat_second_turn"]
LOOPS = ["codex/tool_loop", "codex/responses_lite", "gemini_cli/tool_loop", "opencode/chat_tool_loop"]
SIDES = {
    "codex/compaction": SideRequest.COMPACTION,
    "gemini_cli/compression": SideRequest.COMPACTION,
    "gemini_cli/router": SideRequest.OTHER,
    "opencode/chat_title": SideRequest.TITLE,
    "qwen_code/memory_agent": SideRequest.MEMORY_AGENT,
}
ELSEWHERE = {
    *("aider/chat_first_request", "openhands/messages_prompt_beside_result", "codex/after_compaction"),
    *("codex/mcp_result", "codex/subagent_notification", "codex/subagent_task", "gemini_cli/subagent"),
    *("qwen_code/second_turn", "copilot/chat_tool_loop"),
}


def read(name: str) -> ModelRequest:
    document = json.loads((FOLDER / f"{name}.json").read_text())
    if "contents" in document:
        protocol = "gemini"
    elif "input" in document:
        protocol = "openai_responses"
    else:
        protocol = "anthropic" if "max_tokens" in document else "openai_chat"
    return BY_NAME[protocol].read(document)


def test_every_fixture_is_looked_at() -> None:
    there = {
        str(path.relative_to(FOLDER))[:-5] for path in FOLDER.glob("*/*.json") if path.parent.name != "claude_code"
    }

    assert there == {*FIRST, *LATER, *LOOPS, *SIDES, *ELSEWHERE}


@pytest.mark.parametrize("name", FIRST)
def test_a_first_request_has_the_persons_words_the_directory_and_two_places(name: str) -> None:
    request = read(name)

    assert request.turn_text == ASK
    assert [wish.text for wish in wishes(request.typed)] == ["the kettle is blue"]
    assert request.directory == DIRECTORY
    assert len(request.users) == 1 and request.users[0].human_text == ASK
    assert request.system is not None and request.newest_is_user and request.side is None


@pytest.mark.parametrize("name", LATER)
def test_a_later_turn_is_the_newest_words_alone(name: str) -> None:
    request, first = read(name), read(f"{name.split('/')[0]}/{FIRST_OF.get(name, 'first_request')}")

    assert request.turn_text == request.typed == NEXT
    assert request.directory == DIRECTORY
    assert positions(request)[0] == positions(first)[0]


FIRST_OF = {"opencode/chat_second_turn": "chat_first_request"}


@pytest.mark.parametrize("name", LOOPS)
def test_what_a_tool_gave_is_a_cue_and_no_wish(name: str) -> None:
    request = read(name)

    assert len(request.users) == 2 and request.typed == ""
    assert "remember that the teapot lies" in request.turn_text
    assert any("teapot lies" in cue.text for cue in request.cues)
    assert request.users[-1].anchor.insertions("x")


@pytest.mark.parametrize(("name", "side"), SIDES.items())
def test_a_side_request_says_nothing_new(name: str, side: SideRequest) -> None:
    request = read(name)

    assert request.side is side
    assert (request.cues, request.turn_text, request.typed) == ((), "", "")


def test_qwens_rewritten_reminders_move_no_position() -> None:
    assert positions(read("qwen_code/second_turn"))[0] == positions(read("qwen_code/first_request"))[0]
    assert read("qwen_code/second_turn").typed == NEXT


def test_the_same_turn_has_one_position_in_every_protocol_of_a_harness() -> None:
    for names in (("copilot/chat", "copilot/responses", "copilot/messages"), ("opencode/chat", "opencode/messages")):
        assert len({positions(read(f"{name}_first_request")) for name in names}) == 1


def test_a_notification_is_nobodys_turn() -> None:
    request = read("codex/subagent_notification")

    assert len(request.users) == 1 and not request.newest_is_user


def test_a_task_between_agents_is_passed_over() -> None:
    assert read("codex/subagent_task").users == ()


def test_after_compaction_the_summary_is_not_the_persons() -> None:
    request = read("codex/after_compaction")

    assert request.typed == NEXT and [user.human_text for user in request.users] == [ASK, "", NEXT]


def test_a_prompt_beside_a_result_counts_for_recall_and_not_as_a_wish() -> None:
    request = read("openhands/messages_prompt_beside_result")

    assert ASK in request.turn_text and request.typed == ""
    assert request.directory == DIRECTORY


def test_codex_gets_the_pinned_block_in_the_developer_item_before_the_first_user_item() -> None:
    text = (FOLDER / "codex/first_request.json").read_text()
    document = json.loads(text)
    request = BY_NAME["openai_responses"].read(text.encode())
    assert request.system is not None
    [insertion] = request.system.insertions("PINNED")
    sent = json.loads(text.encode()[: insertion.offset] + insertion.data + text.encode()[insertion.offset :])

    assert sent["input"][1]["content"] == [*document["input"][1]["content"], {"type": "input_text", "text": "PINNED"}]
    assert sent["input"][0] == document["input"][0] and "instructions" not in sent


def test_what_mcp_gave_takes_a_block_as_text() -> None:
    [insertion] = read("codex/mcp_result").users[-1].anchor.insertions("NEW")

    assert insertion.data == b',{"type":"input_text","text":"NEW"}'


def test_aiders_examples_come_first_and_no_directory_is_named() -> None:
    request = read("aider/chat_first_request")

    assert len(request.users) == 3 and request.directory is None
    assert request.turn_text.startswith(ASK)
