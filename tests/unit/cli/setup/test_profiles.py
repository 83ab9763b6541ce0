"""`claude`, typed in a real bash, zsh and fish, with the profiles that people have (field case B30)."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from bead_cli.setup import marked, profiles

SHELLS = ("bash", "zsh", "fish")
# Stand-ins: bead says where the proxy is, as `bead wrap --print-env` does, and claude says what it was given.
BEAD = """\
#!/bin/sh
shell=; while [ $# -gt 1 ]; do [ "$1" = --print-env ] && shell=$2; shift; done
[ "$1" = claude ] || exit 9
if [ "$shell" = fish ]; then echo "set -fx ANTHROPIC_BASE_URL 'http://127.0.0.1:7077/it\\\\'s'"
else echo "local -x ANTHROPIC_BASE_URL='http://127.0.0.1:7077/it'\\\\''s'"; fi
"""
CLAUDE = '#!/bin/sh\necho "claude url=${ANTHROPIC_BASE_URL-none} args=$*"\n'
WITH = "claude url=http://127.0.0.1:7077/it's args="


class Person(NamedTuple):
    """A home with a `bead` and a `claude` in it."""

    home: Path
    shell: str

    @property
    def profile(self) -> Path:
        names = {"bash": ".bashrc", "zsh": ".zshrc", "fish": ".config/fish/config.fish"}
        return self.home / names[self.shell]

    @property
    def bead(self) -> Path:
        return self.home / "opt" / "bead"

    def set_up(self, profile: bytes = b"") -> None:
        """As `bead setup` leaves it behind."""
        [shell] = [each for each in profiles.shells({"SHELL": self.shell}, self.home) if each.name == self.shell]
        file = self.home / shell.file
        file.write_bytes(profiles.functions(shell, str(self.bead), str(self.home / "my bead's home")))
        self.profile.write_bytes(marked.with_block(profile, profiles.block(shell, file)))

    def type(self, *lines: str, interactive: bool = True) -> "subprocess.CompletedProcess[str]":
        """What the person sees after these lines in a new shell that reads the profile."""
        read = f". '{self.profile}'"
        flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[self.shell]
        # Aliases are expanded in scripts only when asked to.
        first = ["shopt -s expand_aliases"] if self.shell == "bash" and interactive else []
        return subprocess.run(
            [self.shell, *flags],
            input="\n".join([*first, read, *lines]) + "\n",
            env={"PATH": f"{self.home / 'bin'}:/usr/bin:/bin", "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=30,
        )


@pytest.fixture(params=SHELLS)
def person(request: pytest.FixtureRequest, tmp_path: Path) -> Person:
    assert shutil.which(request.param), f"{request.param} is installed by .ci/run"
    found = Person(tmp_path, request.param)
    for path, text in ((found.bead, BEAD), (tmp_path / "bin" / "claude", CLAUDE)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    found.profile.parent.mkdir(parents=True, exist_ok=True)
    return found


def test_claude_is_given_memory_and_nothing_stays_behind(person: Person) -> None:
    person.set_up()
    done = person.type("claude -p 'two words' \"\"", 'echo "after=$ANTHROPIC_BASE_URL"')
    assert (done.stdout, done.stderr) == (f"{WITH}-p two words \nafter=\n", "")


def test_reading_the_profile_prints_nothing_and_runs_nothing(person: Person) -> None:
    person.set_up()
    person.bead.write_text("#!/bin/sh\necho was run\n")
    for interactive in (True, False):
        done = person.type("true", interactive=interactive)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("person", ["bash", "zsh"], indirect=True)
def test_the_shell_s_options_for_careful_people_do_no_harm(person: Person) -> None:
    person.set_up()
    careful = person.profile.read_text()
    person.profile.write_text(f"set -eu\n{careful}")
    done = person.type("claude", "echo still here")
    assert (done.stdout, done.stderr) == (f"{WITH}\nstill here\n", "")


def test_an_alias_goes_on_working_inside(person: Person) -> None:
    person.set_up(b"alias claude='claude --verbose'\n")
    done = person.type("claude -c", ". " + str(person.profile), "claude -c")
    assert (done.stdout, done.stderr) == (f"{WITH}--verbose -c\n" * 2, "")


def test_an_alias_that_is_a_path_does_not_win(person: Person) -> None:
    path = person.home / "bin" / "claude"
    person.set_up(f'alias claude="{path}"\n'.encode())
    done = person.type("claude", "type claude")
    assert done.stdout.startswith(f"{WITH}\n")
    assert "function" in done.stdout
    assert done.stderr == ""


def test_a_function_goes_on_working_inside(person: Person) -> None:
    theirs = b"function claude; command claude --mine $argv; end\n"
    person.set_up(theirs if person.shell == "fish" else b'claude() { command claude --mine "$@"; }\n')
    done = person.type("claude -c", ". " + str(person.profile), "claude -c")
    assert (done.stdout, done.stderr) == (f"{WITH}--mine -c\n" * 2, "")


@pytest.mark.parametrize("ends", [b"", b"\r\n"])
def test_a_profile_with_other_line_ends_or_no_last_one_is_read(person: Person, ends: bytes) -> None:
    person.set_up(b"export A=1" + ends)
    done = person.type("claude", 'echo "$A"')
    assert done.stdout.splitlines()[0] == WITH
    assert done.stdout.split("\n")[1].strip() == "1"
    assert done.stderr == ""


def test_without_bead_claude_starts_all_the_same_and_a_line_says_why(person: Person) -> None:
    person.set_up()
    person.bead.unlink()
    done = person.type("claude -c")
    assert done.stdout == "claude url=none args=-c\n"
    assert (
        done.stderr == f"bead: {person.bead} is not there any more, starting claude without memory (run: bead setup)\n"
    )


def test_a_bead_that_has_nothing_to_say_leaves_claude_as_it_is(person: Person) -> None:
    person.set_up()
    person.bead.write_text("#!/bin/sh\necho 'bead: not running' >&2\nexit 3\n")
    done = person.type("claude -c", "echo $status" if person.shell == "fish" else "echo $?")
    assert (done.stdout, done.stderr) == ("claude url=none args=-c\n0\n", "bead: not running\n")


def test_the_exit_code_is_claude_s(person: Person) -> None:
    person.set_up()
    (person.home / "bin" / "claude").write_text("#!/bin/sh\nexit 7\n")
    assert person.type("claude", "echo $status" if person.shell == "fish" else "echo $?").stdout == "7\n"


def test_a_claude_inside_claude_s_own_shell_is_not_wrapped_twice(person: Person) -> None:
    person.set_up()
    (person.home / "bin" / "claude").write_text(f"#!/bin/sh\nexec {person.shell} -c 'echo inner $ANTHROPIC_BASE_URL'\n")
    assert person.type("claude").stdout == "inner http://127.0.0.1:7077/it's\n"
