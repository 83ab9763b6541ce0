"""One memory as a draft keeps it: the form that is hashed, the hash, the cap, and lines that must not become a header.

Pure. The hash is over the whole memory and nothing else, so that the same memory of two agents is one draft.
Source: seeds/hive-memory-drain.txt "Bead shape".
"""

import hashlib
import re

MAX_BODY_BYTES = 8 << 10
CUT_MARK = "[truncated by drain]"
_HASH_HEX = 16
_TITLE_CHARS = 80
_BLANK_RUN = re.compile(r"\n{3,}")
_FENCE = re.compile(r"^(---|\.\.\.)(?=[ \t]*$)", re.MULTILINE)
_ESCAPED_HEADER = re.compile(r"\\---[ \t]*\n(?:.*\n)*?\\---[ \t]*(?:\n|\Z)")
_MARKS = "#*-+>` \t"


def normal(text: str) -> str:
    """The form that is hashed and kept: LF line ends, no trailing white space, no run of blank lines, no BOM.

    FROZEN: tests/vectors/memhash.tsv pins it. Another result would bring every discarded memory back once.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _BLANK_RUN.sub("\n\n", "\n".join(line.rstrip() for line in lines)).strip("\n")


def memhash(text: str) -> str:
    """First 16 hex digits of the SHA-256 of the normal form."""
    return hashlib.sha256(normal(text).encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_HEX]


def capped(text: str) -> str:
    """At most 8 KiB of `text`, with a visible mark where it was cut; never within a character."""
    data = text.encode()
    if len(data) <= MAX_BODY_BYTES:
        return text
    kept = data[: MAX_BODY_BYTES - len(CUT_MARK) - 1].decode("utf-8", "ignore").rstrip()
    return f"{kept}\n{CUT_MARK}"


def escaped(text: str) -> str:
    """`text` with a backslash before each line that a reader of Markdown could take for the fence of a header."""
    return _FENCE.sub(r"\\\1", text)


def without_header(body: str) -> str:
    """An escaped body without the harness's own header at its top; all of it when nothing would be left."""
    found = _ESCAPED_HEADER.match(body)
    rest = body[found.end() :].strip("\n") if found else body
    return rest or body


def title(body: str) -> str:
    """The first line that says something, at most 80 characters, without the marks of lists and headings."""
    lines = (line.strip().lstrip(_MARKS) for line in without_header(body).split("\n"))
    first = next((line for line in lines if line and line != "\\---"), "")
    return first if len(first) <= _TITLE_CHARS else f"{first[: _TITLE_CHARS - 1].rstrip()}…"
