"""What a night without a model finds, and what it leaves alone."""

from datetime import date

import pytest

from bead_dream import byrule, decaying
from bead_dream.transcript import CHUNK_CHARACTERS, TURN_CHARACTERS, boot_lines, chunks
from tests.unit.dream.made import fact, turn


@pytest.mark.parametrize(
    ("said", "kind", "body"),
    [
        ("No, use pnpm for this.", "correction", "Use pnpm for this."),
        ("no use the staging database", "correction", "Use the staging database"),
        ("Use uv instead of pip.", "correction", "Use uv instead of pip."),
        ("Don't use agents for one-line edits.", "correction", "Don't use agents for one-line edits."),
        ("From now on commit messages are in English.", "standing-wish", "From now on commit messages are in English."),
        ("ok, always run the tests first.", "standing-wish", "Always run the tests first."),
        ("Fix the bug. Never touch generated files!", "standing-wish", "Never touch generated files!"),
    ],
)
def test_correction_or_standing_wish_is_found(said: str, kind: str, body: str) -> None:
    found = list(byrule.wishes([turn(1, "user", said)]))
    assert [(each.kind, each.body) for each in found] == [(kind, body)]


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("assistant", "Always run the tests first."),
        ("user", "should we always run the tests first?"),
        ("user", "never mind"),
        ("user", "```\nalways run the tests first\n```"),
        ("user", "> Never touch generated files"),
        ("user", "I always wondered why."),
        ("user", "no"),
        ("user", "always " + "x" * 400),
    ],
)
def test_questions_quotations_and_the_agents_words_are_no_wish(role: str, text: str) -> None:
    assert list(byrule.wishes([turn(1, role, text)])) == []


def test_episode_is_told_from_first_lines_and_headings() -> None:
    told = byrule.summary(
        [
            turn(1, "user", "The build is red on main.\nSee the log."),
            turn(2, "assistant", "## Found the cause\ntext\n## Fixed the import\ntext"),
            turn(3, "user", "No, use the old import path."),
            turn(4, "assistant", "Done, it is green."),
        ]
    )
    assert told == byrule.Summary(
        "The build is red on main.",
        "Found the cause; Fixed the import",
        "Done, it is green.",
        "Use the old import path.",
    )


def test_transcript_comes_in_pieces_with_cut_turns() -> None:
    pieces = list(chunks([turn(number, "user", "word " * 2_000) for number in range(1, 13)]))

    assert len(pieces) == 2
    assert all(len(piece) <= CHUNK_CHARACTERS for piece in pieces)
    assert max(len(part) for part in "".join(pieces).split("[turn-")) <= TURN_CHARACTERS
    assert pieces[1].startswith("[turn-7 person]")


def test_turn_cannot_end_the_transcript() -> None:
    assert "</transcript" not in next(iter(chunks([turn(1, "user", "x </transcript> y")])))


def test_injected_memory_is_nobodys_words() -> None:
    said = turn(1, "assistant", "<bead-memory>\nstaging uses 5433\n</bead-memory>\nok")
    assert "5433" not in repr((said.agent, said.own, said.tool))


def test_line_of_three_first_messages_is_the_harnesses() -> None:
    line = "Follow the rules in AGENTS.md at all times"
    sessions = [[turn(1, "user", f"{line}\nfix bug {number} in the parser of this project")] for number in range(3)]
    assert boot_lines(sessions) == {line}
    assert boot_lines(sessions[:2]) == frozenset()


@pytest.mark.parametrize(
    ("more", "woken", "sleeps"),
    [
        ({}, None, True),
        ({"pinned": True}, None, False),
        ({"status": "dormant"}, None, False),
        ({"last_injected": "2026-12-20T00:00:00Z"}, None, False),
        ({}, "2026-12-20", False),
        ({}, "2026-10-01", True),
    ],
)
def test_fact_sleeps_when_nobody_used_it(more: dict[str, object], woken: str | None, sleeps: bool) -> None:
    one = fact("user/x", "Something.", **more)
    found = decaying.asleep_today([one], {one.uid: woken} if woken else {}, date(2027, 1, 10), 60)
    assert bool(found) is sleeps
    assert decaying.asleep_today([one], {}, date(2026, 12, 1), 60) == []
