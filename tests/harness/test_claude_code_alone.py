"""What the real Claude Code sends when it talks directly to its provider: the facts that bead rests on.

When one of these fails after a new version was pinned, the harness has changed and bead may have to.
"""

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.recording import Recorded
from tests.harness.claude_code import ClaudeCode, Result, Seat
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records

pytestmark = pytest.mark.harness

NEW_SHAPE: tuple[str, ...] = ()
"""The default model: a system message follows the first user message."""
OLD_SHAPE = ("--model", "claude-sonnet-4-5")
"""No system messages: everything the harness has to say stands in reminders."""
BOTH_SHAPES = pytest.mark.parametrize("model", [NEW_SHAPE, OLD_SHAPE], ids=["new-shape", "old-shape"])
TOOLS = ("--allowedTools", "Bash,Read")
DIRECTORY_LINE = re.compile(r"^ - Primary working directory: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Desk:
    """One person's harness, provider and project."""

    claude: ClaudeCode
    namespace: LoopbackNamespace
    seat: Seat
    provider: Records

    def ask(self, prompt: str, *arguments: str) -> Result:
        return self.claude.ask(prompt, namespace=self.namespace, seat=self.seat, arguments=arguments)


@pytest.fixture
def desk(claude_code: ClaudeCode, namespace: LoopbackNamespace, provider: Records, tmp_path: Path) -> Desk:
    desk = Desk(claude_code, namespace, Seat(tmp_path, "http://127.0.0.1:8080"), provider)
    desk.seat.prepare()
    return desk


def three_calls(desk: Desk) -> str:
    notes = desk.seat.project / "notes.txt"
    notes.write_text("a line of notes\n")
    bash, read = '{"command": "echo %s", "description": "x"}', json.dumps({"file_path": str(notes)})
    return f"TURN:2 [[call Bash {bash % 'one'}]] [[call Read {read}]] [[call Bash {bash % 'two'}]]"


def blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The content as blocks, whichever way the message has it."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def normalised(message: dict[str, Any]) -> tuple[str, str]:
    """Role and content without cache markers, strings as one block: what stays equal between turns."""
    kept = [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks(message)]
    return message["role"], json.dumps(kept, sort_keys=True)


def is_reminder(block: dict[str, Any]) -> bool:
    text = str(block.get("text", "")).strip()
    return text.startswith("<system-reminder>") and text.endswith("</system-reminder>")


@BOTH_SHAPES
def test_every_request_is_a_message_with_the_session_in_header_and_body(desk: Desk, model: tuple[str, ...]) -> None:
    first = desk.ask("TURN:1 hi", *model)
    second = desk.ask(three_calls(desk), "--continue", *TOOLS, *model)

    requests = desk.provider.all()
    assert second.session == first.session
    assert {(request.method, request.target) for request in requests} == {("POST", "/v1/messages?beta=true")}
    assert len(requests) == 5
    for request in requests:
        assert request.header("X-Claude-Code-Session-Id") == first.session
        assert json.loads(request.json()["metadata"]["user_id"])["session_id"] == first.session
        assert request.header("x-claude-code-agent-id") is None
        assert request.header("content-encoding") is None
        assert request.json()["stream"] is True


@BOTH_SHAPES
def test_the_answer_of_the_provider_is_what_the_person_reads(desk: Desk, model: tuple[str, ...]) -> None:
    assert desk.ask("TURN:1 hi", *model).text == "FAKE-ANSWER for turn 1 after 0 tool calls."
    assert desk.ask(three_calls(desk), "--continue", *TOOLS, *model).text == (
        "FAKE-ANSWER for turn 2 after 3 tool calls."
    )


@BOTH_SHAPES
def test_the_system_prompt_is_an_attribution_and_two_cached_blocks(desk: Desk, model: tuple[str, ...]) -> None:
    desk.ask("TURN:1 hi", *model)

    system = desk.provider.model_requests()[0].json()["system"]
    assert system[0]["text"].startswith("x-anthropic-billing-header: cc_version=2.1.332.")
    assert ["cache_control" in block for block in system] == [False, True, True]
    assert not [block for block in system if DIRECTORY_LINE.search(block["text"])]


@BOTH_SHAPES
def test_three_cache_markers_are_set_the_last_one_on_the_end_of_the_conversation(
    desk: Desk, model: tuple[str, ...]
) -> None:
    desk.ask("TURN:1 hi", *model)
    desk.ask(three_calls(desk), "--continue", *TOOLS, *model)

    for request in desk.provider.model_requests():
        assert request.body.count(b'"cache_control":') == 3
        assert request.messages()[-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
        assert not [tool for tool in request.json()["tools"] if "cache_control" in tool]


def test_in_the_new_shape_the_working_directory_is_in_a_system_message_after_the_prompt(desk: Desk) -> None:
    desk.ask("TURN:1 hi", *NEW_SHAPE)

    user, system = desk.provider.model_requests()[0].messages()
    assert (user["role"], system["role"]) == ("user", "system")
    assert [is_reminder(block) for block in user["content"]][-2:] == [True, False]
    assert user["content"][-1] == {"type": "text", "text": "TURN:1 hi"}
    assert "output_config" in system
    assert working_directories(system) == [str(desk.seat.project)]


def test_in_the_old_shape_the_working_directory_is_in_a_reminder_before_the_prompt(desk: Desk) -> None:
    desk.ask("TURN:1 hi", *OLD_SHAPE)

    (user,) = desk.provider.model_requests()[0].messages()
    assert user["role"] == "user"
    assert len(user["content"]) > 2
    assert all(is_reminder(block) for block in user["content"][:-1])
    assert user["content"][-1]["text"] == "TURN:1 hi"
    assert working_directories(user) == [str(desk.seat.project)]


def working_directories(message: dict[str, Any]) -> list[str]:
    return [found for block in blocks(message) for found in DIRECTORY_LINE.findall(block["text"])]


@BOTH_SHAPES
def test_a_later_request_repeats_the_earlier_one_after_normalising_only(desk: Desk, model: tuple[str, ...]) -> None:
    desk.ask("TURN:1 hi", *model)
    desk.ask(three_calls(desk), "--continue", *TOOLS, *model)

    requests = desk.provider.model_requests()
    for earlier, later in pairwise(requests):
        before, after = earlier.messages(), later.messages()
        assert [normalised(message) for message in after[: len(before)]] == list(map(normalised, before))
        assert after[: len(before)] != before
        assert earlier.json()["system"] == later.json()["system"]
        assert earlier.json()["tools"] == later.json()["tools"]


def test_in_the_new_shape_the_newest_prompt_stands_alone_and_becomes_a_string(desk: Desk) -> None:
    desk.ask("TURN:1 hi", *NEW_SHAPE)
    desk.ask("TURN:2 [[call Bash {}]]", "--continue", *NEW_SHAPE)

    second, third = desk.provider.model_requests()[1:3]
    assert [block["text"] for block in second.messages()[-1]["content"]] == ["TURN:2 [[call Bash {}]]"]
    assert third.messages()[len(second.messages()) - 1]["content"] == "TURN:2 [[call Bash {}]]"


def test_in_the_old_shape_a_reminder_stands_before_the_newest_prompt(desk: Desk) -> None:
    desk.ask("TURN:1 hi", *OLD_SHAPE)
    desk.ask("TURN:2", "--continue", *OLD_SHAPE)

    newest = desk.provider.model_requests()[1].messages()[-1]["content"]
    assert [is_reminder(block) for block in newest] == [True, False]
    assert newest[-1]["text"] == "TURN:2"


@BOTH_SHAPES
def test_a_tool_result_comes_alone_with_the_id_of_its_call(desk: Desk, model: tuple[str, ...]) -> None:
    desk.ask(three_calls(desk), *TOOLS, *model)

    requests = desk.provider.model_requests()
    for request in requests[1:]:
        (result,) = request.messages()[-1]["content"]
        assert result["type"] == "tool_result"
        assert isinstance(result["content"], str)
        assert result["tool_use_id"] == last_call(request)["id"]
    assert [result_text(request).partition("\n")[0] for request in requests[1:]] == ["one", "1\ta line of notes", "two"]


def last_call(request: Recorded) -> dict[str, Any]:
    return next(block for block in reversed(request.messages()[-2]["content"]) if block["type"] == "tool_use")


def result_text(request: Recorded) -> str:
    return str(request.messages()[-1]["content"][0]["content"])


def test_only_the_old_shape_has_a_reminder_inside_the_result_of_a_tool(desk: Desk) -> None:
    for model in (NEW_SHAPE, OLD_SHAPE):
        desk.ask('TURN:1 [[call Bash {"command": "echo one", "description": "x"}]]', *TOOLS, *model)

    results = [result_text(request) for request in desk.provider.model_requests()[1::2]]
    assert results[0] == "one"
    assert re.fullmatch(r"one\n\n<system-reminder>\n.*\n</system-reminder>", results[1], re.DOTALL)


def test_a_retry_after_an_overload_sends_the_same_bytes(desk: Desk) -> None:
    assert desk.ask("TURN:1 [[status 529]]").text == "FAKE-ANSWER for turn 1 after 0 tool calls."

    first, second = desk.provider.model_requests()
    assert first.body == second.body


def test_a_base_url_with_a_path_keeps_it(desk: Desk) -> None:
    seat = Seat(desk.seat.root, "http://127.0.0.1:8080/t/made-up/anthropic")

    desk.claude.ask("TURN:1 hi", namespace=desk.namespace, seat=seat)

    assert [request.target for request in desk.provider.all()] == ["/t/made-up/anthropic/v1/messages?beta=true"]


def test_a_compaction_is_told_by_its_class_and_its_last_message_and_starts_a_new_conversation(desk: Desk) -> None:
    seat = Seat(desk.seat.root, desk.seat.base_url, {"CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"})
    for prompt, *arguments in (["TURN:1 hi"], ["/compact", "--continue"], ["TURN:2 hi", "--continue"]):
        desk.claude.ask(prompt, namespace=desk.namespace, seat=seat, arguments=arguments)

    before, compaction, after = desk.provider.model_requests()

    classes = [request.header("x-claude-code-request-class") for request in (before, compaction, after)]
    assert classes == ["main", "compaction", "main"]
    assert len({request.header("x-claude-code-session-id") for request in (before, compaction, after)}) == 1
    last = compaction.messages()[-1]
    assert last["role"] == "user"
    assert blocks(last)[-1]["text"].startswith("CRITICAL: Respond with TEXT ONLY")
    first = blocks(after.messages()[0])
    assert [block["text"] for block in first if block["text"].startswith("This session is being continued")]
    assert first[-1]["text"] == "TURN:2 hi"
    assert normalised(after.messages()[0]) != normalised(before.messages()[0])


def test_a_subagent_has_an_id_the_parents_session_and_fewer_tools(desk: Desk) -> None:
    task = {"description": "d", "prompt": "TURN:sub", "subagent_type": "general-purpose"}
    desk.ask(f"TURN:1 [[call Agent {json.dumps(task)}]]", "--allowedTools", "Agent")

    requests = desk.provider.model_requests()
    agents = [request for request in requests if request.header("x-claude-code-agent-id")]
    (agent,) = agents
    assert agent.header("x-claude-code-session-id") == requests[0].header("x-claude-code-session-id")
    assert "cc_is_subagent=true" in agent.json()["system"][0]["text"]
    assert len(agent.json()["tools"]) < len(requests[0].json()["tools"])
    assert agent.messages()[0]["content"][-1]["text"] == "TURN:sub"
    assert working_directories(agent.messages()[1]) == [str(desk.seat.project)]
