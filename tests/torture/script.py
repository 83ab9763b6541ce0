"""What the store is asked to do while it is tortured: every write verb, in rounds that can follow each other. Pure.

Every text ends with its own checksum, so that a torn one shows wherever it lies.
"""

import zlib
from dataclasses import dataclass
from functools import cache

from bead.conversations import Block, BlockKind
from bead.facts import FactType, Status, TriggerCard, Trust
from bead.turns import Role
from bead.wire.store import AppendTurn, Mark, Rekey, ResolveProject, WriteFact

OWNER = "me"
PROJECT = "shop"
LONG_SESSION = "session-long"
FORGOTTEN_SESSION = "forgotten"
"""Sessions whose turns are redacted by a forget; they are whole only before."""
_WORDS = (
    "the deploy of our little shop waits for a green build and two calm people who look at every graph twice".split()
)


@dataclass(frozen=True)
class Write:
    """Put a statement under a key."""

    verb: str
    request: WriteFact


@dataclass(frozen=True)
class MarkFact:
    """Change a fact's marks."""

    verb: str
    request: Mark


@dataclass(frozen=True)
class Append:
    """Capture a turn."""

    verb: str
    request: AppendTurn


@dataclass(frozen=True)
class Commit:
    """Keep a block of a conversation, under the generation that the store tells."""

    verb: str
    session: str
    block: Block


@dataclass(frozen=True)
class Resolve:
    """Make a project known."""

    verb: str
    request: ResolveProject


@dataclass(frozen=True)
class Forget:
    """Leave no byte of a key, and have its value refused from then on; `trace` is text that was only in it."""

    verb: str
    key: str
    trace: str


@dataclass(frozen=True)
class Move:
    """Give a fact another key."""

    verb: str
    request: Rekey


@dataclass(frozen=True)
class Decide:
    """Accept or reject what waits for a person under `key` with `body`."""

    verb: str
    key: str
    body: str


@dataclass(frozen=True)
class Settle:
    """Wait as long as the group fsync may take: from then on appends survive a power cut, too (D12)."""

    verb: str = "settle"


Step = Write | MarkFact | Append | Commit | Resolve | Forget | Move | Decide | Settle


