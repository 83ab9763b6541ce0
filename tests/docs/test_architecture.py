"""The architecture page names tests and files that exist, and stays short."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "services" / "README.md").read_text()


def promises() -> list[tuple[str, str]]:
    rows = re.findall(r"^\| (I\d+ [^|]*) \| `([^`]+)::([^`]+)` \|$", PAGE, re.MULTILINE)
    return [(promise.strip(), f"{file}::{name}") for promise, file, name in rows]


@pytest.mark.parametrize(("promise", "test"), promises(), ids=lambda value: value.split("::")[-1])
def test_the_test_that_holds_a_promise_exists(promise: str, test: str) -> None:
    file, name = test.split("::")
    assert re.search(rf"def {name}\b", (REPOSITORY / file).read_text()), f"{promise}: no test {test}"


def test_the_page_names_the_tests_of_the_invariants_built_so_far() -> None:
    assert len(promises()) >= 10


def test_the_page_is_shorter_than_200_lines() -> None:
    assert len(PAGE.splitlines()) < 200


@pytest.mark.parametrize("package", sorted(path.name for path in (REPOSITORY / "services").glob("bead_*")))
def test_every_service_is_on_the_page(package: str) -> None:
    assert package in PAGE
