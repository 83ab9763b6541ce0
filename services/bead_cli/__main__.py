"""Entry of the `bead` command: reads the environment once, runs one command, turns errors into exit codes."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from bead.errors import BeadError
from bead_cli.context import Context
from bead_cli.output import Output
from bead_cli.parsing import parse

_INTERRUPTED = 130
_DEFAULT_HOME = "~/.bead"


def main() -> int:
    """What the console script calls."""
    code = run(sys.argv[1:], os.environ, sys.stdout, sys.stderr)
    if "asyncio" not in sys.modules:
        # A client command holds nothing that needs an orderly end, and taking Python apart is a sixth of its time.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def run(argv: Sequence[str], environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Run one command line; the exit code is that of `bead.errors`, 130 after Ctrl-C."""
    command, args = parse(argv, stdout)
    output = Output(stdout, stderr, as_json=args.json, environ=environ)
    home = os.path.abspath(os.path.expanduser(args.home or environ.get("BEAD_HOME") or _DEFAULT_HOME))
    try:
        return command.load().run(args, Context(environ, home, output))
    except BeadError as error:
        output.error(error)
        return error.exit_code
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted; Python must not complain while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
