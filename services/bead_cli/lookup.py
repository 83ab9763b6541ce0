"""Which project is active here, and which fact a person means by a short name."""

import os
from typing import Any

from bead.errors import BadRequest, NotFound, Sealed
from bead_cli.context import Context
from bead_cli.door import Door, fact_path

_CATCH_UP_S = 10.0
# Past every change there is: the store answers with its last number and nothing else.
_NO_CHANGES = 2**53
_SCOPES = ("user", "global", "project", "team")


def active_project(door: Door, given: str | None) -> str | None:
    """Scope name of the project: the given one, else that of the current directory; None where there is none.

    The store learns the directory on the way, so that a service in a container knows it later (D1).
    """
    if given is not None:
        return given.removeprefix("project/")
    from bead.git import identify

    try:
        directory = os.getcwd()
    except FileNotFoundError:
        return None
    found = identify(directory)
    if found is None:
        return None
    request = {"directory": directory, "identities": found.ids, "name": found.name}
    project = door.call("store", "POST", "/v1/projects/resolve", request)
    return None if project is None else str(project["name"])


def caught_up(door: Door) -> bool:
    """Wait until the index has applied the store's last change (read your writes)."""
    page = door.call("store", "GET", "/v1/changes", query={"epoch": "", "after": _NO_CHANGES, "wait_s": 0})
    query = {"seq": page["seq"], "wait_s": _CATCH_UP_S}
    return bool(door.call("index", "GET", "/v1/applied", query=query, timeout_s=_CATCH_UP_S * 2))


def is_whole_key(text: str) -> bool:
    """Whether the text starts with a scope; then it is taken as it is."""
    return "/" in text and text.split("/", 1)[0] in _SCOPES


def current_fact(context: Context, door: Door, text: str, project: str | None) -> dict[str, Any]:
    """The current version of the fact that `text` names: a key, or a name in the project, `user/` or `global/`.

    Raises:
        NotFound: nothing is stored under it in any of these.
    """
    if is_whole_key(text):
        return _fact(door, text)
    active = active_project(door, project)
    scopes = ([f"project/{active}"] if active else []) + ["user", "global"]
    for scope in scopes:
        try:
            return _fact(door, f"{scope}/{text}")
        except NotFound:
            continue
    raise NotFound(f"nothing is stored under '{text}' in {', '.join(scopes)}")


def key_named(context: Context, door: Door, text: str, project: str | None) -> str:
    """The key that `text` names, as it is when it is a whole one: what lies there may be damaged, or sealed.

    Raises:
        NotFound: nothing is stored under a short name.
    """
    if is_whole_key(text):
        return text
    try:
        return str(current_fact(context, door, text, project)["key"])
    except Sealed as error:
        return str(error.facts["key"])


def _fact(door: Door, key: str) -> dict[str, Any]:
    fact: dict[str, Any] = door.call("store", "GET", fact_path(key))
    return fact


def checked_text(words: list[str], empty: str = "there is no text to keep") -> str:
    """The words of a command line as one text; `empty` is what is said when there is none.

    Raises:
        BadRequest: empty, or not valid Unicode.
    """
    text = " ".join(words).strip()
    if not text:
        raise BadRequest(empty)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadRequest("the text is not valid UTF-8") from None
    return text
