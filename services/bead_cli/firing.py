"""When each agent's hooks ran last: `hooks/<agent>.<event>` in the home, an empty file whose time says it.

Only a home that is there is touched. `bead doctor` reads it: a hook that stands in the settings and never fires is
worse than none. No content, no session.
"""

import os
import re
from typing import NamedTuple

_FOLDER = "hooks"
_PLAIN = re.compile(r"[a-z0-9-]{1,40}\Z")


class Fired(NamedTuple):
    """One hook of one agent."""

    agent: str
    event: str
    at_s: float
    """Seconds since 1970."""


def note(home: str, agent: str, event: str) -> None:
    """This hook runs now. Never raises for a disk: a hook has better things to do."""
    if not (_PLAIN.match(agent) and _PLAIN.match(event)) or not os.path.isfile(os.path.join(home, "home-id")):
        return
    folder = os.path.join(home, _FOLDER)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        handle = os.open(
            os.path.join(folder, f"{agent}.{event}"), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600
        )
        try:
            os.utime(handle)
        finally:
            os.close(handle)
    except OSError:
        return


def fired(home: str) -> list[Fired]:
    """Every hook that ever ran, by agent and event."""
    folder = os.path.join(home, _FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found: list[Fired] = []
    for name in names:
        agent, dot, event = name.partition(".")
        if dot and _PLAIN.match(agent) and _PLAIN.match(event):
            found.append(Fired(agent, event, os.lstat(os.path.join(folder, name)).st_mtime))
    return found
