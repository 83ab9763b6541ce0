"""A desk for the end-to-end tests: bead, the fake provider and the real Claude Code in one loopback namespace."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness.claude_code import ClaudeCode, Result, Seat
from tests.harness.fixtures import claude_code, namespace, provider
from tests.harness.namespace import LoopbackNamespace, Started, clean_environment
from tests.harness.records import Records

__all__ = ["claude_code", "namespace", "provider"]

BEAD = Path(sys.executable).with_name("bead")
UPSTREAM = "http://127.0.0.1:8080"
PROXY = "http://127.0.0.1:7077"


@dataclass
class Desk:
    """One person's machine. `root/home` is the HOME of bead and of the harness, `root/project` the repository."""

    root: Path
    namespace: LoopbackNamespace
    provider: Records
    claude: ClaudeCode

    @property
    def home(self) -> Path:
        """bead's home."""
        return self.root / "home" / ".bead"

    @property
    def seat(self) -> Seat:
        """The harness, talking through bead."""
        token = self.home / "tokens" / "proxy"
        base = f"{PROXY}/t/{token.read_text().strip()}" if token.exists() else UPSTREAM
        return Seat(self.root, base, {"CLAUDE_CODE_GATEWAY_HINT_HEADERS": "1"})

    def start_bead(self, **settings: str) -> Started:
        """`bead up`, ready to serve."""
        environment = clean_environment(self.seat.home, path=[BEAD.parent, self.claude.executable.parent])
        environment |= {"BEAD_PROXY__UPSTREAM__ANTHROPIC": UPSTREAM, **settings}
        return self.namespace.start(
            [BEAD, "up"],
            environment=environment,
            folder=self.root,
            log=self.root / "bead.log",
            ready="ANTHROPIC_BASE_URL",
        )

    def run_bead(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Any `bead` command, as the person types it in the repository."""
        base = clean_environment(self.seat.home, path=[BEAD.parent, self.claude.executable.parent])
        return self.namespace.run(
            [BEAD, *arguments], environment=base | environment, folder=self.seat.project, timeout_s=60
        )

    def bead(self, *arguments: str) -> Any:
        """The JSON document that a command prints."""
        done = self.run_bead(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def ask(self, prompt: str, *arguments: str) -> Result:
        """One prompt to Claude Code."""
        return self.claude.ask(prompt, namespace=self.namespace, seat=self.seat, arguments=arguments)


@pytest.fixture
def desk(tmp_path: Path, namespace: LoopbackNamespace, provider: Records, claude_code: ClaudeCode) -> Desk:
    desk = Desk(tmp_path / "desk", namespace, provider, claude_code)
    desk.seat.prepare()
    for command in (["init", "-q"], ["remote", "add", "origin", "git@host.example:acme/shop.git"]):
        subprocess.run(["git", *command], cwd=desk.seat.project, check=True)
    return desk


@dataclass(frozen=True)
class SentBlock:
    """A bead block in a request that reached the provider."""

    place: str
    """`system`, or the ordinal of the message."""
    is_last: bool
    text: str


def sent_blocks(body: dict[str, Any]) -> list[SentBlock]:
    """Every bead block in a Messages body, in order."""
    places: list[tuple[str, Any]] = [("system", body.get("system"))]
    places += [(str(number), message["content"]) for number, message in enumerate(body["messages"])]
    found = []
    for place, content in places:
        blocks: Sequence[dict[str, Any]] = content if isinstance(content, list) else []
        for number, block in enumerate(blocks):
            if str(block.get("text", "")).startswith("<bead-memory"):
                found.append(SentBlock(place, number == len(blocks) - 1, block["text"]))
    return found
