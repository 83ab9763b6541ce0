"""Cards of one scope, ready to be matched: phrases, literals, and the words of the facts themselves.

Pure. Changes one fact at a time. What a match is worth is `features`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bead.facts import TriggerCard
from bead_index.gate.cards import with_rules
from bead_index.gate.literals import LiteralIndex, usable
from bead_index.gate.phrases import Phrase, Vocabulary
from bead_index.gate.words import concepts, sentences

NO_CARD = TriggerCard()
# Where a sentence goes on to say another thing.
_CLAUSE = re.compile(
    r"[,;:]\s|\s(?:because|so that|when|while|before|after|until|unless|with|through|without|instead of|rather than"
    r"|and|or|not)\s"
)


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


@dataclass(frozen=True, slots=True)
class Entry:
    """A fact, ready to be matched."""

    subject: Subject
    """With the card that is matched: as written, else by rule."""
    says: tuple[Phrase, ...]
    bodies: tuple[Phrase, ...]
    is_bare: bool
    """Whether nobody has written sentences for it; those by rule and parts of its own stand in as `says`."""
    vocabulary: frozenset[str]
    do: tuple[str, ...]
    see: tuple[str, ...]
    unless: tuple[str, ...]
    """Literals, normalised."""

    def __repr__(self) -> str:
        return f"Entry({self.subject!r})"


class ScopeCards:
    """The facts of one owner and scope. `rules`: whether a fact without a card gets one by rule."""

    def __init__(self, subjects: Iterable[Subject] = (), rules: bool = True) -> None:
        self._rules = rules
        self.entries: dict[str, Entry] = {}
        self.vocabulary = Vocabulary()
        self.do = LiteralIndex()
        self.see = LiteralIndex()
        for subject in subjects:
            self.put(subject)

    def __len__(self) -> int:
        return len(self.entries)

    def put(self, subject: Subject) -> None:
        """Take `subject` in place of what is known under its uid."""
        self.drop(subject.uid)
        card = with_rules(subject.card, subject.body) if self._rules else subject.card
        entry = self.entries[subject.uid] = _entry(replace(subject, card=card), is_bare=not subject.card.say)
        self.vocabulary.put(subject.uid, entry.vocabulary)
        for index, literals in ((self.do, entry.do), (self.see, entry.see)):
            for literal in literals:
                index.add(literal, subject.uid)

    def drop(self, uid: str) -> None:
        """Forget the fact under `uid`, if there is one."""
        entry = self.entries.pop(uid, None)
        if entry is None:
            return
        self.vocabulary.drop(uid)
        for index, literals in ((self.do, entry.do), (self.see, entry.see)):
            for literal in literals:
                index.discard(literal, uid)


def _entry(subject: Subject, is_bare: bool) -> Entry:
    says = _phrases(subject.card.say)
    name = subject.key.rsplit("/", 1)[-1].replace("-", " ")
    bodies = _phrases((name, *sentences(subject.body)))
    return Entry(
        subject=subject,
        says=(*says, *bodies, *_clauses(subject.body)) if is_bare else says,
        bodies=bodies,
        is_bare=is_bare,
        vocabulary=frozenset().union(*(phrase.concepts for phrase in (*says, *bodies))),
        do=tuple(usable(subject.card.do)),
        see=tuple(usable(subject.card.see)),
        unless=tuple(usable(subject.card.unless)),
    )


def _phrases(texts: Iterable[str]) -> tuple[Phrase, ...]:
    found = (Phrase(text, frozenset(concepts(text))) for text in texts)
    return tuple(phrase for phrase in found if phrase.concepts)


def _clauses(body: str) -> tuple[Phrase, ...]:
    """Parts of the sentences of `body` that say one thing each."""
    parts = (part for sentence in sentences(body) for part in _CLAUSE.split(sentence))
    return tuple(phrase for phrase in _phrases(parts) if len(phrase.concepts) > 1)
