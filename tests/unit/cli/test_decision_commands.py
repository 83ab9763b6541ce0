"""What only a person decides: forget, accept, reject; and the two marks beside them, rekey and reinforce."""

import io

import pytest

from bead.facts import Status
from bead.wire.store import IndexState
from tests.unit.cli.desk import Desk

AGENT = {"CLAUDECODE": "1"}
KEY = "project/shop/deploy-day"


class Terminal(io.StringIO):
    """A standard input at which a person sits."""

    def isatty(self) -> bool:
        return True


def keys(desk: Desk) -> list[str]:
    return sorted(desk.store.facts)


def waiting(desk: Desk) -> list[str]:
    desk.bead("write", "user/editor", "helix")
    desk.bead("write", "user/editor", "emacs", environ=AGENT)
    return [item["id"] for item in desk.json("queue")["items"]]


def test_forget_takes_exactly_the_named_keys_and_says_what_was_done(desk: Desk) -> None:
    for key in (KEY, f"{KEY}/evening", f"{KEY}s"):
        desk.bead("write", key, f"about {key}")

    done = desk.bead("forget", KEY, "--yes")

    assert done.code == 0
    assert f"{KEY}  1 version\n" in done.out
    assert f"forgot {KEY}\n" in done.out
    assert "facts: 1, " in done.out
    assert keys(desk) == [f"{KEY}/evening", f"{KEY}s"]


def test_forget_asks_on_a_terminal_and_takes_only_yes_for_yes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.bead("write", KEY, "Tuesday")
    for answer in ("\n", "n\n", "maybe\n", ""):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        assert desk.bead("forget", KEY).code == 1
    assert keys(desk) == [KEY]

    monkeypatch.setattr("sys.stdin", Terminal("Yes\n"))
    done = desk.bead("forget", KEY)

    assert (done.code, keys(desk)) == (0, [])
    assert "forget this for good?" in done.err


@pytest.mark.parametrize("argv", [(), ("--json",)])
def test_forget_without_a_terminal_needs_the_word_in_the_command(desk: Desk, argv: tuple[str, ...]) -> None:
    desk.bead("write", KEY, "Tuesday")

    done = desk.bead("forget", KEY, *argv)

    assert done.code == 1
    assert "--yes" in done.err
    assert keys(desk) == [KEY]


def test_forget_of_nothing_is_not_found_and_deletes_nothing(desk: Desk) -> None:
    desk.bead("write", KEY, "Tuesday")
    for key in ("project/shop/deploy", "project/shop/deploy-day/x", "nothing"):
        assert desk.bead("forget", key, "--yes").code == 1
    assert desk.bead("forget", "project/shop/*", "--yes").code == 2
    assert keys(desk) == [KEY]


def test_forget_with_json_prints_the_receipt_alone(desk: Desk) -> None:
    desk.bead("write", KEY, "Tuesday")
    receipt = desk.json("forget", KEY, "project/shop/nothing", "--yes")
    assert (receipt["forgot"], receipt["missing"]) == ([KEY], ["project/shop/nothing"])
    assert receipt["index"] == IndexState.NO_INDEX


def test_forget_that_the_index_has_not_followed_yet_ends_with_three(desk: Desk) -> None:
    desk.bead("write", KEY, "Tuesday")
    desk.store.acknowledged["index"] = 0

    done = desk.bead("forget", KEY, "--yes")

    assert done.code == 3
    assert f"forgot {KEY}" in done.out
    assert "search index: not yet" in done.out


@pytest.mark.parametrize("command", [("forget", "user/editor", "--yes"), ("queue", "accept"), ("queue", "reject")])
def test_an_agent_decides_nothing(desk: Desk, command: tuple[str, ...]) -> None:
    items = waiting(desk)

    done = desk.bead(*command, *([] if command[0] == "forget" else items), "--json", environ=AGENT)

    assert (done.code, done.document["type"]) == (1, "urn:bead:error:not-allowed")
    assert keys(desk) == ["user/editor"]
    assert [item["id"] for item in desk.json("queue")["items"]] == items


def test_an_accepted_item_becomes_the_persons_word(desk: Desk) -> None:
    [item] = waiting(desk)

    done = desk.bead("queue", "accept", item[:6])

    assert done.out == f"accepted user/editor (item {item})\nsuperseded user/editor v2 (was: helix)\n"
    assert desk.json("show", "user/editor")["trust"] == "user_stated"
    assert desk.bead("queue").out == "nothing waits for you\n"


def test_a_rejected_item_is_not_proposed_again(desk: Desk) -> None:
    [item] = waiting(desk)

    assert desk.json("queue", "reject", item)["decision"] == "rejected"

    done = desk.bead("write", "user/editor", "emacs", "--json", environ=AGENT)
    assert (done.code, done.document["type"]) == (1, "urn:bead:error:tombstoned")


@pytest.mark.parametrize(
    ("argv", "code"),
    [(("accept",), 2), (("list", "x"), 2), (("accept", "nothing"), 1), (("reject", "../x"), 1)],
)
def test_a_decision_names_one_item_that_waits(desk: Desk, argv: tuple[str, ...], code: int) -> None:
    items = waiting(desk)
    assert desk.bead("queue", *argv).code == code
    assert [item["id"] for item in desk.json("queue")["items"]] == items


def test_rekey_moves_a_fact_and_never_onto_another(desk: Desk) -> None:
    desk.bead("write", "user/we-ship", "Tuesday")
    desk.bead("write", "user/we-ship", "Thursday")
    desk.bead("write", "user/taken", "x")

    assert desk.bead("rekey", "we-ship", "deploy-day").out == "moved user/we-ship to user/deploy-day (2 versions)\n"
    assert desk.json("rekey", "user/deploy-day", KEY)["key"] == KEY
    assert desk.bead("rekey", KEY, "user/taken").code == 1
    assert keys(desk) == [KEY, "user/taken"]


def test_reinforce_wakes_a_dormant_fact_and_says_so_once(desk: Desk) -> None:
    desk.bead("write", "user/editor", "helix")
    [fact] = desk.store.facts["user/editor"]
    desk.store.facts["user/editor"] = [fact.model_copy(update={"status": Status.DORMANT})]

    assert desk.bead("reinforce", "editor").out == "reinforced user/editor v1\n"
    assert desk.bead("reinforce", "editor").out == "unchanged user/editor v1\n"
    assert desk.json("show", "editor")["status"] == "current"
