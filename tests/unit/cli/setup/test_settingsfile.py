"""bead's part of an agent's settings beside the person's own."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.errors import Refused
from bead_cli.drain.seeding import Hook
from bead_cli.setup.settingsfile import Part, Value, as_document, from_document, with_part, without_part

PART = Part(
    (Value(("env", "ANTHROPIC_BASE_URL"), "http://127.0.0.1:7077"), Value(("statusLine",), {"type": "command"})),
    (Hook("SessionStart", "/opt/bead prime"), Hook("PostToolUse", "/opt/bead hook", "Write")),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=8,
)
ENTRY = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["theirs", "make lint"])})
HOOKS = st.dictionaries(
    st.sampled_from(["SessionStart", "Stop"]),
    st.lists(st.fixed_dictionaries({"hooks": st.lists(ENTRY, min_size=1, max_size=2)}), min_size=1, max_size=2),
    min_size=1,
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={"env": st.dictionaries(st.text(max_size=5), st.text(max_size=5), min_size=1), "hooks": HOOKS, "x": JSON},
)


@given(SETTINGS)
def test_what_was_put_in_is_taken_out_and_nothing_else(settings: dict[str, Any]) -> None:
    put = with_part(json.dumps(settings).encode(), PART, "settings.json").data
    assert json.loads(put)["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:7077"
    assert with_part(put, PART, "settings.json").data == put
    assert json.loads(without_part(put, PART, "settings.json")) == settings


def test_what_the_person_has_set_stays_and_is_told() -> None:
    theirs = json.dumps({"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}, "statusLine": {"command": "mine"}})
    put = with_part(theirs.encode(), PART, "settings.json")
    assert put.taken == ("env.ANTHROPIC_BASE_URL", "statusLine")
    assert json.loads(put.data)["env"] == {"ANTHROPIC_BASE_URL": "https://gateway.example"}
    assert json.loads(without_part(put.data, PART, "settings.json")) == json.loads(theirs)


@pytest.mark.parametrize(
    "data", [b"// a comment\n{}", b"[1]", b'{"a": ', b"\xff\xfe{}", b'{"hooks": []}', b"[" * 9_000]
)
def test_a_file_that_is_no_plain_object_is_refused(data: bytes) -> None:
    with pytest.raises(Refused, match="nothing was changed there"):
        with_part(data, PART, "settings.json")


def test_the_form_of_the_file_is_kept() -> None:
    theirs = b'{\r\n\t"model": "opus"\r\n}'
    put = with_part(theirs, Part((Value(("env", "A"), "1"),)), "settings.json").data
    assert put == b'{\r\n\t"model": "opus",\r\n\t"env": {\r\n\t\t"A": "1"\r\n\t}\r\n}'


def test_the_journal_gives_the_part_back() -> None:
    assert from_document(json.loads(json.dumps(as_document(PART)))) == PART
