"""The supersession rule: the current version of a key is its highest version number, and what a write makes of it.

Pure. Reading the files is `catalogue`, writing them is `facts`. Invariants I1, I3, I4.
"""

from collections.abc import Iterable
from typing import NamedTuple

from bead.facts import FactType, FactVersion, Status, TriggerCard, Trust
from bead_store.frontmatter import Rewrite

FIRST_VERSION = 1
_CARD = ("say", "do", "see", "unless")


class Statement(NamedTuple):
    """What a write states about a key."""

    body: str
    type: FactType
    trust: Trust
    when: TriggerCard | None


class NewVersion(NamedTuple):
    """Write `version`; `supersedes` is the one before it."""

    version: int
    supersedes: FactVersion | None


class Reinforce(NamedTuple):
    """The value stands; apply this to the current version in place."""

    change: Rewrite


class Unchanged(NamedTuple):
    """The value stands, and nothing about it is new."""


class Review(NamedTuple):
    """Less trust than the current version: a person decides."""


Decision = NewVersion | Reinforce | Unchanged | Review


def current_version(versions: Iterable[int]) -> int | None:
    """The current one among a key's version numbers: the highest (I1). `status` has no say."""
    return max(versions, default=None)


def decide(current: FactVersion | None, statement: Statement) -> Decision:
    """What a write does to a key whose highest version is `current`."""
    if current is None:
        return NewVersion(FIRST_VERSION, None)
    if (current.body, current.type) == (statement.body, statement.type):
        return _restated(current, statement)
    if current.trust.outranks(statement.trust):
        return Review()
    return NewVersion(current.version + 1, current)


def _restated(current: FactVersion, statement: Statement) -> Reinforce | Unchanged:
    has_standing = not current.trust.outranks(statement.trust)
    card = _card(current.when, statement.when, replaces=has_standing)
    change = Rewrite(
        trust=statement.trust if statement.trust.outranks(current.trust) else None,
        when=card if card != current.when else None,
        status=Status.CURRENT if has_standing and current.status is Status.DORMANT else None,
    )
    return Unchanged() if change == Rewrite() else Reinforce(change)


def _card(old: TriggerCard, new: TriggerCard | None, *, replaces: bool) -> TriggerCard:
    """The card after a write that brings `new`; one with less trust only adds to what is there."""
    if not new:
        return old
    if replaces:
        return new
    return TriggerCard(**{part: tuple(dict.fromkeys(getattr(old, part) + getattr(new, part))) for part in _CARD})
