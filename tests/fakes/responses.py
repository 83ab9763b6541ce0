"""The wire format of OpenAI Responses, with the two dialects that Codex uses: tools that travel as an input item, and
custom tools whose input is text."""

import json
from collections.abc import Iterator
from typing import Any

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Call, Failure, Raw
from tests.fakes.script import CallMade, Conversation, UserText
from tests.fakes.wire import CREATED_AT, event, event_answer, input_tokens, json_answer, json_reply, text_of, words

_CALL_TYPES = ("function_call", "custom_tool_call", "local_shell_call")


def conversation(request: Recorded) -> Conversation:
    items: list[UserText | CallMade] = []
    for item in request.messages():
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "user":
            items += [UserText(text) for text in text_of(item.get("content"))]
        elif kind in _CALL_TYPES:
            items.append(CallMade(item.get("name", kind)))
    output = (request.json().get("text") or {}).get("format") or {}
    return Conversation(tuple(items), frozenset(_tool_types(request)), schema=output.get("schema"))


def render(request: Recorded, answer: Answer) -> Raw:
    body = request.json()
    output = list(_output(request, answer))
    whole = {
        "id": f"resp_fake_{request.number:04d}",
        "object": "response",
        "created_at": CREATED_AT,
        "status": "completed",
        "model": body.get("model"),
        "output": output,
        "usage": _usage(request, answer),
    }
    if not body.get("stream"):
        return json_answer(whole, answer)
    numbered = ({**part, "sequence_number": number} for number, part in enumerate(_events(whole)))
    return event_answer((event(part, name=part["type"]) for part in numbered), answer)


def render_failure(failure: Failure) -> Raw:
    error = {"message": failure.message, "type": "server_error", "param": None, "code": None}
    return json_reply({"error": error}, status=failure.status, headers=failure.headers)


def _tool_types(request: Recorded) -> dict[str, str]:
    """Each tool that may be called, by name and by NAMESPACE.NAME, with its type."""
    tools = list(request.json().get("tools") or [])
    for item in request.messages():
        if item.get("type") == "additional_tools":
            tools += item.get("tools") or []
    found: dict[str, str] = {}
    for tool in tools:
        found[tool.get("name") or tool["type"]] = tool["type"]
        for inner in tool.get("tools") or []:
            found[inner["name"]] = found[f"{tool['name']}.{inner['name']}"] = inner["type"]
    return found


def _output(request: Recorded, answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        message_id = f"msg_fake_{request.number:04d}"
        yield {
            "type": "message",
            "id": message_id,
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    types = _tool_types(request)
    for index, call in enumerate(answer.calls):
        yield _call_item(call, f"fake_{request.number:04d}_{index}", is_custom=types.get(call.name) == "custom")


def _call_item(call: Call, suffix: str, *, is_custom: bool) -> dict[str, Any]:
    namespace, _, name = call.name.rpartition(".")
    item: dict[str, Any] = {"call_id": f"call_{suffix}", "name": name, "status": "completed"}
    if namespace:
        item["namespace"] = namespace
    if is_custom:
        text = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        return {"type": "custom_tool_call", "id": f"ctc_{suffix}", **item, "input": text}
    return {"type": "function_call", "id": f"fc_{suffix}", **item, "arguments": json.dumps(call.arguments)}


def _usage(request: Recorded, answer: Answer) -> dict[str, Any]:
    # Here the input's count includes what the cache gave.
    usage = answer.usage
    total_input = input_tokens(request, usage) + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "input_tokens": total_input,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": total_input + usage.output_tokens,
    }


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {
        "type": "response.created",
        "response": {**whole, "status": "in_progress", "output": [], "usage": None},
    }
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        empty = {**item, "status": "in_progress"} | ({"content": []} if item["type"] == "message" else {})
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        yield from _message_events(item, place) if item["type"] == "message" else _call_events(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


def _message_events(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    part = item["content"][0]
    place = {**place, "content_index": 0}
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for word in words(part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": word}
    yield {"type": "response.output_text.done", **place, "text": part["text"]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _call_events(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind, field = ("custom_tool_call_input", "input") if "input" in item else ("function_call_arguments", "arguments")
    yield {"type": f"response.{kind}.delta", **place, "delta": item[field]}
    yield {"type": f"response.{kind}.done", **place, field: item[field]}
