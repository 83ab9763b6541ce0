"""Conversation state: which block was inserted at which position, `sessions/<session>-<thread>.jsonl` (D6, I9).

A block is appended before the request that carries it goes on; it survives the death of any process, and is synced in
a group (D12). A table in memory finds a position in any conversation of the same owner and project, which makes
resume, fork and rewind one look-up. What a position is, is `bead.conversations`.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from bead.conversations import Block, BlockKind, Conversation
from bead.errors import BadRequest, DamagedFile, Refused, StaleConversation, Unavailable
from bead.wire.store import CommitBlocks, FindConversation
from bead_store import files
from bead_store.disk import Disk
from bead_store.names import conversation_name, file_name
from bead_store.redaction import Wanted
from bead_store.use import Use

MAX_FILE_BYTES = 32 << 20
MEMORY_BYTES = 8 << 20
"""Text of blocks kept in memory, newest conversations first. An older one is read again when its own session asks;
only a fork of something older than that gets new blocks, which costs a cache miss and no more."""
MAX_BLOCK_BYTES = 256 << 10
_BLOCK_OVERHEAD_BYTES = 600
"""What one block costs in memory beside its text, about."""
_FIRST_GENERATION = 1

Place = tuple[str, BlockKind]


class _Line(msgspec.Struct, omit_defaults=True):
    """One line of a file: the head, or a block."""

    owner: str | None = None
    project: str | None = None
    generation: int | None = None
    block: Block | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


@dataclass
class _State:
    """One conversation in memory."""

    id: str
    owner: str
    project: str
    generation: int
    blocks: dict[Place, Block] = field(default_factory=dict)
    size: int = 0

    def conversation(self, blocks: Iterable[Block]) -> Conversation:
        return Conversation(self.id, self.generation, tuple(blocks))


class Conversations:
    """Conversations of one home; asked and changed from the turns' lane only."""

    def __init__(self, folder: Path, *, disk: Disk, use: Use) -> None:
        self._folder = folder
        self._disk = disk
        self._use = use
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._at: defaultdict[str, list[str]] = defaultdict(list)
        """By position, the conversations that have it, newest last."""
        self._size = 0
        self._refused: set[str] = set()
        """Facts that were forgotten while this process ran."""
        self.damage: list[DamagedFile] = []
        """Files that could not be read when the store started; the others work."""

    def load(self) -> None:
        """Read the newest conversations, as many as the memory's bound takes."""
        found: list[tuple[int, int, str]] = []
        for path in self._folder.glob("*.jsonl"):
            if file_name(path.stem) == path.stem and not path.is_symlink():
                state = path.stat()
                found.append((state.st_mtime_ns, state.st_size, path.stem))
        room = MEMORY_BYTES
        chosen: list[str] = []
        for _, size, name in sorted(found, reverse=True):
            room -= size
            if room < 0:
                break
            chosen.append(name)
        for name in reversed(chosen):
            try:
                self._own(name)
            except DamagedFile as error:
                self.damage.append(error)

    def find(self, request: FindConversation) -> Conversation:
        """The thread's own conversation with every block pinned to one of the positions, wherever it was pinned.

        A request with a single position is a conversation that begins: only its own session may have blocks for it,
        or two chats with the same first prompt would share the first one's memory.
        """
        name = conversation_name(request.session, request.thread)
        own = self._own(name)
        blocks = own.blocks if own else {}
        may_inherit = len(request.positions) > 1
        found: list[Block] = []
        for position in request.positions:
            mine = list(_at(blocks, position))
            found += mine if mine or not may_inherit else self._inherited(position, request, name)
        return Conversation(name, own.generation if own else 0, tuple(found))

    def commit(self, request: CommitBlocks) -> Conversation:
        """Keep blocks, if the conversation still has the generation that the caller saw; the answer holds no blocks.

        Raises:
            StaleConversation: it has another one, or another block at the same place; the error holds what is there.
        """
        name = file_name(request.conversation)
        own = self._own(name)
        if request.generation != (own.generation if own else 0):
            raise _stale(own or _State(name, request.owner, request.project, 0))
        if self._refused and any(not self._refused.isdisjoint(block.fact_uids) for block in request.blocks):
            raise _stale(own or _State(name, request.owner, request.project, 0))
        new = _new_blocks(own, request.blocks)
        lines = [_Line(block=block) for block in new]
        if own is None:
            own = _State(name, request.owner, request.project, _FIRST_GENERATION)
            lines.insert(0, _Line(owner=own.owner, project=own.project, generation=own.generation))
        if lines:
            if own.size > MAX_FILE_BYTES // 2:
                raise Refused(f"a conversation keeps at most {MAX_FILE_BYTES // 2} bytes of blocks")
            self._append(name, lines)
            self._keep(own, new)
            self._use.note(name, new)
        else:
            self._disk.require_health()
        return own.conversation(())

    def refuse(self, uids: Iterable[str]) -> None:
        """Take no block of these facts any more: a request may be on its way with one."""
        self._refused.update(uids)

    def names(self) -> list[str]:
        """Every conversation that has a file."""
        return [path.stem for path in self._folder.glob("*.jsonl")]

    def blocks(self, name: str) -> tuple[Block, ...]:
        """Every block of a conversation's file in the order they were kept; any thread may ask.

        Raises:
            DamagedFile: it cannot be read.
        """
        lines = [line for line in self._lines(name) if line.endswith(b"\n")]
        return tuple(_parse(name, b"".join(lines), self._path(name)).blocks.values()) if lines else ()

    def of_session(self, session: str) -> tuple[Block, ...]:
        """Every block in memory of a session's conversations, subagents' left out; newest conversations only."""
        mine = [state for name, state in self._states.items() if name.rpartition("-")[0] == session]
        return tuple(block for state in mine for block in state.blocks.values())

    def holding(self, uid: str) -> list[tuple[str, Block]]:
        """Conversations in memory whose blocks carry this fact, newest first; any thread may ask."""
        states = list(self._states.values())[::-1]
        return [
            (state.id, block) for state in states for block in list(state.blocks.values()) if uid in block.fact_uids
        ]

    def count(self, name: str, wanted: Wanted) -> int:
        """How many blocks of a conversation are to go; changes nothing, so any thread may ask.

        Raises:
            DamagedFile: the disk cannot read it.
        """
        return sum(_is_gone(line, wanted) for line in self._lines(name))

    def size(self, name: str) -> int:
        """How many blocks a conversation's file holds, about; any thread may ask."""
        try:
            return sum(b'"block"' in line for line in self._lines(name))
        except DamagedFile:
            return 0

    def take_away(self, name: str, target: Path) -> None:
        """Move a conversation's whole file; whoever asks for it finds a new beginning."""
        if name in self._states:
            self._drop(name)
        if self._path(name).exists():
            self._disk.move(self._path(name), target)

    def clear_old(self, before_ns: int) -> int:
        """Remove conversations that nothing was added to since then (nanoseconds of the clock); how many."""
        removed = 0
        for path in list(self._folder.glob("*.jsonl")):
            if not path.is_symlink() and path.stat().st_mtime_ns < before_ns:
                if path.stem in self._states:
                    self._drop(path.stem)
                self._disk.erase(path)
                removed += 1
        return removed

    def drop(self, name: str, wanted: Wanted) -> int:
        """Remove blocks and raise the generation, so that every copy is loaded anew; how many there were.

        The other lines keep their bytes; those of the old file are overwritten.
        """
        lines = self._lines(name)
        kept = [line for line in lines if not _is_gone(line, wanted)]
        if len(kept) == len(lines):
            return 0
        path = self._path(name)
        if name in self._states:
            self._drop(name)
        try:
            generation = _parse(name, b"".join(kept), path).generation + 1
        except (DamagedFile, AssertionError):
            self._disk.erase(path)  # without its head it says nothing; the conversation begins anew
        else:
            whole = [line for line in kept if line.endswith(b"\n")]
            self._disk.replace_erasing(path, b"".join([*whole, _encode(_Line(generation=generation)), b"\n"]))
            self._own(name)
        return len(lines) - len(kept)

    def _lines(self, name: str) -> list[bytes]:
        try:
            return files.read(self._path(name), MAX_FILE_BYTES).splitlines(keepends=True)
        except FileNotFoundError:
            return []

    def _append(self, name: str, lines: Iterable[_Line]) -> None:
        try:
            self._disk.append(self._path(name), b"".join(_encode(line) + b"\n" for line in lines))
        except Unavailable:
            # The disk may have kept a part of it: read the file again, and cut that, before anything is added.
            if name in self._states:
                self._drop(name)
            raise

    def _inherited(self, position: str, request: FindConversation, name: str) -> Iterator[Block]:
        for other in reversed(self._at.get(position, ())):
            state = self._states[other]
            if other != name and (state.owner, state.project) == (request.owner, request.project):
                return _at(state.blocks, position)
        return iter(())

    def _own(self, name: str) -> _State | None:
        """A conversation from memory, else from its file."""
        state = self._states.get(name)
        if state is not None and not self._path(name).exists():
            self._drop(name)  # a person has removed the file: the conversation begins anew
            state = None
        if state is None:
            state = self._read(name)
            if state is None:
                return None
            blocks, state.blocks = tuple(state.blocks.values()), {}
            self._keep(state, blocks)
        self._states.move_to_end(name)
        return state

    def _read(self, name: str) -> _State | None:
        path = self._path(name)
        try:
            data = files.read(path, MAX_FILE_BYTES)
        except FileNotFoundError:
            return None
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):  # torn by a crash, never acknowledged
            self._disk.truncate(path, len(whole))
        return _parse(name, whole, path) if whole else None

    def _keep(self, state: _State, blocks: Iterable[Block]) -> None:
        self._states[state.id] = state
        self._states.move_to_end(state.id)
        for block in blocks:
            state.blocks[block.position, block.kind] = block
            names = self._at[block.position]
            if state.id in names:
                names.remove(state.id)
            names.append(state.id)
            state.size += len(block.text) + _BLOCK_OVERHEAD_BYTES
            self._size += len(block.text) + _BLOCK_OVERHEAD_BYTES
        while self._size > MEMORY_BYTES and len(self._states) > 1:
            self._drop(next(iter(self._states)))

    def _drop(self, name: str) -> None:
        """Forget a conversation in memory; its file stays."""
        state = self._states.pop(name)
        self._size -= state.size
        for position in {position for position, _ in state.blocks}:
            self._at[position].remove(name)
            if not self._at[position]:
                del self._at[position]

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"


