"""What an episode is: the summary of one past session in four parts, as Markdown sections.

Pure. Who writes one is the dream job's business; how it lies in a file is the store's.
"""

import re
from typing import NamedTuple

PARTS = ("situation", "action", "outcome", "lesson")
_HEADING = re.compile(r"^##[ \t]+(Situation|Action|Outcome|Lesson)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_HASHES = re.compile(r"^(#+[ \t])", re.MULTILINE)


class Parts(NamedTuple):
    """What was asked, what was done, how it ended, what to do next time; each may be empty."""

    situation: str
    action: str
    outcome: str
    lesson: str


def episode_body(parts: Parts) -> str:
    """The Markdown of an episode; a heading inside a part is quoted, so that it opens no part of its own."""
    sections = [
        f"## {name.capitalize()}\n{_HASHES.sub(lambda found: chr(92) + found[1], text.strip())}"
        for name, text in zip(PARTS, parts, strict=True)
        if text.strip()
    ]
    return "\n\n".join(sections)


def parts_of(body: str) -> Parts:
    """The parts of an episode as a person may have edited it; text before the first heading is the situation."""
    pieces = _HEADING.split(body)
    found = {"situation": pieces[0].strip()}
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        key = name.lower()
        found[key] = "\n".join(filter(None, (found.get(key, ""), text.strip())))
    return Parts(*(found.get(name, "") for name in PARTS))
