"""Each agent's own settings: what is put in by whose wish, and what a person is told."""

import json
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bead_cli.setup.agents import AGENTS, Wishes
from bead_cli.setup.journal import Journal
from bead_cli.setup.steps import Done, do
from bead_cli.wrapping import HARNESSES

WISHES = Wishes("/opt/bead", "http://127.0.0.1:7077/t/token")


def connect(name: str, home: Path, wishes: Wishes = WISHES) -> list[Done]:
    journal = Journal(home / ".bead")
    return [do(step, journal, dry_run=False) for step in AGENTS[name].steps({}, home, wishes)]


def test_every_agent_that_can_be_wrapped_is_known() -> None:
    assert set(AGENTS) == set(HARNESSES)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_without_settings_of_this_kind_is_told_of(name: str, tmp_path: Path) -> None:
    assert connect(name, tmp_path) or AGENTS[name].notes


@pytest.mark.parametrize("name", ["claude", "qwen"])
def test_an_agent_s_own_memory_is_switched_off_by_wish_alone(name: str, tmp_path: Path) -> None:
    def switched(folder: Path) -> list[object]:
        settings = json.loads((folder / f".{name}" / "settings.json").read_text())
        return [settings.get(value.path[0], {}).get(value.path[1]) for value in AGENTS[name].switches]

    connect(name, tmp_path / "not asked")
    connect(name, tmp_path / "asked", WISHES._replace(no_auto_memory=True))
    assert set(switched(tmp_path / "not asked")) == {None}
    assert switched(tmp_path / "asked") == [value.value for value in AGENTS[name].switches]
    assert "--no-auto-memory" in AGENTS[name].own_memory


def test_drain_hooks_are_there_only_where_draining_is_on(tmp_path: Path) -> None:
    connect("claude", tmp_path / "off")
    connect("claude", tmp_path / "on", WISHES._replace(drains=True))
    off, on = (
        json.loads((tmp_path / name / ".claude" / "settings.json").read_text())["hooks"] for name in ("off", "on")
    )
    assert set(on) - set(off) == {"SessionEnd"}


def test_a_status_line_of_the_person_s_stays(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    [done] = connect("claude", tmp_path)
    assert json.loads(path.read_text())["statusLine"]["command"] == "mine"
    assert "statusLine" in done.reason


def test_a_file_of_keys_is_not_hidden_by_a_new_one(tmp_path: Path) -> None:
    """Gemini CLI reads ~/.gemini/.env and then no other."""
    (tmp_path / ".env").write_text("GEMINI_API_KEY=mine\n")
    assert [done.state for done in connect("gemini", tmp_path)] == ["written", "refused"]
    assert not (tmp_path / ".gemini" / ".env").exists()

    (tmp_path / ".gemini" / ".env").write_text("OTHER=1\n")
    assert [done.state for done in connect("gemini", tmp_path)] == ["unchanged", "written"]


def test_aider_is_pointed_at_bead_for_both_kinds_of_model(tmp_path: Path) -> None:
    path = tmp_path / ".aider.conf.yml"
    path.write_text("# mine\nmodel: sonnet")
    connect("aider", tmp_path)
    assert YAML(typ="safe", pure=True).load(path.read_text()) == {
        "model": "sonnet",
        "openai-api-base": f"{WISHES.base_url}/openai/v1",
        "set-env": [f"ANTHROPIC_API_BASE={WISHES.base_url}/anthropic"],
    }


@pytest.mark.parametrize("line", ["openai-api-base: http://mine", "set-env:\n  - A=1"])
def test_aider_s_settings_of_the_same_name_stay(line: str, tmp_path: Path) -> None:
    path = tmp_path / ".aider.conf.yml"
    path.write_text(f"{line}\n")
    assert [done.state for done in connect("aider", tmp_path)] == ["refused"]
    assert path.read_text() == f"{line}\n"


def test_codex_s_address_stands_before_its_tables(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('model = "m"\n[features]\nmemories = true\n')
    connect("codex", tmp_path)
    assert tomllib.loads(path.read_text())["openai_base_url"] == f"{WISHES.base_url}/openai/v1"
