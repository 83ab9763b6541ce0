"""The one place that knows google-re2: compiled expressions and keyword sets over UTF-8 bytes.

RE2 because the text is foreign: it promises linear time, whatever the rule and the input. Offsets are bytes.
"""

import functools
from collections.abc import Iterator, Sequence

import re2  # type: ignore[import-untyped]  # google-re2 ships no type information

Span = tuple[int, int]

_KEYWORD_SET_BYTES = 64 << 20
"""Ceiling of the keyword automaton. It uses about 3 MB; too little would make RE2 report no match at all."""


class BadPattern(ValueError):
    """An expression RE2 cannot compile. The message never repeats the expression: it may quote a secret."""


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


class Pattern:
    """A compiled expression. Safe to use from several threads at once."""

    def __init__(self, expression: str) -> None:
        try:
            self._compiled = re2.compile(expression.encode(), _options())
        except (re2.error, UnicodeEncodeError):
            raise BadPattern("not an RE2 expression (no look-around, no back-references)") from None

    def found_in(self, data: bytes) -> bool:
        return self._compiled.search(data) is not None

    def matches(self, data: bytes) -> Iterator[Sequence[Span]]:
        """For each match the spans of all groups, the whole match first; (-1, -1) for a group that took no part."""
        groups = range(self._compiled.groups + 1)
        for match in self._compiled.finditer(data):
            yield [match.span(group) for group in groups]


@functools.lru_cache(maxsize=4096)
def pattern(expression: str) -> Pattern:
    """The compiled form, made at first use: most rules never meet a text that has their keyword."""
    return Pattern(expression)


class KeywordSet:
    """Which of many lower-case keywords occur in a text, found in one pass at some 500 MB/s.

    A set of the whole rules would be exact but builds its automaton from the text it reads: 0.3 MB/s on text it
    has not met and hundreds of megabytes. Keywords keep it small, and cold text costs the same as warm.
    """

    def __init__(self, keywords: Sequence[str]) -> None:
        options = _options()
        options.max_mem = _KEYWORD_SET_BYTES
        self._set = re2.Set.SearchSet(options)
        for keyword in keywords:
            self._set.Add(re2.escape(keyword).encode())
        self._set.Compile()
        # RE2 answers "none" when its automaton outgrows its memory; a scan that fails so would fail silently.
        seen = self.found_in(" ".join(keywords).encode())
        assert len(seen) == len(keywords), "the keyword automaton holds every keyword"

    def found_in(self, lowered: bytes) -> list[int]:
        """Indices of the keywords in `lowered`, which must be lower case."""
        return self._set.Match(lowered) or []
