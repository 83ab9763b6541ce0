"""`bead curate` becomes an agent that has the admin tools and is not itself behind the proxy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bead_cli.curating import OPENING, without_loopback
from tests.unit.cli.desk import Desk
from tests.unit.cli.test_wrap import FAKE_HARNESS


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    claude = folder / "claude"
    claude.write_text(FAKE_HARNESS.format(python=sys.executable))
    claude.chmod(0o755)
    return folder


def curate(home: Path, programs: Path, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bead_cli", "curate", "--home", str(home), *argv],
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home.parent), **environ},
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_agent_gets_the_admin_tools_and_goes_straight_to_the_provider(desk: Desk, programs: Path) -> None:
    done = curate(desk.home, programs, ANTHROPIC_BASE_URL="http://127.0.0.1:7077/t/word", KEEP="me")

    seen = json.loads(done.stdout)
    config, prompt = Path(seen["argv"][1]), seen["argv"][-1]
    assert seen["argv"][0] == "--mcp-config" and "--strict-mcp-config" in seen["argv"] and prompt == OPENING
    assert "ANTHROPIC_BASE_URL" not in seen["environ"] and seen["environ"]["KEEP"] == "me"
    server = json.loads(config.read_text())["mcpServers"]["bead"]
    assert server["args"] == ["mcp", "--home", str(desk.home), "--admin"]
    assert config.parent == desk.home and config.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in desk.home.glob("curate-mcp.json*")] == ["curate-mcp.json"]


def test_what_follows_the_dashes_is_the_agents_own(desk: Desk, programs: Path) -> None:
    seen = json.loads(curate(desk.home, programs, "--", "--model", "x", "go on").stdout)
    assert seen["argv"][-3:] == ["--model", "x", "go on"]


def test_a_providers_own_address_stays() -> None:
    environ = {"ANTHROPIC_BASE_URL": "https://gateway.example/x", "OPENAI_BASE_URL": "http://localhost:7077/openai/v1"}
    assert without_loopback(environ) == {"ANTHROPIC_BASE_URL": "https://gateway.example/x"}


def test_an_agent_begins_no_session(desk: Desk, programs: Path) -> None:
    done = curate(desk.home, programs, CLAUDECODE="1")
    assert (done.returncode, done.stdout) == (1, "") and "person's decision" in done.stderr


def test_without_a_bead_that_runs_there_is_nothing_to_curate(tmp_path: Path, programs: Path) -> None:
    done = curate(tmp_path / "none", programs)
    assert done.returncode == 3 and "bead up" in done.stderr
    assert not (tmp_path / "none").exists()


def test_the_configuration_is_printed_for_another_agent(desk: Desk) -> None:
    assert desk.bead("curate", "--print-config").document["mcpServers"]["bead"]["args"][-1] == "--admin"
