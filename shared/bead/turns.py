"""What a turn is: one side's words in a session, as the raw log keeps them.

Pure. How a turn is drawn out of a provider's request is the proxy's; how it lies in a file is the store's.
"""

import re
from enum import StrEnum

TOOL_TEXT_LIMIT = 4_000
"""Most characters of one tool input or result that capture keeps, head and tail (D5)."""

_TAIL = TOOL_TEXT_LIMIT // 4
_TOOL_BLOCK = re.compile(r"^\[tool [^\n]*\]\n(?:(?!^\[tool ).)*?^\[end of tool text\]\n?", re.DOTALL | re.MULTILINE)
# Tool text must not end its own block early: what follows would count as somebody's words.
_FENCE_OF_TOOL = re.compile(r"\[(tool |end of tool text\])")


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


def tool_block(label: str, text: str) -> str:
    """A tool's input or result as it stands in a turn: labelled, cut, and fenced so that `spoken` can leave it out."""
    inside = _FENCE_OF_TOOL.sub(r"(\1", cut_tool_text(text))
    return f"[tool {label}]\n{inside}\n[end of tool text]"


def tool_texts(turn_text: str) -> list[str]:
    """The tool inputs and results in a turn, without their fences."""
    return [found.split("\n", 1)[1].rpartition("\n[end of tool text]")[0] for found in _TOOL_BLOCK.findall(turn_text)]


def spoken(turn_text: str) -> str:
    """What a person or the agent said in a turn, without tool blocks: the only part that may be excerpted (D5, I14)."""
    return _TOOL_BLOCK.sub("", turn_text).strip() if "[tool " in turn_text else turn_text
