"""What every conversation of a project starts with."""

import pytest

from bead.blocks import fact_tokens
from bead.errors import BadRequest
from bead.facts import FactType, FactVersion, Status, Trust
from bead.wire.index import PinnedRequest
from bead_index.pinned import pinned
from tests.unit.index.made import fact, table

STATED = Trust.USER_STATED
MARKED = fact("project/shop/marked", "Flamingo is the carrier.", pinned=True)
PERSON = fact("user/lang", "Answer in German.")
FEEDBACK = fact("project/shop/feedback", "No closing summaries.", type=FactType.FEEDBACK, trust=STATED)
STATED_OLD = fact("project/shop/stated", "Herons nest in March.", trust=STATED, day=1)
NEWER = fact("project/shop/newer", "Storks migrate in August.", day=9)
OLDER = fact("project/shop/older", "Ibises wade at dusk.", day=2)
GLOBAL = fact("global/reference", "Egrets are white.", type=FactType.REFERENCE)
ELSEWHERE = fact("project/other/marked", "Pelicans fish in groups.", pinned=True)
ALL = (OLDER, NEWER, STATED_OLD, FEEDBACK, PERSON, MARKED, GLOBAL, ELSEWHERE)


def shown(*facts: FactVersion, budget: int = 800, mode: str = "fit", project: str = "shop") -> list[str]:
    request = PinnedRequest(owner="me", project=project, budget_tokens=budget, project_facts=mode)
    return [each.key.rsplit("/", 1)[1] for each in pinned(request, table(*facts)).facts]


def test_marked_then_the_person_then_the_project_by_importance() -> None:
    assert shown(*ALL) == ["marked", "feedback", "lang", "stated", "newer", "older"]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("fit", ["marked", "feedback", "lang", "stated", "newer", "older"]),
        ("pinned", ["marked", "feedback", "lang"]),
        ("off", ["feedback", "lang"]),
    ],
)
def test_the_projects_facts_follow_the_setting(mode: str, expected: list[str]) -> None:
    assert shown(*ALL, mode=mode) == expected


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(BadRequest):
        shown(mode="everything")


def test_without_a_project_only_the_person_is_there() -> None:
    assert shown(*ALL, project="") == ["lang"]


def test_the_order_of_writing_does_not_matter() -> None:
    assert shown(*ALL) == shown(*reversed(ALL))


def test_the_budget_is_spent_on_whole_facts_and_one_long_fact_does_not_empty_the_block() -> None:
    long = fact("project/shop/long", "heron " * 400, pinned=True)
    room = sum(fact_tokens(known.fact) for known in table(MARKED, PERSON).visible("me", "shop").all())

    assert shown(long, MARKED, PERSON, OLDER, budget=room) == ["marked", "lang"]
    assert shown(MARKED, PERSON, budget=room - 1) == ["marked"]
    assert shown(*ALL, budget=0) == []


def test_of_near_duplicates_the_newer_takes_the_place_of_the_marked_one() -> None:
    old = fact("project/shop/old", "We ship with Flamingo.", pinned=True, day=1)
    new = fact("project/shop/new", "We now ship with Heron.", day=2)

    assert shown(old, new, PERSON) == ["new", "lang"]
    assert shown(old, new, mode="pinned") == ["new"]


def test_a_dormant_fact_is_not_shown_even_when_it_is_marked() -> None:
    assert shown(MARKED.model_copy(update={"status": Status.DORMANT})) == []
