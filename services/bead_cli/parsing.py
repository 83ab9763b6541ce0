"""The command line. Only the parser of the command that was asked for is built, so that a short command starts fast."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from bead import __version__
from bead.errors import BadRequest, to_problem
from bead_cli.catalogue import BY_NAME, COMMANDS, PLANNED, Command

_USAGE, _WIDTH = 2, 100
_EPILOG = """\
examples:
  bead up                                        start bead here; prints how to connect an agent
  bead wrap claude                               Claude Code with memory
  bead remember "deploys happen on Tuesdays"     keep a sentence
  bead search "deploy"                           find it again

`bead COMMAND -h` explains one command. Every command takes --json and --home DIR.
Exit codes: 0 done, 1 refused or not found, 2 usage, 3 unavailable, 4 a file needs a person.
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Keeps our line breaks, and knows its width: argparse would import `shutil` for it, a sixth of a start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=_WIDTH)


class Parser(argparse.ArgumentParser):
    """argparse that says one line, and answers a problem document to a script."""

    def __init__(self, prog: str, argv: Sequence[str], stdout: TextIO, **settings: Any) -> None:
        super().__init__(prog=prog, formatter_class=_Help, allow_abbrev=False, **settings)
        self._wants_json = "--json" in argv
        self._stdout = stdout

    def error(self, message: str) -> NoReturn:
        """A usage error: exit code 2."""
        sys.stderr.write(f"bead: {message} (see: {self.prog} -h)\n")
        if self._wants_json:
            import json

            self._stdout.write(json.dumps(to_problem(BadRequest(message))) + "\n")
        raise SystemExit(_USAGE)


def parse(argv: Sequence[str], stdout: TextIO) -> tuple[Command, argparse.Namespace]:
    """The command and its arguments; exits for `-h` (0) and for a line that cannot be understood (2)."""
    leading, rest = _split(argv)
    if leading and leading[0] == "--version":
        rest, leading = ["version"], leading[1:]
    if not rest or rest[0] in ("-h", "--help"):
        _top(argv, stdout).print_help(stdout if rest else sys.stderr)
        raise SystemExit(0 if rest else _USAGE)
    command = BY_NAME.get(rest[0])
    if command is None:
        is_planned = rest[0] in PLANNED
        _top(argv, stdout).error(f"'{rest[0]}' is not {'in this version yet' if is_planned else 'a command of bead'}")
    parser = parser_of(command, argv, stdout)
    args = parser.parse_args([*leading, *rest[1:]])
    args.command = command.name
    return command, args


def parser_of(command: Command, argv: Sequence[str], stdout: TextIO) -> Parser:
    """The parser of one command."""
    parser = Parser(f"bead {command.name}", argv, stdout, description=command.summary)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--home", metavar="DIR", help="where memory is kept (default: $BEAD_HOME or ~/.bead)")
    command.load().configure(parser, command.name)
    return parser


def at_least_one(text: str) -> int:
    """The type of an argument that counts something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("must be a whole number from 1 on")
    return int(text)


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options before the command, and the rest: `bead --home DIR status` is `bead status --home DIR`."""
    place = 0
    while place < len(argv) and argv[place].startswith("--") and argv[place] != "--help":
        place += 2 if argv[place] == "--home" else 1
    return list(argv[:place]), list(argv[place:])


def _top(argv: Sequence[str], stdout: TextIO) -> Parser:
    commands = "\n".join(f"  {command.name:<12}{command.summary}" for command in COMMANDS)
    return Parser(
        "bead",
        argv,
        stdout,
        usage="bead COMMAND [ARGS]",
        description=f"bead {__version__}: memory for coding agents, as Markdown files on this machine.\n\n"
        f"commands:\n{commands}",
        epilog=_EPILOG,
    )
