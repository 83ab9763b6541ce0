"""The rule files: read, combined with bead's changes to the pack, and each rule's verdict on one match.

Rules follow gitleaks (keywords, entropy, secret group, allowlists). Finding and replacing is `engine`.
"""

import functools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from bead.errors import BadRequest
from bead.scan.patterns import BadPattern, Pattern, Span, pattern

Table = Mapping[str, Any]

_SHORTEST_KNOWN_SECRET = 8
_HEX = re.compile(rb"[0-9A-Fa-f]+")
_BEFORE_BYTES = 64
"""How far before a secret a word that explains it is looked for."""


@dataclass(frozen=True, slots=True)
class Exceptions:
    """What a person told the scan to leave alone, from their configuration."""

    regexes: tuple[str, ...] = ()
    """RE2 expressions; a secret in which one is found stays as it is."""
    rules: tuple[str, ...] = ()
    """Ids of rules that are switched off."""


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Reasons why a match is no secret. One that applies is enough, as in gitleaks."""

    regexes: tuple[str, ...] = ()
    stopwords: tuple[str, ...] = ()
    target: str = "secret"
    """What `regexes` look at: the `secret`, the whole `match`, its `line`, or what stands `before` the secret.

    Stopwords look at the secret.
    """

    @classmethod
    def from_table(cls, table: Table) -> "Allowlist":
        if table.get("condition", "OR").upper() == "AND":
            # All parts must hold, and one is a file's path, which a conversation does not have.
            return cls()
        target = table.get("regexTarget", "secret") or "secret"
        return cls(tuple(table.get("regexes", ())), tuple(table.get("stopwords", ())), target)

    def allows(self, data: bytes, match: Span, secret: Span) -> bool:
        if self.regexes:
            start, end = self._target_span(data, match, secret)
            if _any_expression(self.regexes).found_in(data[start:end]):
                return True
        return bool(self.stopwords) and _any_word(self.stopwords).found_in(data[secret[0] : secret[1]].lower())

    def _target_span(self, data: bytes, match: Span, secret: Span) -> Span:
        if self.target == "secret":
            return secret
        if self.target == "match":
            return match
        if self.target == "before":
            return max(0, secret[0] - _BEFORE_BYTES), secret[0]
        end = data.find(b"\n", match[1])
        return data.rfind(b"\n", 0, match[0]) + 1, len(data) if end < 0 else end


@functools.lru_cache(maxsize=1024)
def _any_expression(regexes: tuple[str, ...]) -> Pattern:
    return Pattern("|".join(f"(?:{regex})" for regex in regexes))


@functools.lru_cache(maxsize=64)
def _any_word(words: tuple[str, ...]) -> Pattern:
    return Pattern("|".join(re.escape(word.lower()) for word in words))


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of credential: where it may be, how it looks, and what only looks like it."""

    rule_id: str
    regex: str = field(repr=False)
    keywords: tuple[str, ...] = field(repr=False)
    entropy: float = 0.0
    """Least Shannon entropy of the secret, in bits per character; 0 asks for nothing."""
    secret_group: int | None = None
    """Which group is the secret; None takes the first group that matched, else the whole match."""
    soft: bool = False
    """The rule guesses from the words around a value."""
    requires: tuple[str, ...] = ()
    allowlists: tuple[Allowlist, ...] = ()

    def secrets(self, data: bytes) -> Iterator[Span]:
        """Byte spans of the secrets this rule sees in `data`."""
        for groups in pattern(self.regex).matches(data):
            secret = self._secret_span(data, groups)
            if secret[0] < secret[1] and self._is_secret(data, groups[0], secret):
                yield secret

    def _secret_span(self, data: bytes, groups: Sequence[Span]) -> Span:
        if self.secret_group is not None:
            chosen = groups[self.secret_group]
        else:
            chosen = next((span for span in groups[1:] if span[0] < span[1]), groups[0])
        # A whole match may end in the character that ended the token.
        start, end = chosen
        return start, start + len(data[start:end].rstrip(b" \t\r\n\"'`;,"))

    def _is_secret(self, data: bytes, match: Span, secret: Span) -> bool:
        value = data[secret[0] : secret[1]]
        if self.entropy and shannon_entropy(value) <= self.entropy:
            return False
        if not all(pattern(required).found_in(value) for required in self.requires):
            return False
        return not any(allowlist.allows(data, match, secret) for allowlist in self.allowlists)


