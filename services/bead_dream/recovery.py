"""What a model's reply says, when it is not clean JSON: recovered without guessing, or named as a failure.

Pure. Fences, prose around, a thinking block, one object, a list at the top are no matter. What is cut off, broken,
empty or contradicts itself is a failure, and whoever asked must not count the text as read.
"""

import json
import re
from collections.abc import Collection
from typing import Any, NamedTuple

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THINKING = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
# A bracket of prose ("{about deploys}") is none of JSON's.
_BEGINS = re.compile(r"\{\s*[\"}]|\[\s*[{\]]")
_decoder = json.JSONDecoder()


class Recovered(NamedTuple):
    """The answer as one object."""

    document: dict[str, Any]


class Failure(NamedTuple):
    """Why there is none, in plain words."""

    reason: str


def recover(reply: str, name: str, item: Collection[str]) -> Recovered | Failure:
    """The object with the list `name`; a bare list is that list, a bare object with the fields `item` one of it."""
    text = _THINKING.sub(" ", reply.lstrip("\ufeff"))
    if not text.strip():
        return Failure("an empty reply")
    if _OPEN_THINKING.search(text):
        return Failure("a reply that was cut off while thinking")
    found: list[dict[str, Any]] = []
    at = 0
    while match := _BEGINS.search(text, at):
        try:
            value, at = _decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            return Failure("a reply with broken or cut JSON")
        document = _as_document(value, name, item)
        if document is not None and document not in found:
            found.append(document)
    if not found:
        return Failure("a reply without JSON")
    if len(found) > 1:
        return Failure("a reply with two answers")
    return Recovered(_without_surrogates(found[0]))


def _as_document(value: Any, name: str, item: Collection[str]) -> dict[str, Any] | None:
    if isinstance(value, list):
        return {name: value}
    if not isinstance(value, dict):
        return None
    if isinstance(value.get(name), list):
        return value
    return {name: [value]} if set(item) <= value.keys() else None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return value
