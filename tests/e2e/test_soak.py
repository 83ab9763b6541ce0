"""A minute of conversations through the whole of bead: no error, no growth, no slow tail, no body held many times."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

LIMIT_S = 240


def test_a_minute_of_twenty_conversations_leaves_nothing_behind() -> None:
    command = [sys.executable, "-m", "bead_cli", "bench", "soak", "--seconds", "60", "--rate", "50", "--json"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)

    assert done.stdout, done.stderr
    soak = json.loads(done.stdout)
    assert soak["requests"] >= 2_900 and soak["errors"] == []
    assert done.returncode == 0, soak
