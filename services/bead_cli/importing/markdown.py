"""Memories in Markdown: CLAUDE.md, AGENTS.md and GEMINI.md, and the notes of basic-memory."""

import re
from collections.abc import Iterator

from bead.section import without_section
from bead_cli.importing.files import files_below, text_of
from bead_cli.importing.records import Kept, Record, Wrong

_HEADING = re.compile(r"#{1,6}\s+(?P<text>.+?)\s*#*\s*\Z")
_BULLET = re.compile(r"(?P<indent>\s*)(?:[-*+]|\d+[.)])\s+(?P<text>.+)\Z")
_FENCE = re.compile(r"\s*(```|~~~)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADER = re.compile(r"---[ \t]*\n(?P<fields>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"(?P<name>[a-z_]+):[ \t]*['\"]?(?P<value>[^\n'\"]+)")
_OBSERVATION = re.compile(r"\[(?P<category>[^\]\n]{1,40})\]\s+(?P<text>.+)\Z")
_RELATION = re.compile(r"[^\[\]]{0,60}\[\[[^\]]+\]\](?:\s*\(.*\))?\Z")
_TAGS = re.compile(r"(?:\s+#[\w/-]+)+\Z")
_FEW_WORDS = 4


def read_instructions(path: str) -> Iterator[Record]:
    """Each bullet and each paragraph of an instructions file; what bead itself wrote into it is left out."""
    text = _COMMENT.sub(_blank, without_section(text_of(path)))
    for number, heading, said in _pieces(text):
        if not said.startswith("@"):  # another file's name
            yield Kept(_with_context(heading, said), f"line {number}")


def read_basic_memory(path: str) -> Iterator[Record]:
    """Each observation of the notes below a folder; a note without any is one memory as a whole."""
    for file in files_below(path, (".md",)):
        yield from _note(file, text_of(file))


def _note(file: str, text: str) -> Iterator[Record]:
    header = _HEADER.match(text)
    fields = {each["name"]: each["value"].strip() for each in _FIELD.finditer(header["fields"])} if header else {}
    title = fields.get("title", "")
    name = file.rpartition("/")[2]
    pieces = list(_pieces(text[header.end() :] if header else text, header.end() if header else 0, text))
    seen = False
    for number, _, said in pieces:
        observation = _OBSERVATION.match(said)
        if observation:
            seen = True
            words = _TAGS.sub("", observation["text"])
            yield Kept(_with_context(title, words), f"{name} line {number}", type=_TYPES.get(observation["category"]))
    whole = "\n".join(said for _, _, said in pieces if not _RELATION.match(said))
    if not seen and whole:
        yield Kept(_with_context(title, whole) if title else whole, name)
    elif not seen:
        yield Wrong(name, "the note says nothing")


_TYPES = {"preference": "feedback", "feedback": "feedback", "reference": "reference", "link": "reference"}


def _pieces(text: str, start: int = 0, whole: str | None = None) -> Iterator[tuple[int, str, str]]:
    """Number of its first line, the heading above, and the text of each bullet or paragraph; code stays whole."""
    number = (whole or text).count("\n", 0, start) if start else 0
    heading, held, first, in_code = "", [""][:0], 0, False
    for line in [*text.split("\n"), ""]:
        number += 1
        if _FENCE.match(line):
            in_code = not in_code
        found = None if in_code else _HEADING.match(line)
        bullet = None if in_code else _BULLET.match(line)
        begins = found or not (line.strip() or in_code) or (bullet and len(bullet["indent"]) < 2)
        if begins and held:
            yield first, heading, "\n".join(held).strip()
            held = []
        if found:
            heading = found["text"]
        elif line.strip() or (in_code and held):
            first = first if held else number
            held.append(bullet["text"] if bullet and not held else line.rstrip())
    if held:
        yield first, heading, "\n".join(held).strip()


def _with_context(heading: str, said: str) -> str:
    """A few words alone mean nothing without the heading above them."""
    return f"{heading}: {said}" if heading and len(said.split()) < _FEW_WORDS else said


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")
