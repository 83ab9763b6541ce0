"""Past sessions as Claude Code and Codex keep them, for the raw history: whose words, tools cut, data left out (D5).

What a harness writes in the person's place is left out as the proxy leaves it out; a subagent's turns are not told.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bead.turns import tool_block
from bead_cli.importing.files import files_below, lines_of
from bead_cli.importing.records import Record, Said, Wrong
from bead_proxy.human import own_words

_CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_CODEX_RESULTS = ("function_call_output", "custom_tool_call_output")


def read_claude(path: str) -> Iterator[Record]:
    """Turns of `projects/<folder>/<session>.jsonl`, of one file or of all below a folder."""
    for file in files_below(path, (".jsonl",)):
        for place, line in _objects(file):
            if isinstance(line, Wrong):
                yield line
            elif line.get("type") in ("user", "assistant") and not (line.get("isMeta") or line.get("isSidechain")):
                yield from _claude_turn(place, line)


def read_codex(path: str) -> Iterator[Record]:
    """Turns of `sessions/Y/M/D/rollout-*.jsonl`, of one file or of all below a folder."""
    for file in files_below(path, (".jsonl",)):
        session, directory, number = _stem(file), "", 0
        for place, line in _objects(file):
            if isinstance(line, Wrong):
                yield line
                continue
            payload = line.get("payload")
            if not isinstance(payload, dict):
                continue
            if line.get("type") == "session_meta":
                session, directory = _text(payload, "id") or session, _text(payload, "cwd")
            text, role = _codex_text(line, payload)
            if text:
                number += 1
                at = _text(line, "timestamp")
                yield Said(session, f"{session}-{number}", role, text, at, directory, place)


def _claude_turn(place: str, line: Mapping[str, Any]) -> Iterator[Record]:
    message = line.get("message")
    session, at = _text(line, "sessionId"), _text(line, "timestamp")
    if not isinstance(message, dict) or not session or not at:
        yield Wrong(place, "a turn needs sessionId, timestamp and message")
        return
    role = str(line["type"])
    text = _claude_text(message.get("content"), role)
    if text:
        yield Said(session, _text(line, "uuid") or place, role, text, at, _text(line, "cwd"), place)


def _claude_text(content: object, role: str) -> str:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts: list[str] = []
    for block in blocks if isinstance(blocks, list) else []:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            parts.append(own_words(_text(block, "text")) if role == "user" else _text(block, "text"))
        elif kind == "tool_use":
            parts.append(tool_block(f"use: {_name(block)}", json.dumps(block.get("input"), ensure_ascii=False)))
        elif kind == "tool_result":
            parts.append(tool_block("result", _flat(block.get("content"))))
        elif kind in ("image", "document"):
            parts.append(f"[{kind}]")
    return "\n\n".join(part for part in parts if part.strip())


def _codex_text(line: Mapping[str, Any], payload: Mapping[str, Any]) -> tuple[str, str]:
    kind = payload.get("type")
    if line.get("type") != "response_item":
        return "", ""
    if kind == "message" and payload.get("role") in ("user", "assistant"):
        texts = [_text(part, "text") for part in payload.get("content") or () if isinstance(part, dict)]
        role = str(payload["role"])
        words = [own_words(text) if role == "user" else text for text in texts]
        return "\n\n".join(word for word in words if word.strip()), role
    if kind in _CODEX_CALLS:
        said = payload.get("arguments") or payload.get("input") or payload.get("action")
        return tool_block(f"use: {_name(payload)}", _flat(said)), "assistant"
    if kind in _CODEX_RESULTS:
        return tool_block("result", _flat(payload.get("output"))), "user"
    return "", ""


def _objects(file: str) -> Iterator[tuple[str, Any]]:
    name = file.rpartition("/")[2]
    for number, line in lines_of(file):
        place = f"{name} line {number}"
        if not line.strip():
            if not line:
                yield place, Wrong(place, "the line is too long")
            continue
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            said = None
        yield (
            place,
            said if isinstance(said, dict) else Wrong(place, "it is not a JSON object; it may have been cut off"),
        )


def _flat(said: object) -> str:
    if isinstance(said, str):
        return said
    if isinstance(said, list):
        return "\n".join(_text(part, "text") for part in said if isinstance(part, dict))
    return "" if said is None else json.dumps(said, ensure_ascii=False)


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said.get(name)
    return found if isinstance(found, str) else ""


def _name(block: Mapping[str, Any]) -> str:
    return "".join(char for char in _text(block, "name") if char.isalnum() or char in "_.-")[:60] or "tool"


def _stem(file: str) -> str:
    return file.rpartition("/")[2].removesuffix(".jsonl")
