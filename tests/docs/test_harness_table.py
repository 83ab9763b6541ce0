"""The README's table of coding agents is the one that the last `make harnesses` made."""

import json
import re
from pathlib import Path

from bead_proxy.protocols import Provider
from tests.harness.agents import CODEX, OTHERS

REPOSITORY = Path(__file__).parents[2]
ROWS = json.loads((REPOSITORY / "evals" / "results" / "harnesses.json").read_text())["rows"]
HEADER = "| agent | version | protocol | reminded in the next session | tool loop stable | resume stable | run on |"


def shown(row: dict[str, object]) -> str:
    seen = ("yes" if row[name] else "NO" for name in ("is_reminded", "is_loop_stable", "is_resume_stable"))
    return (
        "| "
        + " | ".join([*(str(row[name]) for name in ("harness", "version", "protocol")), *seen, str(row["at"])])
        + " |"
    )


def test_the_readme_shows_what_was_measured_and_nothing_else() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    table = readme[readme.index(HEADER) :].partition("\n\n")[0].splitlines()

    assert table[2:] == [shown(row) for row in ROWS]


def test_the_results_are_of_the_versions_that_are_pinned() -> None:
    pinned = {(agent.name, agent.version, agent.protocol) for agent in (CODEX, *OTHERS)}

    assert {(row["harness"], row["version"], row["protocol"]) for row in ROWS} == pinned


def test_an_address_in_the_readme_has_a_provider_that_exists() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    named = set(re.findall(r"\$BEAD/(\w+)", readme))
    assert named and named <= set(Provider)
