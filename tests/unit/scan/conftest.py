"""One scanner for all tests of this folder: it keeps nothing between texts."""

import pytest

from bead.scan import Scanner


@pytest.fixture(scope="session")
def scanner() -> Scanner:
    return Scanner.load()
