"""Readings that are kept change how long a reading takes, never what it says, and have a bound."""

from bead.conversations import roll
from bead_proxy import anthropic
from bead_proxy.recent import SMALLEST_BYTES, Recent
from tests.unit.proxy.protocol.bodies import Message, assistant, body, text, user

_LONG = "bean " * (SMALLEST_BYTES // 20)


def _talk(turns: int, opening: str = "garden") -> list[Message]:
    found: list[Message] = []
    for turn in range(turns):
        found += [user(f"{opening} {turn}"), assistant(_LONG)]
    return found


def _asking(history: list[Message], words: str) -> bytes:
    return body(*history, user([text(words)]))


def _positions(bodies: bytes, owner: str, scope: str) -> tuple[str, ...]:
    return tuple(roll(owner, scope, (message.parts for message in anthropic.read(bodies).users)))


def test_positions_are_rolled_on_in_every_project() -> None:
    recent = Recent("ben")
    first = recent.read(_asking(_talk(6), "a"), "s", anthropic.read_on)
    assert first.chain.positions("garden") == _positions(_asking(_talk(6), "a"), "ben", "garden")

    later = _asking(_talk(9), "b")
    second = recent.read(later, "s", anthropic.read_on)

    assert second.request.users[4] is first.request.users[4]
    assert second.chain.positions("garden") == _positions(later, "ben", "garden")
    assert second.chain.positions("shed") == _positions(later, "ben", "shed")


def test_a_branch_has_positions_of_its_own() -> None:
    recent = Recent("ben")
    trunk = recent.read(_asking(_talk(8), "a"), "s", anthropic.read_on)
    trunk.chain.positions("garden")
    branch = _asking(_talk(5), "another way")

    found = recent.read(branch, "s", anthropic.read_on)

    assert found.request.users[3] is trunk.request.users[3]
    assert found.chain.positions("garden") == _positions(branch, "ben", "garden")


def test_the_reading_unused_for_longest_goes_when_there_are_too_many_bytes() -> None:
    bodies = [_asking(_talk(6, opening), "a") for opening in ("beans", "peas", "onions")]
    recent = Recent("ben", most_bytes=2 * max(map(len, bodies)))
    first = recent.read(bodies[0], "s0", anthropic.read_on)
    for number in (1, 0, 2):
        recent.read(bodies[number], f"s{number}", anthropic.read_on)

    assert len(recent) == 2
    assert recent.read(bodies[0], "s0", anthropic.read_on).request.users[2] is first.request.users[2]


def test_small_and_enormous_bodies_are_not_kept() -> None:
    recent = Recent("ben", most_bytes=2 * SMALLEST_BYTES)
    recent.read(body(user("hi")), "s", anthropic.read_on)
    recent.read(_asking(_talk(12), "a"), "s", anthropic.read_on)

    assert len(recent) == 0
