"""Replies that break off, say odd things, or come as a growing array; and what goes on from a stored response."""

import json
from typing import Any

import pytest

from bead_proxy.protocol import Reply, Usage
from tests.unit.proxy.protocols.talk import SPOKEN, positions

CHAT, RESPONSES, GEMINI = SPOKEN[1:]
SSE, JSON = "text/event-stream", "application/json; charset=utf-8"


def read(spoken: Any, content_type: str, *pieces: bytes) -> Reply:
    reader = spoken.module.reply_reader(content_type, "")
    for piece in pieces:
        reader.feed(piece)
    reply: Reply = reader.close()
    return reply


def events(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def delta(**said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said}]}


def candidate(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": list(parts)}, **more}]}


def test_a_growing_array_is_read_whatever_its_borders() -> None:
    whole = [
        candidate({"text": 'a "}{" in '}),
        candidate({"thought": True, "text": "hidden"}, {"text": "text"}),
        candidate({"functionCall": {"name": "look", "args": {"p": "}]"}}}),
        candidate({"text": "\\"}, finishReason="STOP") | {"usageMetadata": {"promptTokenCount": 5}},
    ]
    body = json.dumps(whole, indent=1).encode()
    expected = read(GEMINI, JSON, body)

    assert expected.text.startswith('a "}{" in text\n\n') and expected.text.endswith("\n\n\\")
    assert "hidden" not in expected.text and expected.complete and expected.usage.input == 5
    for at in range(1, len(body)):
        assert read(GEMINI, JSON, body[:at], body[at:]) == expected
    assert not read(GEMINI, JSON, body[: body.index(b"STOP")]).complete


@pytest.mark.parametrize(
    ("spoken", "broken"),
    [
        (CHAT, [delta(content="half"), {"error": {"type": "server_error", "message": "private words"}}]),
        (
            RESPONSES,
            [
                {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "half"},
                {"type": "response.failed", "response": {"error": {"code": "server_error"}}},
            ],
        ),
        (GEMINI, [candidate({"text": "half"}), {"error": {"status": "server_error", "message": "private words"}}]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_an_error_in_a_stream_is_named_and_not_quoted(spoken: Any, broken: list[Any]) -> None:
    reply = read(spoken, SSE, events(*broken))

    assert (reply.text, reply.complete) == ("half\n\n[broken off: server_error]", False)


@pytest.mark.parametrize("spoken", SPOKEN[1:], ids=lambda spoken: spoken.name)
@pytest.mark.parametrize("content_type", [SSE, JSON])
@pytest.mark.parametrize("noise", [b"", b"\xff\xfe\x00", b"data: {\n\n", b"[{", b'{"choices":3}', b'"' * 999])
def test_noise_is_no_reply(spoken: Any, content_type: str, noise: bytes) -> None:
    assert read(spoken, content_type, noise) == Reply("", complete=False, usage=Usage())


def test_only_the_first_of_several_choices_is_kept() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "B"}, "finish_reason": "stop"}]}

    assert read(CHAT, SSE, events(delta(content="A"), other)) == Reply("A", complete=False, usage=Usage())


def test_an_item_that_is_done_says_its_text_once() -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
    place = {"output_index": 0, "content_index": 0}
    told = events(
        {"type": "response.output_text.delta", **place, "delta": "hel"},
        {"type": "response.output_text.delta", **place, "delta": "lo"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"usage": {"input_tokens": 9, "output_tokens": 2}}},
    )

    assert read(RESPONSES, SSE, told) == Reply("hello", complete=True, usage=Usage(9, 2))


def test_the_same_words_after_another_stored_response_are_another_turn() -> None:
    def asked(response: str | None) -> tuple[str, ...]:
        more = {"previous_response_id": response} if response else {}
        return positions(RESPONSES.read({"model": "m", "input": "continue", **more}))

    assert len({asked(None), asked("resp_1"), asked("resp_2")}) == 3
    assert asked("resp_1") == asked("resp_1")


def test_a_string_as_input_takes_the_block_into_the_string() -> None:
    body = b'{"input":"which port?","model":"m"}'
    request = RESPONSES.read(body)

    assert request.system is not None and request.turn_text == "which port?"
    [into_input], [into_system] = request.users[0].anchor.insertions("B"), request.system.insertions("P")
    assert body[: into_input.offset] + into_input.data == b'{"input":"which port?\\n\\nB'
    assert (into_system.offset, into_system.data) == (1, b'"instructions":"P",')


def test_a_screenshot_that_answers_a_tool_has_a_position_and_no_room() -> None:
    items = [
        {"role": "user", "content": "look"},
        {"type": "computer_call", "call_id": "c"},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "x"}},
    ]
    request = RESPONSES.read({"model": "m", "input": items})

    assert len(request.users) == 2 and request.newest_is_user
    assert request.users[1].anchor.insertions("x") == ()


def test_sessions_come_from_the_fields_that_name_them() -> None:
    for fields in ({"conversation": "conv_1"}, {"conversation": {"id": "conv_1"}}, {"prompt_cache_key": "conv_1"}):
        assert RESPONSES.read({"model": "m", "input": "hi", **fields}).session == "conv_1"
    assert CHAT.read({"messages": [], "prompt_cache_key": "k"}).session == "k"
