"""The rule: highest version wins, trust never falls, a repeated value makes no version (I1, I3, I4)."""

from datetime import UTC, datetime

import pytest

from bead.facts import FactType, FactVersion, Status, TriggerCard, Trust
from bead_store.frontmatter import Rewrite
from bead_store.supersession import (
    Decision,
    NewVersion,
    Reinforce,
    Review,
    Statement,
    Unchanged,
    current_version,
    decide,
)

STATED, OBSERVED, INFERRED = Trust.USER_STATED, Trust.AGENT_OBSERVED, Trust.DREAM_INFERRED
CARD, OTHER_CARD = TriggerCard(do=("make",)), TriggerCard(do=("ship",))


def fact(trust: Trust = STATED, status: Status = Status.CURRENT, when: TriggerCard = CARD) -> FactVersion:
    return FactVersion(
        uid="u", key="user/a", version=9, type=FactType.USER, owner="me", status=status, trust=trust,
        valid_from=datetime(2026, 11, 5, tzinfo=UTC), body="one", when=when,
    )  # fmt: skip


def statement(
    body: str = "one", trust: Trust = STATED, kind: FactType = FactType.USER, when: TriggerCard | None = None
) -> Statement:
    return Statement(body, kind, trust, when)


def test_first_statement_is_version_one() -> None:
    assert decide(None, statement(trust=INFERRED)) == NewVersion(1, None)


@pytest.mark.parametrize("status", Status)
def test_another_value_is_the_next_version_whatever_the_status_says(status: Status) -> None:
    current = fact(status=status)

    assert decide(current, statement("two")) == NewVersion(10, current)


def test_another_type_is_another_statement() -> None:
    current = fact()

    assert decide(current, statement(kind=FactType.FEEDBACK)) == NewVersion(10, current)


@pytest.mark.parametrize(
    ("trust", "said", "decision"),
    [
        (STATED, OBSERVED, Review()),
        (STATED, INFERRED, Review()),
        (OBSERVED, INFERRED, Review()),
        (OBSERVED, OBSERVED, NewVersion(10, fact(OBSERVED))),
        (INFERRED, STATED, NewVersion(10, fact(INFERRED))),
    ],
)
def test_another_value_needs_at_least_the_same_trust(trust: Trust, said: Trust, decision: Decision) -> None:
    assert decide(fact(trust), statement("two", said)) == decision


@pytest.mark.parametrize(
    ("current", "said", "decision"),
    [
        (fact(), statement(), Unchanged()),
        (fact(), statement(trust=INFERRED), Unchanged()),
        (fact(), statement(when=CARD), Unchanged()),
        (fact(), statement(when=TriggerCard()), Unchanged()),
        (fact(OBSERVED), statement(), Reinforce(Rewrite(trust=STATED))),
        (fact(), statement(when=OTHER_CARD), Reinforce(Rewrite(when=OTHER_CARD))),
        (fact(), statement(trust=INFERRED, when=OTHER_CARD), Reinforce(Rewrite(when=TriggerCard(do=("make", "ship"))))),
        (fact(status=Status.DORMANT), statement(), Reinforce(Rewrite(status=Status.CURRENT))),
        (fact(status=Status.DORMANT), statement(trust=INFERRED), Unchanged()),
        (fact(status=Status.SUPERSEDED), statement(), Unchanged()),
    ],
)
def test_same_value_is_at_most_reinforced(current: FactVersion, said: Statement, decision: Decision) -> None:
    assert decide(current, said) == decision


def test_current_version_is_the_highest_number() -> None:
    assert current_version([9, 10, 2]) == 10
    assert current_version([]) is None
