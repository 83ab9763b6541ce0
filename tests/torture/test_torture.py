"""A part of the crash tests, small enough for every run; `make torture` does them all.

Without strace, root or FUSE these tests fail and say what is missing: a crash test that is skipped says nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.torture.broken import FOUND_BY_INJECTION, FOUND_BY_POWER_CUT

pytestmark = pytest.mark.e2e

_ROOT = Path(__file__).parents[2]
_LIMIT_S = 170


def _run(part: str, *arguments: str) -> dict[str, Any]:
    """The tally of one part."""
    command = [sys.executable, "-m", "tests.torture", "--part", part, *arguments]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, timeout=_LIMIT_S)
    assert done.returncode in (0, 1) and done.stdout, done.stderr[-3000:]
    tally: dict[str, Any] = json.loads(done.stdout)["tally"]
    return tally


def test_a_kill_or_an_error_at_any_call_loses_nothing_and_tears_nothing() -> None:
    """A seeded sample of the injections, from every kind of fault and every kind of call."""
    tally = _run("inject", "--injections", "96")

    assert tally["examples"] == []
    assert tally["cases"] >= 90, "faults must strike the call they were meant for"
    assert set(tally["by_kind"]) == {"KILL", "EIO", "ENOSPC", "TORN"}


def test_a_kill_while_facts_and_turns_are_written_at_once_loses_nothing() -> None:
    tally = _run("threads", "--threads", "40")

    assert tally["examples"] == []
    assert tally["cases"] >= 20


def test_after_a_power_cut_every_fact_is_there_and_no_file_is_torn() -> None:
    tally = _run("power", "--states", "40")

    assert tally["examples"] == []
    assert tally["cases"] >= 40
    assert {"write", "supersede", "append", "forget"} <= set(tally["by_verb"])


def test_what_a_new_process_finds_of_a_killed_one_outlives_the_power_once_it_is_spoken_of() -> None:
    """`unchanged`, `queued` and `already there` are acknowledgements like any other."""
    tally = _run("again", "--few")

    assert tally["examples"] == []
    assert set(tally["by_kind"]) == {"repeated", "restated"}


def test_a_disk_that_refuses_is_told_and_written_to_again_only_when_that_is_safe() -> None:
    """Full disks go on when there is room; a device that failed an fsync is left alone until the next start."""
    tally = _run("refusal", "--few")

    assert tally["examples"] == []
    assert set(tally["by_kind"]) == {"tmpfs full", "RLIMIT_FSIZE", "device EIO"}
    assert tally["numbers"]["refused"] > 0, "the disks were never full"


@pytest.mark.parametrize(("control", "sign"), FOUND_BY_INJECTION.items())
def test_injection_finds_a_store_that_is_wrong_on_purpose(control: str, sign: str) -> None:
    assert sign in _violations(_run("inject", "--injections", "16", "--control", control))


@pytest.mark.parametrize(("control", "sign"), FOUND_BY_POWER_CUT.items())
def test_power_cuts_find_a_store_that_is_wrong_on_purpose(control: str, sign: str) -> None:
    assert sign in _violations(_run("power", "--states", "40", "--control", control))


def _violations(tally: dict[str, Any]) -> str:
    return "\n".join(line for example in tally["examples"] for line in example["violations"])
