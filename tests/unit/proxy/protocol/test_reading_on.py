"""A long conversation is read on from where it is known already, and only where that is safe."""

import json
from collections.abc import Callable

import pytest

from bead_proxy import anthropic
from bead_proxy.protocol import Reading, Unreadable
from tests.unit.proxy.protocol.bodies import Message, assistant, body, text, tool_result, tool_use, user

_MARKER = {"type": "ephemeral"}


def _history(turns: int) -> list[Message]:
    found: list[Message] = []
    for turn in range(turns):
        found += [user(f"prompt {turn}"), assistant([tool_use(f"toolu_{turn}", "Read", path=f"{turn}.md")])]
        found += [user([tool_result(f"toolu_{turn}", f"line {turn}")]), assistant(f"answer {turn}")]
    return found


def _newest(words: str) -> Message:
    return user([text(words, cache_control=_MARKER)])


def _read_on(first: bytes, second: bytes) -> Reading[anthropic.Earlier]:
    """`second` after `first`; it must read as it does alone."""
    reading = anthropic.read_on(second, anthropic.read_on(first, None).earlier())
    assert reading.request == anthropic.read(second)
    return reading


def test_the_next_turn_reads_only_what_is_new() -> None:
    history = _history(10)
    first = body(*history, _newest("water the beans"))
    second = body(*history, user("water the beans"), assistant("done"), _newest("and the peas"))

    assert _read_on(first, second).kept == 20


def test_a_retry_reads_the_newest_step_alone() -> None:
    once = body(*_history(10), _newest("water the beans"))

    assert _read_on(once, once).kept == 20


def test_a_rewind_keeps_what_is_left() -> None:
    history = _history(10)
    rewound = body(*history[:20], _newest("water the peas instead"))

    assert _read_on(body(*history, _newest("water the beans")), rewound).kept == 10


@pytest.mark.parametrize(
    "other",
    [
        body(user("This session is being continued from before: beans"), *_history(10)[1:]),
        body(*_history(10), user("a"), model="another"),
        body(user("hi")),
        body(),
    ],
    ids=["compacted", "another model", "short", "empty"],
)
def test_a_body_that_begins_in_another_way_is_read_whole(other: bytes) -> None:
    assert _read_on(body(*_history(10), _newest("water the beans")), other).kept == 0


def _with_second_array(written: bytes) -> bytes:
    array = json.dumps([user("a"), user("b"), user("c"), assistant("d"), user("e")])
    return written[:-1] + b',"mess\\u0061ges":' + array.encode() + b"}"


def test_an_array_of_messages_that_comes_again_is_the_one_that_counts() -> None:
    history = body(*_history(10), _newest("water the beans"))

    reading = _read_on(history, _with_second_array(history))

    assert [message.human_text for message in reading.request.users] == ["a", "b", "c", "e"]


def _without_role(written: bytes) -> bytes:
    """The message before the newest step loses the role that stood behind its content."""
    place = written.rindex(b', "role": "user"', 0, written.rindex(b"answer 9"))
    return written[:place] + written[place:].replace(b', "role": "user"', b"", 1)


@pytest.mark.parametrize(
    "damage",
    [
        _without_role,
        lambda written: written[:-1],
        lambda written: written + b"]",
        lambda written: written.replace(b'"water', b'"\xffwater'),
        lambda written: written.replace(b'"water', b'"\\ud83d\\u00'),
    ],
    ids=["no role", "cut", "too long", "not UTF-8", "bad escape"],
)
def test_what_cannot_be_read_cannot_be_read_on_either(damage: Callable[[bytes], bytes]) -> None:
    backwards = [dict(reversed(message.items())) for message in _history(10)]
    good = body(*backwards, _newest("water the beans"))
    bad = damage(good)
    earlier = anthropic.read_on(good, None).earlier()
    assert anthropic.read_on(good, earlier).kept

    with pytest.raises(Unreadable) as alone:
        anthropic.read(bad)
    with pytest.raises(Unreadable) as after:
        anthropic.read_on(bad, earlier)

    assert str(after.value) == str(alone.value)


def test_fields_before_and_behind_the_messages_are_those_of_this_body() -> None:
    history = [*_history(10), _newest("water the beans")]
    first = b'{"model":"old","system":"Working directory: /old","messages":' + json.dumps(history).encode()

    reading = _read_on(first + b',"system":"Working directory: /new"}', first + b',"stream":true}')

    assert reading.kept
    assert (reading.request.model, reading.request.stream, reading.request.directory) == ("old", True, "/old")
