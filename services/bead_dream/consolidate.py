"""Phase consolidate: better keys and merges are proposed, trigger cards are widened. Nothing is merged or moved here.

A person decides about each proposal; a card only grows, and each entry is checked before (D7). What the model says
besides, that facts be deleted or emptied say, has no verb and is counted as refused (B39).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bead import keys
from bead.errors import InvalidKey
from bead.facts import FactVersion, Status, TriggerCard
from bead.text.instructions import is_suspicious
from bead.text.terms import significant_terms
from bead.wire.dream import NightState, ProposalKind, Propose
from bead_dream import prompts
from bead_dream.asking import Model
from bead_dream.changes import Changes
from bead_dream.providers.base import Question
from bead_dream.recovery import Failure

CARDS_A_QUESTION = 10
MAX_CARDS_A_NIGHT = 100
MOST_TURNS = 0.2
"""A literal in more than this share of a project's turns says nothing."""
_LITERALS = ("do", "see", "unless")
_ENTRIES = {"say": 14, "do": 8, "see": 5, "unless": 3}
_CHARACTERS = (3, 200)
_VERBS = frozenset({"keys", "merge"})


def has_derived_key(fact: FactVersion) -> bool:
    """Whether nobody has chosen its key (D2)."""
    return keys.parse(fact.key).name == keys.derive_name(fact.body)


async def propose_keys(model: Model, changes: Changes, facts: Sequence[FactVersion], night: NightState) -> None:
    """Ask once about each fact whose key was derived, scope by scope.

    Raises:
        LimitReached, ModelTrouble: the rest waits for the next night.
    """
    by_scope: defaultdict[str, list[FactVersion]] = defaultdict(list)
    for fact in facts:
        if fact.status is Status.CURRENT:
            by_scope[keys.parse(fact.key).scope].append(fact)
    for scope, there in by_scope.items():
        asked = [fact for fact in there if has_derived_key(fact) and night.keyed.get(fact.uid) != fact.version]
        if not asked:
            continue
        shown = (asked + [fact for fact in there if fact not in asked])[: prompts.MAX_KNOWN]
        prompt = prompts.facts_prompt(shown, frozenset(fact.key for fact in asked))
        found = await model.ask(
            Question("keys", prompts.KEYS_SYSTEM, prompt, prompts.KEYS_SCHEMA), "keys", ("key", "new_key")
        )
        if isinstance(found, Failure):
            changes.counts[f"keys not proposed: {found.reason}"] += 1
            continue
        await _propose(changes, found.document, {fact.key: fact for fact in shown}, scope)
        night.keyed.update({fact.uid: fact.version for fact in asked if fact in shown})


async def _propose(changes: Changes, document: dict[str, Any], shown: dict[str, FactVersion], scope: str) -> None:
    for name in document.keys() - _VERBS:
        changes.refused(f"no such verb: {name}" if name in ("delete", "supersede", "facts") else "no such verb")
    for item in _objects(document.get("keys")):
        proposal = rekey_of(item, shown, scope)
        if isinstance(proposal, str):
            changes.refused(proposal)
        else:
            await changes.propose(proposal)
    for item in _objects(document.get("merge")):
        proposal = merge_of(item, shown)
        if isinstance(proposal, str):
            changes.refused(proposal)
        else:
            await changes.propose(proposal)


def rekey_of(item: dict[str, Any], shown: dict[str, FactVersion], scope: str) -> Propose | str:
    """The proposal in one item, or why there is none."""
    fact, new = shown.get(str(item.get("key"))), item.get("new_key")
    if fact is None or not has_derived_key(fact) or not isinstance(new, str):
        return "a key that was not asked about"
    try:
        key = keys.in_scope(scope, new)
    except InvalidKey:
        return "no valid key"
    if key.scope != scope or str(key) in shown:
        return "a key that is taken or of another scope"
    return Propose(
        kind=ProposalKind.REKEY,
        key=fact.key,
        body=fact.body,
        type=fact.type,
        new_key=str(key),
        suspicious=is_suspicious(fact.body),
        reason="its key was made from its words",
    )


