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
    if "bead_evals" in sys.modules:
        return code  # a bench has children and handlers of its own
    # Everything is closed by now. Taking Python apart would be a sixth of a short command, and half of a stop.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(argv: Sequence[str], environ: Mapping[str, str], stdout: TextIO, stderr: TextIO) -> int:
    """Run one command line; the exit code is that of `bead.errors`, 130 after Ctrl-C."""
    command, args = parse(argv, stdout)
    output = Output(stdout, stderr, as_json=args.json, environ=environ)
    home = os.path.abspath(os.path.expanduser(args.home or environ.get("BEAD_HOME") or _DEFAULT_HOME))
    try:
        return command.load().run(args, Context(environ, home, output))
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted; Python must not complain while it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        problem = _problem(error)
        output.error(problem)
        return problem.exit_code


def _problem(error: BaseException) -> BeadError:
    """What is said about `error`: one of ours as it is; anything else by class and place, its text may hold content."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, BeadError):
        return error
    place, step = "", error.__traceback__
    while step is not None:
        place = f"{os.path.basename(step.tb_frame.f_code.co_filename)}:{step.tb_lineno}"
        step = step.tb_next
    return BeadError(f"internal error, please report it: {type(error).__name__} at {place}")


if __name__ == "__main__":
    sys.exit(main())
