"""Where a person wants memory: `proxy.projects`. Pure; what follows from the answer is `memory`'s and `capture`'s."""

from collections.abc import Iterable

from bead.settings import ProjectsSettings


def allows(projects: ProjectsSettings, scope: str, directory: str | None) -> bool:
    """Whether memory works for the project of that scope name (empty: none) in that directory."""
    if _names(projects.off, scope, directory):
        return False
    return projects.default == "on" or _names(projects.on, scope, directory)


def _names(listed: Iterable[str], scope: str, directory: str | None) -> bool:
    return any(_is_below(directory, name) if name.startswith("/") else name == scope != "" for name in listed)


def _is_below(directory: str | None, folder: str) -> bool:
    folder = folder.rstrip("/")
    return directory is not None and (directory == folder or directory.startswith(f"{folder}/"))
