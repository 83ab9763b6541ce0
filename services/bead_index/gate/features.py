"""Signs for and against each fact in one step, each 0 to 1 and each pulling one way only.

Pure. What a sign weighs is `model`; matching is `phrases` and `literals`; what a step is for is `steps`.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bead_index.gate.index import Entry, ScopeCards, Subject
from bead_index.gate.literals import LiteralIndex, Searchable
from bead_index.gate.phrases import NO_MEETING, Meeting, Sentence, Weights, meet, rarity, weigh
from bead_index.gate.turn import Said, Session, Step

FOR = (
    "say_person", "mass_person", "say_agent", "mass_agent", "say_joint", "bag_person", "bag_agent",
    "body_person", "body_agent",
    "do", "do_more", "do_edit", "do_words", "see_failure", "see_output", "see_words", "lead",
)  # fmt: skip
"""Signs that a fact is needed; `reasons` has them in words."""
AGAINST = ("asks", "unless_before", "rival")
"""Signs that it is not."""

SHORTLIST = 40
"""Facts that get a closer look, by literals and shared words."""
LITERAL_PROMISE = 4.0
"""Words that only one fact has weigh 1; a literal that only one fact has weighs this much for the shortlist."""
MAX_OWNERS = 32
"""A literal that more facts have tells none of them apart, and is passed over."""
MAX_CONCEPTS = 64
"""Most concepts of one speaker that the shortlist is made by; the rarest ones."""
COMPLYING = 0.3
"""What is left of signs of an action when the step shows that it already follows the fact."""
INSIDE_A_WORD = 0.5
"""A literal found inside a longer word, against one that stands alone."""
PLAIN_WORD = 0.5
"""A literal that is a plain word, found in what somebody says: it may mean something else there."""
FEW_WORDS = 0.5
"""Weight that a sentence must reach before being covered counts for half."""
JOINT_MISSING = 0.1
"""How much of what only request and announcement say counts against a match: together they say more than a phrase."""

_POINTS: Mapping[str, float] = {
    "say_person": 0.8, "say_agent": 0.4, "body_person": 0.3, "body_agent": 0.1,
    "do": 0.6, "do_edit": 0.7, "do_words": 0.5, "see_failure": 0.7, "see_output": 0.3, "see_words": 0.5,
}  # fmt: skip
_OF_ACTION = ("do", "do_more", "do_edit", "say_agent", "mass_agent", "bag_agent")
_OF_DEEDS = ("do", "do_edit", "see_failure")
"""Signs that this step departs from a fact, whatever earlier ones did."""


class Sign(NamedTuple):
    """How strong a sign is, and the words of the card or fact that made it."""

    strength: float
    what: str = ""


@dataclass(slots=True)
class Candidate:
    """A fact and its signs."""

    entry: Entry
    signs: dict[str, Sign] = field(default_factory=dict)
    follows: str = ""
    """The literal that shows that this step already follows the fact; empty when none does."""
    point: float = 0.0
    """What it is ranked by before anything learned: the chance that not every sign is a coincidence."""

    @property
    def subject(self) -> Subject:
        """The fact, with the card that is matched."""
        return self.entry.subject

    @property
    def is_bare(self) -> bool:
        """Whether its card has no sentences."""
        return self.entry.is_bare

    def strength(self, name: str) -> float:
        """Strength of one sign; 0 without it."""
        sign = self.signs.get(name)
        return sign.strength if sign else 0.0

    def note(self, name: str, strength: float, what: str = "") -> None:
        """Take a sign; of several of one name the strongest stays."""
        if strength > self.strength(name):
            self.signs[name] = Sign(strength, what)


class View:
    """The cards that one conversation may be told of, with the weight of each concept among them."""

    def __init__(self, scopes: Sequence[ScopeCards]) -> None:
        self.scopes = tuple(scopes)
        self.weights = Weights([scope.vocabulary for scope in scopes])
        self.total = sum(len(scope) for scope in scopes)


def candidates(step: Step, session: Session, view: View, limit: int) -> list[Candidate]:
    """At most `limit` facts with a sign for them, best first."""
    shortlist = _shortlist(step, view)
    heard = _heard(step, view.weights)
    for candidate in shortlist:
        _sentences(heard, view.weights, candidate)
        _following(step, candidate)
    ranked = _ranked(shortlist)[:limit]
    for candidate in ranked:
        if step.asks and candidate.subject.type not in ("reference", "user"):
            candidate.note("asks", 1.0)
        departs = any(name in candidate.signs for name in _OF_DEEDS)
        if not departs and (literal := _first_in(candidate.entry.unless, session.earlier)):
            candidate.note("unless_before", 1.0, literal)
    return ranked


def _shortlist(step: Step, view: View) -> list[Candidate]:
    """The facts worth a closer look: by literals, and by how much of their vocabulary occurs."""
    places = _places(step)
    words = [_rarest(_together(said), view.weights) for said in (step.person, step.agent)]
    found: dict[str, Candidate] = {}
    promise: dict[str, float] = defaultdict(float)
    for scope in view.scopes:
        for name, kind, text in places:
            for uid, literal, strength in _occurrences(scope.do if kind == "do" else scope.see, text, view.total):
                if name == "do_words" and literal.isalpha():
                    strength *= PLAIN_WORD
                if uid not in found:
                    found[uid] = Candidate(scope.entries[uid])
                _note_literal(found[uid], name, kind, literal, strength)
                promise[uid] += LITERAL_PROMISE * strength
        for concepts in words:
            for concept in concepts:
                weight = view.weights[concept]
                for uid in scope.vocabulary.holders(concept):
                    promise[uid] += weight
    best = heapq.nsmallest(SHORTLIST, promise, key=lambda uid: (-promise[uid], uid))
    entries = {uid: entry for scope in view.scopes for uid in best if (entry := scope.entries.get(uid))}
    return [found.get(uid) or Candidate(entries[uid]) for uid in best]


def _places(step: Step) -> list[tuple[str, str, Searchable]]:
    """Where literals are looked for: the sign that one gives, its kind, and the text."""
    places = [
        ("do_edit", "do", step.edits),
        ("do_words", "do", step.person_text),
        ("do_words", "do", step.agent_text),
        ("see_failure", "see", step.failures),
        ("see_output", "see", step.output),
        ("see_words", "see", step.person_text),
    ]
    if not step.is_looking:
        places += [("do", "do", step.acts), ("do", "do", step.looks)]
    return [place for place in places if place[2]]


def _occurrences(index: LiteralIndex, text: Searchable, total: int) -> Iterator[tuple[str, str, float]]:
    for literal, is_whole in index.find(text):
        owners = index.owners(literal)
        if len(owners) > MAX_OWNERS:
            continue
        strength = rarity(len(owners), total) * (1 if is_whole else INSIDE_A_WORD)
        for uid in owners:
            yield uid, literal, strength


def _note_literal(candidate: Candidate, name: str, kind: str, literal: str, strength: float) -> None:
    known = candidate.signs.get(name)
    if kind == "do" and known and known.what != literal:
        candidate.note("do_more", min(known.strength, strength), literal)
    candidate.note(name, strength, literal)


@dataclass(frozen=True, slots=True)
class _Heard:
    """The sentences of one step, weighed."""

    said: tuple[tuple[str, list[Sentence], Sentence], ...]
    """The person's and what the agent announces: whose, one by one, and all as one."""
    mentioned: tuple[tuple[str, list[Sentence]], ...]
    """The person's, and everything the agent says."""
    joint: Sentence | None
    """Both together when the person speaks."""


