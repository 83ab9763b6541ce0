"""The scanner: keywords choose the rules, rules find the spans, spans become markers.

Pure: text in, text and places out. Rules and what they allow are `rules`; offsets are `spans`.
"""

import re
from collections.abc import Iterable

from bead.scan.patterns import KeywordSet
from bead.scan.rules import Exceptions, Rule, RuleBook, load_rule_book
from bead.scan.spans import Found, Redaction, UnescapedView, beside_markers, in_characters, marker, merge, render
from bead.scan.spans import to_original as spans_in_original

_NO_EXCEPTIONS = Exceptions()
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_ROUNDS = 8
"""Replacing a secret can uncover a second one whose beginning the first had taken; two rounds are usual then."""


class Scanner:
    """Finds and replaces credentials. Made once, used from any thread; it keeps nothing of what it reads."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book
        keywords = sorted({keyword for rule in book.rules for keyword in rule.keywords})
        self._keywords = KeywordSet(keywords)
        self._rules_of = [[at for at, rule in enumerate(book.rules) if word in rule.keywords] for word in keywords]

    @classmethod
    def load(cls, exceptions: Exceptions = _NO_EXCEPTIONS, known_secrets: Iterable[str] = ()) -> "Scanner":
        """A scanner from the rule files. Takes some 60 ms; rules are compiled when their keyword first appears.

        `known_secrets` are exact values that are always replaced (rule `bead-token`), whatever the exceptions say.

        Raises:
            BadRequest: an exception names no rule or is not an RE2 expression, or a known secret is too short.
        """
        return cls(load_rule_book(exceptions, known_secrets))

    def redact(self, text: str) -> Redaction:
        """`text` with each secret replaced by `[REDACTED:<rule>]`; redacting the result changes nothing.

        Text outside the hits stays as it is. Never raises on any text, also not on lone surrogates.
        """
        data = _as_utf8(text)
        covered = self._find(data)
        if not covered:
            return Redaction(text, ())
        for _ in range(_MOST_ROUNDS):
            uncovered = self._find(render(data, covered))
            if not uncovered:
                break
            covered = merge([*covered, *spans_in_original(uncovered, covered)])
        hits = in_characters(text, data, covered)
        pieces: list[str] = []
        at = 0
        for hit in hits:
            pieces += [text[at : hit.start], marker(hit.rule_id)]
            at = hit.end
        return Redaction("".join([*pieces, text[at:]]), hits)

    def contains_secret(self, text: str) -> bool:
        """Whether `redact` would change `text`."""
        return bool(self._find(_as_utf8(text)))

    def _find(self, data: bytes) -> list[Found]:
        """Secrets in `data` as sorted, disjoint spans, seen as it stands and with JSON's escapes undone."""
        found = list(self._found_in(data))
        if b"\\" in data:
            view = UnescapedView(data)
            if view.differs:
                found += [view.to_original(each) for each in self._found_in(view.data)]
        return beside_markers(data, merge(found), self._book.ids)

    def _found_in(self, data: bytes) -> Iterable[Found]:
        for rule in self._candidates(data):
            for secret in rule.secrets(data):
                if not self._book.digests.covers(data, secret):
                    yield Found(*secret, rank=int(rule.soft), rule_id=rule.rule_id)

    def _candidates(self, data: bytes) -> list[Rule]:
        words = self._keywords.found_in(data.lower())
        return [self._book.rules[at] for at in sorted({at for word in words for at in self._rules_of[word]})]


def _as_utf8(text: str) -> bytes:
    """UTF-8 with a replacement for each lone surrogate, which has no UTF-8 form; characters count the same."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text).encode()
