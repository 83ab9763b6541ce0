"""What must be true of a home after a crash: as it was left, once the store has opened it, and a round later.

A violation is a sentence. Which acknowledgements count is the caller's to say: after a kill all of them, after a power
cut those of facts and whatever was given the time of the group fsync (D12).
"""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bead.clients.store import StoreClient
from bead.errors import BeadError, NotFound
from bead.facts import Status
from bead.home import Home
from bead.wire.store import FindConversation, ResolveProject
from bead_store import layout
from bead_store.audit import first_broken_line
from bead_store.files import TEMPORARY_PREFIX
from tests.torture import script
from tests.torture.events import Event
from tests.torture.script import Append, Commit, Decide, Forget, MarkFact, Move, Resolve, Step, Write
from tests.torture.workload import THREAD, do_steps, opened

_AUDITED = frozenset({"created", "superseded", "reinforced", "queued", "marked"})


class Claims(NamedTuple):
    """What a crashed process had said."""

    events: tuple[Event, ...]
    unsettled: range
    """Places among the events whose turns and blocks may be gone; for facts every event counts."""
    audit_counts: bool
    """Whether the audit log must hold a line for every acknowledged act; it is synced in groups, too."""

    @classmethod
    def after_kill(cls, events: Iterable[Event]) -> "Claims":
        """Everything that was said holds."""
        told = tuple(events)
        return cls(told, range(0), audit_counts=True)

    @classmethod
    def after_power_cut(cls, events: Iterable[Event], healthy_until: int | None = None) -> "Claims":
        """Appends hold up to the last point at which their group fsync was over, while the disk was healthy."""
        told = tuple(events)
        settled = [at for at, event in enumerate(told[:healthy_until]) if _is_settled(event)]
        return cls(told, range(settled[-1] + 1 if settled else 0, len(told)), audit_counts=False)

    def followed_by(self, events: Iterable[Event]) -> "Claims":
        """These and what was said after a recovery."""
        return self._replace(events=(*self.events, *events))

    def acknowledged(self) -> Iterator[tuple[Step, Event]]:
        """Each step that was answered well and whose effect must be there, with the answer."""
        for at, event in enumerate(self.events):
            if event.kind == "done":
                step = script.steps(event.round)[event.step]
                if at not in self.unsettled or not isinstance(step, Append | Commit):
                    yield step, event

    def may_have_erased(self) -> bool:
        """A step that overwrites files where they lie was begun."""
        return any(isinstance(step, Forget | Move | Decide) for step in self.tried())

    def leaving(self) -> frozenset[str]:
        """Keys that a begun forget or move may have emptied."""
        steps = self.tried()
        forgotten = {step.key for step in steps if isinstance(step, Forget)}
        return frozenset(forgotten | {step.request.old for step in steps if isinstance(step, Move)})

    def tried(self) -> list[Step]:
        """Each step that was begun, in order."""
        return [script.steps(event.round)[event.step] for event in self.events if event.kind == "begin"]


def _is_settled(event: Event) -> bool:
    if event.kind == "closed":
        return True
    return event.kind == "done" and isinstance(script.steps(event.round)[event.step], script.Settle)


def aftermath(home: Path, claims: Claims, next_round: int) -> list[str]:
    """Everything wrong with `home`: as it was left, after the store has recovered it, and after a whole new round."""
    wrong = [f"as left: {line}" for line in look(home, may_be_erased=claims.may_have_erased())]
    _age_temporaries(home)
    wrong += asyncio.run(_recovered(home, claims, next_round))
    return wrong


async def _recovered(home: Path, claims: Claims, next_round: int) -> list[str]:
    events: list[Event] = []
    try:
        async with opened(home, 0) as store:
            wrong = [f"recovered: {line}" for line in await verify(store, home, claims)]
            await do_steps(store, next_round, events.append, 0)
        wrong += [f"second run: {line}" for line in complaints(events)]
        async with opened(home, 0) as store:
            wrong += [f"second run: {line}" for line in await verify(store, home, claims.followed_by(events))]
    except BeadError as error:
        return [f"the store does not open or answer: {error.code}: {_without_root(error.message, home)}"]
    return wrong


def complaints(events: Iterable[Event]) -> list[str]:
    """What a run on a healthy disk must not say."""
    found: list[str] = []
    for event in events:
        if event.kind in ("refused", "broke"):
            found.append(f"{_step_name(event)} {event.kind}: {event.code}")
        elif event.kind == "health" and not event.ready:
            found.append(f"not ready: {event.degraded}")
    return found


# -- files, as any reader finds them -------------------------------------------------------------------------------


