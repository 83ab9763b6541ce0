"""One person's machine with a real coding agent: bead, the fake provider and the agent in one loopback namespace."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.agents import KEY, Agent
from tests.harness.claude_code import Seat
from tests.harness.namespace import LoopbackNamespace, Started, clean_environment
from tests.harness.records import Records

BEAD = Path(sys.executable).with_name("bead")
UPSTREAM = "http://127.0.0.1:8080"
PROXY = "http://127.0.0.1:7077"
PROVIDERS = ("ANTHROPIC", "OPENAI", "GEMINI")


@dataclass
class AgentDesk:
    """`root/home` is the HOME of bead and of the agent, `root/project` the repository."""

    root: Path
    namespace: LoopbackNamespace
    provider: Records
    agent: Agent

    @property
    def home(self) -> Path:
        """bead's home."""
        return self.root / "home" / ".bead"

    @property
    def seat(self) -> Seat:
        """The agent, talking through bead."""
        return Seat(self.root, f"{PROXY}/t/{(self.home / 'tokens' / 'proxy').read_text().strip()}")

    def open(self, **settings: str) -> Started:
        """A repository, `bead up`, and the agent's settings."""
        plain = Seat(self.root, "")
        plain.prepare()
        for command in (["init", "-q"], ["remote", "add", "origin", "git@host.example:acme/shop.git"]):
            subprocess.run(["git", *command], cwd=plain.project, check=True)
        upstreams = {f"BEAD_PROXY__UPSTREAM__{name}": UPSTREAM for name in PROVIDERS}
        started = self.namespace.start(
            [BEAD, "up"],
            environment=clean_environment(plain.home, path=[BEAD.parent]) | upstreams | settings,
            folder=self.root,
            log=self.root / "bead.log",
            ready="ANTHROPIC_BASE_URL",
        )
        self.agent.prepare(self.seat)
        return started

    def bead(self, *arguments: str) -> Any:
        """The JSON document that a command prints."""
        done = self.namespace.run(
            [BEAD, *arguments, "--json"],
            environment=clean_environment(self.seat.home, path=[BEAD.parent]),
            folder=self.seat.project,
            timeout_s=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def wrap(self, *arguments: str) -> None:
        """`bead wrap` with that agent's name and arguments, as the person types it."""
        folder = self.agent.folder()
        done = self.namespace.run(
            [BEAD, "wrap", self.agent.program, "--", *arguments],
            environment=clean_environment(self.seat.home, path=[BEAD.parent, folder]) | {"CODEX_API_KEY": KEY},
            folder=self.seat.project,
            timeout_s=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def ask(self, prompt: str, *, again: bool = False) -> str:
        """One prompt to the agent; with `again`, in its newest session."""
        return self.agent.run(prompt, namespace=self.namespace, seat=self.seat, again=again)
