"""How a file of an agent's own memory falls into memories. One function a kind of file; nothing is guessed.

A file of an index (Claude Code, Qwen): one memory a `##` section and one a top-level bullet outside of sections; a line
that only leads to a topic file is none; whatever else says something is a memory too, for the file is emptied as a
whole. A Gemini file: one memory a bullet below its heading; the rest is the person's and stays, byte for byte.
Source: seeds/hive-memory-drain.txt "Entry splitting"; field cases B52.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

GEMINI_HEADING = "## Gemini Added Memories"
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_INDEX_LINE = re.compile(r"\[[^\]\n]*\]\(<?(?P<file>[^()<>\s]+)>?\)[ \t]*(?P<hook>.*)\Z")
_HOOK_SIGNS = ("-", ":", "\N{EN DASH}", "\N{EM DASH}")


class Section(NamedTuple):
    """What a Gemini file holds."""

    memories: tuple[str, ...]
    rest: str
    """The file without them, byte for byte; the heading goes when nothing is left below it."""
    is_there: bool
    """Whether the heading stands there; without it nothing in the file is known to be a memory."""


class _Line(NamedTuple):
    text: str
    """Without its end."""
    raw: str
    is_code: bool
    """Of a fenced block, its fences too."""


def index_file(text: str, topics: Collection[str]) -> tuple[str, ...]:
    """The memories of a MEMORY.md that lies beside the files named `topics`."""
    found: list[str] = []
    for block in _index_blocks(_lines(text)):
        kept = [line for line in block if not _leads_to_topic(line, topics)] if _is_section(block) else block
        said = [line for line in kept if line.text.strip() and (line.is_code or not _HEADING.match(line.text))]
        if said and not (len(said) == 1 and _leads_to_topic(said[0], topics)):
            found.append(_memory(kept))
    return tuple(memory for memory in found if memory)


def index_lines(text: str, topics: Collection[str]) -> str:
    """Of a MEMORY.md only the lines that lead to these topic files, byte for byte."""
    return "".join(line.raw for line in _lines(text) if _leads_to_topic(line, topics) and _target(line) in topics)


def whole_file(text: str) -> tuple[str, ...]:
    """The one memory of a topic file, or of a file of which no form is promised."""
    text = text.removeprefix("\ufeff")
    return (text,) if text.strip() else ()


def gemini_file(text: str) -> Section:
    """The bullets below each Gemini heading outside of code, and what stays."""
    memories: list[str] = []
    rest: list[str] = []
    heading: list[str] = []
    below: list[str] = []
    """What stays of the section that is being read."""
    is_there = is_inside = False

    def close() -> None:
        rest.extend([*heading, *below] if any(raw.strip() for raw in below) else [])
        heading.clear()
        below.clear()

    for block in _section_blocks(_lines(text)):
        first = block[0]
        level = 0 if first.is_code else _level(first.text)
        if level in (1, 2):
            close()
            is_inside = first.text.rstrip().removeprefix("\ufeff") == GEMINI_HEADING
            is_there |= is_inside
        if not is_inside:
            rest.extend(line.raw for line in block)
        elif level in (1, 2):
            heading.extend(line.raw for line in block)
        elif _is_bullet(first):
            memories.append(_memory(block))
        else:
            below.extend(line.raw for line in block)
    close()
    return Section(tuple(memory for memory in memories if memory), "".join(rest), is_there)


# -- blocks --------------------------------------------------------------------------------------------------------


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    fence = ""
    for raw in re.findall(r"[^\n]*\n|[^\n]+\Z", text):
        line = raw.rstrip("\r\n")
        sign = _FENCE.match(line)
        is_code = bool(fence)
        if fence:
            if sign and sign[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif sign:
            fence, is_code = sign[1], True
        found.append(_Line(line, raw, is_code))
    return found


def _index_blocks(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Sections, and outside of them what `_section_blocks` tells apart."""
    section: list[_Line] = []
    for block in _section_blocks(lines):
        level = 0 if block[0].is_code else _level(block[0].text)
        if level in (1, 2):
            if section:
                yield section
            section = list(block) if level == 2 else []
        elif section:
            section.extend(block)
        else:
            yield block
    if section:
        yield section


def _section_blocks(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Each heading, each top-level bullet with what belongs to it, each other run of lines, in order and whole."""
    block: list[_Line] = []
    after_blank = False
    for line in lines:
        if block and _begins(line, block, after_blank=after_blank):
            yield block
            block = []
        block.append(line)
        after_blank = not line.is_code and not line.text.strip()
    if block:
        yield block


def _begins(line: _Line, block: list[_Line], *, after_blank: bool) -> bool:
    """Whether `line` does not belong to the block before it."""
    if line.text.strip() and _level(block[0].text) and not block[0].is_code:
        return True
    if line.is_code:
        return after_blank and not line.text.startswith((" ", "\t")) and not block[-1].is_code
    if not line.text.strip():
        return False
    if _level(line.text) or _is_bullet(line):
        return True
    if line.text.startswith((" ", "\t")):
        return after_blank and not block[0].text.strip()
    return after_blank


def _level(text: str) -> int:
    found = _HEADING.match(text.removeprefix("\ufeff"))
    return len(found[1]) if found else 0


def _is_bullet(line: _Line) -> bool:
    return not line.is_code and bool(_BULLET.match(line.text.removeprefix("\ufeff")))


def _is_section(block: list[_Line]) -> bool:
    return not block[0].is_code and _level(block[0].text) == 2


def _leads_to_topic(line: _Line, topics: Collection[str]) -> bool:
    """Whether the line only leads to a topic file: a link, with a hook behind it when the file is there."""
    found = _link(line)
    if not found or not found["file"].endswith(".md"):
        return False
    hook = found["hook"].strip()
    return not hook or (hook.startswith(_HOOK_SIGNS) and _target(line) in topics)


def _target(line: _Line) -> str:
    found = _link(line)
    return found["file"].removeprefix("./") if found else ""


def _link(line: _Line) -> re.Match[str] | None:
    if line.is_code:
        return None
    text = line.text.strip().removeprefix("\ufeff")
    bullet = _BULLET.match(text)
    return _INDEX_LINE.match(text[bullet.end() :] if bullet else text)


def _memory(block: list[_Line]) -> str:
    """A block as it is kept: of a bullet its text without the mark, what belongs to it moved left."""
    first = block[0].text.removeprefix("\ufeff")
    bullet = _BULLET.match(first) if not block[0].is_code else None
    if bullet is None:
        return "\n".join([first, *(line.text for line in block[1:])]).strip("\n")
    width = len(bullet[0])
    below = [_moved_left(line.text, width) for line in block[1:]]
    return "\n".join([first[width:].strip(), *below]).strip()


def _moved_left(text: str, width: int) -> str:
    spaces = len(text) - len(text.lstrip(" "))
    return text[min(spaces, width) :]
