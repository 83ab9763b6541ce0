"""Makes large homes for measuring: the files that bead itself would have written, without the fsyncs.

One run of the store would need an hour for a hundred thousand durable writes; the bytes are the same.
"""

import os
import random
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bead.facts import FactType, FactVersion, Status, TriggerCard, Trust
from bead.home import Home
from bead_store import turnfile
from bead_store.frontmatter import render_fact
from bead_store.home import prepare

_START = datetime(2026, 1, 1, 9, 0, tzinfo=UTC)
_WORDS = (
    "deploy staging review branch token cache header schema worker queue retry limit budget index proxy release patch"
    " docker socket thread sqlite vector filter export import backup editor keyboard Tuesday Friday never always"
).split()
_FACT_WORDS = 24
_PROJECTS = 20
_SECOND_VERSION_EVERY = 20
_CARD_EVERY = 10
_SESSION_BYTES = 1 << 20
_TURN_WORDS = 300
_TEXTS = 64


def build_home(path: Path, facts: int, raw_bytes: int = 0) -> Home:
    """A home at `path` with so many facts, one in twenty superseded once, and about so many bytes of turns."""
    home = Home(path)
    prepare(home)
    dice = random.Random(facts)
    for number in range(facts):
        for fact in _versions(number, dice):
            folder = home.facts / fact.key
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder / f"v{fact.version}.md", render_fact(fact, fact.version - 1 or None))
    texts = [" ".join(dice.choices(_WORDS, k=_TURN_WORDS)) for _ in range(_TEXTS)]
    for number in range(-(-raw_bytes // _SESSION_BYTES)):
        day = _START + timedelta(days=number % 300)
        folder = home.raw / f"{day:%Y/%m/%d}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(folder / f"session-{number:06}.md", _session(number, day, min(raw_bytes, _SESSION_BYTES), texts))
    return home


def _versions(number: int, dice: random.Random) -> Iterator[FactVersion]:
    scope = f"project/shop-{number % _PROJECTS}" if number % 2 else "user"
    uid = secrets.token_hex(16)
    last = 2 if number % _SECOND_VERSION_EVERY == 0 else 1
    for version in range(1, last + 1):
        yield FactVersion(
            uid=uid,
            key=f"{scope}/note-{number:06}",
            version=version,
            type=FactType.PROJECT if number % 2 else FactType.USER,
            owner="me",
            status=Status.CURRENT if version == last else Status.SUPERSEDED,
            trust=Trust.USER_STATED,
            valid_from=_START + timedelta(minutes=number),
            body=f"{' '.join(dice.choices(_WORDS, k=_FACT_WORDS))} {number}",
            sources=(f"raw/2026/01/01/session-{number:06}.md#turn-1",),
            harness="claude-code",
            when=TriggerCard(say=("how do we deploy this",), do=("make deploy",))
            if number % _CARD_EVERY == 0
            else TriggerCard(),
        )


def _session(number: int, day: datetime, size: int, texts: list[str]) -> bytes:
    pieces = [f"---\nsession: session-{number:06}\nowner: me\nstarted: {day.isoformat()}\n---\n"]
    length = ordinal = 0
    while length < size:
        ordinal += 1
        record = turnfile.Record(
            ordinal=ordinal,
            role="user" if ordinal % 2 else "assistant",
            at=day.isoformat(),
            turn_id=f"t-{ordinal}",
            project="shop-1",
            is_complete=True,
            text=texts[(number + ordinal) % len(texts)],
        )
        pieces.append(turnfile.render(record))
        length += len(pieces[-1])
    return "".join(pieces).encode()


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