def look(home: Path, *, may_be_erased: bool = False) -> list[str]:
    """Torn files under a final name. Temporaries, and the torn end of a file that is appended to, are expected.

    `may_be_erased`: a file that was overwritten from end to end is on its way out, not torn.
    """
    places = Home(home)
    once = [path for path in _files(places.root / "store") if not path.is_relative_to(places.raw)]
    torn = [path for path in once if path.suffix == ".md" and not _is_whole_markdown(path)]
    torn = [path for path in torn if not (may_be_erased and set(path.read_bytes()) == {0})]
    tokens = [places.home_id, *(places.token(name) for name in ("bus", "proxy", "admin"))]
    torn += [path for path in tokens if path.exists() and not _is_whole_token(path)]
    if places.projects.exists() and not places.projects.read_bytes().startswith(b"projects:"):
        torn.append(places.projects)
    return [f"torn file {path.relative_to(home)} ({path.stat().st_size} bytes)" for path in torn]


def _is_whole_token(path: Path) -> bool:
    data = path.read_bytes()
    return data.endswith(b"\n") and b"\0" not in data


def _is_whole_markdown(path: Path) -> bool:
    data = path.read_bytes()
    head, _, body = data.removeprefix(b"---\n").partition(b"\n---\n")
    return data.startswith(b"---\n") and b"\0" not in head and script.is_whole(body.decode("utf-8", "replace"))


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(TEMPORARY_PREFIX)]


# -- the store's answers -------------------------------------------------------------------------------------------


async def verify(store: StoreClient, home: Path, claims: Claims) -> list[str]:
    """Whether the store answers everything that was claimed, and its files agree."""
    wrong = look(home) + _left_behind(home)
    if claims.events:
        wrong += await _facts(store, home, claims)
    wrong += await _current_as_seen(store, claims)
    wrong += await _sessions(store, claims)
    wrong += await _blocks(store, claims)
    wrong += await _others(store, claims)
    wrong += _forgotten(home, claims)
    wrong += await _moved(store, claims)
    wrong += _audit(home, claims)
    return wrong


def _age_temporaries(home: Path) -> None:
    """As if bead were started again the next day: a young temporary may be that of a process still at work."""
    for path in home.rglob(f"{TEMPORARY_PREFIX}*"):
        os.utime(path, (0, 0))


def _left_behind(home: Path) -> list[str]:
    return [f"left behind: {path.parent.name}/{TEMPORARY_PREFIX}*" for path in home.rglob(f"{TEMPORARY_PREFIX}*")]


async def _facts(store: StoreClient, home: Path, claims: Claims) -> list[str]:
    wrong: list[str] = []
    for step, event in claims.acknowledged():
        if not isinstance(step, Write) or event.key in claims.leaving():
            continue
        if event.verb in ("created", "superseded", "unchanged", "reinforced"):
            wrong += await _fact(store, step, event)
    for key, versions in _keys(home).items():
        current = await store.current_fact(key)
        history = (await store.history(key)).versions
        if current.version != versions[-1]:
            wrong.append(f"{key}: current is v{current.version}, the highest file is v{versions[-1]}")
        if [fact.version for fact in history] != list(versions) or list(versions) != list(range(1, len(versions) + 1)):
            wrong.append(f"{key}: versions {versions} have gaps or cannot be read")
        marked = [fact.version for fact in history[:-1] if fact.status is not Status.SUPERSEDED]
        if marked or current.status is Status.SUPERSEDED:
            wrong.append(f"{key}: versions {marked} do not say that they are superseded, or the current one does")
        wrong += _marks(current.key, (current.pinned, current.status), claims)
    return wrong


async def _fact(store: StoreClient, step: Write, event: Event) -> list[str]:
    try:
        history = (await store.history(event.key)).versions
    except NotFound:
        return [f"LOST: {step.verb} {event.key}@v{event.version}"]
    fact = next((fact for fact in history if fact.version == event.version), None)
    if fact is None:
        return [f"LOST: {step.verb} {event.key}@v{event.version}"]
    if fact.body != step.request.body:
        return [f"LOST: {event.key}@v{event.version} has another text than was acknowledged"]
    if step.request.trust.outranks(fact.trust) or (step.request.when or fact.when) != fact.when:
        return [f"LOST: {step.verb} of {event.key}@v{event.version}: trust or card"]
    if fact.uid != event.uid:
        return [f"{event.key} has another uid than was told"]
    return []


def _keys(home: Path) -> dict[str, tuple[int, ...]]:
    found = layout.walk(Home(home).facts)
    return {entry.key: entry.versions for entry in found if isinstance(entry, layout.KeyFiles)}


