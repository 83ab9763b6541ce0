"""The extraction suite: what is scored, and the least that the rules must reach on it."""

from pathlib import Path

import pytest

from bead_evals.extraction.__main__ import main
from bead_evals.extraction.scoring import Score, score
from bead_evals.extraction.suites import Session, load


@pytest.fixture(scope="module")
def sessions() -> tuple[Session, ...]:
    return load()


@pytest.mark.parametrize("kind", ["careful", "chatty"])
def test_what_a_model_that_keeps_to_facts_says_is_written_and_nothing_else(
    sessions: tuple[Session, ...], kind: str
) -> None:
    found = score(sessions, kind)
    assert (found.written, found.right, found.unread) == (found.expected, found.expected, 0)


def test_most_of_what_a_careless_model_says_is_held_back(sessions: tuple[Session, ...]) -> None:
    """What the agent said about a moment, before it had read anything, is beyond the rules."""
    found = score(sessions, "careless")
    assert found.non_facts == 10 and found.held_back >= 9


@pytest.mark.parametrize(("kind", "least"), [("careful", 0.8), ("chatty", 0.8), ("careless", 0.5)])
def test_facts_that_somebody_said_are_learnt(sessions: tuple[Session, ...], kind: str, least: float) -> None:
    rates = score(sessions, kind).rates()
    assert rates["recall"] is not None and rates["recall"] >= least


def test_known_key_is_used_again(sessions: tuple[Session, ...]) -> None:
    assert score(sessions, "careful").rates()["key_reuse"] == 1.0


def test_reply_that_cannot_be_recovered_is_counted_as_unread(sessions: tuple[Session, ...]) -> None:
    broken = [session._replace(replies={"x": "no"}) for session in sessions]
    assert score(broken, "x") == Score(5, 0, 0, 1, 0, 0, 0, len(sessions))


def test_missing_suite_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--suite", str(tmp_path / "none.yaml")]) == 1
    assert "no suite" in capsys.readouterr().err
