"""Commands against a bead that runs: curate on a socket, a store in memory behind it."""

import os
import socket
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from bead_cli.commands.remember import say_verb
from bead_cli.output import Output
from tests.unit.cli.desk import Desk, Done, write_runtime

AGENT = {"CLAUDECODE": "1"}


def test_the_first_write_is_created_and_the_same_again_is_unchanged(desk: Desk) -> None:
    assert desk.bead("remember", "deploys happen on Tuesdays").out == "created user/deploys-happen-on-tuesdays v1\n"
    assert desk.bead("remember", "deploys happen on Tuesdays").out == "unchanged user/deploys-happen-on-tuesdays v1\n"


def test_superseding_prints_what_was_there(desk: Desk) -> None:
    desk.bead("write", "project/shop/deploy-day", "Tuesday")
    done = desk.bead("write", "project/shop/deploy-day", "Wednesday")
    assert done.out == "superseded project/shop/deploy-day v2 (was: Tuesday)\n"


def test_an_agent_cannot_speak_for_the_person(desk: Desk) -> None:
    desk.bead("write", "user/editor", "helix")
    done = desk.bead("write", "user/editor", "emacs", environ=AGENT)

    assert done.out.startswith("queued for review: user/editor ")
    assert "agent_observed" in done.err
    assert desk.json("recall", "user/editor")["body"] == "helix"


def test_a_person_who_repeats_an_agent_reinforces_it(desk: Desk) -> None:
    desk.bead("write", "user/editor", "helix", environ=AGENT)
    assert desk.bead("write", "user/editor", "helix").out == "reinforced user/editor v1\n"
    assert desk.json("show", "user/editor")["trust"] == "user_stated"


def test_the_trigger_card_and_type_arrive(desk: Desk) -> None:
    desk.bead(
        "write", "user/pnpm", "use pnpm", "--type", "feedback", "--do", "npm i", "--do", "yarn", "--unless", "pnpm"
    )
    fact = desk.json("show", "user/pnpm")
    assert fact["type"] == "feedback"
    assert fact["when"] == {"say": [], "do": ["npm i", "yarn"], "see": [], "unless": ["pnpm"]}


def test_a_command_name_is_refused_and_nothing_is_kept(desk: Desk) -> None:
    done = desk.bead("remember", "status")
    assert done.code == 1
    assert "looks like a command" in done.err
    assert desk.json("memories")["facts"] == []


def test_a_bare_key_is_read_instead_of_kept(desk: Desk) -> None:
    desk.bead("remember", "we ship on Tuesdays", "--key", "deploy-day")
    assert desk.bead("remember", "deploy-day").out == "we ship on Tuesdays\n"
    assert len(desk.json("memories")["facts"]) == 1


def test_a_bare_key_with_nothing_under_it_is_refused_not_kept(desk: Desk) -> None:
    done = desk.bead("remember", "deploy-day")
    assert done.code == 1
    assert desk.json("memories")["facts"] == []


def test_an_explicit_key_turns_the_guards_off(desk: Desk) -> None:
    assert desk.bead("remember", "status", "--key", "favourite-command").out == "created user/favourite-command v1\n"


