"""bead's tools in the real Claude Code: the model calls them, and what they do is what the person's memory holds."""

import json

import pytest

from tests.e2e.conftest import BEAD, Desk

pytestmark = [pytest.mark.e2e, pytest.mark.harness]

REMEMBERED = "the staging database listens on 5433"


def ask(desk: Desk, prompt: str) -> str:
    """What the model was sent after one prompt whose script calls a tool of bead's."""
    config = desk.root / "mcp.json"
    server = {"command": str(BEAD), "args": ["mcp"], "env": {"BEAD_HOME": str(desk.home)}}
    config.write_text(json.dumps({"mcpServers": {"bead": server}}))
    tools = "mcp__bead__recall,mcp__bead__remember"
    before = len(desk.provider.model_requests())
    desk.ask(prompt, "--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", tools)
    requests = [json.loads(each.decoded_body) for each in desk.provider.model_requests()[before:]]
    results = [
        block
        for message in requests[-1]["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert len(results) == 1, "the tool was called once"
    assert not results[0].get("is_error"), results[0]
    return json.dumps(results[0]["content"], ensure_ascii=False)


def test_what_the_model_remembers_is_its_own_observation_and_recall_finds_it(desk: Desk) -> None:
    desk.start_bead()

    said = ask(desk, f'TURN:1 [[call! mcp__bead__remember {{"text": "{REMEMBERED}"}}]] note this')
    facts = desk.bead("memories", "--all")["facts"]
    assert [(fact["body"], fact["trust"]) for fact in facts] == [(REMEMBERED, "agent_observed")]
    assert "created" in said

    assert REMEMBERED in ask(desk, 'TURN:2 [[call! mcp__bead__recall {"query": "staging database"}]] where is it?')
