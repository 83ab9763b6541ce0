"""Whatever JSON a harness writes: blocks go in, all other bytes stay, and only those blocks change the meaning (I8)."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bead_proxy import anthropic, rawjson
from bead_proxy.protocol import Anchor, Insertion, ModelRequest, Shape, Unreadable, splice

# Written JSON, not values: blanks, escapes, numbers and keys in all the spellings that JSON allows.
_BLANKS = st.text(" \t\r\n", max_size=3)
_PIECES = st.one_of(
    st.sampled_from(
        [
            *(r"\u0041", r"\ud83d\ude00", r"\ud83d", r"\ude00", r"\\ud800", r"\/", r"\"", r"\\", r"\n", r"\u2028"),
            *("]", "}", "{", "[", ",", ":", "<system-reminder>", "</system-reminder>", "bead-memory", "é", "水", "💧"),
            *('{\\"messages\\":[', "remember that x", "\x7f"),
        ]
    ),
    st.text(st.characters(exclude_characters='"\\', min_codepoint=32, exclude_categories=["Cs"]), max_size=4),
)
_STRING = st.lists(_PIECES, max_size=6).map(lambda pieces: '"' + "".join(pieces) + '"')
_NUMBER = st.sampled_from(["0", "-0.0", "1E2", "1.0", "0.10", "12345678901234567890123", "1e-400", "-7", "1e999"])
_ATOM = st.one_of(_STRING, _NUMBER, st.sampled_from(["null", "true", "false"]))


@st.composite
def _array(draw: st.DrawFn, items: st.SearchStrategy[str], most: int = 3) -> str:
    inner = [draw(_BLANKS) + item + draw(_BLANKS) for item in draw(st.lists(items, max_size=most))]
    return "[" + (",".join(inner) or draw(_BLANKS)) + "]"


@st.composite
def _object(draw: st.DrawFn, fields: st.SearchStrategy[list[tuple[str, str]]]) -> str:
    inner = [
        f"{draw(_BLANKS)}{_key(draw, name)}{draw(_BLANKS)}:{draw(_BLANKS)}{value}{draw(_BLANKS)}"
        for name, value in draw(fields)
    ]
    return "{" + (",".join(inner) or draw(_BLANKS)) + "}"


def _key(draw: st.DrawFn, name: str) -> str:
    if draw(st.integers(0, 9)) == 0:
        return '"' + "".join(f"\\u{ord(letter):04x}" for letter in name) + '"'
    return f'"{name}"'


_ANYTHING = st.recursive(
    _ATOM,
    lambda inner: (
        _array(inner) | _object(st.lists(st.tuples(st.sampled_from(["a", "text", "content"]), inner), max_size=3))
    ),
    max_leaves=6,
)


@st.composite
def _fields(draw: st.DrawFn, /, **known: st.SearchStrategy[str]) -> list[tuple[str, str]]:
    """The known fields, some left out, some twice, some unknown ones, in any order."""
    found = [(name, draw(value)) for name, value in known.items()]
    found += draw(st.lists(st.tuples(st.sampled_from(["cache_control", "unknown", "x"]), _ANYTHING), max_size=2))
    if draw(st.integers(0, 4)) == 0:
        name = draw(st.sampled_from(list(known)))
        found.append((name, draw(known[name])))
    return draw(st.permutations(found))


def _literal(*words: str) -> st.SearchStrategy[str]:
    return st.sampled_from([json.dumps(word) for word in words])


_TEXT_BLOCK = _object(_fields(type=_literal("text"), text=_STRING))
_RESULT_BLOCK = _object(
    _fields(type=_literal("tool_result"), tool_use_id=_STRING, content=_STRING | _array(_TEXT_BLOCK) | _ANYTHING)
)
_OTHER_BLOCK = _object(
    _fields(type=_literal("image", "thinking", "tool_use", "new"), source=_ANYTHING, input=_ANYTHING)
)
_CONTENT = _STRING | _array(_TEXT_BLOCK | _RESULT_BLOCK | _OTHER_BLOCK, most=4)
_MESSAGE = _object(_fields(role=_literal("user", "user", "assistant", "system", "other"), content=_CONTENT))
_WHOLE = _fields(messages=_array(_MESSAGE, most=5), system=_STRING | _array(_TEXT_BLOCK) | st.just("null"), x=_ANYTHING)
_WITHOUT_SYSTEM = _fields(messages=_array(_MESSAGE, most=5), model=_STRING, stream=_ANYTHING, metadata=_ANYTHING)
_BODY = st.tuples(_BLANKS, _object(_WHOLE | _WITHOUT_SYSTEM), _BLANKS).map(lambda parts: "".join(parts).encode())
_BLOCK_TEXT = st.lists(st.text(max_size=4) | st.sampled_from(["\ud83d", "\ude00"]), min_size=1, max_size=5).map("".join)


# Bodies take a while to make up, more so on a busy machine; that says nothing about the code under test.
_SLOWLY = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _anchors(request: ModelRequest) -> list[Anchor]:
    return [anchor for anchor in (request.system, *(message.anchor for message in request.users)) if anchor]


def _taken_out(spliced: bytes, insertions: list[Insertion]) -> bytes:
    left = bytearray(spliced)
    for offset, data in sorted(insertions, key=lambda insertion: insertion.offset):
        assert left[offset : offset + len(data)] == data
        del left[offset : offset + len(data)]
    return bytes(left)


def _texts(value: Any) -> list[Any]:
    """Content as blocks: a string is one text block."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value or []


