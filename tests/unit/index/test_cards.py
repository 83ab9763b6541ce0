"""The default gate over a table of facts: cards come and go with their facts, and every decision says why."""

import pytest

from bead.facts import FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.recall import CueSource
from bead.wire.index import RecallAnswer, RecallRequest
from bead_index.cards import CardGate
from bead_index.facts import FactTable
from bead_index.selection import recall
from tests.unit.index.made import fact, request, said, table

CARD = TriggerCard(
    say=("Add another delivery company.",), do=("carriers.yaml",), see=("no such carrier",), unless=("flamingo",)
)
BODY = "Parcels travel with Flamingo Express only."
CARRIER = fact("project/shop/carrier", BODY, when=CARD)
ASKED = "can you add a second delivery company?"


def keys_of(answer: RecallAnswer) -> list[str]:
    return [each.key for each in answer.facts]


def chosen(facts: FactTable, asked: RecallRequest | None = None) -> list[str]:
    return keys_of(recall(asked or request(ASKED), facts, CardGate()))


def test_a_sentence_of_the_card_brings_the_fact_with_a_score_over_half_and_the_reason() -> None:
    (recalled,) = recall(request(ASKED), table(CARRIER), CardGate()).facts

    assert 0.5 <= recalled.score <= 1
    assert "Add another delivery company." in recalled.reason
    assert "reason" not in repr(recalled) and "delivery" not in repr(recalled)


def test_a_rival_that_stays_out_says_why() -> None:
    answer = recall(request("is there another parcel?"), table(CARRIER), CardGate())

    assert not answer.facts
    (rejected,) = answer.rejected
    assert 0 < rejected.score < 0.5
    assert rejected.reason.startswith("not sure enough: ")


@pytest.mark.parametrize(
    "hidden",
    [
        fact("project/other/carrier", BODY, when=CARD),
        fact("user/carrier", BODY, when=CARD, owner="somebody"),
        fact("user/carrier", BODY, when=CARD, status=Status.DORMANT),
        fact("user/carrier", BODY, when=CARD, sensitivity=Sensitivity.SECRET),
    ],
    ids=["another project", "another owner", "dormant", "secret"],
)
def test_a_fact_that_may_not_be_injected_is_not_even_a_rival(hidden: FactVersion) -> None:
    assert recall(request(ASKED), table(hidden), CardGate()) == RecallAnswer(())


def test_a_fact_that_is_dropped_takes_its_card_along() -> None:
    facts = table(CARRIER)
    facts.drop(CARRIER.key)

    assert recall(request(ASKED), facts, CardGate()) == RecallAnswer(())


def test_a_card_that_is_rewritten_is_matched_as_it_is_now() -> None:
    facts = table(CARRIER)
    facts.put(fact(CARRIER.key, BODY, version=2, when=TriggerCard(say=("Print the labels of the parcels.",))))

    assert not chosen(facts)
    assert chosen(facts, request("please print labels for these parcels")) == [CARRIER.key]


@pytest.mark.parametrize("new", ["project/shop/courier", "user/courier"], ids=["same scope", "another scope"])
@pytest.mark.parametrize("new_comes_first", [True, False])
def test_a_renamed_fact_is_matched_under_its_new_key_whichever_change_comes_first(
    new: str, new_comes_first: bool
) -> None:
    """A rename copies before it removes, so both keys stand for one uid in between."""
    facts = table(CARRIER)
    renamed = fact(new, BODY, uid=CARRIER.uid, when=CARD)
    if new_comes_first:
        facts.put(renamed)
        assert chosen(facts) == [new]
        facts.drop(CARRIER.key)
    else:
        facts.drop(CARRIER.key)
        facts.put(renamed)

    assert chosen(facts) == [new]
    facts.drop(new)
    assert recall(request(ASKED), facts, CardGate()) == RecallAnswer(())


def test_the_one_that_speaks_has_the_reason_of_the_one_it_silences() -> None:
    stated = fact("project/shop/courier", BODY, trust=Trust.USER_STATED, day=1)

    (recalled,) = recall(request(ASKED), table(CARRIER, stated), CardGate()).facts

    assert recalled.key == stated.key
    assert "Add another delivery company." in recalled.reason


def test_what_an_earlier_step_of_the_session_followed_counts_against_a_fact() -> None:
    facts, gate = table(CARRIER), CardGate()
    asked = request(said(ASKED))
    alone = recall(asked, facts, CardGate()).facts[0].score

    recall(request(said("flamingo --book", CueSource.TOOL_INPUT)), facts, gate)
    later = recall(asked, facts, gate)

    (score,) = [each.score for each in later.facts] + [each.score for each in later.rejected]
    assert score < alone
