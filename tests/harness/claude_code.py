"""Runs the real Claude Code in a loopback namespace, with a home and a made-up key of its own.

    claude = claude_code()
    result = claude.ask("TURN:1 hi", namespace=namespace, seat=Seat(tmp_path, "http://127.0.0.1:8080"))

Installing is `install`'s job.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.harness.install import CLAUDE_CODE_VERSION, installed_claude_code
from tests.harness.namespace import LoopbackNamespace, clean_environment

_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_BUG_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",
}


class HarnessFailed(AssertionError):
    """The harness ended with an error; the text has what it said."""


@dataclass(frozen=True)
class Seat:
    """Where one user of the harness sits: `root` gets `home` and `project` below it."""

    root: Path
    base_url: str
    """What it takes for its provider, inside the namespace; may end in a path."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beyond or instead of what every run gets."""

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The working directory of the harness."""
        return self.root / "project"

    def prepare(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(parents=True, exist_ok=True)


@dataclass(frozen=True)
class Result:
    """What `claude -p --output-format json` printed."""

    text: str
    session: str
    turns: int
    document: dict[str, Any]


@dataclass(frozen=True)
class ClaudeCode:
    """The installed harness."""

    executable: Path
    version: str

    def environment(self, seat: Seat) -> dict[str, str]:
        """Clean but for the made-up key, the provider's address and the switches that keep it quiet."""
        return {
            **clean_environment(seat.home, path=[self.executable.parent]),
            **_QUIET,
            "ANTHROPIC_BASE_URL": seat.base_url,
            "ANTHROPIC_API_KEY": "-".join(["sk", "ant", "made", "up", "for", "tests"]),
            **seat.environment,
        }

    def ask(
        self,
        prompt: str,
        *,
        namespace: LoopbackNamespace,
        seat: Seat,
        arguments: Sequence[str] = (),
        timeout_s: float = 60,
    ) -> Result:
        """One prompt, as `claude -p` takes it, to its answer. `arguments` are more options, such as `--continue`.

        Raises:
            HarnessFailed: it reported an error.
            subprocess.TimeoutExpired: it did not end in time, and was killed.
        """
        seat.prepare()
        command: list[str | Path] = [self.executable, "-p", prompt, "--output-format", "json", *arguments]
        done = namespace.run(command, environment=self.environment(seat), folder=seat.project, timeout_s=timeout_s)
        if done.returncode != 0:
            raise HarnessFailed(f"claude ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        document = json.loads(done.stdout)
        return Result(document.get("result", ""), document["session_id"], document["num_turns"], document)


def claude_code() -> ClaudeCode:
    """The pinned Claude Code, installed on first use (some 570 MB).

    Raises:
        HarnessUnavailable: it cannot be installed here.
    """
    return ClaudeCode(installed_claude_code() / "node_modules/.bin/claude", CLAUDE_CODE_VERSION)
