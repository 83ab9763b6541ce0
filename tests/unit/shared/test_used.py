"""When an agent's words count as the use of a fact."""

import pytest

from bead.facts import TriggerCard
from bead.used import is_used, literals_of

CARD = TriggerCard(say=("how do we deploy",), do=("make deploy",), see=("E4711",), unless=("--dry-run",))


@pytest.mark.parametrize(
    ("body", "card", "said", "used"),
    [
        ("Deploys go through make.", CARD, "I run make deploy now.", True),
        ("Deploys go through make.", CARD, "It ended with E4711: no space.", True),
        ("Deploys go through make.", CARD, "how do we deploy --dry-run", False),  # what people say, and what stops it
        ("Deploys go through make.", CARD, "make deployment happen", False),
        ("Deploys go through make.", CARD, "remake deploy", False),
        ("Deploys go through make.", CARD, "make deployment, that is make deploy", True),
        ("Deploys go through make.", CARD, "Make Deploy", False),
        ("Format with `ruff format` only.", TriggerCard(), "$ ruff format src", True),
        ("Format with ruff format only.", TriggerCard(), "$ ruff format src", False),  # nothing marks it as a literal
        ("Use ``a `b` c`` there.", TriggerCard(), "plain text", False),
        ("Answer with `ls`.", TriggerCard(), "ls ls ls", False),  # two letters are in any text
        ("Pass `--no-cache`.", TriggerCard(), "docker build --no-cache .", True),
        ("", TriggerCard(), "anything", False),
    ],
)
def test_words_count_as_use(body: str, card: TriggerCard, said: str, used: bool) -> None:
    assert is_used(body, card, said) is used


def test_literals_are_named_once_and_trimmed() -> None:
    assert literals_of("`x = 1` and ` make deploy ` and `make deploy`", CARD) == ("make deploy", "E4711", "x = 1")
