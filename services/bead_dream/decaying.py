"""Which facts fall asleep: not pinned, and neither written, injected nor woken for a while. Pure."""

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from bead.facts import FactVersion, Status


def asleep_today(facts: Iterable[FactVersion], woken: Mapping[str, str], today: date, days: int) -> list[FactVersion]:
    """Those of `facts` that were last used more than `days` ago; `woken` holds dates by uid."""
    oldest = today - timedelta(days=days)
    return [
        fact
        for fact in facts
        if fact.status is Status.CURRENT and not fact.pinned and last_used(fact, woken.get(fact.uid)) < oldest
    ]


def last_used(fact: FactVersion, woken: str | None) -> date:
    """When it was written, injected, or woken by a person: the latest."""
    moments = [fact.valid_from.date()]
    if fact.last_injected is not None:
        moments.append(fact.last_injected.date())
    if woken is not None:
        moments.append(date.fromisoformat(woken))
    return max(moments)


def woken_since(facts: Iterable[FactVersion], slept: Mapping[str, str]) -> list[str]:
    """Uids of facts that a night had put to sleep and somebody has woken."""
    return [fact.uid for fact in facts if fact.uid in slept and fact.status is Status.CURRENT]
