"""What would hold on to a finished request, and with it to somebody's login (A5): two habits of libraries, undone.

An error keeps the frames it went through, and a library's frame that keeps the error closes a circle, which stays in
memory until the garbage collector comes. And the URL library remembers the last addresses it has read, with the key
that Gemini's `?key=` puts there. What a connection holds of its last request goes with the connection.
"""

from typing import Final

from yarl import _url

REMEMBERING = ("encode_url", "pre_encoded_url", "build_pre_encoded_url", "from_parts")
"""Functions of the URL library that do; its public `cache_clear` is for host names only."""

_KEY_IN_QUERY = "key="
# A later version may name them otherwise; a test says when one does. A proxy that starts is worth more than its caches.
_REMEMBERED: Final = tuple(getattr(_url, name) for name in REMEMBERING if hasattr(_url, name))


def let_go_of_frames(error: BaseException) -> None:
    """`error` and what it came from keep no frame any more; say first where it happened."""
    errors = [error]
    seen: set[int] = set()
    while errors:
        each = errors.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = None
        errors += [more for more in (each.__cause__, each.__context__) if more is not None]
        if isinstance(each, BaseExceptionGroup):
            errors += each.exceptions


def let_go_of_address(target: str) -> None:
    """The URL library remembers nothing of `target` any more, when a key may be in it."""
    if _KEY_IN_QUERY in target.partition("?")[2]:
        for remembered in _REMEMBERED:
            remembered.cache_clear()
