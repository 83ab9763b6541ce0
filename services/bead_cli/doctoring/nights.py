"""The index beside its store, and the nights: when the last one was, and how it ended."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bead.errors import BeadError
from bead_cli.context import Context
from bead_cli.doctoring.finding import Finding
from bead_cli.door import Door, opened

_PAST_EVERYTHING = 2**53
_WAIT_S = 2.0
_LIMIT_S = 10.0
_LATE = timedelta(days=3)


def running_home(context: Context, now: datetime | None = None) -> Iterator[Finding]:
    """Of a bead that runs."""
    try:
        with opened(context) as door:
            yield from _index(door)
            yield from _nights(door.call("dream", "GET", "/v1/status", timeout_s=_LIMIT_S), now or datetime.now(UTC))
            yield from _jobs(door.call("store", "GET", "/v1/jobs", timeout_s=_LIMIT_S))
    except BeadError:
        return  # who does not answer is a finding of its own


def _index(door: Door) -> Iterator[Finding]:
    page = door.call("store", "GET", "/v1/changes", query={"epoch": "", "after": _PAST_EVERYTHING, "wait_s": 0})
    query = {"seq": page["seq"], "wait_s": _WAIT_S}
    if not door.call("index", "GET", "/v1/applied", query=query, timeout_s=_LIMIT_S):
        cause = f"has not caught up with the store within {_WAIT_S:g} s"
        yield Finding("note", "index", cause, "wait; if it stays: bead index check")


def _nights(status: Mapping[str, Any], now: datetime) -> Iterator[Finding]:
    if status["trouble"]:
        yield Finding("note", "dream", str(status["trouble"]), "look at dream.provider in config.yaml; bead dream run")
    runs = status["runs"]
    if not runs:
        if status["unread_sessions"]:
            cause = f"there was no night yet, and {status['unread_sessions']} sessions wait for one"
            yield Finding("note", "dream", cause, "bead dream run   (or leave bead running overnight)")
        return
    last = runs[0]
    started = datetime.fromisoformat(str(last["started"]))
    if last["state"] == "failed":
        yield Finding("note", "dream", f"the last night ({started:%Y-%m-%d}) failed", "bead dream run; bead logs")
    elif now - started > _LATE and status["unread_sessions"]:
        cause = f"the last night was on {started:%Y-%m-%d}, and {status['unread_sessions']} sessions wait"
        yield Finding("note", "dream", cause, "leave bead running overnight, or: bead dream run")


def _jobs(table: Mapping[str, Any]) -> Iterator[Finding]:
    for job in table.get("jobs", ()):
        last = job.get("last")
        if job.get("is_on") and last and last.get("result") == "failed" and job["name"] != "dream":
            cause = f"the job {job['name']} failed on {str(last['started'])[:10]}: {last.get('message', '')}"
            yield Finding("note", "jobs", cause, "bead logs")
