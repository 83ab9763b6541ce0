"""The section that bead keeps in a file of the person's: between two markers, everything else byte for byte. Pure."""

import re

BEGIN = "<!-- bead:begin -- written by `bead export --claude-md`; edits here are lost -->"
END = "<!-- bead:end -->"
_SECTION = re.compile(r"<!-- bead:begin\b[^\n]*?-->.*?<!-- bead:end -->(?:\r?\n)?", re.DOTALL)
_MARK = re.compile(r"<!-- bead:(?:begin|end)\b")


class Unclear(ValueError):
    """The markers do not make one section."""


def with_section(text: str, lines: str) -> str:
    """`text` with `lines` in its section, which comes at the end where there is none; without lines it goes.

    Raises:
        Unclear: a marker is missing, or there are several sections.
    """
    found = _SECTION.findall(text)
    if len(found) > 1 or len(_MARK.findall(text)) != 2 * len(found):
        raise Unclear
    newline = "\r\n" if "\r\n" in text else "\n"
    section = newline.join([BEGIN, *lines.split("\n"), END, ""]) if lines else ""
    if found:
        begin = text.index(found[0])
        ends_line = found[0].endswith("\n")
        section = section if ends_line else section.removesuffix(newline)
        return text[:begin] + section + text[begin + len(found[0]) :]
    if not section:
        return text
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + section


def without_section(text: str) -> str:
    """`text` without what bead wrote, its lines kept empty so that numbers stay true."""
    return _SECTION.sub(lambda found: "\n" * found[0].count("\n"), text)
