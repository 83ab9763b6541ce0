"""What a step is for, told from its texts: looking, editing or acting; asking or requesting; failing or not.

Pure. Tools of every harness are told by the shape of their input and output, not by their names.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from bead_index.gate.words import plain_letters, sentences


class Kind(Enum):
    """What one tool call does."""

    LOOK = auto()
    EDIT = auto()
    ACT = auto()


@dataclass(frozen=True, slots=True)
class ToolInput:
    """One tool call as far as its input tells."""

    kind: Kind
    text: str
    """What it does: without the announcement, without options of the tool, of a patch without what it removes."""
    announcement: str
    """What the agent says that it does, where the tool has a field for that; else empty."""


# The field in which agents describe a command: a short sentence behind it.
_DESCRIPTION = re.compile(r"[A-Z][a-z]+ [A-Za-z][\w ,.'()/-]{2,100}")
_OPTION = re.compile(r"\d+|true|false", re.IGNORECASE)
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "-c", "-lc"})
_WRITES = re.compile(r"<<-?\s*['\"]?\w+|\bsed -i\b|\btee \S")
_READS = re.compile(
    r"\s*(?:sudo )?(?:cd|ls|cat|head|tail|less|grep|rg|ag|find|fd|wc|tree|stat|file|which|pwd|du|df|sed -n|bat"
    r"|git (?:log|status|diff|show|blame|branch|remote)|docker (?:ps|images|(?:compose )?(?:logs|ps))"
    r"|kubectl (?:get|describe|logs))\b"
)
_NEXT_COMMAND = re.compile(r"&&|\|\||;|\||\n")
# A path, a file name, a line number or an option of a reading tool: all that a look names.
_PLACE = re.compile(
    r"[\w@.*{}-]*(?:/[\w@.*{}-]+)+/?|[\w-]+\.\w{1,6}|\d+|(?:true|false|content|count|files_with_matches)", re.IGNORECASE
)
# What reading tools show: numbered lines, places in files, names of files.
_LISTED = re.compile(r"\s*\d+(?:\t|\s*[|:→])|[\w./-]+[:-]\d+[:-]|[\w@./-]+\.\w+\s*\Z")
_LISTED_SHARE = 0.6
_PATTERN_LINES = 4
"""Most lines of a search tool's input: a pattern, a place and options."""

_FAILURE = re.compile(
    r"error|exception|traceback|fail|fatal|denied|refused|panic|cannot|can't|could not|not found|unable|invalid|killed"
    r"|timed? ?out|unexpected|warning|exit (?:code )?[1-9]|\b[45]\d\d\b",
    re.IGNORECASE,
)
_AROUND = 2
"""Lines before and behind a sign of failure that belong to it."""

_ASKS = re.compile(
    r"(?:(?:and|so|ok|okay|hm+|wait|also|nice|good|und|et|y|e)[,.]? )*"
    r"(?:what|which|who|whose|when|where|why|how|is|are|was|were"
    r"|do|does|did|has|have|can (?!you|we|i\b)|could (?!you|we|i\b)|should (?!you|we)|would (?!you)|will (?!you)"
    r"|wer|was|wo|wann|welche[rs]?|warum|wieso|que|qual|quel|quelle|comment|pourquoi|combien|cual|quien|donde|cuando"
    r"|por que|onde|quem)\b"
)
_PLANS = re.compile(
    r"\b(?:i'll|i will|i'd|i would|i can|i could|let me|let's|i'm going to|going to|i am going to|i want to|i plan to"
    r"|now i|next i|ich werde|ich wurde|je vais|voy a|vou)\b"
)
_LOOKS = re.compile(
    r"\b(?:looking|searching|listing|counting|reading|inspecting|browsing"
    r"|let me (?:see|look|read|find|search|list|view|inspect)|let's (?:see|look|find)"
    r"|i'll (?:look|read|search|find|see|list|inspect|view)|i want to see)\b"
)


def read_input(tool_input: str, output_is_listing: bool) -> ToolInput:
    """One tool call's input, values one a line; `output_is_listing` as `is_listing` says of its output."""
    lines = [line for line in tool_input.splitlines() if line.strip()]
    while lines and lines[0].strip() in _SHELLS:
        lines.pop(0)
    announcement = ""
    if len(lines) > 1 and _DESCRIPTION.fullmatch(lines[-1].strip()):
        announcement = lines.pop().strip()
    while len(lines) > 1 and _OPTION.fullmatch(lines[-1].strip()):
        lines.pop()
    if _is_patch(lines):
        return ToolInput(Kind.EDIT, "\n".join(line for line in lines if not line.startswith("-")), announcement)
    text = "\n".join(lines)
    if _only_looks(lines, output_is_listing):
        return ToolInput(Kind.LOOK, text, announcement)
    is_edit = (len(lines) > 1 and bool(_PLACE.fullmatch(lines[0].strip()))) or bool(_WRITES.search(text))
    return ToolInput(Kind.EDIT if is_edit else Kind.ACT, text, announcement)


def is_listing(output: str) -> bool:
    """Whether `output` is what reading tools show: numbered lines, places in files, names of files."""
    lines = [line for line in output.splitlines() if line.strip()]
    return bool(lines) and sum(bool(_LISTED.match(line)) for line in lines) >= _LISTED_SHARE * len(lines)


def failure_lines(output: str) -> str:
    """Lines of `output` with a sign of failure, each with the lines around it."""
    lines = output.splitlines()
    near: set[int] = set()
    for number, line in enumerate(lines):
        if _FAILURE.search(line):
            near.update(range(number - _AROUND, number + _AROUND + 1))
    return "\n".join(lines[number] for number in sorted(near) if 0 <= number < len(lines))


def only_asks(person: str) -> bool:
    """Whether the person's text is one question for information, and no request to do something."""
    said = sentences(person)
    return len(said) == 1 and said[0].rstrip().endswith("?") and bool(_ASKS.match(_plain(said[0]).lstrip(" \u00bf")))


def intent(sentence: str) -> tuple[bool, bool]:
    """Whether `sentence` says that its speaker is about to change or run something, and whether it only looks."""
    text = _plain(sentence)
    looks = bool(_LOOKS.search(text))
    return bool(_PLANS.search(text)) and not looks, looks


def _only_looks(lines: Sequence[str], output_is_listing: bool) -> bool:
    is_place = [bool(_PLACE.fullmatch(line.strip())) for line in lines]
    if all(is_place):
        return True
    commands = [command for line in lines for command in _NEXT_COMMAND.split(line) if command.strip()]
    if all(_READS.match(command) for command in commands):
        return True
    return output_is_listing and len(lines) <= _PATTERN_LINES and any(is_place)


def _is_patch(lines: Sequence[str]) -> bool:
    return any(line.startswith(("*** Begin Patch", "diff --git ", "+++ ")) for line in lines)


def _plain(text: str) -> str:
    return plain_letters(text.replace("\u2019", "'").casefold())
