"""Other real coding agents are reminded through bead: `make harnesses`, which keeps what it saw.

With BEAD_HARNESSES_RESULTS the outcome of each goes into that file, which the README's table is made of.
"""

import fcntl
import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.harness.agents import CODEX, OTHERS, Agent
from tests.harness.desk import AgentDesk
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records
from tests.harness.scenario import Outcome, play

pytestmark = pytest.mark.harnesses


@pytest.mark.parametrize("agent", (CODEX, *OTHERS), ids=lambda agent: agent.name)
def test_an_agent_is_reminded_and_what_was_inserted_stays(
    tmp_path: Path, namespace: LoopbackNamespace, provider: Records, agent: Agent
) -> None:
    outcome = play(AgentDesk(tmp_path / "desk", namespace, provider, agent))

    keep(agent, outcome)
    assert outcome == Outcome(is_reminded=True, is_loop_stable=True, is_resume_stable=True)


def keep(agent: Agent, outcome: Outcome) -> None:
    named = os.environ.get("BEAD_HARNESSES_RESULTS")
    if not named:
        return
    path = Path(named)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        rows = json.loads(path.read_text())["rows"] if path.exists() else []
        row = {"harness": agent.name, "version": agent.version, "protocol": agent.protocol, **asdict(outcome)}
        row["at"] = datetime.now(UTC).date().isoformat()
        rows = sorted([old for old in rows if old["harness"] != agent.name] + [row], key=lambda each: each["harness"])
        path.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    path.with_suffix(".lock").unlink(missing_ok=True)
