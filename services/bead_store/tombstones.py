"""Tombstones: what must not come back, as hashes under a key of this home, so that the log cannot be searched (D4, I5).

The log only grows: a value that the person states again gets a line that lifts it. When two texts are the same value
is `values`'s to say; who is refused is `facts`'s.
"""

import hmac
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from bead.errors import DamagedFile
from bead_store import files
from bead_store.header import moment_text
from bead_store.values import normal

MAX_LOG_BYTES = 256 << 20
_HASH = "sha256"
_HASH_CHARS = 64


class Reason(StrEnum):
    """Why there is a line."""

    FORGOTTEN = "forgotten"
    REJECTED = "rejected"
    RESTORED = "restored"


class Tombstones:
    """The tombstones of one home; asked and changed from the facts' lane only."""

    def __init__(self, log: Path, key: bytes, *, disk: files.Disk, now: Callable[[], datetime]) -> None:
        self._log = log
        self._key = key
        self._disk = disk
        self._now = now
        self._hashes: set[str] = set()
        self.damage: DamagedFile | None = None
        """A line that cannot be read; the value it stood for may come back, so a person must know."""

    def load(self) -> None:
        """Read the log and cut a line that a crash left half written."""
        try:
            data = files.read(self._log, MAX_LOG_BYTES)
        except FileNotFoundError:
            return
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._disk.truncate(self._log, whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                entry = json.loads(line)
                self._apply(Reason(entry["why"]), str(entry["mac"]))
            except (ValueError, KeyError, TypeError):
                self.damage = files.damaged(self._log, number, "is no tombstone; a forgotten value may come back")

    def bury(self, values: Iterable[str], uid: str) -> int:
        """Refuse these values from now on, wherever they come from; durable on return. How many are new."""
        return self._add(Reason.FORGOTTEN, (self._value(value) for value in values), uid)

    def bury_proposal(self, key: str, value: str, uid: str) -> int:
        """Refuse this value under this key only."""
        return self._add(Reason.REJECTED, [self._proposal(key, value)], uid)

    def lift(self, key: str, value: str, uid: str) -> bool:
        """The person has stated it again; True when it had been refused."""
        there = {self._value(value), self._proposal(key, value)} & self._hashes
        return self._add(Reason.RESTORED, sorted(there), uid) > 0

    def refuses(self, key: str, value: str) -> bool:
        """Whether only the person can state `value` under `key`."""
        return not self._hashes.isdisjoint((self._value(value), self._proposal(key, value)))

    def name(self, key: str) -> str:
        """What stands for a key where its text must not appear."""
        return self._mac("key", key)

    def _add(self, why: Reason, hashes: Iterable[str], uid: str) -> int:
        wanted = why is Reason.RESTORED
        changed = [mac for mac in dict.fromkeys(hashes) if (mac in self._hashes) is wanted]
        at = str(moment_text(self._now()))
        lines = [json.dumps({"at": at, "why": why.value, "what": uid, "mac": mac}) + "\n" for mac in changed]
        if lines:
            self._disk.append_now(self._log, "".join(lines).encode())
        for mac in changed:
            self._apply(why, mac)
        return len(changed)

    def _apply(self, why: Reason, mac: str) -> None:
        if len(mac) != _HASH_CHARS:
            raise ValueError
        if why is Reason.RESTORED:
            self._hashes.discard(mac)
        else:
            self._hashes.add(mac)

    def _value(self, value: str) -> str:
        return self._mac(normal(value))

    def _proposal(self, key: str, value: str) -> str:
        return self._mac("proposal", key, normal(value))

    def _mac(self, *parts: str) -> str:
        # A value holds no NUL, so no value's hash is another kind's.
        return hmac.new(self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), _HASH).hexdigest()
