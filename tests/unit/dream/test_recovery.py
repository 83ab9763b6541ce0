"""Replies that are not clean JSON: recovered without guessing, or a failure with a reason (field case B12)."""

import json

import pytest

from bead_dream.extract import claim_of
from bead_dream.recovery import Failure, Recovered, recover

FACT = {"key": "project/shop-api/deploy-day", "value": "Deploys happen on Tuesdays.", "source": "turn-3"}
CLEAN = json.dumps({"facts": [FACT]})
FIELDS = ("key", "value")


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{CLEAN}\n```",
        f"Sure! Here you go:\n```json\n{CLEAN}\n```\nLet me know if {{anything}} is missing.",
        f"From the talk {{about deploys}} I get: {CLEAN} Hope that helps {{really}}.",
        f'<think>maybe {{"facts":[]}}?</think>\n{CLEAN}',
        json.dumps(FACT),
        json.dumps([FACT]),
        f"\ufeff{CLEAN}",
        CLEAN.replace(", ", ",\r\n"),
        f"{CLEAN}\n{CLEAN}",
    ],
    ids=[
        "fenced",
        "fenced-plus-prose",
        "prose-braces",
        "think-block",
        "single-object",
        "top-level-array",
        "bom",
        "crlf",
        "twice",
    ],
)
def test_what_can_be_recovered_without_guessing_is(reply: str) -> None:
    assert recover(reply, "facts", FIELDS) == Recovered({"facts": [FACT]})


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (CLEAN[:70], "a reply with broken or cut JSON"),
        (CLEAN.replace("Tuesdays", "Tuesdays \\u12"), "a reply with broken or cut JSON"),
        (CLEAN.replace("}]}", "},]}"), "a reply with broken or cut JSON"),
        ("", "an empty reply"),
        (" \n", "an empty reply"),
        ("I can't help with that.", "a reply without JSON"),
        ("<think>hmm", "a reply that was cut off while thinking"),
        (f'{{"facts": []}} or rather {CLEAN}', "a reply with two answers"),
        ("[" * 100_000, "a reply without JSON"),
        ("[{" * 50_000, "a reply with broken or cut JSON"),
    ],
)
def test_what_cannot_is_a_failure_with_its_reason(reply: str, reason: str) -> None:
    assert recover(reply, "facts", FIELDS) == Failure(reason)


def test_lone_surrogate_becomes_a_replacement_character() -> None:
    found = recover(CLEAN.replace("Tuesdays", "Tuesdays \\ud83d"), "facts", FIELDS)
    assert isinstance(found, Recovered)
    assert found.document["facts"][0]["value"] == "Deploys happen on Tuesdays \ufffd."


@pytest.mark.parametrize("item", [{"key": 7, "value": ["a"], "source": None}, "text", None, {"key": "user/x"}, []])
def test_item_of_the_wrong_shape_is_no_claim(item: object) -> None:
    assert claim_of(item) is None


@pytest.mark.parametrize(
    ("source", "turns"),
    [
        ("turn-3", (3,)),
        (["turn-3", "turn 4"], (3, 4)),
        ("raw/2026/11/05/s.md#turn-3", (3,)),
        ("yesterday", ()),
        (None, ()),
    ],
)
def test_source_names_turns_or_nothing(source: object, turns: tuple[int, ...]) -> None:
    claim = claim_of(FACT | {"source": source})
    assert claim is not None and claim.turns == turns