@_SLOWLY
@given(_BODY, st.data())
def test_taking_the_inserted_bytes_out_gives_the_original(body: bytes, data: st.DataObject) -> None:
    json.loads(body)
    request = anthropic.read(body)
    chosen = [anchor for anchor in _anchors(request) if data.draw(st.booleans())]
    insertions = [insertion for anchor in chosen for insertion in anchor.insertions(data.draw(_BLOCK_TEXT))]

    spliced = splice(body, insertions)

    assert _taken_out(spliced, insertions) == body
    assert (spliced == body) is (not chosen)


@_SLOWLY
@given(_BODY, _BLOCK_TEXT)
def test_the_meaning_changes_by_the_inserted_blocks_alone(body: bytes, text: str) -> None:
    before = json.loads(body)
    request = anthropic.read(body)
    anchors = _anchors(request)

    spliced = splice(body, [insertion for anchor in anchors for insertion in anchor.insertions(text)])
    spliced.decode()
    after = json.loads(spliced)

    block = {"type": "text", "text": text.encode("utf-8", "replace").decode()}
    grown = 0
    for old, new in zip(before["messages"], after["messages"], strict=True):
        if new != old:
            grown += 1
            assert old["role"] == "user"
            assert new == old | {"content": [*_texts(old["content"]), block]}
    assert grown == len(request.users)
    if request.system is not None:
        assert after["system"] == [*_texts(before.get("system")), block]
    untouched = before.keys() - {"messages", "system"}
    assert all(repr(after[name]) == repr(before[name]) for name in untouched)


@_SLOWLY
@given(st.one_of(st.binary(max_size=60), _ANYTHING.map(str.encode), _BODY.map(lambda body: body[:-2])))
def test_reading_raises_nothing_but_unreadable(body: bytes) -> None:
    try:
        anthropic.read(body)
    except Unreadable:
        return
    json.loads(body.decode("utf-8", "replace"))


@_SLOWLY
@given(_BODY, st.data())
def test_reading_a_damaged_body_raises_nothing_but_unreadable(body: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(body) - 1))
    damaged = body[:at] + data.draw(st.binary(max_size=3)) + body[at + data.draw(st.integers(0, 3)) :]
    try:
        request = anthropic.read(damaged)
    except Unreadable:
        return
    insertions = [insertion for anchor in _anchors(request) for insertion in anchor.insertions("x")]
    assert _taken_out(splice(damaged, insertions), insertions) == damaged


@_SLOWLY
@given(_STRING)
def test_masking_leaves_valid_strings_as_they_are_and_makes_the_others_readable(written: str) -> None:
    body = written.encode()
    masked = rawjson.mask_lone_surrogates(body)

    assert len(masked) == len(body)
    json.loads(masked).encode()
    assert json.loads(masked) == json.loads(body).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@_SLOWLY
@given(_BODY)
def test_a_position_never_depends_on_how_json_is_written(body: bytes) -> None:
    rewritten = json.dumps(json.loads(rawjson.mask_lone_surrogates(body))).replace("Infinity", "0").encode()

    assert [message.parts for message in anthropic.read(rewritten).users] == [
        message.parts for message in anthropic.read(body).users
    ]
    assert all(message.anchor.shape in (Shape.ARRAY, Shape.STRING) for message in anthropic.read(body).users)
