"""Suites as data: facts, turns with what each one needs, and trigger cards written without seeing the turns.

Reads YAML; scoring is `scoring`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from bead.facts import TriggerCard
from bead.recall import Cue, CueSource
from bead_index.gate.index import Subject

SUITES = Path(__file__).resolve().parents[2] / "suites" / "recall"
HELD_OUT = SUITES / "held_out"
"""Projects that nothing was fitted on or chosen by: what the gate does there is what to expect elsewhere."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request's newest content, with the keys of the facts that help it."""

    id: str
    cues: tuple[Cue, ...]
    needs: frozenset[str]
    may: frozenset[str]
    """Facts that neither help nor harm: counted as neither."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One project's facts and one session's turns in order. A fact's uid is its key."""

    name: str
    facts: tuple[Subject, ...]
    turns: tuple[Turn, ...]
    cards: Mapping[str, TriggerCard]
    """Blind cards by key; empty when the suite has none."""

    def subjects(self, cards: Mapping[str, TriggerCard]) -> tuple[Subject, ...]:
        """The facts with these `cards`; by rule where there is none."""
        return tuple(
            Subject(fact.uid, fact.key, fact.type, fact.body, cards.get(fact.key, TriggerCard())) for fact in self.facts
        )


def load(names: Sequence[str] = (), folder: Path = SUITES) -> tuple[Suite, ...]:
    """The suites called `names` (all of `folder` when none is named).

    Raises:
        FileNotFoundError: `folder` has no suite of that name.
    """
    found = names or sorted(path.stem for path in folder.glob("*.yaml") if not path.name.endswith(".cards.yaml"))
    return tuple(read(folder / f"{name}.yaml") for name in found)


def read(path: Path) -> Suite:
    """The suite in `path`, and the cards in the file beside it, `<name>.cards.yaml`, if there is one."""
    data = _yaml(path)
    cards_path = path.with_name(f"{path.stem}.cards.yaml")
    cards = _yaml(cards_path)["cards"] if cards_path.exists() else {}
    return Suite(
        name=data["project"],
        facts=tuple(Subject(fact["key"], fact["key"], fact["type"], fact["body"]) for fact in data["facts"]),
        turns=tuple(_turn(turn) for turn in data["turns"]),
        cards={key: TriggerCard.model_validate(card) for key, card in cards.items()},
    )


def _turn(turn: Mapping[str, Any]) -> Turn:
    found = [
        Cue(CueSource.PERSON, turn.get("user") or ""),
        Cue(CueSource.ASSISTANT, turn.get("assistant") or ""),
        *(Cue(CueSource.TOOL_INPUT, _values(call["input"])) for call in turn.get("tool_calls") or ()),
        *(Cue(CueSource.TOOL_OUTPUT, str(result)) for result in turn.get("tool_results") or ()),
    ]
    return Turn(
        id=str(turn["id"]),
        cues=tuple(cue for cue in found if cue.text.strip()),
        needs=frozenset(turn.get("needs") or ()),
        may=frozenset(turn.get("may") or ()),
    )


def _values(value: Any) -> str:
    """The values of a tool's input, one a line, without field names: as the proxy makes cues."""
    if isinstance(value, Mapping):
        return "\n".join(_values(each) for each in value.values())
    if isinstance(value, list):
        return "\n".join(_values(each) for each in value)
    return str(value)


def _yaml(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))
