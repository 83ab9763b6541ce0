"""The scheduler's container under a wall clock that jumps: one night a day, in order, each caught up once."""

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.docker.conftest import REPOSITORY, Stack

pytestmark = pytest.mark.docker

LIMIT_S = 60.0
LOOKS_S = 1.0
"""Five looks at the clock."""


class Clock:
    """Moves the wall clock of the scheduler, and tells what it did."""

    def __init__(self, stack: Stack, offset: Path) -> None:
        self._stack, self._offset = stack, offset
        self.nights: list[datetime] = []

    def put(self, hours: int) -> None:
        """The wall clock is `hours` off from now on."""
        fresh = self._offset.with_name("new")
        fresh.write_text(f"{hours:+d}h\n")
        os.replace(fresh, self._offset)

    def jobs(self) -> dict[str, Any]:
        status, table = self._stack.curate("GET", "/api/store/v1/jobs")
        return {job["name"]: job for job in table["jobs"]} if status == 200 else {}

    def night(self) -> datetime | None:
        """The night that was run last, and each one seen is noted."""
        last = self.jobs().get("dream", {}).get("last")
        if not last or not last["ended"]:
            return None
        moment = datetime.fromisoformat(last["due"])
        if moment not in self.nights[-1:]:
            self.nights.append(moment)
        return moment

    def wait_for_another_night(self) -> datetime:
        before, deadline = self.night(), time.monotonic() + LIMIT_S
        while (now := self.night()) in (before, None):
            assert time.monotonic() < deadline, f"no night after {before}"
        assert now is not None
        return now

    def stays_quiet(self) -> None:
        """No night is run while it looks at the clock again and again."""
        before, until = self.night(), time.monotonic() + LOOKS_S
        while time.monotonic() < until:
            assert self.night() == before


def libfaketime(folder: Path) -> Path:
    """The folder with Debian's libfaketime, unpacked beside the system."""
    cache = Path(os.environ.get("BEAD_TEST_CACHE", Path.home() / ".cache" / "bead-tests")) / "libfaketime"
    if not cache.exists():
        subprocess.run(["apt-get", "-qq", "download", "libfaketime"], cwd=folder, check=True, capture_output=True)
        [package] = folder.glob("libfaketime_*.deb")
        subprocess.run(["dpkg", "-x", str(package), str(folder / "root")], check=True)
        (folder / "root").rename(cache)
    [library] = cache.rglob("libfaketime.so.1")
    return library.parent


@pytest.fixture
def clock(stack: Stack, tmp_path: Path) -> Iterator[Clock]:
    moved = tmp_path / "clock"
    moved.mkdir()
    tmp_path.chmod(0o755)
    clock = Clock(stack, moved / "offset")
    clock.put(0)
    environ = f"BEAD_TEST_FAKETIME={libfaketime(tmp_path)} BEAD_TEST_CLOCK={moved}"
    files = f"$COMPOSE_FILE:{REPOSITORY}/tests/docker/faketime.yaml"
    up = "docker compose up -d --no-deps --wait scheduler"
    stack.shell(f"{environ} COMPOSE_FILE={files} {up}")
    try:
        yield clock
    finally:
        stack.shell(up)


def test_a_clock_that_jumps_runs_each_night_once_and_none_out_of_order(clock: Clock) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not clock.jobs():
        assert time.monotonic() < deadline, "the scheduler has no table"

    clock.put(24)
    first = clock.wait_for_another_night()
    clock.put(4)
    clock.stays_quiet()
    clock.put(24)
    clock.stays_quiet()
    clock.put(24 * 8)
    later = clock.wait_for_another_night()
    clock.stays_quiet()

    assert later - first == timedelta(days=7), "a week of missed nights is caught up once, by the newest"
    assert clock.nights == sorted(set(clock.nights))
    assert clock.jobs()["dream"]["last"]["result"] == "done"
