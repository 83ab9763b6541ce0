"""Facts that may be injected, in memory, so that recall never waits for a disk (D13).

Holds what is current and no secret, with the cards it is matched by; says which of two near-duplicates speaks (D2).
Choosing is `selection`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, KeysView, Mapping
from dataclasses import dataclass
from datetime import UTC
from functools import cached_property
from math import log
from typing import NamedTuple

from bead import keys
from bead.blocks import fact_tokens
from bead.facts import FactType, FactVersion, Sensitivity, Status
from bead.recall import RecalledFact
from bead.text.duplicates import Fingerprint, fingerprint, is_near_duplicate
from bead.text.terms import significant, terms
from bead_index.gate.features import View
from bead_index.gate.gate import Cards
from bead_index.gate.index import Subject

MAX_VIEWS = 64
"""Most pairs of owner and project whose weights are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """One injectable fact, ready to be matched."""

    fact: RecalledFact
    owner: str
    scope: str
    pinned: bool
    since: float
    """`valid_from` in seconds since 1970."""
    terms: frozenset[str]
    """Significant terms of the body and of the key's last segment."""
    fingerprint: Fingerprint
    tokens: int
    """What its line costs in a block."""
    uid: str
    rank: int
    """Rank of its trust."""
    about_person: bool
    """Whether it is about the person or a correction by them, rather than about a project."""

    @property
    def voice(self) -> tuple[int, float, str]:
        """Greater speaks: higher trust, then newer; the uid only settles ties."""
        return self.rank, self.since, self.uid

    def __repr__(self) -> str:
        return f"Known({self.fact!r})"


class Posting(NamedTuple):
    """What the visible facts say about one term."""

    idf: float
    """1 when one of them has it, towards 0 when all have; 0 when none."""
    facts: tuple[Known, ...]


_NO_POSTING = Posting(0.0, ())


class FactTable:
    """All injectable facts with their postings and cards. One thread changes and reads it at a time."""

    def __init__(self, facts: Iterable[FactVersion] = ()) -> None:
        self._by_key: dict[str, Known] = {}
        self._by_uid: dict[str, Known] = {}
        self._cards = Cards()
        self._scopes: dict[str, dict[str, Known]] = defaultdict(dict)
        self._postings: dict[str, dict[str, dict[str, Known]]] = defaultdict(lambda: defaultdict(dict))
        self._marks: dict[tuple[str, str], dict[str, Known]] = defaultdict(dict)
        self._speakers: dict[str, Known] = {}
        self._views: dict[tuple[str, str], VisibleFacts] = {}
        for fact in facts:
            self.put(fact)

    def __len__(self) -> int:
        return len(self._by_key)

    def let_go(self) -> None:
        """Another table answers from now on: nothing in this one refers to itself, so it goes with its last user."""
        self._views.clear()

    def put(self, fact: FactVersion) -> None:
        """Take `fact` as the current version of its key; one that may not be injected is dropped."""
        self.drop(fact.key)
        if fact.status is not Status.CURRENT or fact.sensitivity is Sensitivity.SECRET:
            return
        known = _known(fact)
        self._by_key[fact.key] = known
        self._put_card(known, fact)
        self._scopes[known.scope][fact.key] = known
        for term in known.terms:
            self._postings[known.scope][term][fact.key] = known
        for mark in known.fingerprint.marks:
            self._marks[known.scope, mark][fact.key] = known
        self._changed(known)

    def drop(self, key: str) -> None:
        """Forget the fact under `key`, if there is one."""
        known = self._by_key.pop(key, None)
        if known is None:
            return
        self._changed(known)
        self._drop_card(known)
        del self._scopes[known.scope][key]
        postings = self._postings[known.scope]
        for term in known.terms:
            del postings[term][key]
            if not postings[term]:
                del postings[term]
        for mark in known.fingerprint.marks:
            del self._marks[known.scope, mark][key]
            if not self._marks[known.scope, mark]:
                del self._marks[known.scope, mark]

    def visible(self, owner: str, project: str) -> "VisibleFacts":
        """What a conversation of `owner` in `project` (a scope name, or empty) may be told: never another project.

        Good until the next change.
        """
        view = self._views.get((owner, project))
        if view is None:
            if len(self._views) >= MAX_VIEWS:
                self._views.clear()
            view = self._views[owner, project] = self._view(owner, project)
        return view

    def speaker(self, known: Known) -> Known:
        """The one of `known` and its near-duplicates in the same scope that may be injected."""
        uid = known.uid
        if uid not in self._speakers:
            rivals = {
                rival.uid: rival
                for mark in known.fingerprint.marks
                for rival in self._marks.get((known.scope, mark), {}).values()
                if rival.owner == known.owner and is_near_duplicate(known.fingerprint, rival.fingerprint)
            }
            self._speakers[uid] = max((known, *rivals.values()), key=lambda rival: rival.voice)
        return self._speakers[uid]

    def _put_card(self, known: Known, fact: FactVersion) -> None:
        # A fact that is renamed has both keys for a moment: its card goes with the one that came last.
        if known.uid in self._by_uid:
            self._drop_card(self._by_uid[known.uid])
        self._by_uid[known.uid] = known
        subject = Subject(known.uid, fact.key, fact.type.value, fact.body, fact.when)
        self._cards.put(known.owner, known.scope, subject)

    def _drop_card(self, known: Known) -> None:
        if self._by_uid.get(known.uid) is known:
            del self._by_uid[known.uid]
            self._cards.drop(known.owner, known.scope, known.uid)

    def _view(self, owner: str, project: str) -> "VisibleFacts":
        scopes = ("user", "global", *((f"project/{project}",) if project else ()))
        return VisibleFacts(
            owner,
            {scope: self._scopes[scope] for scope in scopes if scope in self._scopes},
            {scope: self._postings[scope] for scope in scopes if scope in self._postings},
            self._cards.view(owner, scopes),
            self._by_uid,
            self,
        )

    def _changed(self, known: Known) -> None:
        """Forget what was worked out with or without `known`; call while it is in the table."""
        self._views.clear()
        for mark in known.fingerprint.marks:
            for rival in self._marks[known.scope, mark].values():
                self._speakers.pop(rival.uid, None)
        self._speakers.pop(known.uid, None)


