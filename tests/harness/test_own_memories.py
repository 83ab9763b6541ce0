"""Memories that the real agents write themselves, because their model says so, become drafts: `make harnesses`.

What each pinned version has for it: Gemini CLI and Qwen Code offer no tool of their own for memory any more, their
model edits Markdown with the tool for files; Codex writes only where its feature is on, by a session of its own, and
its model may write there with the shell. Each such file of Codex is one memory, for no form of it is promised.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.harness.agents import CODEX, GEMINI_CLI, QWEN_CODE, Agent
from tests.harness.desk import AgentDesk
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records

pytestmark = pytest.mark.harnesses

MEMORY = "we ship with `make walrus-ship`, never from a laptop"
GEMINI_FILE = f"# Mine\n- a rule\n\n## Gemini Added Memories\n- {MEMORY}\n"


@dataclass(frozen=True)
class Writes:
    """How one agent is made to write its memory."""

    agent: Agent
    cli: str
    file: str
    """Below its home."""
    text: str
    tool: str


def _shell(file: str) -> str:
    return json.dumps({"cmd": f"mkdir -p $(dirname {file}) && printf '%s\\n' '{MEMORY}' > {file}"})


CASES = (
    Writes(GEMINI_CLI, "gemini", ".gemini/GEMINI.md", GEMINI_FILE, "write_file"),
    Writes(QWEN_CODE, "qwen", ".qwen/memories/MEMORY.md", f"- {MEMORY}\n", "write_file"),
    Writes(CODEX, "codex", ".codex/memories/MEMORY.md", f"{MEMORY}\n", "exec_command"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.agent.name)
def test_what_an_agent_writes_into_its_memory_becomes_a_draft_and_leaves_it(
    tmp_path: Path, namespace: LoopbackNamespace, provider: Records, case: Writes
) -> None:
    desk = AgentDesk(tmp_path / "desk", namespace, provider, case.agent)
    desk.open()
    file = desk.seat.home / case.file
    arguments = _shell(str(file)) if case.cli == "codex" else json.dumps({"file_path": str(file), "content": case.text})

    desk.ask(f"TURN:write [[call {case.tool} {arguments}]] note it")

    assert not any(b'"save_memory"' in request.decoded_body for request in provider.model_requests()), (
        "this version has a tool for it again: let the model use that"
    )
    assert file.read_text() == case.text, "the agent wrote it"
    assert desk.bead("drain", "--cli", case.cli, "--truncate")["counts"] == {"created": 1}
    assert [draft["body"] for draft in desk.bead("drafts")["drafts"]] == [MEMORY]
    assert MEMORY not in (file.read_text() if file.exists() else "")
