"""When what memory adds is judged to break the provider's cache, and when it is not."""

import pytest

from bead_proxy.accounts import CACHE_LIFE_S, Accounts
from bead_proxy.protocol import Usage

KEPT = Usage(input=10, cache_read=9_000, cache_write=100)
LOST = Usage(input=10, cache_read=0, cache_write=9_000)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def run(*usages: Usage, added: bool = True, pause_s: float = 1.0, models: bool = False) -> bool:
    """Whether recall has ended after those answers."""
    clock = Clock()
    accounts = Accounts(clock)
    for place, usage in enumerate(usages):
        clock.now += pause_s
        accounts.book("s", "t", usage, f"model-{place if models else 0}", 100, added)
    return not accounts.may_recall("s", "t")


def test_two_falls_right_after_a_block_end_recall() -> None:
    assert not run(LOST, LOST) and run(LOST, LOST, LOST)


def test_a_fall_that_has_another_cause_counts_for_nothing() -> None:
    assert not run(*[LOST] * 9, added=False)
    assert not run(*[LOST] * 9, pause_s=CACHE_LIFE_S + 1)
    assert not run(*[LOST] * 9, models=True)


@pytest.mark.parametrize("usage", [KEPT, Usage(input=900, cache_write=900)], ids=["it is read", "too short for one"])
def test_a_cache_that_does_its_work_is_no_fall(usage: Usage) -> None:
    assert not run(usage, *[usage] * 9)


def test_conversations_are_bounded_and_the_oldest_goes() -> None:
    accounts = Accounts(Clock(), most=2)
    for name in "abc":
        accounts.book(name, "t", KEPT, "m", 0, False)
    assert [session for session, _, _ in accounts.newest(9)] == ["c", "b"]


def test_an_answer_without_numbers_is_no_account() -> None:
    accounts = Accounts(Clock())
    accounts.book("s", "t", Usage(), "m", 5, True)
    assert not accounts.newest(9)
