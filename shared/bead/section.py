"""The section that bead keeps in a file of the person's: between two markers, everything else byte for byte. Pure."""

import re

BEGIN = "<!-- bead:begin (bead export --claude-md writes this; what you change here is lost) -->"
END = "<!-- bead:end -->"
_SECTION = re.compile(r"<!-- bead:begin\b[^\n]*?-->.*?<!-- bead:end -->(?:\r?\n)?", re.DOTALL)
_MARK = re.compile(r"<!-- bead:(?:begin|end)\b")
_COMMENT = re.compile(r"<!--|-->")
_HARMLESS = {"<!--": "&lt;!--", "-->": "--&gt;"}


class Unclear(ValueError):
    """The markers do not make one section."""


def with_section(text: str, lines: str) -> str:
    """`text` with `lines` in its section, which comes at the end where there is none; without lines it goes.

    Raises:
        Unclear: a marker is missing, or there are several sections.
    """
    found = list(_SECTION.finditer(text))
    if len(found) > 1 or len(_MARK.findall(text)) != 2 * len(found):
        raise Unclear("the markers of bead's section do not make exactly one")
    newline = "\r\n" if "\r\n" in text else "\n"
    section = newline.join([BEGIN, *harmless(lines).split("\n"), END, ""]) if lines else ""
    if found:
        (old,) = found
        return text[: old.start()] + (section if old[0].endswith("\n") else section.rstrip()) + text[old.end() :]
    if not section:
        return text
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + section


def without_section(text: str) -> str:
    """`text` without what bead wrote, its lines kept empty so that numbers stay true."""
    return _SECTION.sub(lambda found: "\n" * found[0].count("\n"), text)


def spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each section."""
    return [found.span() for found in _SECTION.finditer(text)]


def harmless(lines: str) -> str:
    """`lines` in which nothing opens or closes a comment, and so no marker."""
    return _COMMENT.sub(lambda mark: _HARMLESS[mark[0]], lines)
