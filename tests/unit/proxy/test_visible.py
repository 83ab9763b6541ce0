"""What the model has before it anyway is known by the bytes of its request."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead_proxy.visible import SHORTEST, Visible

FACT = 'we ship with `make ship-it` and "never" on Fridays — größer\nask Ilse before\n  1. tag the release'
LONG = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs")), min_size=SHORTEST, max_size=40)


@pytest.mark.parametrize("is_escaped", [True, False])
@pytest.mark.parametrize("around", ["- {}\n- another", "# Memories\n\n{}", "{}"])
def test_a_fact_in_the_request_is_seen_however_the_agent_escapes_it(is_escaped: bool, around: str) -> None:
    body = json.dumps({"system": [{"text": around.format(FACT)}]}, ensure_ascii=is_escaped).encode()
    assert Visible(body)(FACT)


@pytest.mark.parametrize("missing", ["on Fridays", "ask Ilse before", "tag the release"])
def test_a_fact_of_which_a_part_is_missing_is_not(missing: str) -> None:
    assert not Visible(json.dumps(FACT.replace(missing, "")).encode())(FACT)


@pytest.mark.parametrize("text", ["", "  ", "vim", "a\nb\nc"])
def test_what_is_too_short_to_be_sure_of_is_not(text: str) -> None:
    assert not Visible(json.dumps(f"I use {text} here").encode())(text)


@given(LONG, LONG)
def test_any_text_is_found_where_it_is(text: str, other: str) -> None:
    assert Visible(json.dumps({"a": other + text}).encode())(text)
    assert Visible(json.dumps({"a": text + other}, ensure_ascii=False).encode())(text)
