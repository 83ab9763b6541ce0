"""Whether an agent's words show that it used a fact: they hold one of the fact's literals (D8).

Pure. A sign, no proof: an agent may use a fact without a word of it. What is noted about it is the store's.
"""

import re

from bead.facts import TriggerCard

MIN_CHARS = 3
"""Shorter literals are in any text."""
_BACKTICKED = re.compile(r"(`+)([^`\n]+?)\1(?!`)")


def literals_of(body: str, card: TriggerCard) -> tuple[str, ...]:
    """What only somebody who goes by the fact is likely to write: `do` and `see` of its card, code in its body."""
    found = (*card.do, *card.see, *(match[2] for match in _BACKTICKED.finditer(body)))
    clean = (literal.strip() for literal in found)
    return tuple(dict.fromkeys(literal for literal in clean if len(literal) >= MIN_CHARS))


def is_used(body: str, card: TriggerCard, said: str) -> bool:
    """Whether `said` holds a literal of the fact, not as a part of a longer word; letters count as they are."""
    return any(_holds(said, literal) for literal in literals_of(body, card))


def _holds(text: str, literal: str) -> bool:
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        joins_left = at > 0 and _is_word(text[at - 1]) and _is_word(literal[0])
        joins_right = end < len(text) and _is_word(text[end]) and _is_word(literal[-1])
        if not (joins_left or joins_right):
            return True
        at = text.find(literal, at + 1)
    return False


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
