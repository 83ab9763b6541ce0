"""`bead setup` and `bead unsetup` on a person's machine: every file, every supervisor, and back without a trace."""

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.bead_process import Machine
from tests.e2e.conftest import BEAD, Desk
from tests.harness.namespace import clean_environment

pytestmark = pytest.mark.e2e

TRY = ("--allow-temporary",)
AGENTS = tuple(
    word for name in ("claude", "codex", "gemini", "qwen", "opencode", "aider") for word in ("--harness", name)
)
# Stand-ins for what keeps programs running: they note how they are called, and do to files what the real ones do.
SYSTEMCTL = """\
#!/bin/sh
echo "systemctl $*" >> "$HOME/../calls"
wants="$HOME/.config/systemd/user/default.target.wants"
case "$*" in
  *" enable "*) mkdir -p "$wants" && ln -s ../bead.service "$wants/bead.service" ;;
  *" disable "*) rm -f "$wants/bead.service" && rmdir "$wants" ;;
esac
"""
CRONTAB = """\
#!/bin/sh
table="$HOME/../crontab"
case "$1" in
  -l) cat "$table" 2>/dev/null || { echo "no crontab" >&2; exit 1; } ;;
  -r) rm -f "$table" ;;
  -) cat > "$table" ;;
esac
"""
NO_MANAGER = '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n'


class Person(Machine):
    """A machine with supervisors of our own before the real ones."""

    def furnish(self, **programs: str) -> None:
        """Put programs before those of the machine."""
        for name, text in programs.items():
            path = self.root.parent / "bin" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)

    @property
    def environ(self) -> dict[str, str]:
        known = super().environ
        return {**known, "PATH": f"{self.root.parent / 'bin'}:{known['PATH']}", "SHELL": "/bin/bash"}


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    root = tmp_path / "person"
    root.mkdir()
    found = Person(root)
    yield found
    found.end()


def looks(root: Path) -> dict[str, tuple[str, int, bytes | str]]:
    """Everything below `root` but bead's home: kind, mode, and content."""
    found: dict[str, tuple[str, int, bytes | str]] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.startswith(".bead"):
            continue
        state = path.lstat()
        mode = stat.S_IMODE(state.st_mode)
        if path.is_symlink():
            found[name] = ("link", mode, os.readlink(path))
        else:
            found[name] = ("folder", mode, "") if path.is_dir() else ("file", mode, path.read_bytes())
    return found


def furnish(root: Path) -> None:
    """Profiles and settings as people have them."""
    (root / "dotfiles").mkdir()
    (root / "dotfiles" / "zshrc").write_bytes(b'alias claude="$HOME/.claude/local/claude"\r\n')
    (root / ".zshrc").symlink_to("dotfiles/zshrc")
    (root / ".bashrc").write_bytes(b"export A=1")
    (root / ".config" / "fish").mkdir(parents=True)
    (root / ".config" / "fish" / "config.fish").write_bytes(b"set -x A 1\n")
    (root / ".claude").mkdir(mode=0o700)
    (root / ".claude" / "settings.json").write_text('{"model":"opus","hooks":{"Stop":[{"hooks":[]}]}}')
    (root / ".claude" / "settings.json").chmod(0o600)
    (root / ".codex").mkdir()
    (root / ".codex" / "config.toml").write_text('model = "gpt-5.5"\n[features]\nmemories = true\n')
    (root / ".gemini").mkdir()
    (root / ".gemini" / ".env").write_text("GEMINI_API_KEY=mine")