def merge_of(item: dict[str, Any], shown: dict[str, FactVersion]) -> Propose | str:
    """The proposal in one item, or why there is none: a merge that drops a word of what it merges is none."""
    named, into, value = item.get("keys"), item.get("into"), item.get("value")
    if not isinstance(named, list) or not isinstance(value, str):
        return "an item of the wrong shape"
    merged = [shown[key] for key in dict.fromkeys(map(str, named)) if key in shown]
    target = shown.get(str(into))
    if target is None or target not in merged or len(merged) < 2 or len(merged) != len(set(map(str, named))):
        return "a merge of what is not there"
    said = significant_terms(value).keys()
    if any(not significant_terms(fact.body).keys() <= said for fact in merged):
        return "a merge that drops words"
    return Propose(
        kind=ProposalKind.MERGE,
        key=target.key,
        body=value.strip(),
        type=target.type,
        others=tuple(fact.key for fact in merged if fact is not target),
        suspicious=is_suspicious(value),
        reason="these say the same",
    )


async def widen_cards(
    model: Model,
    changes: Changes,
    facts: Sequence[FactVersion],
    night: NightState,
    turns: Callable[[str], Sequence[str]],
    holds_secret: Callable[[str], bool],
) -> None:
    """Ask once about each version when it matters; `turns` gives the raw turns of a scope.

    Raises:
        LimitReached, ModelTrouble: the rest waits for the next night.
    """
    wanted = [fact for fact in facts if fact.status is Status.CURRENT and night.carded.get(fact.uid) != fact.version]
    wanted = [fact for fact in wanted if not is_suspicious(fact.body)][:MAX_CARDS_A_NIGHT]
    for start in range(0, len(wanted), CARDS_A_QUESTION):
        some = {fact.key: fact for fact in wanted[start : start + CARDS_A_QUESTION]}
        question = Question("cards", prompts.CARDS_SYSTEM, prompts.facts_prompt(some.values()), prompts.CARDS_SCHEMA)
        found = await model.ask(question, "cards", ("key", "say"))
        if isinstance(found, Failure):
            changes.counts[f"cards not written: {found.reason}"] += 1
            continue
        for item in _objects(found.document["cards"]):
            fact = some.get(str(item.get("key")))
            if fact is None:
                changes.refused("a card of another fact")
                continue
            card = checked_card(item, fact, turns(keys.parse(fact.key).scope), holds_secret)
            if not card or await changes.widen(fact, card):
                night.carded[fact.uid] = fact.version


def checked_card(
    item: dict[str, Any], fact: FactVersion, turns: Sequence[str], holds_secret: Callable[[str], bool]
) -> TriggerCard:
    """The entries that may call for a fact.

    One that is common to the project's turns would call on every turn; one that shares no word with the fact and stands
    in no turn could never be right; a secret, or what reads like an instruction, is nobody's cue.
    """
    said = significant_terms(fact.body).keys()

    def may_stay(part: str, entry: Any) -> bool:
        if not isinstance(entry, str) or not _CHARACTERS[0] <= len(entry.strip()) <= _CHARACTERS[1]:
            return False
        if "\n" in entry or holds_secret(entry) or is_suspicious(entry):
            return False
        hits = sum(entry.strip().casefold() in turn for turn in turns)
        if part in _LITERALS and turns and hits > max(1, MOST_TURNS * len(turns)):
            return False
        return bool(hits) or bool(significant_terms(entry).keys() & said)

    parts = {
        part: tuple(dict.fromkeys(entry.strip() for entry in _list(item.get(part)) if may_stay(part, entry)))[:most]
        for part, most in _ENTRIES.items()
    }
    return TriggerCard(**parts)


def _objects(value: Any) -> Iterable[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
