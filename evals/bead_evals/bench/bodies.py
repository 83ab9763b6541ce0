"""Request bodies as a coding agent sends them: the Anthropic Messages format in the shape Claude Code gives it.

Pure: the same arguments give the same bytes. Sending is `client`; the facts that the prompts ask about are `seeding`.
A conversation opens at the asked size and then grows by one short human turn a request, as a real one does. Its newest
message is always a person's new text, so a memory proxy has to look something up and write something down every time.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from uuid import UUID

from bead_evals.bench.topics import TOPICS

TOOL_PAIRS_PER_PROMPT = 8
"""Tool calls between two human prompts of the history; long conversations are mostly tool output."""

SMALLEST_BYTES = 24_000
"""Below this the system prompt and the tools alone do not fit."""

_EPHEMERAL = {"type": "ephemeral"}
_MODEL = "claude-opus-5-5"
_WORKING_DIRECTORY = "/home/dev/ledger"
_WORDS = (
    "account batch cache client column commit config cursor default deploy document driver entry event field filter "
    "handler header import index item job key ledger limit line lock message migration module node offset order page "
    "parser path payload policy pool query queue record region report request retry route row schema schedule scope "
    "server session shard signal snapshot status stream table task tenant token trace user value vendor worker naïve"
).split()


@dataclass(frozen=True)
class Conversation:
    """One session of an agent: `bodies[n]` is the request of its n-th turn."""

    session_id: str
    bodies: tuple[bytes, ...]


def conversation(size_bytes: int, turns: int, nonce: int) -> Conversation:
    """A conversation whose first request has exactly `size_bytes`; `nonce` makes its texts and its id its own.

    Raises ValueError when `size_bytes` is under `SMALLEST_BYTES`.
    """
    if size_bytes < SMALLEST_BYTES:
        raise ValueError(f"a body needs at least {SMALLEST_BYTES} bytes for its system prompt and tools")
    random = Random(nonce)
    session_id = str(UUID(int=random.getrandbits(128), version=4))
    tail = _tail(session_id)
    messages = [part for part in (_opening(nonce), _history(size_bytes)) if part]
    bodies: list[bytes] = []
    for turn in range(turns):
        prompt = _prompt(random, nonce, turn)
        if not bodies:
            # The opening and the first prompt vary by a few bytes; the padding takes up exactly that, and its comma.
            messages.append(_padding(size_bytes - len(_body([*messages, _newest(prompt)], tail)) - 1))
        bodies.append(_body([*messages, _newest(prompt)], tail))
        messages += [_text_message("user", prompt), _text_message("assistant", _prose(turn, 300))]
    return Conversation(session_id, tuple(bodies))


def _body(messages: list[bytes], tail: bytes) -> bytes:
    return b'{"model":"' + _MODEL.encode() + b'","messages":[' + b",".join(messages) + tail


def _prompt(random: Random, nonce: int, turn: int) -> str:
    """A person's newest text: a question about one seeded topic, different in every request."""
    return f"{random.choice(TOPICS).prompt} This is step {turn + 1} of ticket {nonce:08x}."


def _newest(prompt: str) -> bytes:
    """The newest user message: array form, with the cache marker that only the newest one carries."""
    block = {"type": "text", "text": prompt, "cache_control": _EPHEMERAL}
    return _encode({"role": "user", "content": [block]})


def _text_message(role: str, text: str) -> bytes:
    """An earlier message: marker gone, one text block collapsed into a plain string."""
    return _encode({"role": role, "content": text})


def _opening(nonce: int) -> bytes:
    """Message 0 with its reminders, and the system-role message that follows it."""
    reminder = "<system-reminder>\nThe user's instructions for this repository follow.\n" + _prose(7, 900)
    first = {
        "role": "user",
        "content": [
            {"type": "text", "text": reminder + "\n</system-reminder>"},
            {"type": "text", "text": f"Ticket {nonce:08x}: look through the module and tell me what it does."},
        ],
    }
    environment = f"# Environment\n - Primary working directory: {_WORKING_DIRECTORY}\n - Platform: linux\n"
    return (
        _encode(first)
        + b","
        + _encode({"role": "system", "content": environment})
        + b","
        + _text_message("assistant", "I will read it first.")
    )