@pytest.mark.parametrize("supervisor", ["systemd", "cron", "none"])
def test_a_machine_is_set_up_once_and_given_back_byte_for_byte(person: Person, supervisor: str) -> None:
    furnish(person.root)
    table = person.root.parent / "crontab"
    if supervisor == "systemd":
        person.furnish(systemctl=SYSTEMCTL)
    elif supervisor == "cron":
        table.write_text("5 4 * * * make backup")
        person.furnish(systemctl=NO_MANAGER, crontab=CRONTAB)
    else:
        person.furnish(systemctl=NO_MANAGER)
    before = looks(person.root)

    done = person.run("setup", *TRY, *AGENTS, "--no-load")
    assert done.returncode == 0, done.stdout + done.stderr
    once = looks(person.root)
    assert {name for name in once if once[name] != before.get(name)} >= {
        ".bashrc", "dotfiles/zshrc", ".config/fish/config.fish", ".claude/settings.json", ".codex/config.toml",
        ".codex/hooks.json", ".gemini/.env", ".gemini/settings.json", ".qwen/.env", ".config/opencode/opencode.json",
        ".aider.conf.yml",
    }  # fmt: skip
    assert once[".zshrc"] == before[".zshrc"]
    if supervisor == "systemd":
        assert b"up" in once[".config/systemd/user/bead.service"][2]
    if supervisor == "cron":
        assert table.read_text().splitlines()[0] == "5 4 * * * make backup"
        assert table.read_text().splitlines()[1].startswith("@reboot ")

    times = {path: path.stat().st_mtime_ns for path in person.root.rglob("*") if path.is_file()}
    again = person.json("setup", *TRY, *AGENTS, "--no-load")
    assert {each["state"] for each in again["files"]} == {"unchanged"}
    assert looks(person.root) == once
    changed = {path for path, at in times.items() if path.exists() and path.stat().st_mtime_ns != at}
    assert {path.name for path in changed if ".bead" not in path.parts} == set()

    done = person.run("unsetup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert looks(person.root) == before
    assert not table.exists() or table.read_text() == "5 4 * * * make backup"


def test_a_dry_run_changes_nothing_and_says_what_would_be(person: Person) -> None:
    furnish(person.root)
    before = looks(person.root)
    done = person.run("setup", "--dry-run", *TRY, *AGENTS)
    assert (done.returncode, looks(person.root)) == (0, before)
    assert not person.home.exists()
    assert "+ env.ANTHROPIC_BASE_URL" in done.stdout
    assert "gpt-5.5" not in done.stdout


def test_what_was_changed_since_keeps_the_change(person: Person) -> None:
    furnish(person.root)
    person.run("setup", *TRY, "--harness", "claude", "--no-load")
    with (person.root / ".bashrc").open("ab") as file:
        file.write(b"export B=2\n")
    settings = person.root / ".claude" / "settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "sonnet"}))
    person.run("setup", *TRY, "--harness", "claude", "--tool-search", "--no-load")
    assert json.loads(settings.read_text())["env"]["ENABLE_TOOL_SEARCH"] == "true"

    done = person.run("unsetup")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (person.root / ".bashrc").read_bytes() == b"export A=1\nexport B=2\n"
    assert json.loads(settings.read_text()) == {"model": "sonnet", "hooks": {"Stop": [{"hooks": []}]}}


def test_what_bead_may_not_change_is_told_and_left(person: Person) -> None:
    furnish(person.root)
    (person.root / "dotfiles" / "zshrc").chmod(0o444)
    (person.root / ".claude" / "settings.json").write_text("{} // mine")
    (person.root / ".codex" / "config.toml").write_text('openai_base_url = "https://gateway.example"\n')
    before = looks(person.root)
    done = person.run("setup", *TRY, "--harness", "claude", "--harness", "codex", "--no-load")
    assert done.returncode == 4
    assert "is read-only; nothing was changed there; put this at its end yourself: if [ -r" in done.stdout
    assert "is not plain JSON" in done.stdout
    assert "sets openai_base_url already; it is left as it is" in done.stdout
    after = looks(person.root)
    for name in ("dotfiles/zshrc", ".claude/settings.json", ".codex/config.toml"):
        assert after[name] == before[name]
    assert person.run("unsetup").returncode == 0
    assert looks(person.root) == before


def test_doctor_finds_what_names_bead_and_is_not_setup_s(person: Person) -> None:
    furnish(person.root)

    def found() -> set[tuple[str, int]]:
        done = person.run("doctor", "--json")
        findings = json.loads(done.stdout)["findings"]
        return {(Path(each["path"]).name, each["line"]) for each in findings if each["check"] == "setup"}

    assert found() == set()
    person.run("setup", *TRY, *AGENTS, "--no-load")
    assert found() == set()
    person.run("unsetup")
    assert found() == set()
    (person.root / ".profile").write_text("export A=1\nexport BEAD_HOME=/srv/.bead\nexport LANES=lead:beads\n")
    base = f"http://127.0.0.1:{person.ports['proxy']}"
    (person.root / ".codex" / "config.toml").write_text(f'model = "x"\n\nopenai_base_url = "{base}/openai/v1"\n')
    assert found() == {(".profile", 2), ("config.toml", 3)}


def test_a_bead_in_a_folder_that_is_cleaned_up_is_refused(person: Person) -> None:
    done = person.run("setup", TMPDIR=str(BEAD.parent))
    assert done.returncode == 1
    assert "where it will be gone one day" in done.stderr
    assert looks(person.root) == {}


def test_a_unit_is_enabled_though_bead_runs_already_and_unloaded_again(person: Person) -> None:
    person.furnish(systemctl=SYSTEMCTL)
    person.up()
    calls = person.root.parent / "calls"
    assert person.json("setup", *TRY)["bead"] == "running"
    assert "systemctl --user enable bead.service" in calls.read_text().splitlines()
    assert person.run("unsetup").returncode == 0
    assert "systemctl --user disable --now bead.service" in calls.read_text()
    assert person.run("unsetup").returncode == 1


def test_a_supervisor_that_refuses_is_told_with_an_exit_code(person: Person) -> None:
    refusing = '#!/bin/sh\ncase "$*" in *" enable "*) echo "Access denied" >&2; exit 1 ;; esac\n'
    person.furnish(systemctl=refusing)
    done = person.run("setup", *TRY, "--no-vault")
    assert done.returncode == 3
    assert "Access denied" in done.stdout


def test_a_unit_that_a_person_has_made_is_neither_overwritten_nor_loaded(person: Person) -> None:
    person.furnish(systemctl=SYSTEMCTL)
    unit = person.root / ".config" / "systemd" / "user" / "bead.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Service]\nExecStart=/opt/mine/bead up\n")
    before = looks(person.root)
    done = person.run("setup", *TRY, "--no-vault")
    assert done.returncode == 4
    assert "is there already and is not setup's" in done.stdout
    assert unit.read_text() == "[Service]\nExecStart=/opt/mine/bead up\n"
    assert person.run("unsetup").returncode == 0
    assert "able" not in (person.root.parent / "calls").read_text()
    assert looks(person.root) == before


