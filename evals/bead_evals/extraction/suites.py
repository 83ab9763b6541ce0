"""Sessions with known facts, recorded replies, and what a night should learn; read from YAML."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from bead.facts import FactType, FactVersion, Status, Trust
from bead.scan import Scanner
from bead.turns import Role, tool_block
from bead.wire.store import TurnView
from bead_dream.claims import Context
from bead_dream.transcript import turn_of

SESSIONS = Path(__file__).resolve().parents[2] / "suites" / "extraction" / "sessions.yaml"
SCOPES = ("user", "global", "project/shop")
_WHEN = datetime(2026, 11, 1, tzinfo=UTC)


class Session(NamedTuple):
    """One session to learn from."""

    name: str
    context: Context
    expect: Mapping[str, tuple[str, ...]]
    """Words that the fact under a key must hold."""
    reuse: frozenset[str]
    """Known keys that should be used again."""
    replies: Mapping[str, str]
    """By kind of model."""


def load(path: Path = SESSIONS) -> tuple[Session, ...]:
    """Every session of the file.

    Raises:
        FileNotFoundError: there is none.
    """
    scanner = Scanner.load()
    documents = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return tuple(_session(document, scanner) for document in documents)


def _session(document: dict[str, Any], scanner: Scanner) -> Session:
    turns = [turn_of(_turn(number, *next(iter(turn.items())))) for number, turn in enumerate(document["turns"], 1)]
    stated = document.get("stated", ())
    known = {key: _fact(key, body, is_stated=key in stated) for key, body in document["known"].items()}
    return Session(
        name=document["name"],
        context=Context({turn.ordinal: turn for turn in turns}, known, SCOPES, scanner.contains_secret),
        expect={key: tuple(words) for key, words in document["expect"].items()},
        reuse=frozenset(document.get("reuse", ())),
        replies=document["replies"],
    )


def _turn(number: int, who: str, text: str) -> TurnView:
    role = Role.ASSISTANT if who == "agent" else Role.USER
    shown = tool_block("result Bash", text) if who == "tool" else text
    source = f"raw/2026/11/01/s.md#turn-{number}"
    return TurnView(session="s", ordinal=number, role=role, at=_WHEN, project="shop", text=shown, source=source)


def _fact(key: str, body: str, *, is_stated: bool) -> FactVersion:
    return FactVersion(
        uid=key,
        key=key,
        version=1,
        type=FactType.PROJECT if key.startswith("project/") else FactType.USER,
        owner="me",
        status=Status.CURRENT,
        trust=Trust.USER_STATED if is_stated else Trust.DREAM_INFERRED,
        valid_from=_WHEN,
        body=body,
    )
