"""A minute of conversations through the whole of bead: no error, and no body held many times.

A minute fills caches that have a bound, and its slow tail is that of the machine: the hour of `make soak` judges both.
"""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

LIMIT_S = 240
MOST_GROWTH = 0.15


def test_a_minute_of_twenty_conversations_leaves_nothing_behind() -> None:
    command = [sys.executable, "-m", "bead_cli", "bench", "soak", "--seconds", "60", "--rate", "50", "--json"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)

    assert done.stdout, done.stderr
    soak = json.loads(done.stdout)
    assert soak["requests"] >= 2_900 and soak["errors"] == []
    assert soak["growth"] < MOST_GROWTH, soak
    assert all(peak <= 3 * int(size) / 1e6 + 150 for size, peak in soak["peaks"].items()), soak