def test_the_directory_decides_the_project_and_a_key_with_a_scope_wins(desk: Desk, tmp_path: Path) -> None:
    repository = tmp_path / "work" / "shop"
    repository.mkdir(parents=True)
    for command in (["init", "-q"], ["remote", "add", "origin", "git@host.example:acme/shop.git"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    os.chdir(repository)

    assert desk.bead("remember", "ships on Tuesdays").out == "created project/shop/ships-on-tuesdays v1\n"
    assert desk.bead("remember", "x y", "--key", "user/mine").out == "created user/mine v1\n"
    assert desk.bead("remember", "z w", "--project", "other").out == "created project/other/z-w v1\n"
    assert desk.bead("recall", "ships-on-tuesdays").out == "ships on Tuesdays\n"


def test_history_is_oldest_first_and_a_version_can_be_shown(desk: Desk) -> None:
    for body in ("one", "two", "three"):
        desk.bead("write", "user/count", body)
    assert [fact["body"] for fact in desk.json("history", "count")["versions"]] == ["one", "two", "three"]
    assert desk.json("show", "count@v2")["body"] == "two"
    assert desk.bead("show", "user/count@v9").code == 1


def test_memories_matches_key_or_body_whatever_the_case(desk: Desk) -> None:
    desk.bead("write", "user/editor", "Helix")
    desk.bead("write", "user/shell", "fish")
    assert [fact["key"] for fact in desk.json("memories", "hELIX")["facts"]] == ["user/editor"]
    assert [fact["key"] for fact in desk.json("memories", "SHELL")["facts"]] == ["user/shell"]
    assert desk.bead("memories", "nothing", "--all").out == "no memories with that text\n"


def test_memories_are_those_of_this_project_and_of_the_person_unless_all_are_wanted(desk: Desk, tmp_path: Path) -> None:
    for key in ("project/shop/day", "project/other/day", "user/editor", "global/tone"):
        desk.bead("write", key, "x")
    here = tmp_path / "shop"
    here.mkdir()
    os.chdir(here)

    def keys(*argv: str) -> list[str]:
        return [fact["key"] for fact in desk.json("memories", *argv)["facts"]]

    desk.bead("write", "mine", "y")
    assert keys() == ["global/tone", "project/shop/day", "project/shop/mine", "user/editor"]
    assert keys("--project", "other") == ["project/other/day"]
    assert {"project/shop/day", "project/other/day", "user/editor"} <= set(keys("--all"))
    assert desk.bead("memories", "nothing").out.startswith("no memories with that text in project/shop")
    assert desk.bead("memories", "--all", "--project", "x").code == 2


@pytest.mark.parametrize(
    ("argv", "code", "named"),
    [
        (("search", ""), 2, "no words to look for"),
        (("remember", " "), 2, "no text to keep"),
        (("index",), 2, "bead index rebuild"),
    ],
)
def test_a_message_says_what_is_missing(desk: Desk, argv: tuple[str, ...], code: int, named: str) -> None:
    done = desk.bead(*argv)
    assert done.code == code
    assert named in done.err


READING = [("memories",), ("recall", "x"), ("show", "x"), ("history", "x"), ("search", "x"), ("queue",), ("pin", "x")]


@pytest.mark.parametrize("argv", READING, ids=lambda argv: argv[0])
def test_a_mistyped_home_is_said_and_leaves_no_folder(tmp_path: Path, argv: tuple[str, ...]) -> None:
    desk = Desk(tmp_path / "mistyped", None, 0)  # type: ignore[arg-type]
    done = desk.bead(*argv)
    assert done.code == 1
    assert f"no memory in {desk.home} yet" in done.err
    assert not desk.home.exists()


@pytest.mark.parametrize("command", ["remember", "memories", "up"])
def test_a_home_that_is_a_file_is_said_to_be_one(tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    desk = Desk(file, None, 0)  # type: ignore[arg-type]
    done = desk.bead(command, *(["two words"] if command == "remember" else []))
    assert done.code in (1, 3)
    assert ("is not a folder" in done.err) or (f"no memory in {file} yet" in done.err)
    assert file.read_text() == "mine"


def test_a_home_that_cannot_be_opened_names_the_files_to_read(tmp_path: Path) -> None:
    """Even reading takes the lock of the home: where that cannot be had, Markdown can still be read."""
    desk = Desk(tmp_path / "home", None, 0)  # type: ignore[arg-type]
    desk.bead("remember", "two words")
    queue = desk.home / "store" / "queue"
    queue.rmdir()
    queue.write_text("in the way")
    done = desk.bead("memories")
    assert done.code == 3
    assert str(queue) in done.err and f"the facts lie in {desk.home / 'store' / 'facts'}" in done.err


def test_a_bead_that_hangs_is_given_up_after_five_seconds_and_said_to_hang(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        write_runtime(desk.home, {"curate": port, "proxy": port})
        began = time.monotonic()
        done = desk.bead("memories")
    assert done.code == 3
    assert "does not answer" in done.err and "within 5 s" in done.err and "bead down" in done.err
    assert time.monotonic() - began < 10


class StaleIndex:
    """An index that has not read everything, and finds what it is told to find."""

    def __init__(self, hits: list[dict[str, object]]) -> None:
        self.hits = hits

    def call(self, service: str, method: str, path: str, *_: object, **__: object) -> object:
        return {"/v1/changes": {"seq": 7}, "/v1/applied": False, "/v1/search": {"hits": self.hits}}.get(path)


@pytest.mark.parametrize(("hits", "code"), [([], 3), ([{"id": "user/x", "snippet": "x"}], 0)])
def test_an_index_that_is_behind_is_never_a_plain_nothing_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, hits: list[dict[str, object]], code: int
) -> None:
    monkeypatch.setattr("bead_cli.commands.search.opened", lambda *_: nullcontext(StaleIndex(hits)))
    done = desk.bead("search", "x", "--project", "p")
    assert done.code == code
    assert "has not read everything" in done.err
    assert "nothing found\n" not in done.out


def test_every_page_of_memories_is_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bead_cli.commands.read._PAGE", 2)
    for number in range(5):
        desk.bead("write", f"user/n{number}", "x")
    assert len(desk.json("memories")["facts"]) == 5


def test_pin_says_what_it_did(desk: Desk) -> None:
    desk.bead("write", "user/editor", "helix")
    assert [desk.bead(verb, "editor").out for verb in ("pin", "pin", "unpin")] == [
        "pinned user/editor v1\n",
        "unchanged user/editor v1\n",
        "unpinned user/editor v1\n",
    ]


def test_a_statement_that_may_replace_another_is_said_with_the_way_to_decide() -> None:
    terminal = Terminal()
    answer = {"verb": "created", "key": "user/b", "version": 1, "conflicts_with": "user/a", "review_id": "0f"}
    say_verb(Output(terminal, terminal, as_json=False, environ={}), answer)  # type: ignore[arg-type]
    assert "user/a says something else" in terminal.text
    assert "bead queue accept 0f" in terminal.text


def test_the_queue_shows_what_waits(desk: Desk) -> None:
    assert desk.bead("queue", "list").out == "nothing waits for you\n"
    desk.bead("write", "user/editor", "helix")
    desk.bead("write", "user/editor", "emacs", environ=AGENT)
    assert [item["body"] for item in desk.json("queue", "list")["items"]] == ["emacs"]


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (("recall", "user/nothing"), 1, "not-found"),
        (("recall", "nothing"), 1, "not-found"),
        (("write", "user/Not A Key", "x"), 2, "invalid-key"),
        (("remember", "  "), 2, "bad-request"),
        (("remember", "\udcff\udcfe x"), 2, "bad-request"),
        (("remember", "status"), 1, "refused"),
    ],
)
def test_an_error_is_one_line_and_with_json_also_one_document(
    desk: Desk, argv: tuple[str, ...], code: int, error: str
) -> None:
    done = desk.bead(*argv, "--json")
    assert done.code == code
    assert done.document["type"] == f"urn:bead:error:{error}"
    assert done.err.startswith("bead: ")
    assert done.err.count("\n") == 1
    assert desk.bead(*argv).out == ""


def files(home: Path) -> list[str]:
    return sorted(str(path) for path in home.rglob("*"))


def test_a_running_bead_that_does_not_answer_is_an_error_and_its_home_is_not_opened(desk: Desk) -> None:
    write_runtime(desk.home, {"curate": unused_port(), "proxy": unused_port()})
    before = files(desk.home)

    done = desk.bead("recall", "user/editor", "--json")

    assert done.code == 3
    assert done.document["type"] == "urn:bead:error:service-down"
    assert files(desk.home) == before


def test_something_else_on_the_port_is_told_from_bead(desk: Desk) -> None:
    (desk.home / "tokens" / "admin").write_text("of-another-home\n")
    done = desk.bead("memories")
    assert done.code == 3
    assert "admin token" in done.err


def unused_port() -> int:
    from bead.bus.serve import listen

    listener = listen("127.0.0.1", 0)
    try:
        return int(listener.getsockname()[1])
    finally:
        listener.close()


def test_status_names_the_service_that_does_not_answer(desk: Desk) -> None:
    write_runtime(desk.home, {"store": desk.port, "curate": desk.port, "scheduler": unused_port()})
    done = desk.bead("status", "--json")
    assert done.code == 3
    services = done.document["services"]
    assert services["curate"]["ready"] is True
    assert services["scheduler"] == {
        "url": services["scheduler"]["url"],
        "ready": False,
        "degraded": ["it does not answer"],
    }


def test_status_without_a_bead_is_unavailable(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "nothing", None, 0)  # type: ignore[arg-type]
    done: Done = desk.bead("status", "--json")
    assert (done.code, done.document["running"]) == (3, False)
    assert not desk.home.exists()


class Terminal:
    """A standard output that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_stored_text_cannot_drive_the_terminal(environ: dict[str, str]) -> None:
    """An escape sequence in a memory could rename the window or hide lines (T6)."""
    terminal = Terminal()
    output = Output(terminal, terminal, as_json=False, environ=environ)  # type: ignore[arg-type]
    say_verb(output, {"verb": "superseded", "key": "user/x", "version": 2, "replaced": "a\x1b]0;evil\x07b"})
    assert "\x1b" not in terminal.text
    assert "\x07" not in terminal.text


def test_colours_only_on_a_terminal(desk: Desk) -> None:
    terminal = Terminal()
    Output(terminal, terminal, as_json=False, environ={}).text(  # type: ignore[arg-type]
        Output(terminal, terminal, as_json=False, environ={}).style("green", "created")  # type: ignore[arg-type]
    )
    assert "\x1b[32m" in terminal.text
    assert "\x1b" not in desk.bead("write", "user/editor", "helix").out
