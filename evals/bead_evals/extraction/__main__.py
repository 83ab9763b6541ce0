"""`bead eval extraction`: what a night's rules make of replies as careful, chatty and careless models write them."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from bead_evals.extraction.scoring import score
from bead_evals.extraction.suites import SESSIONS, load
from bead_evals.recall.report import commit

RESULTS = Path(__file__).resolve().parents[2] / "results" / "extraction.json"
KINDS = ("careful", "chatty", "careless")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or the result document; 1 when there is no suite."""
    asked = _parser().parse_args(arguments)
    try:
        sessions = load(asked.suite)
    except FileNotFoundError as missing:
        print(f"bead eval extraction: there is no suite at {missing.filename}", file=sys.stderr)
        return 1
    scores = {kind: score(sessions, kind) for kind in KINDS}
    result = {
        "commit": commit(),
        "sessions": len(sessions),
        "replies": "written by hand",
        "rows": {kind: {**each._asdict(), **each.rates()} for kind, each in scores.items()},
    }
    if asked.save:
        RESULTS.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if asked.json:
        print(json.dumps(result, indent=2))
        return 0
    print(f"{len(sessions)} sessions; replies written by hand, no model was asked\n")
    print("| replies | precision | recall | key reuse | non-facts held back |\n|---|---|---|---|---|")
    for kind, each in scores.items():
        print(f"| {kind} | {' | '.join(_shown(rate) for rate in each.rates().values())} |")
    return 0


def _shown(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.0%}".replace("%", " %")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bead eval extraction", description=__doc__)
    parser.add_argument("--suite", type=Path, default=SESSIONS, metavar="FILE", help="sessions in YAML")
    parser.add_argument("--json", action="store_true", help="print the result document instead of the table")
    parser.add_argument("--save", action="store_true", help="write evals/results/extraction.json")
    return parser


if __name__ == "__main__":
    sys.exit(main())
