"""A real `bead up` between agents and a provider, and one way to everything that it says to a model."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bead.bus.guard import scoped_token
from tests.e2e.bead_process import LIMIT_S, READY_LINE, Machine, read_until
from tests.harness.records import Records
from tests.unit.proxy.protocols.talk import SPOKEN, Said, Talk

_ANSWER_S = 300.0
"""A forget on a machine that is busy with other things."""
AGENTS = ("claude", "codex", "gemini", "qwen")


class World:
    """One machine, its repository, and what the provider was sent."""

    def __init__(self, machine: Machine, records: Records, upstream: str) -> None:
        self.machine, self.records = machine, records
        self.settings = {f"BEAD_PROXY__UPSTREAM__{name}": upstream for name in ("ANTHROPIC", "OPENAI", "GEMINI")}
        self.temporary = machine.root / "tmp"
        self.temporary.mkdir()
        self.settings["TMPDIR"] = str(self.temporary)
        self.project = machine.root / "shop"
        self.project.mkdir()
        for command in (["init", "-q"], ["remote", "add", "origin", "git@host.example:acme/shop.git"]):
            subprocess.run(["git", *command], cwd=self.project, check=True)

    def up(self) -> None:
        """Start bead, with a trace in a file too."""
        process = self.machine.start("up", "--trace", str(self.temporary / "trace.jsonl"), **self.settings)
        read_until(process, READY_LINE)

    def token(self, name: str) -> str:
        """`proxy` and `admin` as they lie in the home; any other name is a scope of curate's, made from `admin`."""
        kept = "proxy" if name == "proxy" else "admin"
        secret = (self.machine.home / "tokens" / kept).read_text().strip()
        return secret if name == kept else scoped_token(secret, name)

    def bead(self, *argv: str, **environ: str) -> str:
        """All that a command typed in the repository prints."""
        done = self.machine.run_in(self.project, *argv, **environ)
        assert done.returncode in (0, 3), done.stderr
        return done.stdout + done.stderr

    def json(self, *argv: str) -> Any:
        """The document of a command typed in the repository."""
        done = self.machine.run_in(self.project, *argv, "--json")
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout)

    def hook(self, event: str, document: Mapping[str, Any], cli: str = "claude") -> str:
        """What a hook answers."""
        argv = ("prime", "--hook-json", "--harness", cli) if event == "session-start" else ("hook", event, "--cli", cli)
        return self._typed(argv, json.dumps({**document, "cwd": str(self.project), "hook_event_name": event}))

    def mcp(self, tool: str, arguments: Mapping[str, Any], *, is_admin: bool = False) -> str:
        """What a tool answers over standard input and output."""
        lines: list[dict[str, Any]] = [
            {"id": 0, "method": "initialize", "params": _HELLO},
            {"method": "notifications/initialized"},
            {"id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
        ]
        typed = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
        said = self._typed(("mcp", "--admin") if is_admin else ("mcp",), typed)
        assert '"id":1' in said.replace(" ", ""), said
        return said

    def mcp_http(self, tool: str, arguments: Mapping[str, Any], *, is_admin: bool = False) -> str:
        """What a tool answers over HTTP."""
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        return self.curate(
            "POST", "/api/mcp" if is_admin else "/mcp", call, "admin" if is_admin else "mcp", project=str(self.project)
        )

    def curate(self, method: str, path: str, body: Any, token: str, *, project: str = "shop") -> str:
        """What curate answers, an error too."""
        headers = {
            "Authorization": f"Bearer {self.token(token)}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "X-Bead-Project": project,
        }
        url = f"http://127.0.0.1:{self.machine.ports['curate']}{path}"
        return _asked(urllib.request.Request(url, json.dumps(body).encode() if body else None, headers, method=method))

    def store(self, method: str, path: str, body: Any = None) -> Any:
        """What the store answers a person's program, through curate; an error too."""
        said = self.curate(method, f"/api/store{path}", body, "admin")
        return json.loads(said) if said else None

    def say(self, text: str, session: str, *, protocol: str = "anthropic") -> str:
        """One prompt of an agent through the proxy; see `send`."""
        return self.send(Talk((Said(text),)), session, protocol=protocol)

    def send(self, talk: Talk, session: str, *, protocol: str = "anthropic") -> str:
        """A request through the proxy: what the provider was sent for it, which is all that a model hears."""
        spoken = next(each for each in SPOKEN if each.name == protocol)
        document = spoken.told(talk)
        if protocol != "gemini":
            document["stream"] = True
        before = len(self.records.model_requests())
        self.raw_request(json.dumps(document).encode(), session, spoken.target)
        return "\n".join(each.decoded_body.decode() for each in self.records.wait_for(before + 1)[before:])

    def raw_request(self, body: bytes, session: str = "odd", target: str = "/v1/messages") -> str:
        """Any bytes to the proxy."""
        headers = {"Content-Type": "application/json", "X-Api-Key": "dummy", "X-Bead-Session": session}
        url = f"http://127.0.0.1:{self.machine.ports['proxy']}/t/{self.token('proxy')}{target}"
        return _asked(urllib.request.Request(url, body, {**headers, "X-Bead-Project": "shop"}, method="POST"))

    def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what another process does by itself."""
        end = time.monotonic() + LIMIT_S
        while not holds():
            assert time.monotonic() < end, "it did not happen in time"

    def _typed(self, argv: tuple[str, ...], text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "bead_cli", *argv],
            env=self.machine.environ,
            cwd=self.project,
            input=text,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def _asked(request: urllib.request.Request) -> str:
    try:
        with urllib.request.urlopen(request, timeout=_ANSWER_S) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return str(error.read().decode())


@contextmanager
def world(root: Path) -> Iterator[World]:
    """A provider in a process of its own, and a machine on which nothing runs yet."""
    records = root / "records"
    command = [sys.executable, "-m", "tests.fakes.upstream", "--port", "0", "--out", str(records)]
    provider = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    machine = Machine(root / "person")
    machine.root.mkdir()
    try:
        upstream = read_until(provider, b"\n").decode().split()[-1]
        yield World(machine, Records(records), upstream)
    finally:
        machine.end()
        provider.kill()
        provider.communicate()
