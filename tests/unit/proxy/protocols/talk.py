"""One conversation, told in every protocol: what a test says once must hold in all of them."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from bead.conversations import roll
from bead_proxy import anthropic, gemini, openai_chat, openai_responses
from bead_proxy.protocol import ModelRequest
from bead_proxy.protocols import Module

Document = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """A text of the person's."""

    text: str


@dataclass(frozen=True)
class Answered:
    """The model's text."""

    text: str


@dataclass(frozen=True)
class Called:
    """A tool call of the model's and what the tool gave."""

    id: str
    name: str
    arguments: dict[str, Any]
    output: str


Step = Said | Answered | Called


@dataclass(frozen=True)
class Talk:
    """A request."""

    steps: tuple[Step, ...]
    system: str = "You help."
    is_array: bool = False
    """Whether contents are arrays where a protocol lets clients choose."""
    has_tools: bool = True

    def then(self, *steps: Step) -> "Talk":
        return replace(self, steps=(*self.steps, *steps))


def _text(talk: Talk, text: str, kind: str = "text") -> Any:
    return [{"type": kind, "text": text}] if talk.is_array else text


def messages(talk: Talk) -> Document:
    """As Anthropic Messages."""
    found: list[Document] = []
    for step in talk.steps:
        match step:
            case Said():
                found.append({"role": "user", "content": _text(talk, step.text)})
            case Answered():
                found.append({"role": "assistant", "content": _text(talk, step.text)})
            case Called():
                use = {"type": "tool_use", "id": step.id, "name": step.name, "input": step.arguments}
                result = {"type": "tool_result", "tool_use_id": step.id, "content": _text(talk, step.output)}
                found += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    return {"model": "model-a", "max_tokens": 8, "system": _text(talk, talk.system), "messages": found} | _tools(
        talk, {"name": "look", "input_schema": {}}
    )


def chat(talk: Talk) -> Document:
    """As Chat Completions."""
    found: list[Document] = [{"role": "system", "content": _text(talk, talk.system)}]
    for step in talk.steps:
        match step:
            case Said():
                found.append({"role": "user", "content": _text(talk, step.text)})
            case Answered():
                found.append({"role": "assistant", "content": _text(talk, step.text)})
            case Called():
                function = {"name": step.name, "arguments": json.dumps(step.arguments)}
                call = {"id": step.id, "type": "function", "function": function}
                found.append({"role": "assistant", "content": None, "tool_calls": [call]})
                found.append({"role": "tool", "tool_call_id": step.id, "content": _text(talk, step.output)})
    return {"model": "model-a", "messages": found} | _tools(talk, {"type": "function", "function": {"name": "look"}})


def responses(talk: Talk) -> Document:
    """As Responses."""
    found: list[Document] = []
    for step in talk.steps:
        match step:
            case Said():
                content = _text(talk, step.text, "input_text")
                found.append({"type": "message", "role": "user", "content": content})
            case Answered():
                content = [{"type": "output_text", "text": step.text}]
                found.append({"type": "message", "role": "assistant", "content": content})
            case Called():
                call = {"call_id": step.id, "name": step.name, "arguments": json.dumps(step.arguments)}
                output = _text(talk, step.output, "input_text")
                found.append({"type": "function_call", **call})
                found.append({"type": "function_call_output", "call_id": step.id, "output": output})
    return {"model": "model-a", "instructions": talk.system, "input": found} | _tools(
        talk, {"type": "function", "name": "look"}
    )


def contents(talk: Talk) -> Document:
    """As Gemini."""
    found: list[Document] = []
    for step in talk.steps:
        match step:
            case Said():
                found.append({"role": "user", "parts": [{"text": step.text}]})
            case Answered():
                found.append({"role": "model", "parts": [{"text": step.text}]})
            case Called():
                call = {"id": step.id, "name": step.name, "args": step.arguments}
                answer = {"id": step.id, "name": step.name, "response": {"output": step.output}}
                found.append({"role": "model", "parts": [{"functionCall": call}]})
                found.append({"role": "user", "parts": [{"functionResponse": answer}]})
    system = {"parts": [{"text": talk.system}], "role": "user"}
    return {"contents": found, "systemInstruction": system} | _tools(talk, {"functionDeclarations": [{"name": "look"}]})


def _tools(talk: Talk, tool: Document) -> Document:
    return {"tools": [tool]} if talk.has_tools else {}


@dataclass(frozen=True)
class Spoken:
    """One protocol as tests use it."""

    name: str
    target: str
    module: Module
    told: Callable[[Talk], Document]

    def read(self, document: Document | bytes) -> ModelRequest:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        return self.module.read_on(body, None).request

    def ask(self, talk: Talk) -> ModelRequest:
        return self.read(self.told(talk))


SPOKEN = (
    Spoken("anthropic", "/v1/messages", anthropic, messages),
    Spoken("openai_chat", "/v1/chat/completions", openai_chat, chat),
    Spoken("openai_responses", "/v1/responses", openai_responses, responses),
    Spoken("gemini", "/v1beta/models/model-a:streamGenerateContent?alt=sse", gemini, contents),
)


def positions(request: ModelRequest) -> tuple[str, ...]:
    return tuple(roll("ben", "shop", (user.parts for user in request.users)))
