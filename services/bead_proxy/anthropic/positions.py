"""What a position is made of: the person's words and the ids of answered tool calls of one message.

Pure. Rolling them into a position is `bead.conversations`'; a change here moves the positions of stored blocks.
"""

from bead_proxy import human
from bead_proxy.anthropic import wire


def words(blocks: list[wire.HistoryBlock], texts: list[str]) -> list[str]:
    """Each text block of one message as positions have it.

    A harness may put its request for a summary behind what is there already. It is left out, so that the message keeps
    its position and a block that was inserted there comes again.
    """
    answers = any(block.type == "tool_result" for block in blocks)
    words = human.own_words_of(texts, beside_tool_result=answers)
    return ["" if human.asks_for_summary(said) else said for said in words]


def parts(blocks: list[wire.HistoryBlock], words: list[str]) -> tuple[str, ...]:
    """What a position is made of: the person's words and the ids of answered tool calls, in order."""
    found: list[str] = []
    next_words = iter(words)
    for block in blocks:
        if block.type == "tool_result":
            if isinstance(block.tool_use_id, str):
                found.append(block.tool_use_id)
        elif block.type == "text" and isinstance(block.text, str) and (said := next(next_words)):
            found.append(said)
    return tuple(found)


def human_text(words: list[str]) -> str:
    return "\n\n".join(said for said in words if said and not human.is_summary(said)) if words else ""
