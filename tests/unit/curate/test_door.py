"""Launch links and sessions: how long they last, how often they work, how many there are."""

import itertools

import pytest

from bead_curate.web.door import IDLE_S, LAUNCH_S, LONGEST_S, MAX_LAUNCHES, MAX_SESSIONS, Door


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def door(clock: Clock) -> Door:
    words = itertools.count()
    return Door(clock, lambda: f"word-{next(words)}")


def entered(door: Door) -> str:
    cookie = door.enter(door.launch())
    assert cookie is not None
    return cookie


def test_a_launch_word_opens_one_session(door: Door) -> None:
    word = door.launch()
    cookie = door.enter(word)
    assert cookie and door.session(cookie) is not None
    assert door.enter(word) is None


def test_a_launch_word_ends_after_a_minute(door: Door, clock: Clock) -> None:
    word = door.launch()
    clock.now = LAUNCH_S
    assert door.enter(word) is None


@pytest.mark.parametrize("wrong", ["", "word-1", "WORD-0", "word-0 "])
def test_a_wrong_word_opens_nothing(door: Door, wrong: str) -> None:
    door.launch()
    assert door.enter(wrong) is None


def test_a_session_that_nobody_uses_ends(door: Door, clock: Clock) -> None:
    cookie = entered(door)
    clock.now = IDLE_S - 1
    assert door.session(cookie)
    clock.now += IDLE_S
    assert door.session(cookie) is None


def test_a_session_that_is_used_ends_all_the_same_some_day(door: Door, clock: Clock) -> None:
    cookie = entered(door)
    while clock.now < LONGEST_S - IDLE_S / 2:
        assert door.session(cookie)
        clock.now += IDLE_S / 2
    clock.now = LONGEST_S
    assert door.session(cookie) is None


def test_an_open_stream_is_no_sign_of_life(door: Door, clock: Clock) -> None:
    session = door.session(entered(door))
    assert session is not None
    clock.now = IDLE_S - 1
    assert door.is_open(session)
    clock.now = IDLE_S
    assert not door.is_open(session)


def test_who_has_left_is_out(door: Door) -> None:
    cookie = entered(door)
    door.leave(cookie)
    assert door.session(cookie) is None


def test_launches_and_sessions_have_a_bound(door: Door) -> None:
    words = [door.launch() for _ in range(MAX_LAUNCHES + 1)]
    assert door.enter(words[0]) is None and door.enter(words[-1])
    cookies = [entered(door) for _ in range(MAX_SESSIONS + 1)]
    assert door.session(cookies[0]) is None and door.session(cookies[-1])


def test_a_form_token_is_for_its_action_and_its_session(door: Door) -> None:
    one, two = (door.session(entered(door)) for _ in range(2))
    assert one and two
    token = one.form_token("/forget")
    assert one.accepts("/forget", token)
    assert not one.accepts("/forget/confirm", token)
    assert not two.accepts("/forget", token)
    assert not one.accepts("/forget", "")


def test_messages_are_said_once_and_have_a_bound(door: Door) -> None:
    session = door.session(entered(door))
    assert session
    for number in range(50):
        session.say(str(number))
    said = session.take_messages()
    assert said[-1].text == "49" and len(said) < 10
    assert session.take_messages() == []
