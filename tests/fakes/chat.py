"""The wire format of OpenAI Chat Completions."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Failure, Raw
from tests.fakes.script import CallMade, Conversation, UserText
from tests.fakes.wire import CREATED_AT, event, event_answer, input_tokens, json_answer, json_reply, text_of, words


def conversation(request: Recorded) -> Conversation:
    body = request.json()
    items: list[UserText | CallMade] = []
    for message in body.get("messages", []):
        if message["role"] == "user":
            items += [UserText(text) for text in text_of(message.get("content"))]
        elif message["role"] == "assistant":
            items += [CallMade(call["function"]["name"]) for call in message.get("tool_calls") or []]
    tools = frozenset(tool["function"]["name"] for tool in body.get("tools") or [] if "function" in tool)
    output = (body.get("response_format") or {}).get("json_schema") or {}
    return Conversation(tuple(items), tools, schema=output.get("schema"))


def render(request: Recorded, answer: Answer) -> Raw:
    body = request.json()
    base = {"id": f"chatcmpl-fake-{request.number:04d}", "created": CREATED_AT, "model": body.get("model")}
    finish = "tool_calls" if answer.calls else "stop"
    if not body.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.calls:
            message["tool_calls"] = _tool_calls(request, answer)
        choice = {"index": 0, "message": message, "finish_reason": finish}
        whole = {**base, "object": "chat.completion", "choices": [choice], "usage": _usage(request, answer)}
        return json_answer(whole, answer)
    return event_answer(_events(request, answer, {**base, "object": "chat.completion.chunk"}, finish), answer)


def render_failure(failure: Failure) -> Raw:
    error = {"message": failure.message, "type": "server_error", "param": None, "code": None}
    return json_reply({"error": error}, status=failure.status, headers=failure.headers)


def _tool_calls(request: Recorded, answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_fake_{request.number:04d}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(answer.calls)
    ]


def _usage(request: Recorded, answer: Answer) -> dict[str, Any]:
    # Here the prompt's count includes what the cache gave.
    usage = answer.usage
    prompt = input_tokens(request, usage) + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    }


def _events(request: Recorded, answer: Answer, base: dict[str, Any], finish: str) -> Iterator[bytes]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in words(answer.text)]
    for index, call in enumerate(_tool_calls(request, answer)):
        deltas.append({"tool_calls": [{"index": index, **call}]})
    for delta in deltas:
        yield event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield event({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if (request.json().get("stream_options") or {}).get("include_usage"):
        yield event({**base, "choices": [], "usage": _usage(request, answer)})
    yield event("[DONE]")
