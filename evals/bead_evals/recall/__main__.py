"""`bead eval recall`: every gate on the recall suites, side by side."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bead_evals.recall import gates, latency, report, shipping
from bead_evals.recall.suites import HELD_OUT, SUITES, Suite, load, read

RESULTS = Path(__file__).resolve().parents[2] / "results" / "recall.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the result document; 0 when everything ran, 1 when there is no such suite."""
    asked = _parser().parse_args(arguments)
    try:
        suites = _suites(asked.suite)
    except FileNotFoundError as missing:
        print(f"bead eval recall: there is no suite at {missing.filename}", file=sys.stderr)
        return 1
    if not suites:
        print(f"bead eval recall: {SUITES} holds no suite; name a file with --suite", file=sys.stderr)
        return 1
    if asked.fit:
        sys.stdout.write(shipping.module(suites, report.commit()))
        return 0
    if asked.latency:
        print(latency.table(latency.measure(suites, asked.seed)))
        return 0
    rows = list(gates.rows(suites, asked.seed))
    names = [suite.name for suite in suites]
    held_out = () if asked.suite else load(folder=HELD_OUT)
    unseen = list(gates.unseen_rows(held_out, asked.seed)) if held_out else []
    result = report.document(rows, names, asked.seed, unseen, [suite.name for suite in held_out])
    if asked.save:
        RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if asked.json:
        print(json.dumps(result, indent=2))
    else:
        print(f"commit {result['commit']}, seed {asked.seed}, pinned budget 0\n\n{report.table(rows, names)}")
        if unseen:
            print(f"\nheld out: nothing was fitted on or chosen by these\n\n{report.table(unseen, result['held_out'])}")
    return 0


def _suites(named: Sequence[str]) -> tuple[Suite, ...]:
    """Suites by name or by the path of a file; all that are shipped when none is named."""
    if not named:
        return load()
    return tuple(read(Path(name)) if name.endswith(".yaml") else load([name])[0] for name in named)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bead eval recall", description=__doc__)
    parser.add_argument(
        "--suite",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a suite in {SUITES.name}/, or the path of one (a .yaml file); may be given several times; default: all",
    )
    parser.add_argument("--seed", type=int, default=1, help="for the rows that remove parts of cards (default: 1)")
    parser.add_argument("--json", action="store_true", help="print the result document instead of the table")
    parser.add_argument("--save", action="store_true", help="write evals/results/recall.json")
    parser.add_argument("--fit", action="store_true", help="print the module of weights fitted on the suites")
    parser.add_argument("--latency", action="store_true", help="print how long a turn takes with 100 to 10,000 facts")
    return parser


if __name__ == "__main__":
    sys.exit(main())
