"""The fast way to read a file says what the slow one says, or nothing."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.errors import DamagedFile
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead_store import ownfile, packed
from bead_store.frontmatter import Place, Rewrite, parse_fact, render_fact, rewrite_fact

WRITTEN = datetime(2026, 11, 5, 9, 12, 0, 123456, tzinfo=UTC)
PLACE = Place(Path("v3.md"), "user/editor", 3, "owner", WRITTEN)
FIELD = Path(__file__).parents[2] / "vectors" / "field"

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
awkward = st.sampled_from(
    ["no", "1.10", "0123", "12:30", "- a", "a: b", "#x", '"', "---", "...", "\\", "\n", "é\u2028"]
)
items = st.lists(texts | awkward, max_size=3).map(tuple)
facts = st.builds(
    FactVersion,
    uid=st.text("0123456789abcdef", min_size=32, max_size=32),
    key=st.just(PLACE.key),
    version=st.just(PLACE.version),
    type=st.sampled_from(FactType),
    owner=texts | awkward,
    status=st.sampled_from(Status),
    trust=st.sampled_from(Trust),
    sensitivity=st.sampled_from(Sensitivity),
    valid_from=st.just(WRITTEN) | st.just(WRITTEN.replace(microsecond=0)),
    body=(texts | awkward).filter(lambda text: bool(text.strip())),
    pinned=st.booleans(),
    sources=items,
    harness=st.none() | texts | awkward,
    project_id=st.none() | texts | awkward,
    when=st.builds(TriggerCard, say=items, do=items, see=items, unless=items),
)


@given(facts, st.none() | st.just(2))
def test_what_bead_writes_is_read_the_same_both_ways(fact: FactVersion, supersedes: int | None) -> None:
    data = render_fact(fact, supersedes)

    fast = ownfile.read(data, PLACE.key, PLACE.version)

    assert fast is not None and packed.of_fact(parse_fact(data, PLACE)) == fast


@given(facts)
def test_fact_that_says_when_it_was_injected_is_read_the_fast_way(fact: FactVersion) -> None:
    """A used fact is one that matters at a start, and there may be many of them."""
    at = WRITTEN.replace(microsecond=0)
    data = rewrite_fact(render_fact(fact, None), Rewrite(last_injected=at), PLACE)

    fast = ownfile.read(data, PLACE.key, PLACE.version)

    assert fast is not None and fast.last_injected == at and packed.of_fact(parse_fact(data, PLACE)) == fast


@given(facts, st.integers(0, 60), st.sampled_from(["", "\r", "x: 1", "'a'", "\t", "  - b", "# c", "---", "[a]", "\0"]))
def test_a_line_that_is_changed_by_hand_never_makes_them_differ(fact: FactVersion, number: int, line: str) -> None:
    lines = render_fact(fact, None).decode().split("\n")
    lines[number % len(lines)] = line
    data = "\n".join(lines).encode()

    fast = ownfile.read(data, PLACE.key, PLACE.version)

    if fast is not None:
        assert packed.of_fact(parse_fact(data, PLACE)) == fast


@given(facts)
def test_packing_loses_nothing(fact: FactVersion) -> None:
    current = fact if fact.status is not Status.SUPERSEDED else fact.model_copy(update={"status": Status.CURRENT})

    assert packed.unpack(fact.key, fact.version, packed.pack(packed.of_fact(fact))) == current


@pytest.mark.parametrize("path", sorted(FIELD.glob("B36/**/v1.md")), ids=lambda path: path.parent.name)
def test_damaged_files_are_left_to_the_reader_that_names_line_and_reason(path: Path) -> None:
    key = f"project/shop-api/{path.parent.name}"
    data = path.read_bytes()
    try:
        parse_fact(data, PLACE._replace(key=key, version=1))
    except DamagedFile:
        assert ownfile.read(data, key, 1) is None
    else:
        assert path.parent.name in ("a", "b", "c", "huge")
