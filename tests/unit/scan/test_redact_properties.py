"""What holds for any text at all: no error, nothing lost outside the hits, and once is as good as twice."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from bead.scan import Redaction, Scanner
from tests.unit.scan.made_up import ordinary_lines, private_key, samples

_SCANNER = Scanner.load()
_ANY_CHARACTER = st.characters(exclude_categories=())
_PIECE = st.one_of(
    st.sampled_from([sample.text for sample in samples()]),
    st.sampled_from([sample.secret for sample in samples()]),
    st.sampled_from([json.dumps(sample.text) for sample in samples()]),
    st.sampled_from(ordinary_lines()),
    st.sampled_from(
        [f"[REDACTED:{sample.rule_id}]" for sample in samples()] + ["[REDACTED:", "]", private_key()[:200]]
    ),
    st.sampled_from(
        ["\n", " ", '"', "\\n", '\\"', "\\\\n", ":", "=", "password=", "token: ", "://u:", "@h", "é", "-----"]
    ),
    st.text(_ANY_CHARACTER, max_size=20),
)
_TEXT = st.one_of(st.text(_ANY_CHARACTER), st.lists(_PIECE, max_size=12).map("".join))


@settings(deadline=None, max_examples=400)
@given(_TEXT)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = _SCANNER.redact(text)

    assert _SCANNER.redact(once.text) == Redaction(once.text, ())
    assert not _SCANNER.contains_secret(once.text)


@settings(deadline=None, max_examples=400)
@given(_TEXT)
def test_text_outside_the_hits_is_kept_character_by_character(text: str) -> None:
    redaction = _SCANNER.redact(text)

    rebuilt, at = [], 0
    for hit in redaction.hits:
        assert at <= hit.start < hit.end <= len(text)
        rebuilt += [text[at : hit.start], f"[REDACTED:{hit.rule_id}]"]
        at = hit.end
    assert "".join([*rebuilt, text[at:]]) == redaction.text


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(samples()), st.text(_ANY_CHARACTER), st.text(_ANY_CHARACTER))
def test_a_secret_on_its_own_line_is_found_in_any_text(sample, before: str, after: str) -> None:  # type: ignore[no-untyped-def]
    redacted = _SCANNER.redact(f"{before}\n{sample.text}\n{after}").text

    assert sample.secret not in redacted
