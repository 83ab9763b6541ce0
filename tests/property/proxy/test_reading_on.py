"""However a conversation goes on, reading on from an earlier body gives what reading the whole body gives."""

import json
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from bead_proxy import anthropic
from bead_proxy.protocol import Unreadable

_MARKER = {"cache_control": {"type": "ephemeral"}}
_WORDS = st.sampled_from(
    [
        "plant beans",
        "water them",
        "é 水 💧",
        'say "messages":[{"role"',
        "<system-reminder>\nx\n</system-reminder>",
        "",
        " ",
    ]
) | st.text(max_size=5)
_BLANK = st.sampled_from(["", "", "", " ", "\n\t"])
_NAMES = st.sampled_from(["messages", "system", "model", "tools", "metadata", "stream", "max_tokens", "new"])
_VALUES = st.sampled_from(
    [
        *('"m"', "null", "[]", "true", "1", '"\\ud83d"', '"  "', '{"a":[1]}', '{"user_id":"x_session_12345678"}'),
        *('[{"type":"text","text":"Working directory: /b"}]', '[{"role":"user","content":"another"}]'),
    ]
)

Message = dict[str, Any]


def _text(words: str, **fields: Any) -> Message:
    return {"type": "text", "text": words, **fields}


@st.composite
def _message(draw: st.DrawFn, number: int) -> Message:
    words = draw(_WORDS)
    kind = draw(
        st.sampled_from(
            ["user", "user", "result", "result", "assistant", "assistant", "assistant", "system", "strange"]
        )
    )
    match kind:
        case "user":
            content: Any = draw(st.sampled_from([f"{words} {number}", [_text(f"{words} {number}", **_MARKER)]]))
        case "result":
            content = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": words}]
        case "assistant":
            content = [
                _text(words),
                {"type": "tool_use", "id": f"t{number + 1}", "name": "Read", "input": {"p": words}},
            ]
        case "system":
            content = draw(
                st.sampled_from([f"Working directory: /a{number}", [_text(words)], "Primary working directory: /p"])
            )
        case _:
            return draw(st.sampled_from([{"role": "user"}, {"role": "system"}, {"content": "x", "role": "user"}]))
    message = {"role": "user" if kind == "result" else kind, "content": content}
    return message if draw(st.integers(0, 9)) else dict(reversed(message.items()))


def _rewritten(message: Message) -> Message:
    """The same message as a harness writes it a turn later: string for array, the cache marker gone."""
    content = message.get("content")
    if isinstance(content, str):
        return message | {"content": [_text(content)]}
    if isinstance(content, list) and len(content) == 1 and content[0].get("type") == "text":
        return message | {"content": content[0]["text"]}
    return message


@st.composite
def _written(draw: st.DrawFn, messages: list[str], head: str) -> bytes:
    """A body, its parts behind the messages new each time."""
    blank = draw(_BLANK)
    tail = [f"{blank}{json.dumps(draw(_NAMES))}:{draw(_VALUES)}" for _ in range(draw(st.integers(0, 2)))]
    array = f"{blank}[{blank}" + f"{blank},{blank}".join(messages) + f"{blank}]"
    text = "{" + ",".join([*([head] if head else []), f'"messages":{array}', *tail]) + "}"
    body = text.encode()
    if draw(st.integers(0, 11)) == 0:
        at = draw(st.integers(0, len(body)))
        body = (
            body[:at]
            + draw(st.sampled_from([b"", b"]", b"}", b'"', b",", b"\\ud800", b"\xff"]))
            + body[at + draw(st.integers(0, 4)) :]
        )
    if draw(st.integers(0, 11)) == 0:
        body = body.replace(b'"messages"', b'"mess\\u0061ges"', 1)
    return body


def _encoded(draw: st.DrawFn, message: Message) -> str:
    return json.dumps(
        message, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    )


@st.composite
def _conversation(draw: st.DrawFn) -> list[bytes]:
    """Bodies one after the other under one session: turns, retries, rewinds, compaction, others in between."""
    head = draw(
        st.sampled_from(
            ["", '"model":"m"', '"model":"m","system":"Working directory: /s","tools":[{"x":1}]', '"messages":[]']
        )
    )
    kept: list[Message] = [draw(_message(number)) for number in range(draw(st.integers(8, 16)))]
    texts = [_encoded(draw, message) for message in kept]
    bodies = [draw(_written(texts, head))]
    for step in range(draw(st.integers(1, 4))):
        match draw(st.sampled_from(["turn", "turn", "turn", "retry", "rewind", "compaction", "other"])):
            case "turn":
                for back in range(1, draw(st.integers(0, min(3, len(kept)))) + 1):
                    kept[-back] = _rewritten(kept[-back])
                    texts[-back] = _encoded(draw, kept[-back])
                for number in range(draw(st.integers(1, 3))):
                    kept.append(draw(_message(100 * (step + 1) + number)))
                    texts.append(_encoded(draw, kept[-1]))
            case "rewind":
                cut = draw(st.integers(1, len(kept)))
                del kept[cut:], texts[cut:]
            case "compaction":
                kept[0] = {"role": "user", "content": "This session is being continued: beans"}
                texts[0] = _encoded(draw, kept[0])
            case "other":
                other = [_encoded(draw, draw(_message(1_000 + number))) for number in range(draw(st.integers(1, 6)))]
                bodies.append(draw(_written(other, head)))
            case _:
                pass
        bodies.append(draw(_written(texts, head)))
    return bodies


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(_conversation())
def test_reading_on_is_reading_the_whole(bodies: list[bytes]) -> None:
    earlier: anthropic.Earlier | None = None
    for body in bodies:
        whole, trouble = None, ""
        try:
            whole = anthropic.read_on(body, None)
        except Unreadable as error:
            trouble = str(error)
        try:
            reading = anthropic.read_on(body, earlier)
        except Unreadable as error:
            assert (whole, trouble) == (None, str(error))
            continue

        event(f"kept {'some' if reading.kept else 'none'}")
        assert whole is not None, "read on what cannot be read"
        assert reading.request == whole.request
        found, expected = reading.earlier(), whole.earlier()
        assert (found is None) is (expected is None)
        if found and expected and earlier:
            pairs = zip(reading.request.users[: reading.kept], earlier.users, strict=False)
            assert all(new is old for new, old in pairs)
            assert (found.body, found.first_texts, found.told) == (body, expected.first_texts, expected.told)
        earlier = found or earlier
