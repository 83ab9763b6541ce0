"""The working directory that a harness reports in its prompt.

Pure. The wordings were seen in what Claude Code, opencode, Qwen, Copilot, Continue, Cline, OpenHands, Letta, Codex
and Gemini CLI send.
Which texts are searched is `request`'s choice; what project a directory belongs to is the store's.
"""

import re
from collections.abc import Iterable

# A pattern that begins with a literal is found at the speed of memchr; what stands before it is looked at afterwards.
_LINE = re.compile(r"irectory(?:\*\*)?(?: is)?(?:\*\*)?:(?:\*\*)?[ \t]*`?(?P<path>(?:/|[A-Za-z]:[\\/])[^\r\n<`]*)")
_ELEMENT = re.compile(r"<cwd>\s*(?P<path>(?:/|[A-Za-z]:[\\/])[^\r\n<]*?)\s*</cwd>")
_LISTED = re.compile(r"Workspace Directories:(?:\*\*)?[ \t]*\r?\n[ \t]*- (?P<path>(?:/|[A-Za-z]:[\\/])[^\r\n]*)")
_LEADS = ("orking d", "orking in the d")
_PRIMARY = "primary working d"
_LOOK_BACK = 24


def find(texts: Iterable[str]) -> str | None:
    """The first working directory named in `texts`; one called primary wins over all others."""
    other: str | None = None
    for text in texts:
        for match in _LINE.finditer(text):
            before = text[max(0, match.start() - _LOOK_BACK) : match.start()].lower()
            if before.endswith(_PRIMARY):
                return _path(match)
            if other is None and before.endswith(_LEADS):
                other = _path(match)
        if other is None and (named := _ELEMENT.search(text) or _LISTED.search(text)):
            other = _path(named)
    return other


def _path(match: re.Match[str]) -> str:
    return match["path"].rstrip()
