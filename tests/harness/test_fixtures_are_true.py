"""The shape fixtures of Claude Code against the real program: a fixture that lies would make bead's tests worthless."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.recording import Recorded
from tests.harness.claude_code import ClaudeCode, Seat
from tests.harness.namespace import REPOSITORY, LoopbackNamespace
from tests.harness.outline import outline
from tests.harness.records import Records

pytestmark = pytest.mark.harness

FIXTURES = REPOSITORY / "tests/fixtures/claude_code"
OLD = ("--model", "claude-sonnet-4-5")
TOOLS = ("--allowedTools", "Agent,Bash,Read")
LEFT_OUT = {"host", "content-length", "x-api-key"}
HINTS = {"x-claude-code-request-class", "x-claude-code-compaction"}
"""Sent only when asked for; the compaction fixture has them, the others do without."""
TASK = {"description": "d", "prompt": "TURN:sub", "subagent_type": "general-purpose"}


def fixture(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FIXTURES / f"{name}.json").read_text())
    return loaded


@pytest.fixture
def seat(tmp_path: Path) -> Seat:
    seat = Seat(tmp_path, "http://127.0.0.1:8080")
    seat.prepare()
    (seat.project / "plan.md").write_text("Water the beds by the wall.\n")
    return seat


@pytest.fixture
def requests(
    claude_code: ClaudeCode,
    namespace: LoopbackNamespace,
    provider: Records,
    seat: Seat,
    prompts: Sequence[tuple[str, ...]],
) -> list[Recorded]:
    """What was sent for these prompts, one `claude -p` each, all of one session."""
    for number, (prompt, *arguments) in enumerate(prompts):
        resumed = ["--continue"] if number else []
        claude_code.ask(
            prompt.replace("PROJECT", str(seat.project)),
            namespace=namespace,
            seat=seat,
            arguments=[*arguments, *resumed, *TOOLS],
        )
    return provider.model_requests()


HI = ("TURN:1 hi",)
CALLS = 'TURN:2 [[call Bash {"command": "ls", "description": "x"}]] [[call Read {"file_path": "PROJECT/plan.md"}]]'
CASES = [
    ("first_request_new_shape", [HI], 0),
    ("first_request_old_shape", [(*HI, *OLD)], 0),
    ("second_turn_new_shape", [HI, ("TURN:2",)], 1),
    ("second_turn_old_shape", [(*HI, *OLD), ("TURN:2", *OLD)], 1),
    ("tool_loop_new_shape", [HI, (CALLS,)], 3),
    ("tool_loop_old_shape", [(*HI, *OLD), (CALLS, *OLD)], 3),
    ("compaction", [HI, ("/compact",)], 1),
    ("after_compaction", [HI, ("/compact",), ("TURN:2",)], 2),
    ("task_notification", [HI, (f"TURN:2 [[call Agent {json.dumps(TASK)}]]",)], -1),
    ("file_mention", [("TURN:1 look at @plan.md",)], 0),
]


@pytest.mark.parametrize(("name", "prompts", "at"), CASES, ids=[name for name, _, _ in CASES])
def test_the_fixture_has_the_shape_of_the_real_request(name: str, requests: list[Recorded], at: int) -> None:
    assert_same_shape(fixture(name), requests[at])


@pytest.mark.parametrize("prompts", [[(f"TURN:1 [[call Agent {json.dumps(TASK)}]]",)]])
def test_the_subagent_fixture_has_the_shape_of_the_real_request(requests: list[Recorded]) -> None:
    (real,) = [request for request in requests if request.header("x-claude-code-agent-id")]

    assert_same_shape(fixture("subagent"), real)


@pytest.mark.parametrize("prompts", [[HI, ("TURN:2",), ("/compact",), ("TURN:3",)]])
def test_a_compaction_that_keeps_the_end_has_the_shape_of_its_fixture(requests: list[Recorded]) -> None:
    assert_same_shape(fixture("after_compaction_with_kept_tail"), requests[-1])


def assert_same_shape(made_up: dict[str, Any], real: Recorded) -> None:
    assert outline(made_up["body"]) == outline(real.json())
    sent = [name for name, _ in real.headers if name.lower() not in LEFT_OUT]
    assert [name for name in made_up["headers"] if name not in HINTS] == sent
