"""`bead mcp` as a process: what it says when clients, and what they send, are odd (field case B37)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

INITIALIZE = {"protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": {"name": "sample", "version": "1"}}
ODD_SESSION = [
    {"id": 0, "method": "initialize", "params": INITIALIZE},
    {"method": "notifications/initialized"},
    {"id": "abc", "method": "ping"},
    {"method": "notifications/cancelled", "params": {"requestId": 99}},
    {"id": 1, "method": "tools/list"},
    {"id": 2, "method": "no/such/method"},
    {"id": 3, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "port"}}},
    {"id": 4, "method": "tools/call", "params": {"name": "no_such_tool", "arguments": {}}},
    {"id": 5, "method": "tools/call", "params": {"name": "recall"}},
    "not json",
    "",
    '[{"jsonrpc":"2.0","id":6,"method":"ping"}]',
    {"id": 7, "method": "ping"},
]
SUPPORTED = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "sample", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def spoken(home: Path, messages: list[Any], *arguments: str, end: str = "\n") -> list[dict[str, Any]]:
    """Every line of standard output, each of which must be one message, once the input has closed and it has ended."""
    lines = [each if isinstance(each, str) else json.dumps({"jsonrpc": "2.0", **each}) for each in messages]
    done = subprocess.run(
        [sys.executable, "-m", "bead_cli", "mcp", "--home", str(home), *arguments],
        input=end.join([*lines, ""]).encode(),
        env={"PATH": os.environ["PATH"], "HOME": str(home.parent)},
        capture_output=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def by_id(answers: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    return {answer["id"]: answer for answer in answers if answer["id"] is not None}


@pytest.mark.parametrize("arguments", [(), ("--admin",)], ids=["normal", "admin"])
def test_an_odd_session_gets_one_answer_for_each_request_and_none_for_a_notification(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    answers = spoken(tmp_path / "home", ODD_SESSION, *arguments)

    found = by_id(answers)
    assert set(found) == {0, 1, 2, 3, 4, 5, 7, "abc"}
    assert found[0]["result"]["protocolVersion"] in SUPPORTED
    assert found[2]["error"]["code"] == -32601
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32700, -32600]
    assert all(found[number]["result"]["isError"] for number in (3, 4, 5))


def test_without_a_bead_the_model_is_told_that_memory_was_not_looked_at(tmp_path: Path) -> None:
    found = by_id(spoken(tmp_path / "home", ODD_SESSION))
    said = found[3]["result"]["content"][0]["text"]
    assert "bead is not running" in said
    assert "does not mean that it is empty" in said
    assert not (tmp_path / "home").exists(), "a server opens no home"


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    older = {**INITIALIZE, "protocolVersion": "2024-11-05"}
    messages = [{"id": 0, "method": "initialize", "params": older}, {"id": 1, "method": "tools/list"}]
    found = by_id(spoken(tmp_path / "home", messages, end="\r\n"))
    assert found[0]["result"]["protocolVersion"] == "2024-11-05"
    assert [tool["name"] for tool in found[1]["result"]["tools"]] == ["recall", "remember"]


def test_a_broken_configuration_and_a_broken_runtime_file_end_no_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.yaml").write_text("store: [")
    (home / "runtime.json").write_text("{")
    found = by_id(spoken(home, ODD_SESSION))
    assert "runtime.json cannot be read" in found[3]["result"]["content"][0]["text"]
    assert found[7]["result"] == {}


def test_a_client_that_discovers_before_it_initializes_is_answered(tmp_path: Path) -> None:
    messages = [
        {"id": 0, "method": "server/discover", "params": {"_meta": ENVELOPE}},
        {"id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}},
    ]
    found = by_id(spoken(tmp_path / "home", messages))
    assert found[0]["result"]["supportedVersions"] == ["2026-07-28"]
    assert len(found[1]["result"]["tools"]) == 2


def test_a_bare_discovery_is_refused_and_the_handshake_still_works(tmp_path: Path) -> None:
    messages = [{"id": 0, "method": "server/discover"}, {"id": 1, "method": "initialize", "params": INITIALIZE}]
    found = by_id(spoken(tmp_path / "home", messages))
    assert "error" in found[0]
    assert found[1]["result"]["serverInfo"]["name"] == "bead"


def test_other_commands_do_not_load_the_sdk() -> None:
    load = "from bead_cli.catalogue import COMMANDS; [each.load() for each in COMMANDS]"
    check = f"{load}; import sys; print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
