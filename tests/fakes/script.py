"""Lets a prompt say what the model shall reply, for harnesses that a test can only talk to through their prompt.

The newest user text with `TURN:NAME` governs the answer. In it, in order:

    [[call NAME {json}]]   call that tool, if the request offers it (one call a request)
    [[call! NAME {json}]]  the same without looking whether it is offered
    [[usage N]]            report N input tokens
    [[status CODE]]        fail once with that status, for the first request of that text

Then comes the text `FAKE-ANSWER for turn NAME after K tool calls.` Text that a proxy or a harness put around the prompt
(<bead-memory>, <system-reminder>) is not the person's and scripts nothing, even when it quotes a marker.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.fakes.replies import Answer, Call, Failure, Usage

PLAIN_TEXT = "FAKE-ANSWER without a turn marker."

_FOREIGN = re.compile(r"<(bead-memory|system-reminder)\b.*?</\1>", re.DOTALL)
_MARKER = re.compile(r"TURN:([\w.-]+)")
_CALL = re.compile(r"\[\[call(!?) (\S+) ")
_USAGE = re.compile(r"\[\[usage (\d+)\]\]")
_STATUS = re.compile(r"\[\[status (\d+)\]\]")


@dataclass(frozen=True)
class UserText:
    """One text block of a user message."""

    text: str


@dataclass(frozen=True)
class CallMade:
    """A tool call that the conversation already has."""

    name: str


@dataclass(frozen=True)
class Conversation:
    """A request as the script sees it, whatever its wire format."""

    items: tuple[UserText | CallMade, ...]
    """In order."""
    tools: frozenset[str]
    schema: dict[str, Any] | None = None
    """The JSON schema that the answer must have."""


@dataclass(frozen=True)
class _Directive:
    call: Call
    is_unconditional: bool


def own_text(text: str) -> str:
    """The text without fenced blocks that a proxy or a harness wrote."""
    return _FOREIGN.sub("", text)


class PromptScript:
    """Reads replies out of prompts. Remembers only which texts have had their failure."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def reply(self, conversation: Conversation) -> Answer | Failure:
        texts = [(at, own_text(item.text)) for at, item in enumerate(conversation.items) if isinstance(item, UserText)]
        at, text = next(((at, text) for at, text in reversed(texts) if _MARKER.search(text)), (-1, ""))
        status = _STATUS.search(text)
        if status and text not in self._failed:
            self._failed.add(text)
            return Failure(int(status.group(1)))
        usage = _USAGE.search(text)
        return _answer(
            conversation,
            text,
            calls_made=sum(isinstance(item, CallMade) for item in conversation.items[at + 1 :]),
            newest_text=texts[-1][1] if texts else "",
            usage=Usage(input_tokens=int(usage.group(1))) if usage else Usage(),
        )


def _answer(conversation: Conversation, text: str, *, calls_made: int, newest_text: str, usage: Usage) -> Answer:
    directives = _directives(text)
    if calls_made < len(directives):
        directive = directives[calls_made]
        if directive.is_unconditional or directive.call.name in conversation.tools:
            return Answer(calls=(directive.call,), usage=usage)
    if conversation.schema is not None:
        return Answer(json.dumps(example_of(conversation.schema)), usage=usage)
    marker = _MARKER.search(text)
    spoken = f"FAKE-ANSWER for turn {marker.group(1)} after {calls_made} tool calls." if marker else PLAIN_TEXT
    # A harness that asks for a <summary> asks again when the answer has none.
    return Answer(f"<summary>{spoken}</summary>" if "<summary>" in newest_text else spoken, usage=usage)


def _directives(text: str) -> Sequence[_Directive]:
    found: list[_Directive] = []
    decoder = json.JSONDecoder()
    match = _CALL.search(text)
    while match:
        try:
            arguments, end = decoder.raw_decode(text, match.end())
            found.append(_Directive(Call(match.group(2), arguments), bool(match.group(1))))
        except ValueError:
            end = match.end()
        match = _CALL.search(text, end)
    return found


def example_of(schema: dict[str, Any]) -> Any:
    """A small value that fits the JSON schema; all properties are present, strings say `fake`."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0])
    match schema.get("type", "object"):
        case "object" | "OBJECT":
            return {name: example_of(part) for name, part in schema.get("properties", {}).items()}
        case "array" | "ARRAY":
            return []
        case "boolean" | "BOOLEAN":
            return False
        case "integer" | "number" | "INTEGER" | "NUMBER":
            return 1
        case "null":
            return None
        case _:
            return "fake"
