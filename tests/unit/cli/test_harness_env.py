"""Who types: a person, or an agent whose words must not become the person's (I4)."""

import pytest

from bead_cli.harness_env import harness_in, trust_of


@pytest.mark.parametrize(
    ("variable", "harness"),
    [
        ("CLAUDECODE", "claude"),
        ("CODEX_SANDBOX", "codex"),
        ("CODEX_THREAD_ID", "codex"),
        ("GEMINI_CLI", "gemini"),
        ("OPENCODE", "opencode"),
        ("QWEN_CODE", "qwen"),
        ("COPILOT_CLI", "copilot"),
        ("CURSOR_AGENT", "cursor"),
        ("AI_AGENT", "agent"),
    ],
)
def test_a_harness_in_the_environment_makes_the_write_an_agents(variable: str, harness: str) -> None:
    assert harness_in({"HOME": "/home/ben", variable: "1"}) == harness
    assert trust_of(harness) == "agent_observed"


@pytest.mark.parametrize(
    "environ", [{}, {"CLAUDECODE": ""}, {"CODEXX": "1"}, {"MY_GEMINI_CLI": "1"}, {"EDITOR": "claude"}]
)
def test_a_terminal_without_one_is_the_persons(environ: dict[str, str]) -> None:
    assert harness_in(environ) is None
    assert trust_of(None) == "user_stated"
