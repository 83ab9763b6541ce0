"""The text a session starts with where no proxy is in the path: memory first, whole facts, the cut announced (B25).

Pure. Which facts there are and how important each is, is the index's to say; how each agent wants to be told is the
table below.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bead.blocks import render
from bead.conversations import BlockKind
from bead.recall import RecalledFact

HOW_TO = """\
bead keeps memory for this person. `bead remember TEXT` keeps a sentence (the same key again replaces it),
`bead recall KEY` prints one, `bead memories [TERM]` lists them, `bead search WORDS` finds anything said before."""


class Caps(NamedTuple):
    """Most facts, and most characters of the whole text."""

    items: int
    characters: int


class Primed(NamedTuple):
    """The text, and the facts that stand in it."""

    text: str
    facts: tuple[RecalledFact, ...]


def primed(facts: Sequence[RecalledFact], caps: Caps, how_to: str = HOW_TO) -> Primed:
    """Facts, most important first, then what is missing, then `how_to`; empty when there are no facts.

    At least one fact is there whatever the caps say, and none is cut. `how_to` gives way to facts.
    """
    if not facts:
        return Primed("", ())
    taken = [facts[0]]
    for fact in facts[1:]:
        if len(taken) >= caps.items:
            break
        if len(_text([*taken, fact], len(facts))) <= caps.characters:
            taken.append(fact)
    text = _text(taken, len(facts))
    whole = f"{text}\n\n{how_to}" if how_to else text
    return Primed(whole if len(whole) <= caps.characters else text, tuple(taken))


def banner(cause: str) -> str:
    """What is said when memory could not be read: never to be taken for a memory that is empty (I10)."""
    return (
        f"bead: MEMORIES WERE NOT LOADED for this session ({cause}). Tell the person; `bead doctor` says what mends it."
    )


def _text(taken: Sequence[RecalledFact], total: int) -> str:
    block = render(BlockKind.PINNED, taken)
    if len(taken) == total:
        return block
    return f"{block}\nbead: showing {len(taken)} of {total} memories, most important first; all of them: bead memories"


# -- how each agent is told --------------------------------------------------------------------------------------------


def _additional_context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _cursor(event: str, text: str) -> dict[str, Any]:
    return {"additional_context": text}


DOCUMENTS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "claude": _additional_context,
    "codex": _additional_context,
    "gemini": _additional_context,
    "qwen": _additional_context,
    "cursor": _cursor,
}
"""The document that a session-start hook of each agent answers with."""


def document(harness: str, event: str, text: str) -> str:
    """One line of JSON for `harness`; empty when there is nothing to say."""
    return json.dumps(DOCUMENTS[harness](event, text), ensure_ascii=False) if text else ""