def _marks(key: str, now: tuple[bool, Status], claims: Claims) -> list[str]:
    """A mark that was acknowledged stands, unless a later step that may have worked changed it."""
    pinned: set[bool | None] = {False}
    status: set[Status | None] = {Status.CURRENT}
    for event in claims.events:
        if event.kind not in ("begin", "done") or event.step < 0:
            continue
        step = script.steps(event.round)[event.step]
        if isinstance(step, MarkFact) and step.request.key == key:
            pinned = _after(pinned, step.request.pinned, event)
            status = _after(status, step.request.status, event)
        elif isinstance(step, Write) and step.request.key == key:
            # A new version begins unmarked.
            pinned, status = pinned | {False}, status | {Status.CURRENT}
    wrong = [f"LOST: pin of {key}: now {now[0]}"] if now[0] not in pinned else []
    return wrong + ([f"LOST: status of {key}: now {now[1]}"] if now[1] not in status else [])


def _after(possible: set, wanted: object, event: Event) -> set:  # type: ignore[type-arg]
    if wanted is None:
        return possible
    return {wanted} if event.kind == "done" else possible | {wanted}


async def _current_as_seen(store: StoreClient, claims: Claims) -> list[str]:
    """What the process answered as current after its last step is current after the restart (I1)."""
    last = next((event for event in reversed(claims.events) if event.kind in ("seen", "begin")), None)
    if last is None or last.kind == "begin":
        return []
    now = {fact.key: fact.version for fact in (await store.list_facts()).facts}
    return [
        f"CURRENT CHANGED: {key}: v{last.current.get(key)} was answered before, v{now.get(key)} after the restart"
        for key in sorted(
            (now.keys() | last.current.keys()) - claims.leaving() - _moving(claims) - _half_accepted(claims)
        )
        if now.get(key) != last.current.get(key)
    ]


def _half_accepted(claims: Claims) -> frozenset[str]:
    """Keys of accepted values whose write was refused once the decision was written down: the restart does it."""
    done = [step for step, _ in claims.acknowledged()]
    tried = [step for step in claims.tried() if isinstance(step, Decide) and step.verb == "accept"]
    return frozenset(step.key for step in tried if step not in done)


def _moving(claims: Claims) -> frozenset[str]:
    return frozenset(step.request.new for step in claims.tried() if isinstance(step, Move))


async def _sessions(store: StoreClient, claims: Claims) -> list[str]:
    wrong: list[str] = []
    turns: dict[str, list[str]] = {}
    for name in (await store.sessions()).sessions:
        view = await store.session(name)
        turns[name] = [turn.text for turn in view.turns]
        ordinals = [turn.ordinal for turn in view.turns]
        if ordinals != list(range(1, len(ordinals) + 1)):
            wrong.append(f"{name}: turns are numbered {ordinals}")
        if name.startswith(script.FORGOTTEN_SESSION):
            continue
        wrong += [f"{name}: turn {turn.ordinal} is torn" for turn in view.turns if not script.is_whole(turn.text)]
        twice = [count for count in Counter(turns[name]).values() if count > 1]
        if twice:
            wrong.append(f"{name}: {len(twice)} turns are there more than once")
    for step, _ in claims.acknowledged():
        if not isinstance(step, Append) or step.request.session.startswith(script.FORGOTTEN_SESSION):
            continue
        if step.request.text not in turns.get(step.request.session, []):
            wrong.append(f"LOST: turn {step.request.turn_id} of {step.request.session}")
    return wrong


async def _blocks(store: StoreClient, claims: Claims) -> list[str]:
    wrong: list[str] = []
    for step in [step for step in claims.tried() if isinstance(step, Commit)]:
        place = FindConversation(
            owner=script.OWNER,
            project=script.PROJECT,
            session=step.session,
            thread=THREAD,
            positions=(step.block.position,),
        )
        found = (await store.find_conversation(place)).blocks
        must = any(step == done for done, _ in claims.acknowledged())
        if (must and not found) or any(block != step.block for block in found):
            wrong.append(f"LOST: block of {step.session} ({len(found)} found)")
    return wrong


