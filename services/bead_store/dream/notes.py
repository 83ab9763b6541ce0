"""Small files of the nights: what they know about each other, what they spent, what judged turns taught, the reports.

Ids and numbers only. All are derived but the spend ledger; one that cannot be read counts as empty.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from bead.errors import DamagedFile
from bead.wire.dream import Calibration, NightState, Spend, Spent
from bead_store import files
from bead_store.disk import Disk

MAX_LEDGER_BYTES = 1 << 20
"""Of the spend ledger; then its older half goes (I17)."""
MAX_REPORTS = 400
_MAX_BYTES = 16 << 20
_DAY_CHARS = 10

ModelT = TypeVar("ModelT", bound=BaseModel)


class _Line(Spend):
    """One call in the ledger."""

    at: str


class Notes:
    """One home's; used from the facts' lane only."""

    def __init__(self, folder: Path, reports: Path, disk: Disk) -> None:
        self._folder = folder
        self._reports = reports
        self._disk = disk

    def state(self) -> NightState:
        """What the nights know."""
        return self._read("state.json", NightState)

    def keep_state(self, state: NightState) -> None:
        """Know this from now on; durable on return."""
        self._write("state.json", state)

    def calibration(self) -> Calibration:
        """What judged turns taught."""
        return self.state().calibration

    def keep_calibration(self, calibration: Calibration) -> None:
        """Know this from now on; durable on return."""
        self.keep_state(self.state().model_copy(update={"calibration": calibration}))

    def spend(self, call: Spend, at: str) -> None:
        """Add a call to the ledger; durable on return."""
        path = self._folder / "spend.jsonl"
        self._disk.append_now(path, _Line(at=at, **call.model_dump()).model_dump_json().encode() + b"\n")
        if path.stat().st_size > MAX_LEDGER_BYTES:
            lines = files.read(path, _MAX_BYTES).splitlines(keepends=True)
            self._disk.replace(path, b"".join(lines[len(lines) // 2 :]))

    def spent(self, day: str) -> Spent:
        """What the calls of one day, `YYYY-MM-DD` in UTC, came to."""
        try:
            data = files.read(self._folder / "spend.jsonl", _MAX_BYTES)
        except (FileNotFoundError, DamagedFile):
            return Spent(day=day)
        return _sum(day, _lines(data, day))

    def report(self, day: str, run: str, lines: Iterable[str]) -> str:
        """Add a run to the day's report; its name below the store's folder."""
        path = self._reports / f"{day}.md"
        try:
            before = files.read(path, _MAX_BYTES)
        except FileNotFoundError:
            before = f"# Night of {day}\n".encode()
        text = "\n".join(["", f"## Run {run}", "", *lines, ""])
        self._disk.replace(path, before + text.encode())
        for name in sorted(files.names_in(self._reports))[:-MAX_REPORTS]:
            self._disk.remove(self._reports / name)
        return f"reports/{day}.md"

    def state_bytes(self) -> bytes:
        """The state's file as it is; empty when there is none."""
        try:
            return files.read(self._folder / "state.json", _MAX_BYTES)
        except (FileNotFoundError, DamagedFile):
            return b""

    def put_state_bytes(self, data: bytes) -> None:
        """The state's file as it was; no file for no bytes."""
        path = self._folder / "state.json"
        if data:
            self._disk.replace(path, data)
        else:
            self._disk.remove(path)

    def _read(self, name: str, kind: type[ModelT]) -> ModelT:
        try:
            return kind.model_validate_json(files.read(self._folder / name, _MAX_BYTES))
        except (FileNotFoundError, DamagedFile, ValueError):
            return kind()

    def _write(self, name: str, model: BaseModel) -> None:
        self._disk.replace(self._folder / name, model.model_dump_json(indent=1).encode() + b"\n")


def _lines(data: bytes, day: str) -> Iterable[_Line]:
    for raw in data.splitlines():
        with contextlib.suppress(ValueError):
            line = _Line.model_validate_json(raw)
            if line.at[:_DAY_CHARS] == day:
                yield line


def _sum(day: str, calls: Iterable[Spend]) -> Spent:
    found = list(calls)
    return Spent(
        day=day,
        calls=len(found),
        tokens=sum(call.input_tokens + call.output_tokens for call in found),
        usd=sum(call.usd or 0.0 for call in found),
        unpriced=sum(call.usd is None for call in found),
    )
