"""Literals in raw text."""

import random

import pytest

from bead_index.gate.literals import LiteralIndex, Searchable, usable


def found(literals: list[str], text: str) -> dict[str, bool]:
    index = LiteralIndex()
    for literal in usable(literals):
        index.add(literal, "owner")
    return dict(index.find(Searchable(text)))


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("go get", "run go get example.com/x"),
        ("-9999.0", "min ┆ -9999.0 ┆"),
        ("/100", "total.Minor()/100, total"),
        ("-m", 'git commit -m "x"'),
        ("%w", 'fmt.Errorf("x: %w", err)'),
        ("новый", "это НОВЫЙ ключ"),
        ("feat:", "git commit -m 'feat: x'"),
    ],
)
def test_literals_survive_that_a_word_tokenizer_loses(literal: str, text: str) -> None:
    assert list(found([literal], text)) == [literal]


def test_case_and_the_number_of_blanks_do_not_count() -> None:
    assert found(["MERGE  into"], "merge\n INTO ledger") == {"merge into": True}


def test_a_literal_inside_a_longer_word_is_told_from_one_that_stands_alone() -> None:
    assert found(["merge"], "merged") == {"merge": False}
    assert found(["merge"], "merge_rows") == {"merge": False}
    assert found(["merge"], "merged, then merge") == {"merge": True}


def test_a_literal_may_end_in_a_sign_and_go_on_with_a_word() -> None:
    assert found([".tsx", "idem:"], "a.tsx idem:42") == {".tsx": True, "idem:": True}


def test_one_letter_literals_are_not_kept() -> None:
    assert usable(["x", " ", "ab"]) == ["ab"]


def test_an_owner_that_is_gone_is_never_named_again() -> None:
    index = LiteralIndex()
    index.add("go get", "first")
    index.add("go get", "second")
    index.discard("go get", "first")
    assert index.owners("go get") == {"second"}
    index.discard("go get", "second")
    assert not list(index.find(Searchable("go get")))


def test_whatever_the_anchors_every_substring_is_found() -> None:
    """Anchors are a filter: what plain `in` finds, the index finds, and nothing else."""
    chance = random.Random(7)
    letters = "ab-/ c"
    literals = usable("".join(chance.choices(letters, k=chance.randint(2, 6))) for _ in range(300))
    text = "".join(chance.choices(letters, k=400))
    assert set(found(literals, text)) == {literal for literal in literals if literal in Searchable(text).text}
