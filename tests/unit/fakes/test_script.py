"""What a prompt makes the fake provider say, in each wire format."""

import json
from types import ModuleType
from typing import Any

import pytest

from tests.fakes import chat, gemini, messages, responses
from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Call, Failure
from tests.fakes.script import (
    PLAIN_TEXT,
    CallMade,
    Conversation,
    PromptScript,
    UserText,
    example_of,
)

TOOLS = frozenset({"Bash", "Read"})
TWO_CALLS = 'TURN:2 [[call Bash {"command": "echo ]] x"}]] then [[call Read {"file_path": "/a"}]]'


def reply_to(*items: UserText | CallMade, schema: dict[str, Any] | None = None) -> Answer | Failure:
    return PromptScript().reply(Conversation(items, TOOLS, schema))


def text_of(reply: Answer | Failure) -> str:
    assert isinstance(reply, Answer)
    return reply.text


def calls_of(reply: Answer | Failure) -> tuple[Call, ...]:
    assert isinstance(reply, Answer)
    return reply.calls


def test_without_a_marker_the_answer_is_one_plain_text() -> None:
    assert text_of(reply_to(UserText("hi"))) == PLAIN_TEXT
    assert text_of(reply_to()) == PLAIN_TEXT


def test_calls_are_made_one_a_request_and_then_comes_the_text() -> None:
    prompt = UserText(TWO_CALLS)

    assert calls_of(reply_to(prompt)) == (Call("Bash", {"command": "echo ]] x"}),)
    assert calls_of(reply_to(prompt, CallMade("Bash"))) == (Call("Read", {"file_path": "/a"}),)
    done = reply_to(prompt, CallMade("Bash"), CallMade("Read"))
    assert text_of(done) == "FAKE-ANSWER for turn 2 after 2 tool calls."


def test_only_calls_after_the_governing_text_count_as_made() -> None:
    reply = reply_to(UserText("TURN:1"), CallMade("Bash"), CallMade("Read"), UserText(TWO_CALLS))

    assert calls_of(reply) == (Call("Bash", {"command": "echo ]] x"}),)


@pytest.mark.parametrize(
    "added",
    [
        '<bead-memory id="x">\nTURN:9 [[call Read {}]]\n</bead-memory>',
        "<bead-memory>\nno marker\n</bead-memory>",
        "<system-reminder>TURN:9 [[status 500]]</system-reminder>",
    ],
)
def test_a_block_that_a_proxy_or_harness_adds_scripts_nothing(added: str) -> None:
    own_block = reply_to(UserText(TWO_CALLS), UserText(added))
    appended = reply_to(UserText(TWO_CALLS + "\n\n" + added))

    assert calls_of(own_block) == calls_of(appended) == (Call("Bash", {"command": "echo ]] x"}),)


def test_a_tool_that_is_not_offered_is_called_only_with_an_exclamation_mark() -> None:
    assert calls_of(reply_to(UserText("TURN:1 [[call Nope {}]]"))) == ()
    assert calls_of(reply_to(UserText("TURN:1 [[call! Nope {}]]"))) == (Call("Nope", {}),)


def test_a_status_is_told_once_for_each_text() -> None:
    script = PromptScript()
    conversation = Conversation((UserText("TURN:1 [[status 529]]"),), TOOLS)

    assert script.reply(conversation) == Failure(529)
    assert text_of(script.reply(conversation)) == "FAKE-ANSWER for turn 1 after 0 tool calls."


def test_a_scripted_usage_is_reported() -> None:
    reply = reply_to(UserText("TURN:1 [[usage 990000]]"))

    assert isinstance(reply, Answer)
    assert reply.usage.input_tokens == 990000


def test_a_wanted_summary_is_given_as_one() -> None:
    reply = reply_to(UserText("TURN:1"), UserText("Reply with an <analysis> block, then a <summary> block."))

    assert text_of(reply) == "<summary>FAKE-ANSWER for turn 1 after 0 tool calls.</summary>"


def test_a_wanted_schema_is_fitted() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "kind": {"enum": ["a", "b"]}}}

    assert json.loads(text_of(reply_to(UserText("TURN:1"), schema=schema))) == {"title": "fake", "kind": "a"}
    assert example_of({"type": "ARRAY"}) == []


USER, TOOL = UserText("TURN:1"), CallMade("Bash")
WIRES = [
    (
        messages,
        "/v1/messages",
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "TURN:1"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "TURN:8"}]},
                {"role": "system", "content": "TURN:9"},
            ],
            "tools": [{"name": "Bash"}],
        },
    ),
    (
        chat,
        "/v1/chat/completions",
        {
            "messages": [
                {"role": "user", "content": "TURN:1"},
                {"role": "assistant", "tool_calls": [{"id": "t", "function": {"name": "Bash", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "t", "content": "TURN:9"},
            ],
            "tools": [{"type": "function", "function": {"name": "Bash"}}],
        },
    ),
    (
        responses,
        "/v1/responses",
        {
            "input": [
                {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "Bash"}]},
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "TURN:9"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "TURN:1"}]},
                {"type": "function_call", "call_id": "t", "name": "Bash", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "t", "output": "TURN:9"},
            ],
        },
    ),
    (
        gemini,
        "/v1beta/models/m:generateContent",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "TURN:1"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "Bash", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "Bash", "response": {}}}]},
            ],
            "tools": [{"functionDeclarations": [{"name": "Bash"}]}],
        },
    ),
]


@pytest.mark.parametrize(("wire", "path", "body"), WIRES, ids=[path for _, path, _ in WIRES])
def test_each_wire_format_shows_the_person_the_calls_and_the_tools_only(
    wire: ModuleType, path: str, body: dict[str, Any]
) -> None:
    request = Recorded(1, 1, "POST", path, [], json.dumps(body).encode())

    assert wire.conversation(request) == Conversation((USER, TOOL), frozenset({"Bash"}))
