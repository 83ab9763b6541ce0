"""Which other fact of its scope a new statement would silence: the two are never shown together (D2).

The rule is `bead.text.duplicates`, the same that chooses what is injected. Only finds; what is queued is `facts`'.
"""

from collections import defaultdict

from bead import keys
from bead.facts import FactVersion, Status
from bead.text.duplicates import Fingerprint, fingerprint, is_near_duplicate
from bead_store.catalogue import Catalogue

MAX_FACTS = 5_000
"""Facts of one scope that are compared, the first by key; their words are kept in memory (I17)."""
MAX_CHARACTERS = 2_000
"""Longer texts are documents, not statements."""


class Conflicts:
    """Used from the facts' lane only. A scope is read when somebody writes into it, and then followed."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._scopes: defaultdict[str, _Scope] = defaultdict(_Scope)

    def of(self, fact: FactVersion) -> FactVersion | None:
        """The newest current fact beside `fact` that is about the same and says it in other words; None without one."""
        if len(fact.body) > MAX_CHARACTERS:
            return None
        name = keys.parse(fact.key).scope
        scope = self._scopes[name]
        scope.follow(self._catalogue, name)
        own = scope.fingerprint_of(fact.key) or fingerprint(fact.body)
        found = [self._catalogue.current(key) for key in scope.near(own) if key != fact.key]
        found = [other for other in found if other.status is Status.CURRENT and other.body != fact.body]
        return max(found, key=lambda other: other.valid_from, default=None)


class _Scope:
    """Fingerprints of one scope, findable by what two near-duplicates must share."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, Fingerprint | None]] = {}
        self._by_mark: defaultdict[str, set[str]] = defaultdict(set)

    def follow(self, catalogue: Catalogue, name: str) -> None:
        """Take up what was written, and drop what has gone, since the last time."""
        newest = dict(catalogue.newest_below(name)[:MAX_FACTS])
        for key in [key for key, (hash, _) in self._known.items() if newest.get(key) != hash]:
            _, old = self._known.pop(key)
            for mark in old.marks if old else ():
                self._by_mark[mark].discard(key)
        for key in newest.keys() - self._known.keys():
            body = catalogue.current(key).body
            new = fingerprint(body) if len(body) <= MAX_CHARACTERS else None
            self._known[key] = (newest[key], new)
            for mark in new.marks if new else ():
                self._by_mark[mark].add(key)

    def fingerprint_of(self, key: str) -> Fingerprint | None:
        """What is known of a key; None when it is not among those that are followed."""
        return self._known[key][1] if key in self._known else None

    def near(self, one: Fingerprint) -> list[str]:
        """Keys of the near-duplicates of a statement."""
        candidates = {key for mark in one.marks for key in self._by_mark.get(mark, ())}
        return [key for key in candidates if (other := self._known[key][1]) and is_near_duplicate(one, other)]
