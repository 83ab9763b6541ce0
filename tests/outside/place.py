"""A bead that runs, as somebody outside meets it: published ports, typed commands, and the bytes it leaves behind.

How it is started, and where its files lie, is said by each kind of place: `tests/docker`, `tests/e2e`.
"""

import http.client
import json
import subprocess
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bytescan import traces
from tests.e2e.terminal import typed

LIMIT_S = 60.0
REFUSED = {400, 401, 403, 404, 405, 411, 413, 415, 421, 431}


class Place(ABC):
    """A running bead with a fake provider behind its proxy."""

    ports: Mapping[str, int]
    """Published on this machine, by service."""
    records: Path
    """Where the fake provider notes each request."""
    home: Path
    """bead's home, as root of this machine finds it."""
    kept: Sequence[Path]
    """Every folder that bead writes: home, index, backups."""
    environ: Mapping[str, str]
    folder: Path
    is_container = False

    @abstractmethod
    def command(self, *argv: str, on_terminal: bool = False) -> list[str]:
        """The command line by which a person runs `bead ARGV` here."""

    @abstractmethod
    def token(self, name: str) -> str:
        """The person's token: `proxy`, or `admin` for the page."""

    @abstractmethod
    def log(self) -> str:
        """All that the services have logged so far."""

    @abstractmethod
    def pids(self) -> Mapping[str, int]:
        """The processes of `store` and `index`, as this machine numbers them."""

    def keepers(self) -> Mapping[str, int]:
        """Those of them that no login passes through."""
        return self.pids()

    @abstractmethod
    def revive(self) -> None:
        """It runs again after its store was killed, and answers."""

    def traces(self, text: str) -> list[str]:
        """Each place in what is kept and logged that holds `text`, and the disguise it is in."""
        found = [f"{root.name}/{each}" for root in self.kept for each in traces(root, text)]
        return found + (["log"] if text in self.log() else [])

    def run(self, *argv: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """A `bead` command to its end, with `text` on its standard input."""
        return subprocess.run(
            self.command(*argv),
            env=dict(self.environ),
            cwd=self.folder,
            input=text or "",
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )

    def json(self, *argv: str, text: str | None = None) -> Any:
        """The document of a command that succeeds."""
        done = self.run(*argv, "--json", text=text)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def typed(self, *argv: str, answers: Sequence[tuple[str, str]]) -> subprocess.CompletedProcess[str]:
        """A command that asks at a terminal."""
        command = self.command(*argv, on_terminal=True)
        return typed(command, answers, self.environ, self.folder, is_whole_screen=self.is_container)

    def facts(self) -> dict[str, Any]:
        """Every current fact by key."""
        return {fact["key"]: fact for fact in self.json("memories", "--all")["facts"]}

    def ask(self, *messages: Mapping[str, object], session: str = "", **headers: str) -> tuple[int, bytes]:
        """One model request of an agent through the proxy."""
        body = {
            "model": "claude-opus-5-5",
            "max_tokens": 64,
            "system": [{"type": "text", "text": "Primary working directory: /srv/shop"}],
            "messages": list(messages),
        }
        told = {"content-type": "application/json", "x-claude-code-session-id": session or str(uuid.uuid4())}
        path = f"/t/{self.token('proxy')}/v1/messages?beta=true"
        return send(self.ports["proxy"], "POST", path, json.dumps(body).encode(), told | headers)

    def last_sent(self) -> bytes:
        """The newest body that reached the provider."""
        return max(self.records.glob("*.body")).read_bytes()

    def wait_for_fact(self, key_part: str) -> Any:
        """The fact with this in its key or text, once it is there."""
        deadline = time.monotonic() + LIMIT_S
        while True:
            for key, fact in self.facts().items():
                if key_part in key or key_part in fact["body"]:
                    return fact
            assert time.monotonic() < deadline, f"no fact with {key_part!r} came"


def send(
    port: int, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float = 30
) -> tuple[int, bytes]:
    """Status and body of one request to 127.0.0.1; a connection that is closed without an answer is status 0."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request(method, path, body=body, headers=dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (ConnectionError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def user(text: str) -> dict[str, object]:
    """A message of the person."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}
