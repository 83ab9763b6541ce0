"""A model may pick among what it was offered and nothing else."""

import pytest

from bead.recall import Cue, CueSource, RecalledFact
from bead.rerank import MAX_CUES, picked, question

FACTS = tuple(
    RecalledFact(f"u{n}", f"user/k{n}", 1, "user", "user_stated", "2026-11-05", f"body {n}") for n in (1, 2, 3)
)


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        ('{"use": []}', []),
        ('{"use": ["f2"]}', ["user/k2"]),
        ('Sure:\n```json\n{"use": ["f3", "f1", "f3"]}\n```', ["user/k3", "user/k1"]),
    ],
)
def test_named_candidates_come_back_in_the_order_of_the_answer(answer: str, keys: list[str]) -> None:
    chosen = picked(answer, FACTS)

    assert chosen is not None
    assert [fact.key for fact in chosen] == keys


@pytest.mark.parametrize(
    "answer",
    ["", "f1", "none", '{"use": ["f4"]}', '{"use": ["f0"]}', '{"use": ["user/k1"]}', '{"use": "f1"}', '{"use": [1]}'],
)
def test_anything_else_is_no_answer(answer: str) -> None:
    assert picked(answer, FACTS) is None


def test_question_holds_the_facts_and_a_bounded_step() -> None:
    cues = [Cue(CueSource.TOOL_OUTPUT, "x" * 50_000)] * 9

    asked = question(cues, FACTS)

    assert all(fact.body in asked for fact in FACTS)
    assert len(asked) < MAX_CUES + 2_000
    assert "u1" not in asked