def _heard(step: Step, weights: Weights) -> _Heard:
    def each(said: Iterable[Said]) -> list[Sentence]:
        return [weigh(sentence.concepts, weights) for sentence in said]

    announced = _announced(step)
    person, agent = each(step.person), each(step.agent)
    announcements = agent if announced is step.agent else each(announced)
    said = (("person", person, step.person), ("agent", announcements, announced))
    return _Heard(
        said=tuple((who, found, weigh(_together(told), weights)) for who, found, told in said if found),
        mentioned=tuple((who, found) for who, found in (("person", person), ("agent", agent)) if found),
        joint=weigh(_together((*step.person, *step.agent)), weights) if step.person else None,
    )


def _sentences(heard: _Heard, weights: Weights, candidate: Candidate) -> None:
    entry = candidate.entry
    for who, sentences, whole in heard.said:
        if entry.vocabulary.isdisjoint(whole.concepts):
            continue
        met = max((meet(entry.says, sentence, weights) for sentence in sentences), default=NO_MEETING)
        candidate.note(f"say_{who}", met.score, met.phrase)
        candidate.note(f"mass_{who}", met.mass / (met.mass + 1))
        candidate.note(f"bag_{who}", weights.of(whole.concepts & entry.vocabulary) / (whole.mass + FEW_WORDS))
    if heard.joint:
        met = meet(entry.says, heard.joint, weights, JOINT_MISSING)
        candidate.note("say_joint", met.score, met.phrase)
    for who, sentences in heard.mentioned:
        met = max((meet(entry.bodies, sentence, weights) for sentence in sentences), default=NO_MEETING, key=_by_mass)
        candidate.note(f"body_{who}", met.mass / (met.mass + 1), met.phrase)


def _by_mass(met: Meeting) -> float:
    return met.mass


def _announced(step: Step) -> tuple[Said, ...]:
    """The agent's sentences that say what it does: all of a step that acts, else only those that plan."""
    if step.is_tool_step and not step.is_looking:
        return step.agent
    return tuple(said for said in step.agent if said.plans)


def _together(said: Iterable[Said]) -> frozenset[str]:
    return frozenset().union(*(each.concepts for each in said))


def _rarest(concepts: frozenset[str], weights: Weights) -> list[str]:
    if len(concepts) <= MAX_CONCEPTS:
        return sorted(concepts)
    return heapq.nsmallest(MAX_CONCEPTS, concepts, key=lambda concept: (-weights[concept], concept))


def _following(step: Step, candidate: Candidate) -> None:
    """Note what shows that the step already follows the fact, and weaken signs of an action then."""
    candidate.follows = _first_in(candidate.entry.unless, [text.text for text in step.shown])
    if candidate.follows:
        for name in _OF_ACTION:
            if sign := candidate.signs.get(name):
                candidate.signs[name] = Sign(sign.strength * COMPLYING, sign.what)


def _first_in(literals: Iterable[str], texts: Iterable[str]) -> str:
    """The first of `literals` that occurs in one of `texts`; empty when none does."""
    searched = tuple(texts)
    return next((literal for literal in literals if any(literal in text for text in searched)), "")


def _ranked(found: Iterable[Candidate]) -> list[Candidate]:
    """Those of `found` with a sign, best first, each with how far it is ahead of its best rival, or behind."""
    for candidate in found:
        doubt = 1.0
        for name, share in _POINTS.items():
            doubt *= 1 - share * candidate.strength(name)
        candidate.point = 1 - doubt
    with_signs = (candidate for candidate in found if candidate.signs)
    ranked = sorted(with_signs, key=lambda candidate: (-candidate.point, candidate.subject.uid))
    points = [candidate.point for candidate in ranked[:2]]
    for place, candidate in enumerate(ranked):
        if place == 0:
            candidate.note("lead", candidate.point - (points[1] if len(points) > 1 else 0.0))
        else:
            candidate.note("rival", points[0] - candidate.point)
    return ranked
