"""Which other fact of its scope a new statement would silence: the two are never shown together (D2).

The rule is `bead.text.duplicates`, the same that chooses what is injected. Only finds; what is queued is `facts`'.
"""

from collections import defaultdict

from bead import keys
from bead.errors import DamagedFile, NotFound
from bead.facts import FactVersion, Status
from bead.text.duplicates import Fingerprint, fingerprint, is_near_duplicate
from bead_store.catalogue import Catalogue

MAX_FACTS = 5_000
"""Facts of one scope that are compared, those there first; their words are kept in memory (I17)."""
MAX_CHARACTERS = 2_000
"""Longer texts are documents, not statements."""


class Conflicts:
    """Used from the facts' lane only. A scope is read when somebody writes into it, and then followed."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._scopes: dict[str, _Scope] = {}
        catalogue.on_change = self._changed

    def of(self, fact: FactVersion) -> FactVersion | None:
        """The newest current fact beside `fact` that is about the same and says it in other words; None without one."""
        if len(fact.body) > MAX_CHARACTERS:
            return None
        name = keys.parse(fact.key).scope
        scope = self._followed(name)
        own = scope.fingerprint_of(fact.key) or fingerprint(fact.body)
        found = [self._catalogue.current(key) for key in scope.near(own) if key != fact.key]
        found = [other for other in found if other.status is Status.CURRENT and other.body != fact.body]
        return max(found, key=lambda other: other.valid_from, default=None)

    def near(self, scope: str, text: str) -> list[FactVersion]:
        """The current facts of `scope` that say the text, or nearly."""
        if len(text) > MAX_CHARACTERS:
            return []
        found = [self._catalogue.current(key) for key in self._followed(scope).near(fingerprint(text))]
        return [fact for fact in found if fact.status is Status.CURRENT]

    def _followed(self, name: str) -> "_Scope":
        scope = self._scopes.get(name)
        if scope is None:
            scope = self._scopes[name] = _Scope()
            scope.changed.update(self._catalogue.keys_below(name)[:MAX_FACTS])
        scope.follow(self._catalogue)
        return scope

    def _changed(self, key: str) -> None:
        scope = self._scopes.get(keys.parse(key).scope)
        if scope is not None:
            scope.changed.add(key)


class _Scope:
    """Fingerprints of one scope, findable by what two near-duplicates must share."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        """Keys that must be looked at before anything is found; bounded by the keys there are."""
        self._known: dict[str, Fingerprint | None] = {}
        self._by_mark: defaultdict[str, set[str]] = defaultdict(set)

    def follow(self, catalogue: Catalogue) -> None:
        """Take up what was written, and drop what has gone, since the last time."""
        while self.changed:
            key = self.changed.pop()
            self._drop(key)
            if len(self._known) < MAX_FACTS and (body := _body(catalogue, key)) is not None:
                self._take(key, fingerprint(body) if len(body) <= MAX_CHARACTERS else None)

    def fingerprint_of(self, key: str) -> Fingerprint | None:
        """What is known of a key; None when it is not among those that are followed."""
        return self._known.get(key)

    def near(self, one: Fingerprint) -> list[str]:
        """Keys of the near-duplicates of a statement."""
        candidates = {key for mark in one.marks for key in self._by_mark.get(mark, ())}
        return [key for key in candidates if (other := self._known[key]) and is_near_duplicate(one, other)]

    def _take(self, key: str, new: Fingerprint | None) -> None:
        self._known[key] = new
        for mark in new.marks if new else ():
            self._by_mark[mark].add(key)

    def _drop(self, key: str) -> None:
        old = self._known.pop(key, None)
        for mark in old.marks if old else ():
            self._by_mark[mark].discard(key)
            if not self._by_mark[mark]:
                del self._by_mark[mark]


def _body(catalogue: Catalogue, key: str) -> str | None:
    """What a key says now; None when it is gone or cannot be read."""
    try:
        return catalogue.current(key).body
    except (NotFound, DamagedFile):
        return None