def _is_gone(line: bytes, wanted: Wanted) -> bool:
    """Whether a line holds a block of a forgotten fact, or the text of one."""
    try:
        block = _decode(line).block
    except (msgspec.DecodeError, UnicodeDecodeError):
        return wanted.holds(line.decode("utf-8", "replace"))
    return block is not None and wanted.takes(block)


def _at(blocks: dict[Place, Block], position: str) -> Iterator[Block]:
    return (blocks[position, kind] for kind in BlockKind if (position, kind) in blocks)


def _new_blocks(own: _State | None, blocks: Iterable[Block]) -> list[Block]:
    """Those that are not there yet. What stands at a place is never replaced: it was sent to the provider (I9)."""
    new: dict[Place, Block] = {}
    for block in blocks:
        if len(block.text.encode("utf-8", "replace")) > MAX_BLOCK_BYTES:
            raise BadRequest(f"a block has at most {MAX_BLOCK_BYTES} bytes")
        there = own.blocks.get((block.position, block.kind)) if own else None
        if there is not None and there.text != block.text:
            assert own is not None, "what is there is in a conversation"
            raise _stale(own)
        if there is None:
            new[block.position, block.kind] = block
    return list(new.values())


def _stale(state: _State) -> StaleConversation:
    now = state.conversation(state.blocks.values())
    return StaleConversation("the conversation has changed since it was read", state=msgspec.to_builtins(now))


def _parse(name: str, data: bytes, path: Path) -> _State:
    state: _State | None = None
    for number, raw in enumerate(data.splitlines(), 1):
        try:
            line = _decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise files.damaged(path, number, "is no conversation line; remove the file to begin anew") from None
        if state is None:
            if line.owner is None or line.project is None or line.generation is None:
                raise files.damaged(path, number, "does not begin with the conversation's head")
            state = _State(name, line.owner, line.project, line.generation)
        elif line.generation is not None:
            state.generation = line.generation
        if line.block is not None:
            state.blocks[line.block.position, line.block.kind] = line.block
    assert state is not None, "there was at least one line"
    return state
