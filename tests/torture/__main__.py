"""`python -m tests.torture`: every part, or one; progress on standard error, the table or JSON on standard output.

Each part runs in a process of its own, because injection needs pools without threads and the others real ones.
Exit code 1 when anything was violated.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

_PARTS = ("inject", "threads", "power", "again", "refusal")
_NUMBERS = {"seed": 1, "workers": 2, "injections": 1_000_000, "threads": 600, "states": 600}


def main() -> int:
    """The command."""
    arguments = _parser().parse_args()
    return _one_part(arguments) if arguments.part else _all_parts(arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description="crash tests of the store")
    parser.add_argument("--part", choices=_PARTS, help="only this part, its tally as JSON on standard output")
    for name, default in _NUMBERS.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    parser.add_argument("--few", action="store_true", help="only some of the refusing disks")
    parser.add_argument("--control", default="", help="a store that is wrong on purpose, which must be found")
    parser.add_argument("--save", action="store_true", help="keep the figures in evals/results/torture.json")
    return parser


def _one_part(arguments: argparse.Namespace) -> int:
    if arguments.part == "inject":
        from tests.torture import inline

        inline.install()
    import msgspec
    import structlog

    from tests.torture import parts

    structlog.configure(logger_factory=structlog.WriteLoggerFactory(file=sys.stderr))
    numbers = {name: getattr(arguments, name) for name in _NUMBERS}
    options = parts.Options(**numbers, is_whole=not arguments.few, control=arguments.control)
    try:
        tally = parts.run_part(arguments.part, options, _progress)
    except RuntimeError as error:
        print(f"torture: {error}", file=sys.stderr)
        return 2
    sys.stdout.buffer.write(msgspec.json.encode({"options": options, "tally": tally}) + b"\n")
    return 1 if tally.violated else 0


def _all_parts(arguments: argparse.Namespace) -> int:
    load_before = os.getloadavg()[0]
    answers = [json.loads(_run_part(name)) for name in _PARTS]
    import msgspec

    from tests.torture import parts, report

    tallies = [msgspec.convert(answer["tally"], parts.Tally) for answer in answers]
    document = report.report(msgspec.convert(answers[0]["options"], parts.Options), tallies, load_before)
    print(report.table(tallies))
    if arguments.save:
        report.save(document, report.RESULTS)
        _progress(f"kept in {report.RESULTS.relative_to(Path.cwd())}")
    return 1 if document.violated else 0


def _run_part(name: str) -> bytes:
    """A part with the options of this process.

    Raises:
        SystemExit: it could not be run; it has said why.
    """
    command = [sys.executable, "-m", "tests.torture", *sys.argv[1:], "--part", name]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(done.returncode or 2)
    return done.stdout


def _progress(line: str) -> None:
    print(f"torture: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
