"""The rule files: complete, compilable, keyed as the scanner expects, and kept with their notice."""

from importlib.resources import files

import pytest

from bead.errors import BadRequest
from bead.scan import Exceptions, Scanner
from bead.scan.patterns import pattern
from bead.scan.rules import Exceptions as RuleExceptions
from bead.scan.rules import load_rule_book, shannon_entropy
from tests.unit.scan.made_up import samples

_BOOK = load_rule_book(RuleExceptions())


@pytest.mark.parametrize("rule", _BOOK.rules, ids=lambda rule: rule.rule_id)
def test_every_expression_of_a_rule_compiles(rule) -> None:  # type: ignore[no-untyped-def]  # parametrized
    """Rules compile at first use: one that cannot would break the write of a turn that has its keyword."""
    regexes = [regex for allowlist in rule.allowlists for regex in allowlist.regexes]

    for expression in (rule.regex, *rule.requires, *regexes):
        pattern(expression)
    # Expressions of one allowlist run as one, which must compile too.
    for allowlist in rule.allowlists:
        assert not allowlist.allows(b" ", (0, 0), (0, 0))


def test_the_digest_expression_compiles() -> None:
    pattern(_BOOK.digests.before)


def test_every_rule_has_keywords_and_they_are_lower_case() -> None:
    """A rule without a keyword, or with one in upper case, would never run."""
    assert [rule.rule_id for rule in _BOOK.rules if not rule.keywords] == []
    assert [word for rule in _BOOK.rules for word in rule.keywords if word != word.lower()] == []


def test_the_pack_is_all_there() -> None:
    """gitleaks 8.26.0 has 210 rules on content; bead drops one and adds its own."""
    assert len(_BOOK.rules) > 230


def test_the_pack_keeps_its_notice_and_says_where_it_comes_from() -> None:
    rules = files("bead.scan").joinpath("rules")

    assert "2019 Zachary Rice" in rules.joinpath("gitleaks.LICENSE").read_text(encoding="utf-8")
    assert "gitleaks 8.26.0" in rules.joinpath("gitleaks.toml").read_text(encoding="utf-8").splitlines()[0]


def test_the_table_of_made_up_secrets_covers_forty_rules_and_only_real_ones() -> None:
    covered = {sample.rule_id for sample in samples()}

    assert len(covered) >= 40
    assert covered <= _BOOK.ids


def test_entropy_is_counted_in_bits_per_character() -> None:
    assert shannon_entropy(b"aaaa") == 0
    assert shannon_entropy(b"abcd") == 2


def test_an_exception_for_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BadRequest):
        Scanner.load(Exceptions(rules=("no-such-rule",)))


def test_a_bad_exception_is_refused_and_the_error_does_not_repeat_it() -> None:
    with pytest.raises(BadRequest) as refused:
        Scanner.load(Exceptions(regexes=("fine", "(?=my-secret)")))

    assert "expression 2" in str(refused.value)
    assert "my-secret" not in str(refused.value)


def test_a_known_secret_too_short_to_tell_from_a_word_is_refused() -> None:
    with pytest.raises(BadRequest):
        Scanner.load(known_secrets=["secret"])
