"""Ranking by lanes finds what scoring every excerpt would find."""

from itertools import accumulate
from random import Random

import pytest

from bead_index.postings import Postings

WORDS = [f"w{number}" for number in range(4_000)]
CUMULATED = list(accumulate(1 / (place + 10) for place in range(len(WORDS))))


def made(rng: Random, count: int, words: int = 70) -> list[list[str]]:
    return [
        list(dict.fromkeys(rng.choices(WORDS, cum_weights=CUMULATED, k=rng.randint(5, words)))) for _ in range(count)
    ]


def best(postings: Postings, excerpts: list[list[str]], weights: dict[str, float], count: int) -> list[int]:
    scores = {id: postings.score(weights, terms) for id, terms in enumerate(excerpts, 1)}
    return sorted(scores, key=lambda id: (-scores[id], id))[:count]


@pytest.mark.parametrize("later", [0, 40, 400], ids=["all at once", "some later", "many later"])
def test_exact_best_five_are_among_the_twenty_that_are_found(later: int) -> None:
    rng = Random(later)
    excerpts = made(rng, 1_500)
    postings = Postings(enumerate(excerpts[: 1_500 - later], 1))
    postings = postings.with_more(enumerate(excerpts[1_500 - later :], 1_501 - later))

    kept = 0
    for _ in range(20):
        question = dict.fromkeys((*rng.sample(rng.choice(excerpts), 4), *made(rng, 1)[0][:40]), 1.0)
        found = {each.id for each in postings.top(question, 20)}
        kept += len(found.intersection(best(postings, excerpts, question, 5)))

    assert kept >= 0.95 * 5 * 20


def test_more_excerpts_leave_the_old_postings_as_they_were() -> None:
    old = Postings([(1, ["heron", "stork"]), (2, ["stork"])])
    new = old.with_more([(3, ["heron", "ibis"])])

    assert [each.id for each in old.top({"heron": 1.0}, 5)] == [1]
    assert (old.holders("heron"), new.holders("heron"), len(old), len(new)) == (1, 2, 2, 3)
    assert {each.id for each in new.top({"heron": 1.0}, 5)} == {1, 3}


def test_no_sum_overflows_into_the_neighbour() -> None:
    """Sixty-four terms that every second excerpt holds: the others must score nothing at all."""
    terms = [f"t{number}" for number in range(64)]
    postings = Postings((id, terms if id % 2 else ["other"]) for id in range(1, 200))

    found = postings.top(dict.fromkeys(terms, 1.0), 200)

    assert all(each.id % 2 for each in found)
    assert len(found) == 100


def test_unknown_words_find_nothing() -> None:
    assert Postings([(1, ["heron"])]).top({"ibis": 1.0}, 5) == []
    assert Postings().top({"ibis": 1.0}, 5) == []
