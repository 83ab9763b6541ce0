"""Turns, facts and contexts for tests of the rules."""

from datetime import UTC, datetime
from typing import Any

from bead.facts import FactType, FactVersion, Status, Trust
from bead.turns import Role
from bead.wire.store import TurnView
from bead_dream.claims import Context, Turn
from bead_dream.transcript import turn_of

SCOPES = ("user", "global", "project/shop-api")
WHEN = datetime(2026, 11, 5, 9, tzinfo=UTC)


def turn(ordinal: int, role: str, text: str) -> Turn:
    """A turn as the raw log would give it."""
    source = f"raw/2026/11/05/s.md#turn-{ordinal}"
    view = TurnView(session="s", ordinal=ordinal, role=Role(role), at=WHEN, project=None, text=text, source=source)
    return turn_of(view)


def context(*turns: Turn, known: tuple[FactVersion, ...] = (), **more: object) -> Context:
    """A context with these turns."""
    by_key = {fact.key: fact for fact in known}
    return Context(turns={each.ordinal: each for each in turns}, known=by_key, scopes=SCOPES, **more)  # type: ignore[arg-type]


def fact(key: str, body: str, trust: Any = Trust.DREAM_INFERRED, **more: Any) -> FactVersion:
    """A current fact."""
    fields = {"uid": f"uid-{key}", "key": key, "version": 1, "type": FactType.PROJECT, "owner": "me"}
    fields |= {"status": Status.CURRENT, "trust": trust, "valid_from": WHEN, "body": body}
    return FactVersion.model_validate(fields | more)
