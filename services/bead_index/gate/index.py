"""Cards of one scope, ready to be matched: phrases, literals by kind, and the words of the facts themselves.

Pure. Changes one fact at a time. What a match is worth is `features`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bead.facts import TriggerCard
from bead_index.gate.cards import with_rules
from bead_index.gate.literals import LiteralIndex, usable
from bead_index.gate.phrases import PhraseIndex
from bead_index.gate.words import concepts, sentences

_CLAUSE = re.compile(
    r"[,;:]\s|\s(?:because|so that|when|while|before|after|until|unless|with|through|without|instead of|rather than"
    r"|and|or|not)\s"
)
NO_CARD = TriggerCard()
KINDS = ("do", "see", "unless")


@dataclass(frozen=True, slots=True)
class Subject:
    """What the gate knows of a fact."""

    uid: str
    key: str
    type: str
    body: str
    card: TriggerCard = NO_CARD

    def __repr__(self) -> str:  # the body is a person's text
        return f"Subject(uid={self.uid!r})"


class ScopeCards:
    """The facts of one owner and scope. `rules`: whether a fact without a card gets one by rule."""

    def __init__(self, subjects: Iterable[Subject] = (), rules: bool = True) -> None:
        self._rules = rules
        self.subjects: dict[str, Subject] = {}
        self.bare: set[str] = set()
        """Facts without sentences in their card; the sentences of their bodies stand in."""
        self.says = PhraseIndex()
        self.bodies = PhraseIndex()
        self.vocabularies = PhraseIndex()
        self.literals = {kind: LiteralIndex() for kind in KINDS}
        self._held: dict[str, dict[str, list[str]]] = {}
        for subject in subjects:
            self.put(subject)

    def __len__(self) -> int:
        return len(self.subjects)

    def put(self, subject: Subject) -> None:
        """Take `subject` in place of what is known under its uid."""
        self.drop(subject.uid)
        card = with_rules(subject.card, subject.body) if self._rules else subject.card
        self.subjects[subject.uid] = replace(subject, card=card)
        says = [(phrase, concepts(phrase)) for phrase in card.say]
        bodies = _body_phrases(subject)
        if not says:
            self.bare.add(subject.uid)
        self.says.put(subject.uid, says or [*bodies, *_clauses(subject.body)])
        self.bodies.put(subject.uid, bodies)
        every = dict.fromkeys(concept for _, found in (*says, *bodies) for concept in found)
        self.vocabularies.put(subject.uid, [("", tuple(every))])
        self._held[subject.uid] = {kind: usable(getattr(card, kind)) for kind in KINDS}
        for kind, literals in self._held[subject.uid].items():
            for literal in literals:
                self.literals[kind].add(literal, subject.uid)

    def drop(self, uid: str) -> None:
        """Forget the fact under `uid`, if there is one."""
        if self.subjects.pop(uid, None) is None:
            return
        self.bare.discard(uid)
        self.says.drop(uid)
        self.bodies.drop(uid)
        self.vocabularies.drop(uid)
        for kind, literals in self._held.pop(uid).items():
            for literal in literals:
                self.literals[kind].discard(literal, uid)


def _body_phrases(subject: Subject) -> list[tuple[str, tuple[str, ...]]]:
    name = subject.key.rsplit("/", 1)[-1].replace("-", " ")
    return [(sentence, concepts(sentence)) for sentence in (name, *sentences(subject.body))]


def _clauses(body: str) -> list[tuple[str, tuple[str, ...]]]:
    """Parts of the sentences of `body` that say one thing each."""
    found = [(clause, concepts(clause)) for sentence in sentences(body) for clause in _CLAUSE.split(sentence)]
    return [(clause, words) for clause, words in found if len(words) > 1]