def shannon_entropy(value: bytes) -> float:
    """Bits per byte of `value`, counted from its own frequencies."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


@dataclass(frozen=True, slots=True)
class Digests:
    """Hexadecimal of a digest's length right after a word like "commit" is no secret, whatever rule matched."""

    lengths: frozenset[int]
    before: str

    def covers(self, data: bytes, secret: Span) -> bool:
        start, end = secret
        if end - start not in self.lengths or not _HEX.fullmatch(data, start, end):
            return False
        return pattern(self.before).found_in(data[max(0, start - _BEFORE_BYTES) : start])


@dataclass(frozen=True, slots=True)
class RuleBook:
    rules: tuple[Rule, ...]
    digests: Digests
    ids: frozenset[str]
    """Every id there is, also of rules switched off: their markers may stand in older text."""


def load_rule_book(exceptions: Exceptions, known_secrets: Iterable[str] = ()) -> RuleBook:
    """The pack with bead's changes, bead's rules, and what the caller adds or takes away.

    Raises:
        BadRequest: an exception names no rule, its expression is not RE2, or a known secret is too short.
    """
    pack, own = _read("gitleaks.toml"), _read("bead.toml")
    tables = {table["id"]: table for table in _pack_tables(pack, own["pack"])} | {t["id"]: t for t in own["rules"]}
    everywhere = (Allowlist.from_table(pack["allowlist"]), _user_allowlist(exceptions))
    rules = [
        _rule(table, (*everywhere, *_own_allowlists(own["allowlists"], rule_id)))
        for rule_id, table in tables.items()
        if rule_id not in exceptions.rules
    ]
    unknown = set(exceptions.rules) - tables.keys()
    if unknown:
        raise BadRequest(f"scan exceptions: there is no rule {sorted(unknown)[0]!r}; check the spelling")
    rules += [_known_secret_rule(secret) for secret in known_secrets]
    digests = Digests(frozenset(own["hashes"]["lengths"]), own["hashes"]["before"])
    return RuleBook(tuple(rules), digests, frozenset(tables))


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("bead.scan").joinpath("rules", name).read_text(encoding="utf-8"))


def _pack_tables(pack: Table, changes: Table) -> Iterator[Table]:
    """The pack's content rules as `[pack]` of bead.toml changes them."""
    for table in pack["rules"]:
        if table["id"] in changes["disabled"] or "regex" not in table:
            continue
        guesses = changes["assignment"] in table["regex"]
        widened = changes["widened_assignment_terminator"] if guesses else changes["widened_terminator"]
        changed = dict(table, regex=table["regex"].replace(changes["terminator"], widened))
        changed["soft"] = table["id"] in changes["soft"]
        if table["id"] in changes["secret_groups"]:
            changed["secretGroup"] = changes["secret_groups"][table["id"]]
        changed["keywords"] = changes["keywords"].get(table["id"], table["keywords"])
        yield changed


def _own_allowlists(tables: Iterable[Table], rule_id: str) -> Iterator[Allowlist]:
    for table in tables:
        if "targetRules" not in table or rule_id in table["targetRules"]:
            yield Allowlist.from_table(table)


def _rule(table: Table, everywhere: tuple[Allowlist, ...]) -> Rule:
    return Rule(
        rule_id=table["id"],
        regex=table["regex"],
        keywords=tuple(table["keywords"]),
        entropy=float(table.get("entropy", 0.0)),
        secret_group=table.get("secretGroup"),
        soft=table.get("soft", False),
        requires=tuple(table.get("requires", ())),
        allowlists=tuple(Allowlist.from_table(each) for each in table.get("allowlists", ())) + everywhere,
    )


def _user_allowlist(exceptions: Exceptions) -> Allowlist:
    for number, regex in enumerate(exceptions.regexes, start=1):
        try:
            Pattern(regex)
        except BadPattern as exc:
            raise BadRequest(f"scan exceptions: expression {number} is {exc}") from None
    return Allowlist(regexes=tuple(exceptions.regexes))


def _known_secret_rule(secret: str) -> Rule:
    """A rule for one exact value, such as a token of bead's own; no exception reaches it."""
    if len(secret) < _SHORTEST_KNOWN_SECRET:
        raise BadRequest(f"a known secret needs at least {_SHORTEST_KNOWN_SECRET} characters to be told from words")
    return Rule(rule_id="bead-token", regex=re.escape(secret), keywords=(secret.encode().lower().decode(),))
