"""Keys: what is one, and the frozen derivation of a key from words."""

import json
from pathlib import Path

import pytest

from bead import keys
from bead.errors import InvalidKey

GOLDEN = Path(__file__).parents[1] / "vectors" / "derived-keys.tsv"


def golden() -> list[tuple[str, str]]:
    lines = [line for line in GOLDEN.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    return [(json.loads(text), name) for text, name in (line.split("\t") for line in lines)]


@pytest.mark.parametrize(("text", "name"), golden())
def test_derived_name_is_the_frozen_one(text: str, name: str) -> None:
    assert keys.derive_name(text) == name, (
        "the derivation of keys has changed: every memory that people have under the old name would stay there,"
        " under a key that nobody derives any more"
    )


@pytest.mark.parametrize(("text", "name"), golden())
def test_derived_name_is_a_valid_key_of_at_most_sixty_bytes(text: str, name: str) -> None:
    assert keys.parse(f"user/{name}").name == name
    assert len(name.encode()) <= keys.DERIVED_BYTES


def test_two_texts_that_lose_different_letters_get_different_names() -> None:
    assert keys.derive_name("we deploy to 東京") != keys.derive_name("we deploy to 大阪")


@pytest.mark.parametrize(
    ("text", "scope", "name"),
    [
        ("user/editor", "user", "editor"),
        ("global/a/b.c_d-e", "global", "a/b.c_d-e"),
        ("project/shop/deploy/day", "project/shop", "deploy/day"),
        ("team/core/style", "team/core", "style"),
    ],
)
def test_key_splits_where_its_scope_ends(text: str, scope: str, name: str) -> None:
    assert keys.parse(text) == keys.Key(scope, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user",
        "user/",
        "editor",
        "project/shop",
        "user/Editor",
        "user/café",
        "user/a//b",
        "user/../x",
        "user/.hidden",
        "user/-rf",
        "user/a b",
        "user/a:b",
        "user/line\nbreak",
        "user/editor\n",
        "user/v1",
        "user/v1/x",
        "user/editor/v1.md",
        "user/editor/v12.md.age",
        "project/v3/x",
        "user/" + "x" * 200,
        "other/x",
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidKey):
        keys.parse(text)


def test_key_with_a_scope_of_its_own_wins_over_the_scope_it_is_put_into() -> None:
    assert str(keys.in_scope("project/shop", "user/editor")) == "user/editor"
    assert str(keys.in_scope("project/shop", "editor")) == "project/shop/editor"


@pytest.mark.parametrize("scope", ["user", "global", "project/shop", "team/core"])
def test_scope_is_accepted(scope: str) -> None:
    assert keys.check_scope(scope) == scope


@pytest.mark.parametrize("scope", ["", "project", "user/editor", "project/shop/x", "shop", "project/Shop"])
def test_what_is_no_scope_is_refused(scope: str) -> None:
    with pytest.raises(InvalidKey):
        keys.check_scope(scope)
