"""Real coding agents beside Claude Code: how each is set up in a home of its own, asked, and asked again.

Pinned by name and version; `install` gets them. Every key is made up. What they are shown to do is `scenario`'s.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.claude_code import HarnessFailed, Seat
from tests.harness.install import installed_agent
from tests.harness.namespace import LoopbackNamespace, clean_environment

KEY = "-".join(["made", "up", "for", "tests"])


@dataclass(frozen=True)
class Agent:
    """One coding agent. `{base}` is the proxy's address, `{home}` and `{project}` the seat's folders."""

    name: str
    package: str
    version: str
    program: str
    protocol: str
    """As `bead_proxy.protocols` has it."""
    ask: Sequence[str]
    """Arguments of a new session; `{prompt}` stands for the prompt, which else comes on standard input."""
    again: Sequence[str]
    """Arguments of the next turn of the newest session."""
    call: str
    """One call of a tool that reads or runs something harmless, as the fake provider is told it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Below the home."""
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 60

    def folder(self) -> Path:
        """Where its programs are; installed by the first who asks."""
        return installed_agent(self.package, self.version) / "node_modules/.bin"

    def prepare(self, seat: Seat) -> None:
        """Write its settings."""
        seat.prepare()
        for name, text in self.files.items():
            path = seat.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self._filled(seat)(text))

    def run(self, prompt: str, *, namespace: LoopbackNamespace, seat: Seat, again: bool = False) -> str:
        """One prompt to its end; what it printed.

        Raises:
            HarnessFailed: it reported an error.
            subprocess.TimeoutExpired: it did not end in time, and was killed.
        """
        arguments = self.again if again else self.ask
        takes_argument = "{prompt}" in arguments
        fill = self._filled(seat)
        command: list[str | Path] = [
            self.folder() / self.program,
            *(prompt if part == "{prompt}" else fill(part) for part in arguments),
        ]
        done = namespace.run(
            command,
            environment=clean_environment(seat.home, path=[self.folder()])
            | {name: fill(value) for name, value in self.environment.items()},
            folder=seat.project,
            timeout_s=self.timeout_s,
            stdin="" if takes_argument else prompt,
        )
        if done.returncode != 0:
            raise HarnessFailed(
                f"{self.name} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            )
        return done.stdout

    @staticmethod
    def _filled(seat: Seat) -> Callable[[str], str]:
        return lambda text: (
            text.replace("{base}", seat.base_url)
            .replace("{home}", str(seat.home))
            .replace("{project}", str(seat.project))
            .replace("{key}", KEY)
        )


_CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "bead"
check_for_update_on_startup = false
[features]
plugins = false
apps = false
[analytics]
enabled = false
[model_providers.bead]
name = "bead"
base_url = "{base}/openai/v1"
env_key = "BEAD_TEST_KEY"
wire_api = "responses"
[projects."{project}"]
trust_level = "trusted"
"""
_CODEX = ("exec", "--dangerously-bypass-approvals-and-sandbox")
CODEX = Agent(
    name="codex",
    package="@openai/codex",
    version="0.171.0",
    program="codex",
    protocol="openai_responses",
    ask=(*_CODEX, "{prompt}"),
    again=(*_CODEX, "resume", "--last", "{prompt}"),
    call='[[call exec_command {"cmd":"echo one"}]]',
    files={".codex/config.toml": _CODEX_CONFIG},
    environment={"BEAD_TEST_KEY": "{key}"},
)

_GEMINI_SETTINGS = json.dumps(
    {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "telemetry": {"enabled": False},
    }
)
GEMINI_CLI = Agent(
    name="gemini-cli",
    package="@google/gemini-cli",
    version="0.61.0",
    program="gemini",
    protocol="gemini",
    ask=("-y", "-m", "gemini-2.5-pro", "-p", "{prompt}"),
    again=("-y", "-m", "gemini-2.5-pro", "--resume", "latest", "-p", "{prompt}"),
    call='[[call run_shell_command {"command":"echo one"}]]',
    files={".gemini/settings.json": _GEMINI_SETTINGS},
    environment={"GOOGLE_GEMINI_BASE_URL": "{base}/gemini", "GEMINI_API_KEY": "{key}"},
)

_OPENCODE_CONFIG = json.dumps(
    {
        "model": "bead/fake-model",
        "provider": {
            "bead": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": "{base}/openai/v1", "apiKey": "{key}"},
                "models": {"fake-model": {}},
            }
        },
    }
)
OPENCODE = Agent(
    name="opencode",
    package="opencode-ai",
    version="1.18.33",
    program="opencode",
    protocol="openai_chat",
    ask=("run",),
    again=("run", "-c"),
    call='[[call bash {"command":"echo one","description":"x"}]]',
    files={".config/opencode/opencode.json": _OPENCODE_CONFIG},
    environment={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    timeout_s=150,
)

QWEN_CODE = Agent(
    name="qwen-code",
    package="@qwen-code/qwen-code",
    version="0.24.4",
    program="qwen",
    protocol="openai_chat",
    ask=("-y", "-p", "{prompt}"),
    again=("-y", "--continue", "-p", "{prompt}"),
    call='[[call run_shell_command {"command":"echo one","is_background":false}]]',
    files={".qwen/settings.json": json.dumps({"security": {"auth": {"selectedType": "openai"}}})},
    environment={"OPENAI_BASE_URL": "{base}/openai/v1", "OPENAI_API_KEY": "{key}", "OPENAI_MODEL": "fake-model"},
    timeout_s=90,
)

COPILOT = Agent(
    name="copilot-cli",
    package="@github/copilot",
    version="1.0.102",
    program="copilot",
    protocol="openai_chat",
    ask=("-p", "{prompt}", "--allow-all-tools"),
    again=("--continue", "-p", "{prompt}", "--allow-all-tools"),
    call='[[call bash {"command":"echo one","description":"x"}]]',
    environment={
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_BASE_URL": "{base}/openai/v1",
        "COPILOT_PROVIDER_API_KEY": "{key}",
        "COPILOT_MODEL": "gpt-5.5",
        "COPILOT_PROVIDER_WIRE_MODEL": "gpt-5.5",
    },
    timeout_s=90,
)

_CONTINUE_CONFIG = """\
name: bead
version: 0.0.1
schema: v1
models:
  - name: fake
    provider: openai
    model: fake-model
    apiKey: {key}
    apiBase: {base}/openai/v1/
    roles: [chat]
    capabilities: [tool_use]
"""
CONTINUE = Agent(
    name="continue",
    package="@continuedev/cli",
    version="1.5.47",
    program="cn",
    protocol="openai_chat",
    ask=("-p", "{prompt}", "--config", "{home}/.continue/config.yaml", "--auto"),
    again=("-p", "{prompt}", "--config", "{home}/.continue/config.yaml", "--auto", "--resume"),
    call='[[call Bash {"command":"echo one"}]]',
    files={".continue/config.yaml": _CONTINUE_CONFIG},
    environment={"CONTINUE_TELEMETRY_ENABLED": "0"},
    timeout_s=90,
)

OTHERS = (GEMINI_CLI, OPENCODE, QWEN_CODE, COPILOT, CONTINUE)
