"""Has the model say which candidates of the day's turns would have helped, and lets that calibrate the gate (D7).

The model is the teacher; what its judgements change, and how far, is `bead.calibrating`'s. Turns and facts are data.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bead import calibrating
from bead.clients.store import StoreClient
from bead.errors import BeadError
from bead.facts import FactVersion
from bead.wire.dream import Calibration, Judgement
from bead.wire.traces import TurnTrace, split_turn
from bead_dream import prompts
from bead_dream.asking import Model
from bead_dream.changes import Changes
from bead_dream.providers.base import Question
from bead_dream.recovery import Failure

MAX_TURNS = 40
"""Turns that are judged in one night, the newest."""
TURNS_A_QUESTION = 8
MAX_CANDIDATES = 6
"""Candidates of one turn that the model is shown: those chosen, then the best of those that stayed out."""
MAX_KEPT = 1_000
"""Judgements that the bar rests on, the newest (I17)."""
_TURN_CHARACTERS = 1_500


class _Turn(NamedTuple):
    """One turn with what the gate thought of."""

    name: str
    text: str
    candidates: tuple[tuple[FactVersion, float], ...]
    """Each with its log odds above the fitted bar."""


async def calibrate(
    model: Model, changes: Changes, store: StoreClient, facts: Iterable[FactVersion], known: Calibration
) -> Calibration:
    """What the gate is to know from now on.

    Raises:
        LimitReached, ModelTrouble: the rest waits for the next night.
    """
    page = await store.traces(after=known.trace_seq or None, limit=prompts.MAX_TRACES)
    traces = [kept.trace for kept in page.traces]
    turns = [turn async for turn in _turns(store, traces, {fact.uid: fact for fact in facts}, known.shift)]
    found: list[Judgement] = []
    for start in range(0, len(turns), TURNS_A_QUESTION):
        found += await _judged(model, changes, turns[start : start + TURNS_A_QUESTION])
    changes.counts["candidates judged"] += len(found)
    judged = (*known.judged, *found)[-MAX_KEPT:]
    return Calibration(
        offsets=calibrating.offsets(known.offsets, map(_plain, found)),
        shift=calibrating.shift(known.shift, [_plain(each) for each in judged]) if found else known.shift,
        judged=judged,
        trace_seq=page.seq,
    )


async def _turns(
    store: StoreClient, traces: Sequence[TurnTrace], facts: Mapping[str, FactVersion], shift: float
) -> AsyncIterator[_Turn]:
    """The newest turns of a person for which the gate had a thought, with their texts."""
    count = 0
    for trace in reversed(traces):
        if count == MAX_TURNS:
            return
        candidates = tuple(_candidates(trace, facts, shift))[:MAX_CANDIDATES]
        if trace.kind != "human" or not candidates:
            continue
        if text := await _text(store, trace.turn):
            count += 1
            yield _Turn(trace.turn, text, candidates)


def _candidates(
    trace: TurnTrace, facts: Mapping[str, FactVersion], shift: float
) -> Iterator[tuple[FactVersion, float]]:
    scored = [(each.id, each.score) for each in trace.selected] + [(each.id, each.score) for each in trace.rejected]
    for uid, score in scored:
        fact, surplus = facts.get(uid), calibrating.surplus_of(score, shift)
        if fact is not None and surplus is not None:
            yield fact, surplus


async def _text(store: StoreClient, turn: str) -> str:
    """What the person's side of the turn says; empty where it is not kept any more."""
    session, step = split_turn(turn)
    number = step.removeprefix("turn-")
    if not number.isdecimal():
        return ""
    try:
        view = await store.session(session, int(number) - 1)
    except BeadError:
        return ""  # forgotten, or damaged
    first = next((each.text for each in view.turns if each.ordinal == int(number)), "")
    half = _TURN_CHARACTERS // 2
    return first if len(first) <= _TURN_CHARACTERS else f"{first[:half]}\n{first[-half:]}"


async def _judged(model: Model, changes: Changes, turns: Sequence[_Turn]) -> list[Judgement]:
    """The model's word on every candidate of these turns; nothing where its answer cannot be read."""
    prompt = prompts.judge_prompt([(turn.text, [fact for fact, _ in turn.candidates]) for turn in turns])
    question = Question("judge", prompts.JUDGE_SYSTEM, prompt, prompts.JUDGE_SCHEMA)
    found = await model.ask(question, "turns", ("turn", "helped"))
    if isinstance(found, Failure):
        changes.counts[f"turns not judged: {found.reason}"] += 1
        return []
    said = _said(found.document, turns)
    return [
        Judgement(turn=turn.name, uid=fact.uid, surplus=round(surplus, 4), helped=place in said[number])
        for number, turn in enumerate(turns)
        if number in said
        for place, (fact, surplus) in enumerate(turn.candidates)
    ]


def _said(document: Mapping[str, Any], turns: Sequence[_Turn]) -> dict[int, set[int]]:
    """By turn, from 0, the places of the candidates that help; left out where it is not named once and rightly."""
    said: dict[int, set[int]] = {}
    doubtful: set[int] = set()
    for item in document["turns"] if isinstance(document.get("turns"), list) else ():
        number, helped = (item.get("turn"), item.get("helped")) if isinstance(item, dict) else (None, None)
        if not isinstance(number, int) or not isinstance(helped, list) or not 1 <= number <= len(turns):
            continue
        places = {place - 1 for place in helped if isinstance(place, int)}
        is_clear = len(places) == len(helped) and places <= set(range(len(turns[number - 1].candidates)))
        if not is_clear or number - 1 in said:
            doubtful.add(number - 1)
        said[number - 1] = places
    return {number: places for number, places in said.items() if number not in doubtful}


def _plain(judgement: Judgement) -> calibrating.Judged:
    return calibrating.Judged(judgement.turn, judgement.uid, judgement.surplus, judgement.helped)
