"""Why a fact was chosen or stayed out, as a code: a trace holds no word of a conversation (I15). Pure."""

# The index gives reasons in words that quote the conversation; a trace has codes only. First match counts.
_CODES: tuple[tuple[str, str], ...] = (
    ("already in this conversation", "seen"),
    ("stands in the request already", "visible"),
    ("a newer or more trusted", "silenced"),
    ("does not fit", "budget"),
    ("better ones are enough", "enough"),
    ("not sure enough", "threshold"),
    ("evidence", "evidence"),
    ("about to run", "do"),
    ("the edit holds", "do"),
    ("is written in the conversation", "do"),
    ("output", "see"),
    ("the person quotes", "see"),
    ("the person", "say"),
    ("the agent", "say"),
    ("the exchange", "say"),
)


def code_of(reason: str) -> str:
    """The code of a reason that the index gave in words."""
    return next((code for words, code in _CODES if words in reason), "gate")
