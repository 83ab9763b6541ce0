"""Tombstones: what must not come back, as hashes under a key of this home, so that the log cannot be searched (D4, I5).

The log only grows: a value that the person states again gets a line that lifts it, and the spans that say it. When two
texts are the same value is `values`'s to say; how spans are found in a text is `spans`'s; who is refused is `facts`'s.
"""

import hmac
import json
from collections.abc import Callable, Iterable
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any

from bead.errors import DamagedFile
from bead_store import files
from bead_store.disk import Disk
from bead_store.header import moment_text
from bead_store.spans import Hashes, Span, Spans, span_of, texts_of_value
from bead_store.values import normal

MAX_LOG_BYTES = 256 << 20
_HASH = "sha256"
_HASH_CHARS = 64
_TAG_BYTES = 2
_OF_CHARS = 16
_DRAFT_HEX = 24


class Reason(StrEnum):
    """Why there is a line."""

    FORGOTTEN = "forgotten"
    REJECTED = "rejected"
    DRAINED = "drained"
    """A memory of an agent about which the person has decided."""
    RESTORED = "restored"


class Tombstones:
    """The tombstones of one home; asked and changed from the facts' lane only."""

    def __init__(self, log: Path, key: bytes, *, disk: Disk, now: Callable[[], datetime]) -> None:
        self._log = log
        self._key = key
        self._disk = disk
        self._now = now
        self._hashes: set[str] = set()
        self._spans: dict[str, Span] = {}
        self._span_hashes = Hashes(self._tag, lambda words: self._mac("span", words))
        self.spans = Spans((), self._span_hashes)
        """What must not be captured again; replaced as a whole, so that any thread may ask it."""
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
                if "span" in entry:
                    self._apply_span(Reason(entry["why"]), _span(entry))
                else:
                    self._apply(Reason(entry["why"]), str(entry["mac"]))
            except (ValueError, KeyError, TypeError):
                self.damage = files.damaged(self._log, number, "is no tombstone; a forgotten value may come back")
        self.spans = Spans(self._spans.values(), self._span_hashes)

    def bury(self, values: Iterable[str], uid: str) -> int:
        """Refuse these values from now on, wherever they come from; durable on return. How many are new."""
        said = list(values)
        spans = [(text, value) for value in said for text in texts_of_value(value)]
        self.bury_spans(spans, uid)
        return self._add(Reason.FORGOTTEN, [self._value(value) for value in said], uid)

    def bury_spans(self, texts: Iterable[tuple[str, str]], uid: str) -> int:
        """Let none of these texts be captured again; each is lifted with the value beside it. How many are new."""
        found = [span_of(text, self._span_hashes, self._of(value)) for text, value in texts]
        new = {span.mac: span for span in found if span and span.mac not in self._spans}
        self._add_spans(Reason.FORGOTTEN, new.values(), uid)
        return len(new)

    def bury_proposal(self, key: str, value: str, uid: str) -> int:
        """Refuse this value under this key only."""
        return self._add(Reason.REJECTED, [self._proposal(key, value)], uid)

    def bury_draft(self, name: str) -> bool:
        """Take this memory in no more, approved or discarded; durable on return. Whether that is new."""
        return self._add(Reason.DRAINED, [self._draft(name)], name) > 0

    def knows_draft(self, name: str) -> bool:
        """Whether a person has decided about this memory."""
        return self._draft(name) in self._hashes

    def name_of_draft(self, memhash: str) -> str:
        """The id of the draft of a memory: the same for the same memory, and nothing that can be searched for."""
        return self._mac("draft", memhash)[:_DRAFT_HEX]

    def lift(self, key: str, value: str, uid: str) -> bool:
        """The person has stated it again; True when it had been refused."""
        there = {self._value(value), self._proposal(key, value)} & self._hashes
        if self._spans:
            said = self.spans.found(value)
            of = {self._of(value), *(span.of for span in said if span.of)}
            self._add_spans(Reason.RESTORED, [s for s in self._spans.values() if s.of in of or s in said], uid)
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

    def _add_spans(self, why: Reason, spans: Iterable[Span], uid: str) -> None:
        changed = list(spans)
        at = str(moment_text(self._now()))
        lines = [
            json.dumps(
                {"at": at, "why": why.value, "what": uid, "span": span[:3], "mac": span.mac, "of": span.of}
            )
            + "\n"
            for span in changed
        ]  # fmt: skip
        if not lines:
            return
        self._disk.append_now(self._log, "".join(lines).encode())
        for span in changed:
            self._apply_span(why, span)
        self.spans = Spans(self._spans.values(), self._span_hashes)

    def _apply_span(self, why: Reason, span: Span) -> None:
        if why is Reason.RESTORED:
            self._spans.pop(span.mac, None)
        else:
            self._spans[span.mac] = span

    def _apply(self, why: Reason, mac: str) -> None:
        if len(mac) != _HASH_CHARS:
            raise ValueError
        if why is Reason.RESTORED:
            self._hashes.discard(mac)
        else:
            self._hashes.add(mac)

    def _of(self, value: str) -> str:
        return self._value(value)[:_OF_CHARS] if value else ""

    def _tag(self, word: str) -> str:
        # A few bits: every hundredth word of a large dictionary has the same one, so it tells next to nothing.
        return blake2b(word.encode("utf-8", "surrogatepass"), key=self._key, digest_size=_TAG_BYTES).hexdigest()

    def _value(self, value: str) -> str:
        return self._mac(normal(value))

    def _proposal(self, key: str, value: str) -> str:
        return self._mac("proposal", key, normal(value))

    def _draft(self, name: str) -> str:
        return self._mac("decided draft", name)

    def _mac(self, *parts: str) -> str:
        # A value holds no NUL, so no value's hash is another kind's.
        return hmac.new(self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), _HASH).hexdigest()


def _span(entry: dict[str, Any]) -> Span:
    tag, at, words = entry["span"]
    return Span(str(tag), int(at), int(words), str(entry["mac"]), str(entry["of"]))
