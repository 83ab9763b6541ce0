"""Whether the model has a text before it anyway: in its agent's own memory file, its instructions, the conversation.

Pure. Telling it a second time costs tokens and says nothing (D3). Text that was inserted by bead is in no body that
comes: agents keep their own history.
"""

import json
from collections.abc import Iterator

SHORTEST = 12
"""Characters of a line below which it may be there for another reason."""


class Visible:
    """One request's body, searched as it stands: agents that escape what is not ASCII and agents that do not."""

    __slots__ = ("_body",)

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __call__(self, text: str) -> bool:
        """Whether every line of `text` that says something stands in the body."""
        lines = [line for line in map(str.strip, text.splitlines()) if line]
        said = [line for line in lines if len(line) >= SHORTEST]
        return bool(said) and all(any(form in self._body for form in _forms(line)) for line in said)


def _forms(line: str) -> Iterator[bytes]:
    plain = json.dumps(line, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    yield plain
    if not line.isascii():
        yield json.dumps(line)[1:-1].encode()
