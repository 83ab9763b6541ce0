"""Reads what a fake provider in another process has recorded, while it goes on recording."""

import time
from pathlib import Path

from tests.fakes.recording import Recorded
from tests.fakes.upstream import wire_of


class Records:
    """The requests in the folder that was given to the fake provider as --out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Recorded]:
        """Everything that came in until now, in order."""
        return [Recorded.read(file) for file in sorted(self.folder.glob("[0-9]*.json"))]

    def model_requests(self) -> list[Recorded]:
        """Those that asked a model for an answer."""
        return [record for record in self.all() if record.method == "POST" and wire_of(record.path)]

    def wait_for(self, count: int, *, timeout_s: float = 20) -> list[Recorded]:
        """The model requests, as soon as there are at least `count`.

        Raises:
            TimeoutError: there were fewer in that time.
        """
        deadline = time.monotonic() + timeout_s
        while len(found := self.model_requests()) < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(found)} of {count} model requests within {timeout_s} s")
            time.sleep(0.02)  # Another process writes the files: nothing here tells when.
        return found
