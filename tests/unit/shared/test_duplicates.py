"""Statements that say the same, or replace one another, are told from those that merely share words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.text.duplicates import fingerprint, is_near_duplicate

NEAR = [
    ("We ship with X-Carrier.", "We now ship with Y-Carrier."),
    ("Use tabs.", "Never use tabs."),
    ("Deploys use Flux.", "Flux is used for deploys."),
    ("Run the Go tests with `make check`.", "Run the Go tests with `just test`."),
    ("The database port is 5432.", "The database port is 5433."),
    ("Deploys go out on Tuesday.", "deploys go out on tuesdays"),
]
APART = [
    ("Staging runs in eu-west-1.", "Production runs in eu-west-1."),
    ("We deploy on Fridays.", "We deploy with Flux."),
    ("Ilse works from Lisbon.", "Ilse wants the conclusion first."),
    ("The parser is written in C++.", "The web page is written in TypeScript."),
    (
        "Service auth-7 listens on port 8080, team amber runs it.",
        "Service auth-9 listens on port 8089, team jade runs it.",
    ),
    ("Service 4 listens on port 5004, team 4 runs it.", "Service 11 listens on port 5011, team 4 runs it."),
    ("The api listens on 8080.", "The web listens on 8081."),
    ("", ""),
]


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_these_may_not_stand_beside_each_other(one: str, other: str) -> None:
    assert is_near_duplicate(fingerprint(one), fingerprint(other))


@pytest.mark.parametrize(("one", "other"), APART)
def test_these_may(one: str, other: str) -> None:
    assert not is_near_duplicate(fingerprint(one), fingerprint(other))


WORDS = st.lists(st.sampled_from("ship carrier deploy with flux we on tuesday not port 5432".split()), max_size=8)


@given(WORDS, WORDS)
def test_near_duplicates_share_a_mark_and_the_relation_has_no_direction(one: list[str], other: list[str]) -> None:
    """The table looks for rivals by marks only: a pair without a common mark would never be found."""
    left, right = fingerprint(" ".join(one)), fingerprint(" ".join(other))

    assert is_near_duplicate(left, right) == is_near_duplicate(right, left)
    if is_near_duplicate(left, right):
        assert left.marks & right.marks