def test_another_port_or_choice_takes_the_place_of_the_earlier_one(person: Person) -> None:
    furnish(person.root)
    settings = person.root / ".claude" / "settings.json"
    config = person.root / ".codex" / "config.toml"
    before = looks(person.root)
    harness = ("--harness", "claude", "--harness", "codex", "--no-load", "--no-rc")
    person.run("setup", *TRY, *harness)
    first = json.loads(settings.read_text())["env"]["ANTHROPIC_BASE_URL"]

    person.ports["proxy"] += 1
    assert person.run("setup", *TRY, *harness).returncode == 0
    now = json.loads(settings.read_text())
    assert now["env"]["ANTHROPIC_BASE_URL"].startswith(f"http://127.0.0.1:{person.ports['proxy']}/t/")
    assert len(now["hooks"]["SessionStart"]) == 1
    assert f":{person.ports['proxy']}/" in config.read_text()
    assert first not in settings.read_text()

    assert person.run("setup", *TRY, *harness, "--hooks-only").returncode == 0
    assert "ANTHROPIC_BASE_URL" not in settings.read_text()
    assert "UserPromptSubmit" in settings.read_text()
    assert looks(person.root)[".codex/config.toml"] == before[".codex/config.toml"]
    assert person.run("unsetup").returncode == 0
    assert looks(person.root) == before


@pytest.mark.harness
def test_a_fresh_account_is_reminded_within_a_minute_and_left_without_a_trace(desk: Desk) -> None:
    """The whole of it as a person does it: setup, a new shell, `claude`, unsetup; no file is touched by hand."""
    desk.seat.prepare()
    home, started = desk.seat.home, time.monotonic()
    (home / ".bashrc").write_bytes(b"export A=1")
    assert os.listdir(home) == [".bashrc"]
    environment = desk.claude.environment(desk.seat) | {"SHELL": "/bin/bash"}
    del environment["ANTHROPIC_BASE_URL"]
    environment |= clean_environment(home, path=[BEAD.parent, desk.claude.executable.parent])
    environment |= {
        "BEAD_PROXY__UPSTREAM__ANTHROPIC": "http://127.0.0.1:8080",
        "CLAUDE_CONFIG_DIR": str(desk.root / "cc"),
    }
    before = looks(home)

    def typed(line: str) -> str:
        done = desk.namespace.run(
            ["bash", "--rcfile", str(home / ".bashrc"), "-ic", line],
            environment=environment,
            folder=desk.seat.project,
            timeout_s=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        typed("bead setup --allow-temporary --no-vault")
        typed("bead remember 'we ship with make ship-it' --type feedback")
        typed("bead search ship-it")
        typed("claude -p 'how do we ship? with make ship-it?'")
        sent = "\n".join(each.decoded_body.decode() for each in desk.provider.model_requests())
        assert "we ship with make ship-it" in sent
        assert time.monotonic() - started < 60
    finally:
        typed("bead unsetup")
    assert looks(home) == before