def _tail(session_id: str) -> bytes:
    """Everything behind `messages`, in the order in which Claude Code writes it."""
    rest = {
        "system": [
            {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.332.a1b; cc_entrypoint=cli;"},
            {"type": "text", "text": "You are a coding agent.", "cache_control": _EPHEMERAL},
            {"type": "text", "text": _prose(3, 6000), "cache_control": _EPHEMERAL},
        ],
        "tools": [_tool(n) for n in range(12)],
        "metadata": {"user_id": json.dumps({"device_id": "0" * 16, "session_id": session_id})},
        "max_tokens": 32000,
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "stream": True,
    }
    return b"]," + _encode(rest)[1:]


def _tool(number: int) -> dict[str, object]:
    names = ("Read", "Edit", "Write", "Bash", "Grep", "Glob", "Agent", "WebFetch", "Skill", "Todo", "Search", "Stop")
    path = {"type": "string", "description": _prose(200 + number, 120)}
    schema = {"type": "object", "properties": {"path": path, "limit": {"type": "integer"}}, "required": ["path"]}
    return {"name": names[number], "description": _prose(100 + number, 700), "input_schema": schema}


@cache
def _history(size_bytes: int) -> bytes:
    """Tool calls, tool results and now and then a human prompt: a little less than a body of `size_bytes` needs."""
    room = size_bytes - SMALLEST_BYTES
    parts: list[bytes] = []
    used = 0
    for part in _steps():
        if used + len(part) + 1 > room:
            break
        parts.append(part)
        used += len(part) + 1
    return b",".join(parts)


def _steps() -> Iterator[bytes]:
    """Endless history, one step at a time: a tool call with its result, or a human prompt with its answer."""
    random = Random(11)
    step = 0
    while True:
        step += 1
        yield _tool_pair(f"toolu_{step:024d}", _source_text(random, random.randint(1500, 7000)))
        if step % TOOL_PAIRS_PER_PROMPT == 0:
            prompt = _text_message("user", f"Now the next part, please: {_prose(step, 80)}")
            yield prompt + b"," + _text_message("assistant", _prose(step + 1, 300))


def _tool_pair(call_id: str, output: str) -> bytes:
    call = {"type": "tool_use", "id": call_id, "name": "Read", "input": {"path": f"src/{call_id[-4:]}.py"}}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
    thinking = {"type": "text", "text": "Reading the next file."}
    return (
        _encode({"role": "assistant", "content": [thinking, call]})
        + b","
        + _encode({"role": "user", "content": [result]})
    )


def _padding(room: int) -> bytes:
    """One tool call whose result makes the body as long as it should be: exactly `room` bytes."""
    call_id = "toolu_" + "9" * 24
    frame = len(_tool_pair(call_id, ""))
    assert room >= frame, f"the parts that never change left only {room} bytes: raise SMALLEST_BYTES"
    space = room - frame
    text = _source_text(Random(5), space)
    while (over := _encoded_bytes(text) - space) > 0:
        text = text[: -max(1, over // 2)]
    return _tool_pair(call_id, text + "." * -over)


def _encoded_bytes(text: str) -> int:
    """How many bytes `text` takes between the quotes of a JSON string."""
    return len(_encode(text)) - 2


def _source_text(random: Random, characters: int) -> str:
    """Numbered lines that look like source code: indentation, quotes and now and then a letter outside ASCII."""
    lines: list[str] = []
    length = 0
    while length < characters:
        a, b, c = random.choices(_WORDS, k=3)
        line = f'{len(lines) + 1:>6}\t{" " * 4 * random.randint(0, 3)}{a}.{b}("{c}", {random.randint(0, 9999)})'
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:characters]


@cache
def _prose(seed: int, characters: int) -> str:
    return " ".join(Random(seed).choices(_WORDS, k=characters // 4))[:characters]


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
