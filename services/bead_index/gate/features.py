"""Signs for and against each fact in one step, each 0 to 1 and each pulling one way only.

Pure. What a sign weighs is `model`; matching is `phrases` and `literals`; what a step is for is `steps`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bead_index.gate.index import ScopeCards, Subject
from bead_index.gate.literals import Searchable
from bead_index.gate.phrases import Meeting, Weights, meet, overlap, rarity
from bead_index.gate.turn import Said, Session, Step

FOR = (
    "say_person", "mass_person", "say_agent", "mass_agent", "say_joint", "bag_person", "bag_agent",
    "body_person", "body_agent", "bare_person", "bare_agent", "bare_bag",
    "do", "do_more", "do_edit", "do_words", "see_failure", "see_output", "see_words", "lead",
)  # fmt: skip
"""Signs that a fact is needed; `reasons` has them in words."""
AGAINST = ("asks", "unless_before", "rival")
"""Signs that it is not."""

COMPLYING = 0.3
"""What is left of signs of an action when the step shows that it already follows the fact."""
INSIDE_A_WORD = 0.5
"""A literal found inside a longer word, against one that stands alone."""
FEW_WORDS = 0.5
"""Weight that a sentence must reach before being covered counts for half."""
JOINT_MISSING = 0.1
"""How much of what only request and announcement say counts against a match: together they say more than a phrase."""

_POINTS: Mapping[str, float] = {
    "say_person": 0.8, "say_agent": 0.4, "body_person": 0.3, "body_agent": 0.1, "bare_person": 0.6, "bare_agent": 0.3,
    "do": 0.6, "do_edit": 0.7, "do_words": 0.5, "see_failure": 0.7, "see_output": 0.3, "see_words": 0.5,
}  # fmt: skip
_OF_ACTION = ("do", "do_more", "do_edit", "say_agent", "mass_agent", "bag_agent", "bare_agent")


class Sign(NamedTuple):
    """How strong a sign is, and the words of the card or fact that made it."""

    strength: float
    what: str = ""


@dataclass(slots=True)
class Candidate:
    """A fact and its signs."""

    subject: Subject
    is_bare: bool
    """Whether its card has no sentences, so that the fact's own stand in."""
    signs: dict[str, Sign] = field(default_factory=dict)
    follows: str = ""
    """The literal that shows that this step already follows the fact; empty when none does."""
    point: float = 0.0
    """What it is ranked by before anything learned: the chance that not every sign is a coincidence."""

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
        self.says = Weights([scope.says for scope in scopes])
        self.bodies = Weights([scope.bodies for scope in scopes])
        self.vocabularies = Weights([scope.vocabularies for scope in scopes])
        self.total = sum(len(scope) for scope in scopes)


def candidates(step: Step, session: Session, view: View) -> list[Candidate]:
    """Every fact with a sign for it, best first."""
    found: list[Candidate] = []
    for scope in view.scopes:
        by_uid = _Found(scope)
        _sentences(step, view, by_uid)
        _literals(step, view.total, by_uid)
        in_scope = [candidate for candidate in by_uid.values() if candidate.signs]
        _objections(step, session, scope, in_scope)
        found += in_scope
    return _ranked(found)


class _Found(dict[str, Candidate]):
    """Candidates of one scope by uid, made when first asked for."""

    def __init__(self, scope: ScopeCards) -> None:
        super().__init__()
        self.scope = scope

    def __missing__(self, uid: str) -> Candidate:
        self[uid] = candidate = Candidate(self.scope.subjects[uid], uid in self.scope.bare)
        return candidate


