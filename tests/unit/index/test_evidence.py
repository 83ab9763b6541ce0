"""The strict default gate scores as its source says."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.recall import Cue, CueSource
from bead_index.evidence import ALL_CHARACTERS, GENERIC, GENERIC_WEIGHT, EvidenceGate, cue_terms, evidence_scores
from bead_index.selection import MAX_REJECTED
from tests.unit.index.made import fact, request, said, table

SCORES = [([1.0], 1.0), ([0.5, 1.0], 1.125), ([1.0, 1.0, 1.0], 1.5), ([0.2] * 5, 0.4)]


@pytest.mark.parametrize(("weights", "expected"), SCORES)
def test_evidence_is_the_strongest_and_a_quarter_of_the_rest(weights: list[float], expected: float) -> None:
    (known,) = table(fact("user/a", "heron")).visible("me", "").all()
    weighed = sorted((-weight, f"term{number}", (known,)) for number, weight in enumerate(weights))

    assert evidence_scores(weighed) == {known: pytest.approx(expected)}


@pytest.mark.parametrize(
    ("source", "weight"),
    [
        (CueSource.PERSON, 1.0),
        (CueSource.ASSISTANT, 0.6),
        (CueSource.TOOL_INPUT, 0.6),
        (CueSource.TOOL_OUTPUT, 0.3),
    ],
)
def test_a_term_weighs_by_whose_word_it_is(source: CueSource, weight: float) -> None:
    assert cue_terms([said("kubectl", source)], "shop") == {"kubectl": weight}


def test_the_best_source_of_a_term_counts() -> None:
    cues = [said("kubectl", CueSource.TOOL_OUTPUT), said("kubectl"), said("kubectl", CueSource.ASSISTANT)]

    assert cue_terms(cues, "shop") == {"kubectl": 1.0}


def test_the_projects_name_does_not_count() -> None:
    assert "shop" not in cue_terms([said("the shop-api shop deploy")], "shop-api")


def test_the_persons_words_are_read_before_any_tool_output() -> None:
    flood = [said("noise " * 2_000, CueSource.TOOL_OUTPUT)] * 20

    assert cue_terms([*flood, said("kubectl")], "shop")["kubectl"] == 1.0


def test_a_long_cue_is_read_at_both_ends() -> None:
    found = cue_terms([said("firstword " + "filler " * ALL_CHARACTERS + " lastword")], "shop")

    assert {"firstword", "lastword"} <= found.keys()


def judged(cue: Cue | str, *bodies: str) -> dict[str, float]:
    facts = table(*(fact(f"project/shop/f{number}", body) for number, body in enumerate(bodies)))
    asked = request(cue)
    found = EvidenceGate().judge(asked, facts.visible("me", "shop"))
    return {each.known.fact.key[-2:]: each.score for each in found}


def test_a_term_of_one_fact_weighs_one() -> None:
    assert judged("flamingo", "flamingo", "heron", "stork") == {"f0": pytest.approx(1.0)}


def test_a_term_that_more_facts_have_weighs_less() -> None:
    scores = judged("flamingo heron", "flamingo", "heron one", "heron two", "heron three")

    assert scores["f0"] == pytest.approx(1.0)
    assert 0 < scores["f1"] < 0.7


def test_a_generic_development_word_weighs_a_fifth() -> None:
    assert judged("run tests", "tests flamingo", "heron") == {"f0": pytest.approx(0.2)}


def test_the_last_segment_of_a_key_counts_as_text() -> None:
    facts = table(fact("project/shop/infra/flamingo", "Only on Mondays."))

    found = EvidenceGate().judge(request("flamingo"), facts.visible("me", "shop"))

    assert found[0].terms == ("flamingo",)


def test_terms_are_told_strongest_first() -> None:
    facts = table(fact("user/a", "flamingo heron tests"), fact("user/b", "heron"))

    found = EvidenceGate().judge(request("tests heron flamingo", project=""), facts.visible("me", ""))

    assert found[0].terms == ("flamingo", "heron", "test")


WORDS = st.lists(st.sampled_from("heron stork ibis egret crane test build flamingo".split()), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(WORDS, min_size=2, max_size=2), st.integers(0, 11))
def test_scores_are_those_of_the_rule_counted_fact_by_fact(
    bodies: list[list[str]], said_words: list[list[str]], written_again: int
) -> None:
    """Weights that are kept between two writes never outlive one."""
    facts = table(*(fact(f"user/n{number:02}", " ".join(body)) for number, body in enumerate(bodies)))
    cues = [said(" ".join(said_words[0])), said(" ".join(said_words[1]), CueSource.TOOL_OUTPUT)]
    asked = request(*cues, project="")
    EvidenceGate().judge(asked, facts.visible("me", ""))
    facts.put(fact(f"user/n{written_again:02}", "heron crane flamingo"))

    found = {each.known.uid: each.score for each in EvidenceGate().judge(asked, facts.visible("me", ""))}

    known = facts.visible("me", "").all()
    expected = {}
    for one in known:
        weights = [
            weight * _rarity(term, sum(term in other.terms for other in known), len(known))
            for term, weight in cue_terms(cues, "").items()
            if term in one.terms
        ]
        if weights:
            expected[one.uid] = max(weights) + 0.25 * (sum(weights) - max(weights))
    assert all(expected[uid] == pytest.approx(score) for uid, score in found.items())
    assert len(found) == len(expected) or len(found) >= MAX_REJECTED
    left_out = [score for uid, score in expected.items() if uid not in found]
    assert not left_out or max(left_out) <= min(found.values()) + 1e-9


def _rarity(term: str, holders: int, total: int) -> float:
    idf = log(1 + total / holders) / log(1 + total)
    return min(idf, GENERIC_WEIGHT) if term in GENERIC else idf
