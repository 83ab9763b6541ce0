"""The command line: what it accepts, what it refuses, and with which code."""

import io
import json

import pytest

from bead_cli.__main__ import run
from bead_cli.catalogue import COMMANDS, PLANNED
from bead_cli.commands import version
from bead_cli.parsing import parse, parser_of


def ends(*argv: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        run(argv, {}, out, io.StringIO())
    return int(str(end.value.code)), out.getvalue()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself_and_takes_json_and_home(command: object) -> None:
    parser = parser_of(command, [], io.StringIO())  # type: ignore[arg-type]
    help_text = parser.format_help()

    assert {"--json", "--home"} <= {option for action in parser._actions for option in action.option_strings}
    assert "examples:" in help_text or parser.prog == "bead version"


@pytest.mark.parametrize("name", sorted(PLANNED))
def test_a_command_that_does_not_exist_yet_is_told_from_a_typing_error(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = ends(name, "--json")
    assert code == 2
    assert json.loads(out)["detail"] == f"'{name}' is not in this version yet"
    assert "not in this version yet" in capsys.readouterr().err


def test_a_word_that_is_no_command_is_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert ends("rememberr")[0] == 2
    assert "'rememberr' is not a command of bead" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["0", "-3", "many", "1.5", ""])
def test_a_limit_that_counts_nothing_is_a_usage_error(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ends("search", "x", f"--limit={limit}")[0] == 2
    assert "argument --limit: must be a whole number from 1 on" in capsys.readouterr().err


def test_no_command_at_all_is_a_usage_error_and_help_is_not() -> None:
    assert ends()[0] == 2
    code, out = ends("-h")
    assert code == 0
    assert "commands:" in out


def test_a_usage_error_with_json_is_one_problem_document() -> None:
    code, out = ends("search", "--json", "--no-such-option", "x")
    assert code == 2
    assert json.loads(out)["type"] == "urn:bead:error:bad-request"


def test_home_before_the_command_means_the_same_as_after_it() -> None:
    _, before = parse(["--home", "/x", "--json", "status"], io.StringIO())
    _, after = parse(["status", "--home", "/x", "--json"], io.StringIO())
    assert (before.home, before.json) == (after.home, after.json) == ("/x", True)


def test_options_of_a_wrapped_harness_are_not_ours() -> None:
    _, args = parse(["wrap", "claude", "--", "--json", "--home", "x"], io.StringIO())
    assert (args.json, args.home, args.rest[-3:]) == (False, None, ["--json", "--home", "x"])


def test_version_is_one_line_or_one_document() -> None:
    out = io.StringIO()
    assert run(["--version"], {}, out, io.StringIO()) == 0
    assert out.getvalue().startswith("bead ")
    out = io.StringIO()
    assert run(["version", "--json"], {}, out, io.StringIO()) == 0
    assert list(json.loads(out.getvalue())) == ["version"]


def test_a_defect_of_ours_is_one_line_without_the_text_of_the_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception's text may hold what it choked on (I15)."""

    def choke(*_: object) -> int:
        raise ExceptionGroup("several", [ValueError("a memory of the person")])

    monkeypatch.setattr(version, "run", choke)
    out, err = io.StringIO(), io.StringIO()
    assert run(["version", "--json"], {}, out, err) == 3
    assert json.loads(out.getvalue())["type"] == "urn:bead:error:internal"
    assert "ValueError" in err.getvalue()
    assert "memory" not in err.getvalue() + out.getvalue()
    assert err.getvalue().count("\n") == 1
