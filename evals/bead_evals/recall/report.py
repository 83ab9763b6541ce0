"""The table of `bead eval recall`, and the result that is saved. Prints nothing and runs only git."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bead_evals.recall.gates import Row
from bead_evals.recall.scoring import Score

_NAME_WIDTH = 42


def table(rows: Sequence[Row], suites: Sequence[str]) -> str:
    """Recall / precision / share of turns with a false injection, by suite and over all turns."""
    heads = "".join(f"{name:>20}" for name in (*suites, "all turns"))
    lines = [f"{'recall / precision / false turns':<{_NAME_WIDTH}}{heads}"]
    for row in rows:
        cells = "".join(f"{_cell(each):>20}" for each in (*row.scores, sum(row.scores, Score())))
        lines.append(f"{row.name:<{_NAME_WIDTH}}{cells}" + (f"   ({row.note})" if row.note else ""))
    return "\n".join(lines)


def document(
    rows: Sequence[Row], suites: Sequence[str], seed: int, unseen: Sequence[Row] = (), held_out: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything needed to check the tables again."""
    return {
        "what": "recall of needed facts, precision of injected facts, share of turns with a false injection",
        "commit": commit(),
        "seed": seed,
        "pinned_budget_tokens": 0,
        "max_facts": 2,
        "learned": "leave one project out; the threshold from a leave-one-out inside the training projects",
        "suites": list(suites),
        "rows": _rows(rows, suites),
        "held_out": list(held_out),
        "held_out_rows": _rows(unseen, held_out),
    }


def _rows(rows: Sequence[Row], suites: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "gate": row.name,
            "note": row.note,
            "scores": {
                name: _numbers(each)
                for name, each in zip((*suites, "all"), (*row.scores, sum(row.scores, Score())), strict=True)
            },
        }
        for row in rows
    ]


def commit() -> str:
    """The commit that was measured, `+` behind it when files differ from it; `unknown` outside a repository."""
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git(
            "status", "--porcelain", "--", "services/bead_index/gate", "evals/bead_evals/recall", "evals/suites"
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}+" if changed else head


def _git(*arguments: str) -> str:
    root = Path(__file__).resolve().parents[3]
    answer = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True, timeout=10)
    return answer.stdout.strip()


def _cell(score: Score) -> str:
    return f"{score.recall:.2f} / {score.precision:.2f} / {score.false_share:4.1%}"


def _numbers(score: Score) -> dict[str, float | int]:
    return {
        "recall": round(score.recall, 4),
        "precision": round(score.precision, 4),
        "false_turns": round(score.false_share, 4),
        "needed": score.needed,
        "found": score.found,
        "false": score.false,
        "turns": score.turns,
        "turns_with_false": score.false_turns,
    }
