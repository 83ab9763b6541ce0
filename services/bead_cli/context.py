"""What a command gets besides its arguments. Nothing else in this package reads the environment."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from bead_cli.output import Output

if TYPE_CHECKING:
    from bead.home import Home
    from bead.settings import Settings


class Context(NamedTuple):
    """`home` is absolute; `environ` is the process's environment as it was at the start."""

    environ: Mapping[str, str]
    home: str
    output: Output

    def layout(self) -> "Home":
        """The paths below the home; imported late, a client needs only two of them."""
        from pathlib import Path

        from bead.home import Home

        return Home(Path(self.home))

    def settings(self) -> "Settings":
        """Settings of this home under this environment. Raises `BadRequest` naming the place that is wrong."""
        from bead.settings import load_settings

        return load_settings(self.layout(), self.environ)

    def in_container(self) -> bool:
        """Whether the image says that this process runs in a container of ours."""
        return self.environ.get("BEAD_IN_CONTAINER") == "1"


def token_file(home: str, name: str, environ: Mapping[str, str]) -> str:
    """Where the secret `tokens/<name>` lies."""
    folder = environ.get("BEAD_TOKENS") or os.path.join(home, "tokens")
    return environ.get(f"BEAD_{name.upper()}_TOKEN_FILE") or os.path.join(folder, name)


def read_token(home: str, name: str, environ: Mapping[str, str]) -> str:
    """The secret `tokens/<name>` of the home, of BEAD_TOKENS, or of the file that `BEAD_<NAME>_TOKEN_FILE` names.

    Raises:
        HomeUnusable: names the file.
    """
    path = token_file(home, name, environ)
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        from bead.errors import HomeUnusable

        raise HomeUnusable(f"{path} cannot be read ({type(error).__name__}); `bead up` makes it") from None