def _sentences(step: Step, view: View, found: _Found) -> None:
    scope = found.scope
    announced = _announced(step)
    for who, said in (("person", step.person), ("agent", announced)):
        for uid, met in _best(said, scope, view).items():
            if uid in scope.bare:
                found[uid].note(f"bare_{who}", met.score, met.phrase)
            else:
                found[uid].note(f"say_{who}", met.score, met.phrase)
                found[uid].note(f"mass_{who}", met.mass / (met.mass + 1))
        words = _together(said)
        sentence_mass = view.vocabularies.sentence_mass(words) + FEW_WORDS
        for uid, mass in overlap(scope.vocabularies, words, view.vocabularies).items():
            name = f"bag_{who}" if uid not in scope.bare else "bare_bag" if who == "person" else ""
            if name:
                found[uid].note(name, mass / sentence_mass)
    if step.person:
        joint = meet(scope.says, _together((*step.person, *step.agent)), view.says, JOINT_MISSING)
        for uid, met in joint.items():
            if uid not in scope.bare:
                found[uid].note("say_joint", met.score, met.phrase)
    for who, said in (("person", step.person), ("agent", step.agent)):
        for sentence in said:
            for uid, met in meet(scope.bodies, sentence.concepts, view.bodies).items():
                found[uid].note(f"body_{who}", met.mass / (met.mass + 1), met.phrase)


def _announced(step: Step) -> tuple[Said, ...]:
    """The agent's sentences that say what it does: all of a step that acts, else only those that plan."""
    if step.is_tool_step and not step.is_looking:
        return step.agent
    return tuple(said for said in step.agent if said.plans)


def _best(said: Iterable[Said], scope: ScopeCards, view: View) -> dict[str, Meeting]:
    best: dict[str, Meeting] = {}
    for sentence in said:
        for uid, met in meet(scope.says, sentence.concepts, view.says).items():
            if uid not in best or met.score > best[uid].score:
                best[uid] = met
    return best


def _together(said: Iterable[Said]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(concept for each in said for concept in each.concepts))


def _literals(step: Step, total: int, found: _Found) -> None:
    does = [("do_edit", step.edits), ("do_words", step.person_text), ("do_words", step.agent_text)]
    if not step.is_looking:
        does += [("do", step.acts), ("do", step.looks)]
    sees = [("see_failure", step.failures), ("see_output", step.output), ("see_words", step.person_text)]
    for kind, places in (("do", does), ("see", sees)):
        for name, text in places:
            for uid, literal, strength in _occurrences(found.scope, kind, text, total):
                candidate = found[uid]
                known = candidate.signs.get(name)
                if kind == "do" and known and known.what != literal:
                    candidate.note("do_more", min(known.strength, strength), literal)
                candidate.note(name, strength, literal)


def _occurrences(scope: ScopeCards, kind: str, text: Searchable, total: int) -> Iterable[tuple[str, str, float]]:
    if not text:
        return
    index = scope.literals[kind]
    for literal, is_whole in index.find(text):
        owners = index.owners(literal)
        strength = rarity(len(owners), total) * (1 if is_whole else INSIDE_A_WORD)
        for uid in owners:
            yield uid, literal, strength


def _objections(step: Step, session: Session, scope: ScopeCards, found: Iterable[Candidate]) -> None:
    now = _followed(scope, [step.shown])
    before = _followed(scope, session.earlier)
    for candidate in found:
        uid = candidate.subject.uid
        if step.asks and candidate.subject.type not in ("reference", "user"):
            candidate.note("asks", 1.0)
        if uid in before:
            candidate.note("unless_before", 1.0, before[uid])
        if uid in now:
            candidate.follows = now[uid]
            for name in _OF_ACTION:
                if sign := candidate.signs.get(name):
                    candidate.signs[name] = Sign(sign.strength * COMPLYING, sign.what)


def _followed(scope: ScopeCards, shown: Iterable[Iterable[Searchable]]) -> dict[str, str]:
    """Which facts the texts show to be followed, each with the literal that shows it."""
    index = scope.literals["unless"]
    literals = (found.literal for texts in shown for text in texts if text for found in index.find(text))
    return {uid: literal for literal in literals for uid in index.owners(literal)}


def _ranked(found: list[Candidate]) -> list[Candidate]:
    """`found` best first, each with how far it is ahead of its best rival, or behind."""
    for candidate in found:
        doubt = 1.0
        for name, share in _POINTS.items():
            doubt *= 1 - share * candidate.strength(name)
        candidate.point = 1 - doubt
    ranked = sorted(found, key=lambda candidate: (-candidate.point, candidate.subject.uid))
    for place, candidate in enumerate(ranked):
        rival = ranked[1 if place == 0 else 0].point if len(ranked) > 1 else 0.0
        candidate.note("lead" if place == 0 else "rival", abs(candidate.point - rival))
    return ranked
