"""`<private>…</private>`: what stands between is never written (D5). Pure."""

import re

_TAG = re.compile(r"<\s*(/?)\s*private\s*>", re.IGNORECASE)
PLACEHOLDER = "[private]"


def remove_private(text: str) -> str:
    """`text` with each private span replaced by a placeholder.

    Spans may nest. One that is never closed reaches to the end: whoever forgot to close it meant it private.
    """
    kept: list[str] = []
    depth = at = 0
    for tag in _TAG.finditer(text):
        is_opening = not tag[1]
        if is_opening and depth == 0:
            kept += [text[at : tag.start()], PLACEHOLDER]
        if depth or is_opening:
            depth += 1 if is_opening else -1
            at = tag.end()
    return "".join([*kept, "" if depth else text[at:]])
