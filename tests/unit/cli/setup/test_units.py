"""What keeps bead running, as text: a unit, an agent of macOS, a line of cron."""

import plistlib
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_cli.setup import units

ARGUMENTS = ["/opt/my bead/bead", "up", "--home", "/home/me/50% $HOME"]
LOG = Path("/home/me/.bead/logs/bead.log")
TABLES = st.lists(st.sampled_from(["5 4 * * * make backup\n", "# a word\n", "\n", "MAILTO=me\n"])).map("".join)


def test_the_unit_names_the_program_and_nothing_in_it_is_expanded() -> None:
    [line] = [each for each in units.systemd_unit(ARGUMENTS).decode().splitlines() if each.startswith("ExecStart=")]
    assert line == 'ExecStart="/opt/my bead/bead" "up" "--home" "/home/me/50%% $$HOME"'


def test_the_agent_of_macos_is_a_property_list() -> None:
    agent = plistlib.loads(units.launchd_agent(ARGUMENTS, LOG))
    assert agent["ProgramArguments"] == ARGUMENTS
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert (agent["Label"], agent["RunAtLoad"], agent["StandardOutPath"]) == (units.LABEL, True, str(LOG))


def test_cron_starts_the_program_with_the_machine() -> None:
    line = units.cron_line(ARGUMENTS, LOG)
    assert line.startswith("@reboot ")
    assert "%" not in line.replace("\\%", "")
    command = line.removeprefix("@reboot ").replace("\\%", "%").partition(" >>")[0]
    assert shlex.split(command) == ARGUMENTS


@given(TABLES)
def test_a_line_comes_and_goes_and_the_rest_of_the_table_stays(table: str) -> None:
    line = units.cron_line(ARGUMENTS, LOG)
    once = units.with_cron_line(table, line)
    assert once.count("@reboot") == 1
    assert units.with_cron_line(once, line) == once
    assert units.without_cron_line(once) == table


@pytest.mark.parametrize(("platform", "kind"), [("darwin", units.LAUNCHD), ("linux", units.NOTHING)])
def test_the_supervisor_is_the_machine_s(tmp_path: Path, platform: str, kind: str) -> None:
    machine = units.Machine({"PATH": str(tmp_path)}, tmp_path, LOG, platform)
    assert units.kind(machine) == kind


def test_macos_is_asked_by_its_own_words(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "launchctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/calls\n[ "$1" = bootstrap ] || exit 3\n')
    program.chmod(0o755)
    machine = units.Machine({"PATH": f"{program.parent}:/usr/bin:/bin"}, tmp_path, LOG, "darwin")
    step = units.step(machine, units.LAUNCHD, ARGUMENTS)
    assert step is not None
    assert step.path == tmp_path / "Library" / "LaunchAgents" / "com.bead.up.plist"
    units.load(machine, units.LAUNCHD, ARGUMENTS)
    units.unload(machine, units.LAUNCHD)
    words = [line.split()[0] for line in (tmp_path / "calls").read_text().splitlines()]
    assert words == ["bootout", "bootstrap", "bootout"]
