"""The wire format of Gemini generateContent and streamGenerateContent (events with alt=sse, else one JSON array)."""

from collections.abc import Iterator
from typing import Any

from tests.fakes.recording import Recorded
from tests.fakes.replies import Answer, Failure, Raw
from tests.fakes.script import CallMade, Conversation, UserText
from tests.fakes.wire import event, event_answer, input_tokens, json_answer, json_reply, words


def conversation(request: Recorded) -> Conversation:
    body = request.json()
    items: list[UserText | CallMade] = []
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionCall" in part:
                items.append(CallMade(part["functionCall"]["name"]))
            elif "text" in part and content.get("role", "user") == "user":
                items.append(UserText(part["text"]))
    tools = {declared["name"] for tool in body.get("tools") or [] for declared in tool.get("functionDeclarations", [])}
    generation = body.get("generationConfig") or {}
    schema = generation.get("responseJsonSchema") or generation.get("responseSchema")
    return Conversation(tuple(items), frozenset(tools), schema=schema)


def render(request: Recorded, answer: Answer) -> Raw:
    if ":streamGenerateContent" not in request.path:
        return json_answer(_chunk(request, list(_parts(request, answer)), answer), answer)
    chunks = list(_chunks(request, answer))
    if "alt=sse" in request.query:
        return event_answer((event(chunk) for chunk in chunks), answer)
    return json_answer(chunks, answer)


def render_failure(failure: Failure) -> Raw:
    error = {"code": failure.status, "message": failure.message, "status": "UNAVAILABLE"}
    return json_reply({"error": error}, status=failure.status, headers=failure.headers)


def token_count(request: Recorded) -> Raw:
    """The answer to countTokens."""
    return json_reply({"totalTokens": max(1, len(request.decoded_body) // 4)})


def _parts(request: Recorded, answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.text:
        yield {"text": answer.text}
    for index, call in enumerate(answer.calls):
        called = {"name": call.name, "args": call.arguments, "id": f"fake-{request.number:04d}-{index}"}
        yield {"functionCall": called, "thoughtSignature": "ZmFrZQ=="}


def _chunks(request: Recorded, answer: Answer) -> Iterator[dict[str, Any]]:
    """One chunk a word, one a call; only the last says STOP and counts tokens."""
    calls = [part for part in _parts(request, answer) if "functionCall" in part]
    parts = [{"text": word} for word in words(answer.text)] + calls
    for part in parts[:-1]:
        yield _chunk(request, [part], None)
    yield _chunk(request, parts[-1:], answer)


def _chunk(request: Recorded, parts: list[dict[str, Any]], finished: Answer | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    chunk: dict[str, Any] = {
        "candidates": [candidate],
        "modelVersion": "fake",
        "responseId": f"fake-{request.number:04d}",
    }
    if finished is not None:
        candidate["finishReason"] = "STOP"
        chunk["usageMetadata"] = _usage(request, finished)
    return chunk


def _usage(request: Recorded, answer: Answer) -> dict[str, Any]:
    # Here the prompt's count includes what the cache gave.
    usage = answer.usage
    prompt = input_tokens(request, usage) + usage.cache_read_tokens + usage.cache_write_tokens
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": usage.cache_read_tokens,
        "candidatesTokenCount": usage.output_tokens,
        "totalTokenCount": prompt + usage.output_tokens,
    }
