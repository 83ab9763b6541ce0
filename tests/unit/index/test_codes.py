"""Every choice says why in one word, where it is made (D8, I15)."""

import pytest

from bead.recall import Code
from bead.wire.index import RecallAnswer
from bead_index.cards import CardGate
from bead_index.evidence import EvidenceGate
from bead_index.facts import FactTable
from bead_index.selection import Gate, recall
from tests.unit.index.made import fact, request

CARRIER = fact("user/carrier", "Parcels travel with Flamingo Express.")
PELICAN = fact("user/post", "Letters go by Pelican Post, parcels by Flamingo Express overnight.")


def answer(text: str, *facts: object, gate: Gate, **changes: object) -> RecallAnswer:
    return recall(request(text, **changes), FactTable(facts), gate)  # type: ignore[arg-type]


def codes_of(found: RecallAnswer) -> set[Code]:
    return {each.code for each in found.facts} | {each.code for each in found.rejected}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"seen": (CARRIER.uid,)}, Code.SEEN),
        ({"budget_tokens": 1}, Code.BUDGET),
        ({"max_facts": 0}, Code.ENOUGH),
    ],
)
def test_what_stays_out_by_selection_says_so(changes: dict[str, object], code: Code) -> None:
    found = answer("parcels by flamingo express", CARRIER, gate=EvidenceGate(), **changes)

    assert [each.code for each in found.rejected] == [code]
    assert found.facts == ()


def test_what_the_strict_gate_lets_in_is_evidence() -> None:
    found = answer("parcels by flamingo express", CARRIER, gate=EvidenceGate())

    assert [each.code for each in found.facts] == [Code.EVIDENCE]


def test_what_the_card_gate_decides_is_told_by_its_strongest_sign() -> None:
    found = answer("send the parcels with flamingo express please", CARRIER, gate=CardGate())

    assert {each.code for each in found.facts} <= {Code.SAY, Code.SEE, Code.DO}
    assert codes_of(found) != {Code.NONE}
    assert found.facts or {each.code for each in found.rejected} == {Code.THRESHOLD}


def test_no_choice_of_either_gate_is_without_a_code() -> None:
    for gate in (CardGate(), EvidenceGate()):
        found = answer("letters and parcels by flamingo express overnight", CARRIER, PELICAN, gate=gate)
        assert Code.NONE not in codes_of(found)
        assert found.facts or found.rejected
