"""`bead wrap` for harnesses that read their address from their own configuration: reminded, and it stays as it was."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness.agents import CONTINUE, COPILOT, OPENCODE, Agent
from tests.harness.desk import BEAD, UPSTREAM, AgentDesk
from tests.harness.install import installed_agent
from tests.harness.namespace import LoopbackNamespace, clean_environment
from tests.harness.records import Records

pytestmark = pytest.mark.harnesses

FACT = "we ship with make ship-it"
PROMPT = "TURN:one how do we ship? with make ship-it?"
KEY = "-".join(["made", "up", "for", "tests"])


@dataclass(frozen=True)
class Plain:
    """A harness as a person has set it up without bead."""

    name: str
    agent: Agent
    arguments: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)


# With the schema, which opencode else adds by itself.
_OPENCODE = {
    "$schema": "https://opencode.ai/config.json",
    "provider": {"anthropic": {"options": {"apiKey": KEY}}},
}
_CLINE = {"provider": "openai-compatible", "apiKey": KEY, "model": "fake-model", "baseUrl": f"{UPSTREAM}/v1"}
_CONTINUE = {
    "name": "mine",
    "version": "0.0.1",
    "schema": "v1",
    "models": [{"name": "fake", "provider": "openai", "model": "fake-model", "apiKey": KEY, "roles": ["chat"]}],
}
PLAIN = (
    Plain(
        "opencode",
        OPENCODE,
        ("run", "-m", "anthropic/claude-sonnet-4-5"),
        {".config/opencode/opencode.json": json.dumps(_OPENCODE)},
        dict(OPENCODE.environment),
    ),
    Plain(
        "copilot",
        COPILOT,
        ("-p", PROMPT, "--allow-all-tools"),
        {},
        {**COPILOT.environment, "COPILOT_PROVIDER_BASE_URL": f"{UPSTREAM}/v1", "COPILOT_PROVIDER_API_KEY": KEY},
    ),
    Plain(
        "continue",
        CONTINUE,
        ("-p", PROMPT, "--auto"),
        {".continue/config.yaml": json.dumps(_CONTINUE)},
        {"CONTINUE_TELEMETRY_ENABLED": "0"},
    ),
    Plain(
        "cline",
        Agent("cline", "cline", "3.0.65", "cline", "openai_chat", (), (), ""),
        ("-P", "openai-compatible", "-m", "fake-model", "--json", PROMPT),
        {
            ".cline/data/settings/providers.json": json.dumps(
                {
                    "version": 1,
                    "lastUsedProvider": "openai-compatible",
                    "modes": {},
                    "providers": {
                        "openai-compatible": {
                            "settings": _CLINE,
                            "updatedAt": "2026-11-30T09:00:00.000Z",
                            "tokenSource": "manual",
                        }
                    },
                }
            )
        },
    ),
)


@pytest.mark.parametrize("plain", PLAIN, ids=lambda plain: plain.name)
def test_a_wrapped_harness_is_reminded_and_its_own_settings_stay(
    tmp_path: Path, namespace: LoopbackNamespace, provider: Records, plain: Plain
) -> None:
    desk = AgentDesk(tmp_path / "desk", namespace, provider, plain.agent)
    desk.open()
    desk.bead("write", "user/shipping", FACT)
    desk.bead("search", "ship-it")
    for name, text in plain.files.items():
        (desk.seat.home / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.seat.home / name).write_text(text)
    folder = installed_agent(plain.agent.package, plain.agent.version) / "node_modules/.bin"

    done = namespace.run(
        [BEAD, "wrap", plain.name, "--", *plain.arguments],
        environment=clean_environment(desk.seat.home, path=[BEAD.parent, folder])
        | {"BEAD_PROXY__UPSTREAM__OPENAI": UPSTREAM}
        | plain.environ,
        folder=desk.seat.project,
        timeout_s=150,
        stdin="" if PROMPT in plain.arguments else PROMPT,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    sent = [request.decoded_body.decode() for request in provider.model_requests()]
    assert [body for body in sent if "TURN:one" in body and FACT in body and "<bead-memory" in body]
    assert {name: (desk.seat.home / name).read_text() for name in plain.files} == plain.files
