"""An import is shown, asked for, taken once, and overrules nobody; facts wait for a person, history is only history."""

import json
import os
import pty
from pathlib import Path

import pytest

from tests.unit.cli.importing.conftest import Alone
from tests.unit.cli.importing.test_readers import STORES, claude_lines

EXPORT = str(STORES / "mem0" / "export.json")


def waiting(alone: Alone) -> list[dict[str, object]]:
    items: list[dict[str, object]] = alone.json("queue", "list")["items"]
    return items


def test_a_dry_run_says_what_there_is_and_makes_no_home(alone: Alone) -> None:
    done = alone.bead("import", "--from", "mem0", EXPORT, "--dry-run")
    assert "memory 1: Prefers tea to coffee" in done.out and "2 memories to import" in done.out
    assert "memory 3: it has no text" in done.err
    assert done.code == 1
    assert not alone.home.exists()


def test_nothing_is_imported_unless_somebody_says_yes(alone: Alone) -> None:
    done = alone.bead("import", "--from", "mem0", EXPORT)
    assert done.code == 1 and "2 memories; look with --dry-run, then say --yes" in done.err
    assert not alone.home.exists()


def test_facts_wait_with_their_provenance_once_and_count_when_a_person_says_so(alone: Alone) -> None:
    for _ in range(2):
        done = alone.bead("import", "--from", "mem0", EXPORT, "--yes", "--json")
        assert done.document["done"] == {"queued": 2}
    items = waiting(alone)
    assert [(item["body"], item["sources"]) for item in items] == [
        ("Prefers tea to coffee", ["import/mem0/export.json#memory-1"]),
        ("Works from Lisbon on Fridays", ["import/mem0/export.json#memory-2"]),
    ]
    assert alone.json("memories", "--all")["facts"] == []

    alone.bead("queue", "accept", str(items[0]["id"]))
    alone.bead("queue", "reject", str(items[1]["id"]))
    done = alone.bead("import", "--from", "mem0", EXPORT, "--yes", "--json")
    assert done.document["done"] == {"known already": 1, "forgotten earlier": 1}
    assert [fact["body"] for fact in alone.json("memories", "--all")["facts"]] == ["Prefers tea to coffee"]


def test_what_a_fact_says_already_under_another_key_does_not_wait(alone: Alone) -> None:
    alone.bead("write", "user/drinks", "Prefers tea to coffee")
    done = alone.bead("import", "--from", "mem0", EXPORT, "--yes", "--json")
    assert done.document["done"] == {"known already": 1, "queued": 1}


def test_ones_own_words_are_facts_at_once_and_never_inside_an_agent(alone: Alone) -> None:
    command = ("import", "--from", "beads", str(STORES / "beads" / "export.jsonl"), "--trust", "user", "--yes")
    assert alone.bead(*command, environ={"CLAUDECODE": "1"}).code == 1
    assert alone.bead(*command).code == 1  # one line of it is no memory, and is named
    (fact,) = alone.json("memories", "--all")["facts"]
    assert (fact["key"], fact["trust"]) == ("user/auth-module-uses-jwt", "user_stated")
    assert fact["sources"] == ["import/beads/export.jsonl#line-2"]


def test_what_is_said_twice_is_taken_once(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(
        "- use pnpm, never npm here\n- tea at four every day\n- use pnpm, never npm here  \n"
    )
    done = alone.bead("import", "--from", "claude-md", str(tmp_path / "CLAUDE.md"), "--yes", "--json").document
    assert (done["memories"], done["twice"], done["done"]) == (2, 1, {"queued": 2})


def test_a_credential_in_a_store_is_refused_by_its_place_and_everything_else_is_taken(
    alone: Alone, tmp_path: Path
) -> None:
    secret = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (tmp_path / "AGENTS.md").write_text(f"- the token is {secret}\n- tea at four every day\n")
    done = alone.bead("import", "--from", "agents-md", str(tmp_path / "AGENTS.md"), "--yes", "--json")
    assert done.code == 1
    assert done.document["done"] == {"queued": 1, "refused": 1}
    assert [each["place"] for each in done.document["wrong"]] == ["line 1"]
    assert secret not in done.out + done.err


def test_a_past_session_becomes_history_once_and_no_fact(alone: Alone, tmp_path: Path) -> None:
    (tmp_path / "S-1.jsonl").write_text(claude_lines())
    command = ("import", "--from", "claude-transcripts", str(tmp_path / "S-1.jsonl"), "--yes", "--json")
    assert alone.bead(*command).document["done"] == {"turn kept": 3}
    assert alone.bead(*command).document["done"] == {"there already": 3}
    (path,) = (alone.home / "store" / "raw" / "2026" / "05" / "01").glob("*.md")
    assert "how do we ship?" in path.read_text() and "hm" not in path.read_text()
    assert alone.json("search", "ship")["hits"][0]["kind"] == "turn"
    assert waiting(alone) == []


def test_a_session_that_the_proxy_captured_is_not_told_twice(alone: Alone, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in claude_lines().splitlines()]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line | {"sessionId": "s-1"}) + "\n" for line in lines))
    alone.bead("remember", "a home to begin with")
    raw = alone.home / "store" / "raw" / "2026" / "05" / "01"
    raw.mkdir(parents=True)
    command = ("import", "--from", "claude-transcripts", str(tmp_path / "s.jsonl"), "--yes", "--json")
    assert alone.bead(*command).document["done"] == {"turn kept": 3}
    (imported,) = raw.glob("*.md")
    imported.rename(raw / "s-1.md")
    (raw / "s-1.md").write_text((raw / "s-1.md").read_text().replace(imported.stem, "s-1"))
    assert alone.bead(*command).document["done"] == {"captured already": 3}


@pytest.mark.parametrize("program", ["mem0", "claude-mem", "mcp-memory", "basic-memory", "claude-md"])
def test_a_store_that_cannot_be_read_changes_nothing(alone: Alone, tmp_path: Path, program: str) -> None:
    (tmp_path / "link").symlink_to(EXPORT)
    done = alone.bead("import", "--from", program, str(tmp_path / "link"), "--yes")
    assert done.code == 2 and "is a link" in done.err
    assert not alone.home.exists()


@pytest.mark.parametrize(("answer", "count"), [("y", 2), ("no", 0), ("", 0)])
def test_a_person_at_a_terminal_is_shown_what_there_is_and_asked(
    alone: Alone, monkeypatch: pytest.MonkeyPatch, answer: str, count: int
) -> None:
    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{answer}\n".encode())
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        done = alone.bead("import", "--from", "mem0", EXPORT)
    os.close(keyboard)

    assert "memory 1: Prefers tea to coffee" in done.out
    assert "import 2 memories into the review queue? [y/N]" in done.err
    assert ("2 waiting in `bead queue`" in done.out) == bool(count)
    assert alone.home.exists() == bool(count)
