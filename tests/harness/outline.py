"""The shape of a Claude Code request without its words, to compare a fixture with the real thing."""

import re
from typing import Any

_PLAIN_STARTS = ("This session is being continued", "CRITICAL: Respond with TEXT ONLY", "x-anthropic-billing-header:")
_TAG = re.compile(r"\s*(<[a-z-]+>)")
_DIRECTORY = " - Primary working directory: "


def outline(body: dict[str, Any]) -> dict[str, Any]:
    """Keys in order, blocks by kind, strings or arrays, cache markers; equal for requests of equal shape."""
    return {
        "keys": list(body),
        "system": [_block(block) for block in body["system"]],
        "messages": [_message(message) for message in body["messages"]],
    }


def _message(message: dict[str, Any]) -> tuple[list[str], str, Any]:
    return list(message), message["role"], _content(message["content"])


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return f"string: {_kind(content)}"
    return [_block(block) for block in content]


def _block(block: dict[str, Any]) -> tuple[list[str], str, Any]:
    return list(block), block["type"], _content(block.get("content") or block.get("text") or "")


def _kind(text: str) -> str:
    """The tag or fixed words that a text starts with, and whether it names the directory or has a reminder within."""
    start = next((words for words in _PLAIN_STARTS if text.startswith(words)), "")
    tag = _TAG.match(text)
    within = [mark for mark in (_DIRECTORY, "\n<system-reminder>") if mark in text]
    return " ".join([start or (tag.group(1) if tag else "text"), *within])