async def _others(store: StoreClient, claims: Claims) -> list[str]:
    wrong: list[str] = []
    decided = {step.body for step in claims.tried() if isinstance(step, Decide)}
    waiting = {item.id for item in (await store.review_queue()).items}
    for step, event in claims.acknowledged():
        # A question about two facts ("conflict") goes with the fact that it quotes; what was queued instead waits.
        if isinstance(step, Write) and event.verb == "queued" and step.request.body not in decided:
            wrong += [] if event.review_id in waiting else [f"LOST: review item for {event.key}"]
        if isinstance(step, Decide):
            wrong += await _decision(store, step)
        if isinstance(step, Resolve):
            known = await store.resolve_project(ResolveProject(directory=step.request.directory))
            if known is None or (known.name, known.identity) != (event.name, step.request.identity):
                wrong.append(f"LOST: project {event.name}")
    return wrong


async def _decision(store: StoreClient, step: Decide) -> list[str]:
    items = (await store.review_queue()).items
    if any((item.key, item.body) == (step.key, step.body) for item in items):
        return [f"LOST: {step.verb} for {step.key}: the item waits again"]
    bodies = [fact.body for fact in (await store.history(step.key)).versions]
    is_written = step.body in bodies
    return [] if is_written == (step.verb == "accept") else [f"LOST: {step.verb} for {step.key}: written {is_written}"]


def _forgotten(home: Path, claims: Claims) -> list[str]:
    """After a forget no byte is left; one that was only begun has left all of it or nothing."""
    wrong: list[str] = []
    done = [step for step, _ in claims.acknowledged() if isinstance(step, Forget)]
    written = [step for step, _ in claims.acknowledged()]
    refused = {step.request.key for step in claims.tried() if isinstance(step, Write) and step not in written}
    for step in {step for step in claims.tried() if isinstance(step, Forget)}:
        versions = layout.versions_in(layout.directory_of(Home(home).facts, step.key))
        holders = [path for path in _all_files(home) if step.trace.encode() in path.read_bytes()]
        if step in done and versions:
            wrong.append(f"NOT FORGOTTEN: {step.key} has versions {versions}")
        # A turn that says what was refused as a fact is not about this key.
        if not versions and holders and step.key not in refused:
            wrong.append(f"NOT FORGOTTEN: {step.key} is in {sorted(str(path.relative_to(home)) for path in holders)}")
    return wrong


def _all_files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


async def _moved(store: StoreClient, claims: Claims) -> list[str]:
    """A moved fact is under one key with all its versions: the new one, or, when nobody said so, one of both."""
    wrong: list[str] = []
    done = [step for step, _ in claims.acknowledged() if isinstance(step, Move)]
    for step in {step for step in claims.tried() if isinstance(step, Move)}:
        said = {
            event.version: write.request.body
            for write, event in claims.acknowledged()
            if isinstance(write, Write) and event.key == step.request.old
        }
        found = [await _bodies(store, key) for key in (step.request.old, step.request.new)]
        if (step in done and found[0]) or (found[0] and found[1]):
            wrong.append(f"{step.request.old} is still there after the move")
        moved = found[1] or found[0]
        if any(moved.get(version) != body for version, body in said.items()):
            wrong.append(f"LOST: {step.request.old} moved with versions {sorted(moved)} of {sorted(said)}")
    return wrong


async def _bodies(store: StoreClient, key: str) -> dict[int, str]:
    try:
        return {fact.version: fact.body for fact in (await store.history(key)).versions}
    except NotFound:
        return {}


def _audit(home: Path, claims: Claims) -> list[str]:
    """The chain holds; a torn last line is cut by the next one, so it is judged up to its last newline."""
    log = Home(home).audit_log
    data = log.read_bytes() if log.exists() else b""
    whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace")
    broken = first_broken_line(whole)
    if broken is not None:
        return [f"the audit chain breaks at line {broken} of {whole.count(chr(10))}"]
    acts = {(line["verb"], line["what"], line.get("version")) for line in map(json.loads, whole.splitlines())}
    told = [(event.verb, event.uid, event.version) for _, event in claims.acknowledged() if event.verb in _AUDITED]
    if any(event.kind == "refused" for event in claims.events):
        # After a refusal a later mark may have had nothing to change, and then it is no act.
        told = [act for act in told if act[0] != "marked"]
    missing = [act for act in told if act not in acts] if claims.audit_counts else []
    return [f"LOST: audit line for {verb} of version {version}" for verb, _, version in missing]


def _step_name(event: Event) -> str:
    if event.step < 0:
        return "opening the home"
    return f"step {event.step} ({verb_of(event)})"


def verb_of(event: Event) -> str:
    """The verb of the step that an event is about."""
    return script.steps(event.round)[event.step].verb


def _without_root(text: str, home: Path) -> str:
    return text.replace(str(home), "")


def first_words(wrong: Sequence[str]) -> str:
    """The first violation, short enough for a table."""
    return wrong[0][:160] if wrong else ""
