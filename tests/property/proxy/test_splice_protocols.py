"""As `test_splice`, for the protocols that are translated: whatever JSON comes, only whole blocks of text are added."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bead_proxy.protocol import Form, ModelRequest, Shape, Unreadable, splice
from tests.property.proxy.test_splice import (
    _ANYTHING,
    _BLANKS,
    _BLOCK_TEXT,
    _STRING,
    _anchors,
    _array,
    _fields,
    _literal,
    _object,
    _taken_out,
)
from tests.unit.proxy.protocols.talk import SPOKEN, Spoken

# As in test_splice, and fewer: there are three protocols.
_SLOWLY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

_TEXT = _object(_fields(type=_literal("text"), text=_STRING))
_IMAGE = _object(_fields(type=_literal("image_url", "new"), image_url=_ANYTHING))
_MESSAGE = _object(
    _fields(
        role=_literal("user", "user", "tool", "assistant", "system", "other"),
        content=_STRING | _array(_TEXT | _IMAGE) | st.just("null"),
        tool_call_id=_STRING,
        tool_calls=_array(_object(_fields(id=_STRING, function=_object(_fields(name=_STRING, arguments=_STRING))))),
    )
)
_CHAT = _fields(messages=_array(_MESSAGE, most=5), model=_STRING, tools=_ANYTHING, response_format=_ANYTHING)

_INPUT = _object(_fields(type=_literal("input_text", "output_text"), text=_STRING))
_ITEM = _object(
    _fields(
        type=_literal("message", "message", "function_call_output", "function_call", "reasoning", "new"),
        role=_literal("user", "developer", "assistant"),
        content=_STRING | _array(_INPUT | _IMAGE),
        output=_STRING | _array(_INPUT),
        call_id=_STRING,
        arguments=_STRING,
    )
)
_RESPONSES = _fields(
    input=_STRING | _array(_ITEM, most=5), instructions=_STRING | st.just("null"), model=_STRING, text=_ANYTHING
)
_RESPONSES_WITHOUT = _fields(input=_array(_ITEM, most=5), previous_response_id=_STRING, conversation=_STRING)

_PART = _object(_fields(text=_STRING)) | _object(
    _fields(functionResponse=_object(_fields(id=_STRING, name=_STRING, response=_ANYTHING)))
)
_SYSTEM = _object(_fields(parts=_array(_PART), role=_STRING)) | _STRING | st.just("null")
_CONTENT = _object(_fields(role=_literal("user", "user", "model", "other"), parts=_array(_PART)))
_GEMINI = _fields(contents=_array(_CONTENT, most=5), systemInstruction=_SYSTEM, tools=_ANYTHING)
_GEMINI_SNAKE = _fields(contents=_array(_CONTENT, most=5), system_instruction=_SYSTEM, generation_config=_ANYTHING)
_GEMINI_WITHOUT = _fields(contents=_array(_CONTENT, most=5), x=_ANYTHING)

_FIELDS = {
    "openai_chat": _CHAT,
    "openai_responses": _RESPONSES | _RESPONSES_WITHOUT,
    "gemini": _GEMINI | _GEMINI_SNAKE | _GEMINI_WITHOUT,
}
_TRANSLATED = SPOKEN[1:]
EVERY = pytest.mark.parametrize("spoken", _TRANSLATED, ids=lambda spoken: spoken.name)


def _bodies(spoken: Spoken) -> st.SearchStrategy[bytes]:
    parts = st.tuples(_BLANKS, _object(_FIELDS[spoken.name]), _BLANKS)
    return parts.map(lambda written: "".join(written).encode())


def _read(spoken: Spoken, body: bytes) -> ModelRequest | None:
    """None for what is forwarded as it came."""
    try:
        return spoken.read(body)
    except Unreadable:
        return None


@EVERY
@_SLOWLY
@given(st.data(), _BLOCK_TEXT)
def test_blocks_alone_are_added_and_taking_them_out_gives_the_original(
    spoken: Spoken, data: st.DataObject, text: str
) -> None:
    body = data.draw(_bodies(spoken))
    before = json.loads(body)
    request = _read(spoken, body)
    if request is None:
        return
    anchors = [anchor for anchor in _anchors(request) if anchor.shape is not Shape.NO_ROOM]
    insertions = [insertion for anchor in anchors for insertion in anchor.insertions(text)]

    spliced = splice(body, insertions)

    assert _taken_out(spliced, insertions) == body
    spliced.decode()
    told = text.encode("utf-8", "replace").decode()
    assert _without(json.loads(spliced), told, before) == len(anchors)


def _without(after: Any, told: str, before: Any) -> int:
    """How many blocks `after` has more than `before`, which it equals in everything else."""
    if isinstance(after, dict):
        new = after.keys() - before.keys()
        assert all(after[name] in (told, {"parts": [{"text": told}]}) for name in new)
        return len(new) + sum(_without(after[name], told, before[name]) for name in before)
    if isinstance(after, list):
        grown = after[len(before) :]
        assert all(block in _written(told) for block in grown)
        return len(grown) + sum(map(_without, after, [told] * len(before), before))
    if isinstance(after, str) and after != before:
        assert after == f"{before}\n\n{told}"
        return 1
    assert repr(after) == repr(before)
    return 0


def _written(text: str) -> list[Any]:
    return [json.loads(f"{form}{json.dumps(text)}}}") for form in Form]


@EVERY
@_SLOWLY
@given(st.data())
def test_reading_a_damaged_body_raises_nothing_but_unreadable(spoken: Spoken, data: st.DataObject) -> None:
    body = data.draw(_bodies(spoken))
    at = data.draw(st.integers(0, len(body) - 1))
    damaged = body[:at] + data.draw(st.binary(max_size=3)) + body[at + data.draw(st.integers(0, 3)) :]
    if request := _read(spoken, damaged):
        insertions = [insertion for anchor in _anchors(request) for insertion in anchor.insertions("x")]
        assert _taken_out(splice(damaged, insertions), insertions) == damaged


@EVERY
@_SLOWLY
@given(st.one_of(st.binary(max_size=60), _ANYTHING.map(str.encode)))
def test_reading_anything_raises_nothing_but_unreadable(spoken: Spoken, body: bytes) -> None:
    _read(spoken, body)


@EVERY
@pytest.mark.parametrize(
    "odd", ["NaN", "-Infinity", "[" * 10_000 + "]" * 10_000, "12345678901234567890123", '"\\ud83d"']
)
def test_odd_values_beside_the_messages_break_nothing(spoken: Spoken, odd: str) -> None:
    start = {"openai_chat": '"messages":[{"role":"user","content":"hi"}]', "openai_responses": '"input":"hi"'}
    known = start.get(spoken.name, '"contents":[{"parts":[{"text":"hi"}]}]')
    body = f'{{"odd":{odd},{known},"odd":{odd}}}'.encode()

    request = _read(spoken, body)

    if odd in ("NaN", "-Infinity") or len(odd) > 10_000:
        assert request is None or request.users[0].human_text == "hi"
    else:
        assert request is not None and request.users[0].human_text == "hi"
