"""Confirm words of destructive tools."""

import pytest

from bead.errors import NotConfirmed
from bead_curate.mcp.confirming import LIFE_S, Words


class Clock:
    """Seconds, moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_word_gives_the_stores_word_back_once() -> None:
    words = Words(Clock())
    word = words.issue("forget", ("user/a",), "of-the-store")
    assert words.redeem(word, "forget", ("user/a",)) == "of-the-store"
    with pytest.raises(NotConfirmed):
        words.redeem(word, "forget", ("user/a",))


@pytest.mark.parametrize(
    ("action", "subject"), [("seal", ("user/a",)), ("forget", ("user/a", "user/b")), ("forget", ("user/ab",))]
)
def test_a_word_is_for_its_action_and_list_and_is_used_up_by_a_wrong_one(action: str, subject: tuple[str, ...]) -> None:
    words = Words(Clock())
    word = words.issue("forget", ("user/a",))
    with pytest.raises(NotConfirmed):
        words.redeem(word, action, subject)
    with pytest.raises(NotConfirmed):
        words.redeem(word, "forget", ("user/a",))


def test_a_word_lives_ten_minutes() -> None:
    clock = Clock()
    words = Words(clock)
    early, late = words.issue("seal", ("user/a",)), words.issue("seal", ("user/a",))
    clock.now = 600.0
    words.redeem(early, "seal", ("user/a",))
    clock.now = 600.1
    with pytest.raises(NotConfirmed):
        words.redeem(late, "seal", ("user/a",))
    assert LIFE_S == 600
