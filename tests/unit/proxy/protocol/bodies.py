"""Small Messages bodies for the tests of this folder, and the files that others are in."""

import json
from pathlib import Path
from typing import Any

from bead.conversations import roll
from bead_proxy import anthropic
from bead_proxy.protocol import ModelRequest

TESTS = Path(__file__).parents[3]

Message = dict[str, Any]
Content = str | list[dict[str, Any]]


def user(content: Content, **fields: Any) -> Message:
    return {"role": "user", "content": content, **fields}


def assistant(content: Content) -> Message:
    return {"role": "assistant", "content": content}


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


def reminder(words: str) -> dict[str, Any]:
    return text(f"<system-reminder>\n{words}\n</system-reminder>\n")


def tool_use(tool_use_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": tool_use_id, "name": name, "input": arguments}


def tool_result(tool_use_id: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": tool_use_id, "content": content}


def image(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def body(*messages: Message, **fields: Any) -> bytes:
    tools = [{"name": "Bash", "input_schema": {"type": "object"}}]
    return json.dumps({"model": "m", "stream": True, "tools": tools, **fields, "messages": list(messages)}).encode()


def read(*messages: Message, **fields: Any) -> ModelRequest:
    return anthropic.read(body(*messages, **fields))


def positions(request: ModelRequest) -> list[str]:
    return list(roll("ben", "garden", (message.parts for message in request.users)))


def field_case(name: str) -> bytes:
    """An input of a field case, such as `B07/wrapped-turn.json`."""
    return (TESTS / "vectors" / "field" / name).read_bytes()


def fixture(name: str) -> bytes:
    """The body of a request in the shape of Claude Code, as its JSON.stringify writes it."""
    found = json.loads((TESTS / "fixtures" / "claude_code" / f"{name}.json").read_text())
    return json.dumps(found["body"], ensure_ascii=False, separators=(",", ":")).encode()