def text(name: str, words: int) -> str:
    """Made-up words about `name`, several lines, with their checksum."""
    rows = [" ".join(_WORDS[(at + row) % len(_WORDS)] for at in range(12)) for row in range(words // 12 + 1)]
    rows.insert(0, f"This is about {name}.")
    start = "\n".join(rows)
    return f"{start}\nend {zlib.crc32(start.encode())}"


def is_whole(found: str) -> bool:
    """Whether a text is one that `text` made, down to its last byte."""
    start, _, end = found.strip("\n").rpartition("\nend ")
    return end == str(zlib.crc32(start.encode()))


@cache
def steps(number: int) -> tuple[Step, ...]:
    """The round `number`; all of it succeeds on a healthy store that has seen any earlier rounds, whole or in part."""
    return (
        *_facts(number),
        *_appends(number),
        *_projects(number),
        *_trust(number),
        *_forgets(number),
        *_moves(number),
        *_appends_again(number),
        Settle(),
    )


def _facts(number: int) -> tuple[Step, ...]:
    deploy, editor = f"project/{PROJECT}/deploy", f"user/round-{number}/editor"
    return (
        Write("write", _write(editor, text(f"editor {number}", 30))),
        Write("write", _write(deploy, text(f"deploy {number} a", 12))),
        Write("supersede", _write(deploy, text(f"deploy {number} b", 3_000))),
        Write("supersede", _write(deploy, text(f"deploy {number} c", 30))),
        Write("unchanged", _write(deploy, text(f"deploy {number} c", 30))),
        Write("write", WriteFact(body=text(f"derived {number}", 12), trust=Trust.USER_STATED)),
        MarkFact("pin", Mark(key=deploy, pinned=True)),
        MarkFact("sleep", Mark(key=editor, status=Status.DORMANT)),
        MarkFact("unpin", Mark(key=deploy, pinned=False)),
        MarkFact("wake", Mark(key=editor, status=Status.CURRENT)),
    )


def _trust(number: int) -> tuple[Step, ...]:
    key, said = f"user/round-{number}/tests", text(f"tests {number}", 30)
    card = TriggerCard(say=("shall I run the tests",), do=("pytest -q",))
    return (
        Write("write", _write(key, said)),
        Write("reinforce", _write(key, said, trust=Trust.USER_STATED)),
        Write("reinforce", _write(key, said, trust=Trust.USER_STATED, when=card)),
        Write("queue", _write(key, text(f"other tests {number}", 30))),
        Write("supersede", _write(key, text(f"new tests {number}", 30), trust=Trust.USER_STATED)),
        *_decisions(number, key),
    )


def _decisions(number: int, key: str) -> tuple[Step, ...]:
    accepted, rejected = text(f"accepted tests {number}", 30), text(f"rejected tests {number}", 30)
    return (
        Write("queue", _write(key, accepted)),
        Decide("accept", key, accepted),
        Write("queue", _write(key, rejected)),
        Decide("reject", key, rejected),
    )


def _forgets(number: int) -> tuple[Step, ...]:
    key, kept = f"user/round-{number}/plan", f"user/round-{number}/planet"
    trace = f"plan {number} of an afternoon"
    first, second = text(f"the {trace} a", 12), text(f"the {trace} b", 400)
    said = AppendTurn(
        session=f"{FORGOTTEN_SESSION}-{number}",
        turn_id=f"{number}-plan",
        role=Role.USER,
        text=f"Remember this.\n{second}\nThat is all.",
        at="2026-11-05T09:12:00Z",
        project=PROJECT,
    )
    return (
        Write("write", _write(key, first)),
        Write("write", _write(kept, text(f"planet {number}", 12))),
        Append("append", said),
        Write("supersede", _write(key, second)),
        Forget("forget", key, trace),
    )


def _moves(number: int) -> tuple[Step, ...]:
    old, new = f"user/round-{number}/old-name", f"user/round-{number}/new-name"
    return (
        Write("write", _write(old, text(f"name {number} a", 12))),
        Write("supersede", _write(old, text(f"name {number} b", 30))),
        Move("rekey", Rekey(old=old, new=new)),
    )


def _appends(number: int) -> tuple[Step, ...]:
    own = f"session-{number}"
    return (
        Append("append", _turn(own, f"{number}-1", Role.USER, 12)),
        Append("append", _turn(own, f"{number}-2", Role.ASSISTANT, 3_000)),
        Commit("commit", own, _block(number, "first")),
        Append("append", _turn(LONG_SESSION, f"{number}-3", Role.USER, 30)),
        Append("append", _turn(LONG_SESSION, f"{number}-4", Role.ASSISTANT, 30)),
        Append("repeat", _turn(LONG_SESSION, f"{number}-4", Role.ASSISTANT, 30)),
        Settle(),
    )


def _appends_again(number: int) -> tuple[Step, ...]:
    return (
        Commit("commit", f"session-{number}", _block(number, "second")),
        Commit("commit", LONG_SESSION, _block(number, "long")),
        Append("append", _turn(f"session-{number}", f"{number}-5", Role.USER, 400)),
    )


def _projects(number: int) -> tuple[Step, ...]:
    place = ResolveProject(directory=f"/srv/round-{number}", identity=f"git.example/acme/round-{number}")
    again = ResolveProject(directory=f"/srv/copy-{number}", identity=f"git.example/acme/round-{number}")
    return Resolve("project", place), Resolve("project", again)


def _write(key: str, body: str, trust: Trust = Trust.AGENT_OBSERVED, when: TriggerCard | None = None) -> WriteFact:
    return WriteFact(key=key, body=body, type=FactType.FEEDBACK, trust=trust, when=when, project=PROJECT)


def _turn(session: str, turn_id: str, role: Role, words: int) -> AppendTurn:
    said = text(f"turn {turn_id}", words)
    return AppendTurn(
        session=session, turn_id=turn_id, role=role, text=said, at="2026-11-05T09:12:00Z", project=PROJECT
    )


def _block(number: int, name: str) -> Block:
    position = f"{zlib.crc32(f'{number} {name}'.encode()):032x}"
    return Block(position, BlockKind.RECALL, text(f"block {number} {name}", 60))
