"""Trigger cards by rule: what a fact's own words say about when it matters.

Deterministic and pure. Literals come from the fact's own words; sentences only by subject (`topics`), for better ones
need understanding and come from whoever writes the fact or from the dream job. The rules (D7):

* "X, not Y", "X instead of Y", "never Y", "do not Y", "Y is banned", "plain `Y`": Y calls for the fact (`do`), X shows
  that the agent already follows it (`unless`);
* "run `X`", "use X", "through X": X shows that the agent follows it; without its options it calls for the fact, unless
  the fact names something else that does;
* other commands, paths, files, flags and identifiers call for it (`do`);
* signatures of errors (`SomethingError`, `ERR_…`, "Access Denied", "exit 137") call for it (`see`).
"""

import re
from collections.abc import Iterable, Iterator

from bead.facts import TriggerCard
from bead.text.terms import STOP_WORDS, stem
from bead_index.gate.topics import sayings
from bead_index.gate.words import EVERYDAY, FILLER, SYNONYMS

MAX_LITERALS = 8
"""Most literals of one kind that the rules write."""
MIN_CHARACTERS = 3

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])|\n+|;\s+")
_CLAUSE_END = (
    r"(?=[,;]|[.:](?:\s|\Z)| (?:in|for|when|because|so|and|or|on|from|with|to|as|even|since|unless|into|around)\b|\Z)"
)
_BACKTICKS = re.compile(r"`([^`\n]{2,80})`")
_QUOTED = re.compile(r"(?<!\w)['\"]([^'\"\n]{3,60})['\"](?!\w)")
_TOOLS = (
    "ansible|apt|apt-get|aws|az|brew|bun|bundle|cargo|composer|conda|curl|deno|docker|dotnet|flake8|gcloud|gh|git|go|"
    "gradle|helm|jest|just|kubectl|make|mvn|mypy|mysql|node|npm|npx|pip|pip3|pnpm|poetry|prettier|psql|pulumi|pytest|"
    "python|python3|rails|rake|redis-cli|ruff|rustup|ssh|systemctl|terraform|tofu|tox|tsc|uv|vitest|yarn"
)
_JOINING = (
    r"(?:also|and|as|at|back|by|for|from|has|in|into|is|must|needs|of|on|or|over|runs|stays|the|through|to|via|with)\b"
)
_COMMAND = re.compile(rf"(?<![\w./-])(?:{_TOOLS})(?: (?!{_JOINING})[a-z][\w:-]+)(?![\w/])")
_PATH = re.compile(
    r"(?<![\w/@:.-])(?:[\w@.*-]+/)+[\w@.*{}-]*[\w*}]|(?<![\w/])/[\w.*-]+/[\w.*/-]+|(?<![\w/])[\w.-]{3,}/(?!\w)"
)
_FILE = re.compile(r"(?<![\w./-])[\w.-]*[A-Za-z_][\w-]*\.(?!com\b|org\b)[a-z]{1,10}(?![\w(.])")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{2,}(?:=[\w.-]+)?")
_CODE_NAME = re.compile(
    r"(?<![\w./-])(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+"  # dotted
    r"|[a-z][a-z0-9]*(?:_[a-z0-9]+)+"  # snake_case
    r"|[A-Z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+"  # CONSTANT_CASE
    r"|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"  # camelCase, PascalCase
    r"|[a-z]{3,}\d+|[a-z]+:[a-z]+|@[a-z][\w./]+"  # float64, node:sqlite, @decorator
    r"|[a-z]+-[a-z]+-[\w-]+)(?![\w/])"  # bg-moss-500
)
_NUMBER = re.compile(r"(?<![\w.])-?\d{2,}\.\d+(?![\w.])")
_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Exceeded|Denied|Fault|Panic)\b|ERR_\w+|E[A-Z]{5,}\b|SIG[A-Z]{3,5}\b"
    r"|(?:[Ee]xit(?:s| code)?|[Ss]tatus|HTTP|[Ee]rror|[Cc]ode|[Aa]nswers) [1-5]\d\d\b"
    r"|[Aa]ccess [Dd]enied|[Pp]ermission denied|[Cc]onnection refused|[Oo]ut of memory)"
)
_FAILS_WITH = re.compile(r"\bfail(?:s|ed|ing)? with [`'\"]?([a-z][\w .-]{5,50}?)(?=[.,;`'\"]|\Z)")
_NOT = re.compile(
    r"(?P<good>(?:[^,;:.]|\.(?=\w)|:(?=\w)){2,60}?),? (?:not|instead of|rather than|in place of) "
    r"(?:with |by |the |a |an |bare |plain |raw )*"
    rf"(?P<bad>[^,;]{{2,50}}?){_CLAUSE_END}"
)
_CONTRASTS = ("not ", "instead of ", "rather than ", "in place of ")
"""What every match of `_NOT` holds; most sentences have none, and the expression is slow to say so."""
_NEVER = re.compile(
    r"\b(?P<denial>never|do not|don't|must not|avoid|no longer|without|bans?|forbids?|no)\s+"
    r"(?:use |using |run |running |call |calling |add |write |import |put |suggest |the |a |an |bare |plain |raw )*"
    rf"(?P<bad>[^,;]{{2,40}}?){_CLAUSE_END}",
    re.IGNORECASE,
)
# "no X" and "without a X" speak of things; "never X" and "without X" of a name.
_LOOSE = re.compile(r"no\s|\w+(?:\s\w+)?\s(?:a|an|the)\s", re.IGNORECASE)
# A folder that every project has says nothing.
_EVERYWHERE = frozenset({"src/", "lib/", "app/", "test/", "tests/", "scripts/", "docs/", "cmd/", "pkg/", "packages/"})
_PLAIN_COMMAND = re.compile(rf"\b(?:plain|bare|raw) (?:`(?P<ticks>[^`]+)`|(?P<tool>{_TOOLS})\b)", re.IGNORECASE)
_USE = re.compile(
    r"(?:\A|[,;:] |\b(?:and|always|then|or|must|just|should|first|iterating|`) )"
    r"(?:use|run|rerun|call|parse with|wrap)\b|\b(?:through|via|with|using|uses)\b",
    re.IGNORECASE,
)
_USE_REACH = 40
"""Characters behind "use" or "run" in which what to use stands."""
_OPTIONS = re.compile(r"\s(-{1,2}[A-Za-z].*)\Z")
_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)((?:=|\s)(?:\"[^\"]*\"|'[^']*'|[^\s-]\S*))?")
# "before X", "after X": X is when it matters.
_OCCASION = re.compile(
    r"\b(?:[Bb]efore|[Aa]fter|[Ww]hen|[Ww]henever)\s+(?:running |using |calling |you |a |the )*"
    r"(?:`([^`]+)`|([A-Z][\w.+-]{3,})(?![\w/]))"
)


def rule_card(body: str) -> TriggerCard:
    """The card that the words of a fact give by rule; empty when they name nothing literal."""
    good: list[str] = []
    bad: list[str] = []
    for sentence in _SENTENCE.split(body):
        bad += _forbidden(sentence)
        good += _prescribed(sentence)
    bad_keys = {_key(literal) for literal in bad}
    good = [literal for literal in good if _key(literal) not in bad_keys]
    good_keys = {_key(literal) for literal in good}
    named = [literal for literal in _named(body) if _key(literal) not in good_keys]
    do = [*bad, *(match[1] or match[2].rstrip(".-") for match in _OCCASION.finditer(body)), *named]
    do = do or [_OPTIONS.sub("", literal) for literal in good]
    do += [head for literal in good if (head := _OPTIONS.sub("", literal)) != literal]
    see = [match[0] for match in _ERROR.finditer(body)] + _FAILS_WITH.findall(body)
    return TriggerCard(
        say=sayings(body), do=_few(do), see=_few(see), unless=_few(map(_telling, good)) if do != good else ()
    )


def with_rules(card: TriggerCard, body: str) -> TriggerCard:
    """`card` as written; by rule when nobody has written one."""
    return card or rule_card(body)


def _forbidden(sentence: str) -> Iterator[str]:
    for match in _PLAIN_COMMAND.finditer(sentence):
        yield match["ticks"] or match["tool"]
    for match in _contrasts(sentence):
        yield from _first_piece(match["bad"], is_lone_allowed=True)
    for match in _NEVER.finditer(sentence):
        yield from _first_piece(match["bad"], is_lone_allowed=not _LOOSE.match(match[0]))


def _prescribed(sentence: str) -> Iterator[str]:
    for match in _contrasts(sentence):
        yield from list(_named(match["good"]))[-1:]
    for match in _USE.finditer(sentence):
        reach = sentence[match.end() : match.end() + _USE_REACH]
        if reach.count("`") % 2:  # a long command: as far as its closing mark
            reach = sentence[match.end() :][: sentence.find("`", match.end() + len(reach)) - match.end() + 1]
        reach = re.split(r"[,;:](?= )|\.(?:\s|\Z)| (?:not|instead|rather|before|after|or|because)\b", reach)[0]
        yield from _named(reach)


def _contrasts(sentence: str) -> Iterable[re.Match[str]]:
    return _NOT.finditer(sentence) if any(words in sentence for words in _CONTRASTS) else ()


def _first_piece(text: str, is_lone_allowed: bool) -> list[str]:
    """The first piece of code of `text`; else its only word, when that is no everyday word."""
    found = list(_named(text))
    if found:
        return found[:1]
    words = text.strip(" .`'\":").split()
    return words if is_lone_allowed and len(words) == 1 and _is_a_name(words[0]) else []


def _is_a_name(word: str) -> bool:
    root = stem(word.casefold())
    is_common = root in EVERYDAY or root in FILLER or root in SYNONYMS or root in STOP_WORDS
    return len(word) > MIN_CHARACTERS and not is_common and not word.endswith("ing")


def _named(text: str) -> Iterator[str]:
    """Pieces of `text` that are code: in backticks, in quotes with signs of code, commands, paths, identifiers."""
    yield from _BACKTICKS.findall(text)
    rest = _BACKTICKS.sub(" ", text)
    yield from (piece for piece in _QUOTED.findall(rest) if re.search(r"[^\w ,.']|_|\d", piece))
    for pattern in (_COMMAND, _PATH, _FILE, _FLAG, _CODE_NAME, _NUMBER):
        pieces = (match[0].strip(".,;:") for match in pattern.finditer(rest))
        yield from (piece for piece in pieces if piece not in _EVERYWHERE)


def _telling(command: str) -> str:
    """What of a prescribed command shows that it is followed: its last option with a value, else its last, else all."""
    options = _OPTION.findall(match[1]) if (match := _OPTIONS.search(command)) else []
    with_value = [name + value for name, value in options if value]
    found = (with_value or [name for name, _ in options])[-1:]
    return found[0] if found and len(found[0]) > MIN_CHARACTERS else command


def _few(literals: Iterable[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for literal in literals:
        literal = literal.strip()
        if len(literal) >= MIN_CHARACTERS and not any(_key(literal) in known for known in kept):
            kept[_key(literal)] = literal
    return tuple(kept.values())[:MAX_LITERALS]


def _key(literal: str) -> str:
    return literal.casefold().strip()
