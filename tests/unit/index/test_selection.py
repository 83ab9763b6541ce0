"""What is chosen for injection: scope first, seen ones out, duplicates once, whole facts within the budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.blocks import fact_tokens
from bead.facts import FactVersion, Sensitivity, Status, Trust
from bead.recall import Cue, CueSource
from bead.wire.dream import Calibration
from bead.wire.index import RecallAnswer, RecallRequest
from bead_index.evidence import EvidenceGate
from bead_index.facts import VisibleFacts
from bead_index.selection import MAX_REJECTED, Judged, recall
from tests.unit.index.made import fact, request, said, table

CARRIER = fact("project/shop/carrier", "Parcels travel with Flamingo Express only.")


def keys_of(answer: RecallAnswer) -> list[str]:
    return [each.key for each in answer.facts]


def recalled(asked: RecallRequest, *facts: FactVersion) -> RecallAnswer:
    return recall(asked, table(*facts), EvidenceGate())


class EverythingPasses:
    """A gate under which every fact passes, scored by the number in its key."""

    threshold = 0.0

    def calibrate(self, calibration: Calibration) -> None:
        """It knows better."""

    def judge(self, request: RecallRequest, facts: VisibleFacts) -> list[Judged]:
        return [Judged(known, float(known.fact.key[-1]), ()) for known in facts.all()]


def test_two_rare_words_of_the_person_bring_a_fact() -> None:
    answer = recalled(request("ship it with flamingo express"), CARRIER)

    assert keys_of(answer) == ["project/shop/carrier"]
    assert answer.facts[0].score == pytest.approx(1.25)
    assert set(answer.facts[0].terms) == {"flamingo", "express"}


@pytest.mark.parametrize(
    "cue",
    [
        said("flamingo"),
        said("flamingo express", CueSource.TOOL_OUTPUT),
        said("flamingo express", CueSource.ASSISTANT),
        said("list the files"),
        said(""),
    ],
    ids=["one word", "tool output", "assistant", "nothing shared", "empty"],
)
def test_weak_evidence_brings_nothing(cue: Cue) -> None:
    assert not recalled(request(cue), CARRIER).facts


def test_a_rival_that_stays_out_says_why() -> None:
    (rejected,) = recalled(request("flamingo"), CARRIER).rejected

    assert rejected.uid == CARRIER.uid
    assert rejected.reason == "evidence 1.00 is under 1.2"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("user/carrier", True),
        ("global/carrier", True),
        ("project/shop/carrier", True),
        ("project/other/carrier", False),
        ("project/shop-api/carrier", False),
        ("team/shop/carrier", False),
    ],
)
def test_only_the_person_the_active_project_and_global_are_told(key: str, expected: bool) -> None:
    answer = recalled(request("flamingo express"), fact(key, CARRIER.body))

    assert bool(answer.facts) == expected
    assert expected or not answer.rejected


def test_without_a_project_no_projects_fact_is_told() -> None:
    assert not recalled(request("flamingo express", project=""), CARRIER).facts


@pytest.mark.parametrize(
    "hidden",
    [
        fact("user/a", CARRIER.body, status=Status.DORMANT),
        fact("user/a", CARRIER.body, status=Status.SEALED),
        fact("user/a", CARRIER.body, sensitivity=Sensitivity.SECRET),
        fact("user/a", CARRIER.body, owner="somebody"),
    ],
    ids=["dormant", "sealed", "secret", "another owner"],
)
def test_a_fact_that_may_not_be_injected_is_not_even_a_rival(hidden: FactVersion) -> None:
    assert recalled(request("flamingo express"), hidden) == RecallAnswer(())


def test_a_fact_of_this_conversation_is_not_repeated() -> None:
    answer = recalled(request("flamingo express", seen=(CARRIER.uid,)), CARRIER)

    assert not answer.facts
    assert answer.rejected[0].reason == "already in this conversation"


def test_a_newer_version_than_the_conversation_was_told_comes_again() -> None:
    newer = CARRIER.model_copy(update={"version": 2})

    assert keys_of(recalled(request("flamingo express", seen=(f"{CARRIER.uid}@1",)), newer)) == [CARRIER.key]
    assert not recalled(request("flamingo express", seen=(f"{CARRIER.uid}@2",)), newer).facts


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    facts = [fact(f"user/n{number}", body) for number, body in enumerate(("heron", "stork", "ibis", "egret"))]

    answer = recall(request("x", max_facts=2), table(*facts), EverythingPasses())

    assert keys_of(answer) == ["user/n3", "user/n2"]
    assert {each.reason for each in answer.rejected} == {"2 better ones are enough"}


def test_the_budget_is_spent_on_whole_facts() -> None:
    long, short = fact("user/n2", "heron " * 200), fact("user/n1", "stork")
    room = fact_tokens(table(short).visible("me", "").all()[0].fact)

    answer = recall(request("x", budget_tokens=room), table(long, short), EverythingPasses())

    assert keys_of(answer) == ["user/n1"]
    assert answer.rejected[0].reason == f"does not fit into the {room} tokens that are left"
    assert not recall(request("x", budget_tokens=room - 1), table(short), EverythingPasses()).facts


OLD = fact("project/shop/we-ship-with-flamingo", "We ship with Flamingo Express.", day=1)
NEW = fact("project/shop/we-now-ship-with-heron", "We now ship with Heron Express.", day=2)


def test_the_newer_statement_silences_the_older_one() -> None:
    """The cue names the old carrier; the answer is the new one, once."""
    answer = recalled(request("should we ship it with flamingo express?"), OLD, NEW)

    assert keys_of(answer) == [NEW.key]
    assert OLD.uid in {each.uid for each in answer.rejected}


def test_a_silenced_statement_stays_silent_when_the_one_that_speaks_is_already_there() -> None:
    assert not recalled(request("ship with flamingo express", seen=(NEW.uid,)), OLD, NEW).facts


def test_trust_outweighs_age() -> None:
    stated = OLD.model_copy(update={"trust": Trust.USER_STATED})

    assert keys_of(recalled(request("ship with heron express"), stated, NEW)) == [stated.key]


def test_duplicates_of_different_scopes_both_speak() -> None:
    facts = table(fact("project/shop/n1", OLD.body), fact("user/n2", OLD.body))

    assert keys_of(recall(request("x"), facts, EverythingPasses())) == ["user/n2", "project/shop/n1"]


def test_the_older_statement_speaks_again_when_the_newer_one_is_gone() -> None:
    facts = table(OLD, NEW)
    facts.drop(NEW.key)

    assert keys_of(recall(request("ship with flamingo express"), facts, EvidenceGate())) == [OLD.key]


STATEMENTS = st.sampled_from([f"we {now}ship with {name} express" for now in ("", "now ") for name in "abc"] + ["x y"])


@given(st.lists(st.tuples(st.integers(0, 4), STATEMENTS, st.sampled_from(list(Trust))), min_size=1, max_size=12))
def test_who_speaks_is_the_same_as_in_a_table_made_anew(writes: list[tuple[int, str, Trust]]) -> None:
    """Who speaks is remembered between writes, and forgotten by every write that could change it."""
    facts, current = table(), {}
    for day, (number, body, trust) in enumerate(writes):
        current[number] = fact(f"user/n{number}", body, day=day, trust=trust)
        if body == "x y":
            facts.drop(f"user/n{number}")
            del current[number]
        else:
            facts.put(current[number])
        anew = table(*current.values())
        speakers = {known.uid: facts.speaker(known).uid for known in facts.visible("me", "").all()}

        assert speakers == {known.uid: anew.speaker(known).uid for known in anew.visible("me", "").all()}


def test_the_answer_does_not_depend_on_the_order_of_writing() -> None:
    facts = [fact(f"user/n{number}", f"flamingo express {name}") for number, name in enumerate("abcdefgh")]
    asked = request("flamingo express delivery a b c", max_facts=3)

    assert recalled(asked, *facts) == recalled(asked, *reversed(facts))


def test_rivals_are_bounded() -> None:
    words = "amber birch cedar dogwood elder fir ginkgo hazel iris juniper kapok larch maple".split()
    facts = [fact(f"user/{word}", f"flamingo {word}") for word in words]

    assert len(recalled(request("flamingo"), *facts).rejected) == MAX_REJECTED


def test_a_rewritten_fact_is_found_by_its_new_words_only() -> None:
    facts = table(CARRIER)
    facts.put(fact(CARRIER.key, "Parcels travel with Pelican Post only.", version=2))

    assert not recall(request("flamingo express"), facts, EvidenceGate()).facts
    assert keys_of(recall(request("pelican post"), facts, EvidenceGate())) == [CARRIER.key]
