"""Trigger cards by rule."""

import pytest

from bead.facts import TriggerCard
from bead_index.gate.cards import MAX_LITERALS, rule_card, with_rules


@pytest.mark.parametrize(
    ("body", "do", "unless"),
    [
        ("Run the tests with `just ci`, not bare `cargo test`.", {"cargo test"}, {"just ci"}),
        ("Use pnpm add. Never npm install, the lock file drifts.", {"npm install"}, {"pnpm add"}),
        ("Show dates with DateLabel, not with moment/format: locales differ.", {"moment/format"}, {"DateLabel"}),
        ("Time is int64 through clock.Instant. Never float32.", {"float32"}, {"clock.Instant"}),
        ("After `cargo add` run `cargo vendor`, or CI fails.", {"cargo add"}, {"cargo vendor"}),
        ("Run `just seed` before Cypress. The pages are empty without.", {"Cypress"}, {"just seed"}),
        ("Plain pytest takes an hour. While iterating run `uv run pytest -m quick`.", {"pytest"}, {"-m quick"}),
        ("Fill gaps with `tank fill --from --to --chunk 7d`.", {"tank fill"}, {"--chunk 7d"}),
    ],
)
def test_what_is_wrong_calls_for_the_fact_and_what_is_right_shows_that_it_is_followed(
    body: str, do: set[str], unless: set[str]
) -> None:
    card = rule_card(body)
    assert do <= set(card.do)
    assert unless <= set(card.unless)
    assert not set(card.do) & set(card.unless)


@pytest.mark.parametrize(
    ("body", "literal"),
    [
        ("src/billing is frozen until May.", "src/billing"),
        ("New flags are listed in config/flags.toml.", "config/flags.toml"),
        ("Every row has tenant_id.", "tenant_id"),
        ("OrderStatus needs two releases.", "OrderStatus"),
        ("The sensor writes -9999.0 when it is off.", "-9999.0"),
        ("The route /api/hooks reads the raw body.", "/api/hooks"),
    ],
)
def test_paths_identifiers_and_numbers_call_for_the_fact(body: str, literal: str) -> None:
    assert literal in rule_card(body).do


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ("A ConnectionResetError means the tunnel is down.", "ConnectionResetError"),
        ("The job ends with exit code 137 when it needs more memory.", "exit code 137"),
        ("Without the key CI fails with missing signing identity.", "missing signing identity"),
    ],
)
def test_signatures_of_errors_are_looked_for_in_output(body: str, signature: str) -> None:
    assert signature in rule_card(body).see


@pytest.mark.parametrize("body", ["Ada likes tea.", "Lunch is at noon.", ""])
def test_a_fact_about_nothing_that_the_rules_know_gets_no_card(body: str) -> None:
    assert not rule_card(body)


def test_everyday_words_behind_never_are_no_literals() -> None:
    assert not rule_card("Write the plan but do not apply it. Never change.").do


def test_the_same_words_give_the_same_card_and_a_bounded_one() -> None:
    body = " ".join(f"`tool{number} run`" for number in range(50))
    assert rule_card(body) == rule_card(body)
    assert len(rule_card(body).do) == MAX_LITERALS


def test_a_written_card_is_left_as_it_is() -> None:
    written = TriggerCard(say=("When do we ship?",))
    assert with_rules(written, "Run `just ci`, not `cargo test`.") == written


def test_a_fact_about_a_known_subject_gets_sentences_of_that_subject_only() -> None:
    says = rule_card("Database migrations are written by hand.").say
    assert any("migration" in saying for saying in says)
    assert not any("chart" in saying for saying in says)
