"""The two guards of `remember`, word by word."""

import pytest

from bead.guards import COMMANDS, bare, is_bare_key, is_command
from bead_cli.catalogue import BY_NAME, PLANNED


@pytest.mark.parametrize(
    "text", ["status", " status ", "STATUS", "remember", "up", "`memories`", "bead status", '"bead forget"', "import"]
)
def test_one_word_that_names_a_command_is_a_slip(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize(
    "text", ["status of the build is red", "statuses", "git", "up up", "bead is up", "bead status please", ""]
)
def test_a_sentence_or_another_word_is_no_command(text: str) -> None:
    assert not is_command(text)


@pytest.mark.parametrize(
    "text",
    ["deploy-day", "pnpm", "project/shop/deploy-day", "user/editor", " deploy-day ", "`deploy-day`", "'user/editor'"],
)
def test_a_token_that_reads_as_a_key_is_a_bare_key(text: str) -> None:
    assert is_bare_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "deploys happen on Tuesdays",
        "Deploy-day",
        "deploy_day",
        "src/main.py",
        "https://example.org/x",
        "größe",
        "v2",
        "",
    ],
)
def test_a_token_that_would_get_another_key_is_text(text: str) -> None:
    """`v2` and `größe` derive to names with a hash; a path or address has no scope of ours before its first slash."""
    assert not is_bare_key(text)


def test_every_command_that_exists_is_guarded() -> None:
    assert set(BY_NAME) | PLANNED <= COMMANDS


def test_quotes_around_a_token_are_not_part_of_it() -> None:
    assert bare(" `deploy-day` ") == "deploy-day"
