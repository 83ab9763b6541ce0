"""Project identity (D1): the same repository is one project, whatever folder it is reached through.

A repository has up to three identities, strongest first: its remote, its root commit, and the place of its main work
tree. Each may come, change or go during its life, so a project keeps every identity it ever had, and a repository is
the project that shares one with it:

1. The project that knows its remote. A remote says which of two forks it is, so nothing weaker is asked.
2. Else a project with its root commit: the one at the same place, else the only one. It was given a remote, or lost
   it. A project at another place that has another remote is a fork or was made from the same template: not this one.
3. Else the project at the same place: a repository that was just begun, or whose first commit was written anew. Not
   when both have root commits and one of them has a remote: then somebody put another repository there.

What this cannot see: a clone of a fork whose remote is then set to the fork's parent is from then on the parent's
project. Pure. `bead.git` asks git; the store keeps the table of identities and scope names.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from bead.keys import derive_name

_SCP_REMOTE = re.compile(r"(?:[^@/:]+@)?([^/:]+):(?!//)(.+)\Z")


REMOTE, ROOT, PATH = "remote:", "root:", "path:"
_KINDS = (REMOTE, ROOT, PATH)


class Identity(NamedTuple):
    """`id` is the strongest of a project's identities, `weaker` are the others; `name` is what a person would say."""

    id: str
    name: str
    weaker: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All of them, strongest first."""
        return (self.id, *self.weaker)


def strength(id: str) -> int:
    """0 for a remote (or an identity that somebody named), 1 for a root commit, 2 for a place: a key to sort by."""
    return 0 if id[:5] not in (ROOT, PATH) else _KINDS.index(id[:5])


def same_project(known: Sequence[Sequence[str]], ids: Sequence[str]) -> int | None:
    """Which of the `known` projects, each with its identities, the repository with `ids` is; None for a new one."""
    remotes, roots, places = (_of_kind(ids, kind) for kind in range(len(_KINDS)))
    for number, theirs in enumerate(known):
        if remotes & set(theirs):
            return number
    at_place = [number for number, theirs in enumerate(known) if places & set(theirs)]
    rooted = [
        number
        for number, theirs in enumerate(known)
        if roots & set(theirs) and (number in at_place or not (remotes and _of_kind(theirs, 0)))
    ]
    for number in rooted:
        if number in at_place or len(rooted) == 1:
            return number
    for number in at_place:
        their_roots = _of_kind(known[number], 1)
        if not (roots and their_roots and (remotes or _of_kind(known[number], 0))):
            return number
    return None


def _of_kind(ids: Sequence[str], kind: int) -> set[str]:
    return {id for id in ids if strength(id) == kind}


def identity(directory: str, home: str, remote: str | None = None, root_commit: str | None = None) -> Identity | None:
    """Who the project in `directory` is: by its remote, its root commit and its path, as far as it has them.

    `directory` is absolute; for a repository it is the main work tree. None for the file system's root and for the
    home directory itself, which are no projects.
    """
    path = unicodedata.normalize("NFC", directory.replace("\\", "/")).rstrip("/")
    if path in ("", unicodedata.normalize("NFC", home).rstrip("/")) or re.fullmatch(r"[A-Za-z]:", path):
        return None
    normal = normal_remote(remote) if remote else ""
    ids = [f"{REMOTE}{normal}"] if normal else []
    ids += [f"{ROOT}{root_commit}"] if root_commit else []
    ids.append(f"{PATH}{path}")
    return Identity(ids[0], (normal or path).rsplit("/", 1)[-1], tuple(ids[1:]))


def normal_remote(url: str) -> str:
    """`host/owner/name` for any spelling of a remote: scp-like, ssh, https, with or without `.git`, user or port."""
    url = url.strip()
    match = _SCP_REMOTE.match(url)
    if match and "://" not in url:
        host, path = match[1], match[2]
    else:
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path
    path = re.sub(r"/{2,}", "/", path).strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if host and path else path


def scope_name(name: str) -> str:
    """A key segment that reads like `name`; the store adds a suffix when it is taken."""
    return derive_name(name)
