"""`bead forget --match`, `--from-session` and `--verify` on a home of their own, in one process."""

import io
import json
from pathlib import Path

import pytest

from bead_cli.__main__ import run

CANARY = "zebra-lantern-7741 Xylophonquartz"


def bead(home: Path, *argv: str, typed: str = "") -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(typed))
        patch.setenv("HOME", str(home.parent))
        code = run([*argv, "--home", str(home)], {}, out, err)
    return code, out.getvalue(), err.getvalue()


def test_text_from_standard_input_is_forgotten_and_verified(tmp_path: Path) -> None:
    home = tmp_path / "home"
    transcript = tmp_path / ".claude" / "projects" / "-repo" / "s.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(json.dumps({"text": CANARY}) + "\n")
    assert bead(home, "write", "user/door", f"The door opens with {CANARY}.")[0] == 0
    assert bead(home, "forget", "--verify", typed=CANARY)[0] == 1

    code, out, err = bead(home, "forget", "--match", typed=f"{CANARY}\n")
    assert (code, "needs your word" in err) == (1, True), "without a terminal it needs --yes"
    code, out, err = bead(home, "forget", "--match", "--yes", typed=f"{CANARY}\n")

    assert code == 0, err
    assert "user/door" in out
    assert str(transcript) in err and CANARY in transcript.read_text(), "named, and not touched unasked"
    assert bead(home, "forget", "--verify", typed=CANARY)[0] == 0
    assert bead(home, "forget", "--match", "--yes", typed=CANARY)[0] == 1, "zero hits is no success"


@pytest.mark.parametrize("argv", [("forget",), ("forget", "--match", "--yes"), ("forget", "--match", "ab", "--yes")])
def test_what_names_nothing_is_refused(tmp_path: Path, argv: tuple[str, ...]) -> None:
    home = tmp_path / "home"
    bead(home, "write", "user/x", "something")

    assert bead(home, *argv)[0] == 2


def test_what_recall_would_bring_up_for_the_text_is_offered_in_every_project_and_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    said = "The garage door opens with the brass key 7741."
    for key, body in (
        ("user/door", said),
        ("user/way-in", "To get into the garage, take the brass key."),
        ("project/shop/lock", "garage keys hang behind the oven"),
        ("user/tea", "I drink green tea in the afternoon."),
    ):
        assert bead(home, "write", key, body)[0] == 0

    code, out, err = bead(home, "forget", "--match", said, "--yes", "--json")

    assert code == 0, err
    receipt = json.loads(out)
    assert receipt["forgot"] == ["user/door"]
    assert [each["key"] for each in receipt["paraphrases"]] == ["user/way-in", "project/shop/lock"]
    assert bead(home, "recall", "user/way-in")[1] == "To get into the garage, take the brass key.\n"
