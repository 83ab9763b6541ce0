"""The wire format of Anthropic Messages."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Failure, Raw
from tests.fakes.script import CallMade, Conversation, UserText
from tests.fakes.wire import event, event_answer, input_tokens, json_answer, json_reply, text_of, words

_ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"} | {
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_FRAGMENT_CHARACTERS = 20


def conversation(request: Recorded) -> Conversation:
    body = request.json()
    items: list[UserText | CallMade] = []
    for message in body.get("messages", []):
        if message["role"] == "user":
            items += [UserText(text) for text in text_of(message["content"])]
        elif message["role"] == "assistant" and isinstance(message["content"], list):
            items += [CallMade(block["name"]) for block in message["content"] if block["type"] == "tool_use"]
    output = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return Conversation(
        tuple(items), frozenset(tool["name"] for tool in body.get("tools") or []), schema=output.get("schema")
    )


def render(request: Recorded, answer: Answer) -> Raw:
    body = request.json()
    blocks = list(_blocks(request, answer))
    message = {
        "id": f"msg_fake_{request.number:04d}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(request, answer),
    }
    if not body.get("stream"):
        return json_answer(message, answer)
    return event_answer((event(part, name=part["type"]) for part in _events(message)), answer)


def render_failure(failure: Failure) -> Raw:
    error = {"type": _ERROR_TYPES.get(failure.status, "api_error"), "message": failure.message}
    return json_reply({"type": "error", "error": error}, status=failure.status, headers=failure.headers)


def token_count(request: Recorded) -> Raw:
    """The answer to count_tokens."""
    return json_reply({"input_tokens": max(1, len(request.decoded_body) // 4)})


def _blocks(request: Recorded, answer: Answer) -> Iterator[dict[str, Any]]:
    thinking = request.json().get("thinking") or {}
    if thinking.get("type") in ("enabled", "adaptive"):
        yield {"type": "thinking", "thinking": "made-up thinking", "signature": "ZmFrZSBzaWduYXR1cmU="}
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for index, call in enumerate(answer.calls):
        tool_use_id = f"toolu_fake_{request.number:04d}_{index}"
        yield {"type": "tool_use", "id": tool_use_id, "name": call.name, "input": call.arguments}


def _usage(request: Recorded, answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": input_tokens(request, answer.usage),
        "cache_creation_input_tokens": answer.usage.cache_write_tokens,
        "cache_read_input_tokens": answer.usage.cache_read_tokens,
        "output_tokens": answer.usage.output_tokens,
        "service_tier": "standard",
    }


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    started = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": started}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        empty, deltas = _streamed(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The block as it starts, and the deltas that fill it."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": word} for word in words(block["text"])]
    if block["type"] == "thinking":
        deltas = [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
        return {**block, "thinking": "", "signature": ""}, deltas
    fragments = json_fragments(block["input"])
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in fragments]


def json_fragments(value: Any) -> list[str]:
    """JSON text in short pieces, cut without regard to its structure, as providers do."""
    text = json.dumps(value)
    return [text[at : at + _FRAGMENT_CHARACTERS] for at in range(0, len(text), _FRAGMENT_CHARACTERS)]
