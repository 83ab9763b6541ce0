"""Text becomes terms by one rule, and no term is ever syntax."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.text.terms import MAX_TERM, query_terms, significant, significant_terms, spans, stem, terms

SPLITS = [
    ("POL-358", ["pol-358", "pol", "358"]),
    ("docs/current.md", ["docs/current.md", "doc", "current.md", "current", "md"]),
    (r"src\api\main.py", ["src/api/main.py", "src", "api", "main.py", "main", "py"]),
    ("grammar::fa", ["grammar::fa", "grammar", "fa"]),
    ("readHTTPBody", ["readhttpbody", "read", "http", "body"]),
    ("snake_case_name", ["snake_case_name", "snak", "case", "name"]),
    ("--no-verify", ["no-verify", "no", "verify"]),
    ("C++", ["c++"]),
    ("C#, F#", ["c#", "f#"]),
    ("written in C++17", ["written", "in", "c++", "17"]),
    ("#123 @team $HOME", ["123", "team", "home"]),
    ("v1.2.3", ["v1.2.3", "v1"]),
    ("don't", ["dont"]),
    ("what\u2019s the user's", ["what", "the", "user"]),
    ("\uff26\uff35\uff2c\uff2c width ﬁle", ["full", "width", "file"]),
    ("Straße STRASSE", ["strass", "strass"]),
    ("Cafe\u0301", ["café"]),
    ("用户数据", ["用户", "户数", "数据"]),
    ("里", ["里"]),
    ("数据在db-main里", ["数据", "据在", "db-main", "db", "main", "里"]),
    ("テスト", ["テス", "スト"]),
    ("ﾃｽﾄ", ["テス", "スト"]),
    ("결제 서버", ["결제", "서버"]),
    ("เทสต์", ["เท", "ทส", "สต", "ต์"]),
    ("हिन्दी में", ["हिन्दी", "में"]),
    ("…“”()*^{}\"'", []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), SPLITS, ids=[text for text, _ in SPLITS])
def test_text_splits_into_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


SAME_STEM = [
    ("test", "tests", "tested", "testing"),
    ("query", "queries"),
    ("cache", "caches", "cached", "caching"),
    ("write", "writes", "writing"),
    ("run", "runs", "running"),
    ("commit", "commits", "committed", "committing"),
    ("class", "classes"),
    ("release", "releases", "released", "releasing"),
    ("code", "codes", "coded", "coding"),
    ("add", "adds", "added", "adding"),
    ("use", "uses", "used", "using"),
    ("deploy", "deploys", "deployed", "deploying"),
    ("embed", "embedded", "embedding"),
]


@pytest.mark.parametrize("forms", SAME_STEM, ids=[forms[0] for forms in SAME_STEM])
def test_english_forms_of_a_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("note", "not"), ("string", "str"), ("status", "statu"), ("bus", "bu"), ("speed", "spe")]
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_developers_short_commands_are_no_stop_words() -> None:
    """`go get` would be nothing to look for."""
    assert significant(terms("go get make rm -rf")) == ["go", "get", "make", "rm", "rf"]


def test_a_query_of_stop_words_alone_is_still_asked() -> None:
    assert query_terms("NOT", 8) == ["not"]
    assert query_terms("what is the budget", 8) == ["budget"]


def test_a_sentence_of_function_words_has_nothing_to_look_for() -> None:
    """Stop words are compared after folding and stemming, as terms come out."""
    assert significant(terms("Please, could you just do it with those that were THERE? Don't; it's theirs.")) == []


def test_terms_stand_where_their_spans_say() -> None:
    text = "用户 said: run db-main"

    assert [text[span.start : span.end] for span in spans(text)] == ["用户", "said", "run", "db-main"]


MIXED = st.text(st.sampled_from("aAbBzZ019_-./:\\'\u2019 \n\t\u3000#++éß漢字かなไทยﬁ①\u0301|│"), max_size=200)


@given(MIXED)
def test_terms_are_those_of_the_spans_however_they_are_remembered(text: str) -> None:
    expected = [term for span in spans(text) for term in span.terms]

    assert terms(text) == terms(text) == expected
    assert list(significant_terms(text)) == list(significant_terms(text)) == significant(expected)


TERM = re.compile(r"[a-z0-9+#\-./:_\u0080-\U0010ffff]+\Z")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_makes_a_term_that_is_syntax(text: str) -> None:
    for span in spans(text):
        assert 0 <= span.start < span.end <= len(text)
        for term in span.terms:
            assert TERM.match(term) and len(term) <= MAX_TERM and not re.search(r"\s", term)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_term_found_in_upper_case_is_found_in_lower_case(text: str) -> None:
    assert all(term == term.casefold() or not term.isascii() for term in terms(text))
