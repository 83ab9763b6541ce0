"""The protocol's own inspector reads bead's servers: by a process and over HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import BEAD, Desk
from tests.harness.install import installed_agent
from tests.harness.namespace import clean_environment

pytestmark = [pytest.mark.e2e, pytest.mark.harness]

VERSION = "2.12.0"


class Inspector:
    """The inspector's command line at a desk."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self._desk, self._bin = desk, folder / "node_modules/.bin"

    def asks(self, server: list[str], *question: str) -> Any:
        """The result of one question."""
        done = self._desk.namespace.run(
            [self._bin / "mcp-inspector", "--cli", *server, *question],
            environment=clean_environment(self._desk.seat.home, path=[self._bin, BEAD.parent]),
            folder=self._desk.seat.project,
            timeout_s=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def calls(self, server: list[str], tool: str, **arguments: str) -> str:
        """The text that a tool answers."""
        given = [part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")]
        result = self.asks(server, "--method", "tools/call", "--tool-name", tool, *given)
        assert not result.get("isError"), result
        return "\n".join(part["text"] for part in result["content"])


@pytest.fixture
def inspector(desk: Desk) -> Inspector:
    return Inspector(desk, installed_agent("@modelcontextprotocol/inspector", VERSION))


def test_the_inspector_lists_and_calls_the_tools(desk: Desk, inspector: Inspector) -> None:
    desk.start_bead()
    normal, admin = [str(BEAD), "mcp"], [str(BEAD), "mcp", "--admin"]

    listed = inspector.asks(admin, "--method", "tools/list")["tools"]
    assert {"summary", "forget", "set_when", "remember"} <= {tool["name"] for tool in listed}
    assert inspector.calls(normal, "remember", text="Staging listens on port 5433.", key="port").startswith("created:")

    entry = desk.bead("mcp", "--print-config", "--http")["mcpServers"]["bead"]
    header = f"Authorization: {entry['headers']['Authorization']}"
    over_http = [entry["url"], "--transport", "http", "--header", header]
    assert "Staging listens on port 5433." in inspector.calls(over_http, "recall", query="staging port")
