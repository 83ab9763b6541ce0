"""The hooks of other real coding agents tell their prompts what matters, straight to the provider (D9).

Codex, Gemini CLI and Qwen Code: each keeps what it was told in its history, and is told it once. opencode has a plugin.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.harness.agents import CODEX, GEMINI_CLI, OPENCODE, QWEN_CODE, Agent
from tests.harness.claude_code import Seat
from tests.harness.desk import BEAD, UPSTREAM, AgentDesk
from tests.harness.namespace import LoopbackNamespace
from tests.harness.records import Records
from tests.harness.scenario import main_requests

pytestmark = pytest.mark.harnesses

FACT = "we ship with make ship-it"
PROMPT = "TURN:one how do we ship? with make ship-it?"


def hooked(agent: Agent, home: str) -> Agent:
    """The agent with bead's hook in its own settings, and its provider's own address."""
    event, name = ("BeforeAgent", "before-agent") if agent is GEMINI_CLI else ("UserPromptSubmit", "user-prompt")
    cli = agent.program
    command = {"type": "command", "command": f"{BEAD} hook {name} --cli {cli} --home {home}"}
    hooks = {event: [{"hooks": [command]}]}
    if agent is CODEX:
        # A variable of bead's own prefix that is no setting is an error to bead's commands.
        config = agent.files[".codex/config.toml"].replace("BEAD_TEST_KEY", "MADE_UP_KEY")
        files = {".codex/config.toml": config, ".codex/hooks.json": json.dumps({"hooks": hooks})}
        trusting = ("exec", "--dangerously-bypass-hook-trust", *agent.ask[1:])
        again = (*trusting[:-1], "resume", "--last", "{prompt}")
        return replace(agent, files=files, ask=trusting, again=again, environment={"MADE_UP_KEY": "{key}"})
    (path,) = agent.files
    settings = json.loads(agent.files[path]) | {"hooks": hooks}
    return replace(agent, files={path: json.dumps(settings)})


@pytest.mark.parametrize("agent", (CODEX, GEMINI_CLI, QWEN_CODE), ids=lambda agent: agent.name)
def test_a_prompt_is_told_what_matters_to_it_without_a_base_url_and_once(
    tmp_path: Path, namespace: LoopbackNamespace, provider: Records, agent: Agent
) -> None:
    home = str(tmp_path / "desk" / "home" / ".bead")
    desk = AgentDesk(tmp_path / "desk", namespace, provider, hooked(agent, home))
    desk.open()
    direct = Seat(desk.root, UPSTREAM)
    desk.agent.prepare(direct)
    desk.bead("write", "user/shipping", FACT)
    desk.bead("prime")  # waits until the index has it

    for again in (False, True):
        prompt = PROMPT.replace("TURN:one", "TURN:two") if again else PROMPT
        before = len(provider.model_requests())
        desk.agent.run(prompt, namespace=namespace, seat=direct, again=again)
        sent = main_requests(provider.model_requests()[before:], prompt.split()[0])
        assert sent and sent[0].decoded_body.decode().count(FACT) == 1


def test_opencode_is_told_by_its_plugin_once_a_request(
    tmp_path: Path, namespace: LoopbackNamespace, provider: Records
) -> None:
    desk = AgentDesk(tmp_path / "desk", namespace, provider, OPENCODE)
    desk.open()
    direct = Seat(desk.root, UPSTREAM)
    desk.agent.prepare(direct)
    desk.bead("write", "user/shipping", FACT)
    plugin = desk.seat.home / ".config" / "opencode" / "plugin" / "bead.js"
    plugin.parent.mkdir(parents=True, exist_ok=True)
    plugin.write_text(desk.bead("prime", "--opencode-plugin")["text"])

    desk.agent.run("TURN:one what day is it?", namespace=namespace, seat=direct)

    sent = main_requests(provider.model_requests(), "TURN:one")
    assert sent and {request.decoded_body.decode().count(FACT) for request in sent} == {1}
