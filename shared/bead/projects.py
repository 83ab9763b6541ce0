"""Project identity (D1): the same repository is one project, whatever folder it is reached through.

Pure. `bead.git` asks git; the store keeps the table of identities and scope names.
"""

import re
import unicodedata
from typing import NamedTuple
from urllib.parse import urlsplit

from bead.keys import derive_name

_SCP_REMOTE = re.compile(r"(?:[^@/:]+@)?([^/:]+):(?!//)(.+)\Z")


class Identity(NamedTuple):
    """`id` is stable across checkouts; `name` is what a person would call the project."""

    id: str
    name: str


def identity(directory: str, home: str, remote: str | None = None, root_commit: str | None = None) -> Identity | None:
    """Who the project in `directory` is: its remote, else its root commit, else its path.

    `directory` is absolute; for a repository it is the main work tree. None for the file system's root and for the
    home directory itself, which are no projects.
    """
    path = unicodedata.normalize("NFC", directory.replace("\\", "/")).rstrip("/")
    if path in ("", unicodedata.normalize("NFC", home).rstrip("/")) or re.fullmatch(r"[A-Za-z]:", path):
        return None
    base = path.rsplit("/", 1)[-1]
    if remote and (normal := normal_remote(remote)):
        return Identity(f"remote:{normal}", normal.rsplit("/", 1)[-1])
    if root_commit:
        return Identity(f"root:{root_commit}", base)
    return Identity(f"path:{path}", base)


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