class VisibleFacts:
    """The part of a table that one conversation may be told."""

    def __init__(
        self,
        owner: str,
        scopes: Mapping[str, Mapping[str, Known]],
        postings: Mapping[str, Mapping[str, Mapping[str, Known]]],
        cards: View,
        by_uid: Mapping[str, Known],
        table: FactTable,
    ) -> None:
        self.cards = cards
        """What the gate matches; its subjects are these facts."""
        self.by_uid = by_uid
        self._owner = owner
        self._scopes = scopes
        self._postings = postings
        self._table = table
        self._total = sum(len(facts) for facts in scopes.values())
        self._weighed: dict[str, Posting] = {}
        self._orders: dict[str, list[Known]] = {}

    def held(self, terms: KeysView[str]) -> set[str]:
        """Those of `terms` that a visible fact holds."""
        return set().union(*(terms & postings.keys() for postings in self._postings.values()))

    def posting(self, term: str) -> Posting:
        """Visible facts that hold `term`, and its weight among them."""
        held = self._weighed.get(term)
        if held is None:
            held = self._weigh(term)
            if held.idf:  # unknown words are without number
                self._weighed[term] = held
        return held

    def all(self) -> list[Known]:
        """Every visible fact."""
        return [known for facts in self._scopes.values() for known in facts.values() if known.owner == self._owner]

    @cached_property
    def least_tokens(self) -> int:
        """What the shortest of them costs in a block."""
        return min((known.tokens for known in self.all()), default=0)

    def in_order(self, name: str, make: Callable[[], list[Known]]) -> list[Known]:
        """What `make` makes of these facts, kept under `name` while they do not change."""
        if name not in self._orders:
            self._orders[name] = make()
        return self._orders[name]

    def speaker(self, known: Known) -> Known:
        """See `FactTable.speaker`."""
        return self._table.speaker(known)

    def _weigh(self, term: str) -> Posting:
        found = [held for postings in self._postings.values() if (held := postings.get(term))]
        if not found:
            return _NO_POSTING
        idf = log(1 + self._total / sum(map(len, found))) / log(1 + self._total)
        facts = tuple(known for held in found for known in held.values() if known.owner == self._owner)
        return Posting(idf, facts)


def _known(fact: FactVersion) -> Known:
    key = keys.parse(fact.key)
    last_segment = key.name.rsplit("/", 1)[-1]
    body_terms = terms(fact.body)
    recalled = RecalledFact(
        uid=fact.uid,
        key=fact.key,
        version=fact.version,
        type=fact.type.value,
        trust=fact.trust.value,
        valid_from=fact.valid_from.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        body=fact.body,
    )
    return Known(
        fact=recalled,
        owner=fact.owner,
        scope=key.scope,
        pinned=fact.pinned,
        since=fact.valid_from.timestamp(),
        terms=frozenset(significant(body_terms + terms(last_segment))),
        fingerprint=fingerprint(fact.body),
        tokens=fact_tokens(recalled),
        uid=fact.uid,
        rank=fact.trust.rank,
        about_person=fact.type in (FactType.USER, FactType.FEEDBACK),
    )
