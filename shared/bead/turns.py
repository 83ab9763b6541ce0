"""What a turn is: one side's words in a session, as the raw log keeps them.

Pure. How a turn is drawn out of a provider's request is the proxy's; how it lies in a file is the store's.
"""

from enum import StrEnum

TOOL_TEXT_LIMIT = 4_000
"""Most characters of one tool input or result that capture keeps, head and tail (D5)."""

_TAIL = TOOL_TEXT_LIMIT // 4


class Role(StrEnum):
    """Whose words a turn holds."""

    USER = "user"
    ASSISTANT = "assistant"


def cut_tool_text(text: str) -> str:
    """`text` whole, or its head and tail around a line that says how much is left out."""
    if len(text) <= TOOL_TEXT_LIMIT:
        return text
    head = text[: TOOL_TEXT_LIMIT - _TAIL]
    return f"{head}\n[... {len(text) - TOOL_TEXT_LIMIT} characters left out ...]\n{text[-_TAIL:]}"
