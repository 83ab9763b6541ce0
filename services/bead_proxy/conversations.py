"""Copies of conversations: which blocks go where, as far as this process knows (D6, I9).

Disposable: the store has the truth and a lost copy is loaded again. Making decisions is `memory`'s.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from bead.conversations import Block, BlockKind, Conversation
from bead_proxy.protocol import Insertion, ModelRequest

MOST_COPIES = 64
"""Copies kept; the one unused for longest goes first (I17)."""


class Copy:
    """One conversation. Whoever decides or commits holds `lock`."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.id = ""
        self.generation = 0
        self.found: tuple[Block, ...] = ()
        """Blocks as the store gave them, perhaps out of another conversation that this one goes on from. The next
        commit makes them this one's own, so that a forget that takes them raises this generation too."""
        self._blocks: dict[BlockKind, dict[str, Block]] = {kind: {} for kind in BlockKind}
        self._known: set[str] = set()

    def covers(self, positions: Sequence[str]) -> bool:
        """Whether all is known about `positions`; the newest of a conversation that only grew needs no question."""
        return self._known.issuperset(positions[:-1] or positions)

    def take(self, found: Conversation, positions: Sequence[str]) -> None:
        """Believe the store's answer about `positions`."""
        if found.generation != self.generation or found.id != self.id:
            # A forget may have taken a block anywhere, also on a branch that this request does not show.
            for there in self._blocks.values():
                there.clear()
            self._known.clear()
        else:
            for there in self._blocks.values():
                for position in there.keys() & positions:
                    del there[position]
        self.id, self.generation = found.id, found.generation
        self.found = found.blocks
        self._known.update(positions)
        for block in found.blocks:
            self._blocks[block.kind][block.position] = block

    def keep(self, blocks: Sequence[Block], generation: int) -> None:
        """Add what was committed."""
        self.generation, self.found = generation, ()
        for block in blocks:
            self._known.add(block.position)
            self._blocks[block.kind][block.position] = block

    def decided(self, kind: BlockKind, position: str) -> bool:
        """Whether a decision was made there, be it for nothing."""
        return position in self._blocks[kind]

    def blocks(self, positions: Sequence[str]) -> tuple[Block, ...]:
        """The blocks that a request with these positions carries, in order."""
        pinned, recalled = self._blocks[BlockKind.PINNED].get(positions[0]), self._blocks[BlockKind.RECALL]
        found = (pinned, *(recalled[position] for position in positions if position in recalled))
        return tuple(block for block in found if block and block.text)


class Copies:
    """All copies of this process, by session and thread."""

    def __init__(self, most: int = MOST_COPIES) -> None:
        self._most = most
        self._copies: OrderedDict[tuple[str, str], Copy] = OrderedDict()

    def of(self, session: str, thread: str) -> Copy:
        """The copy of that conversation, new if there is none."""
        copy = self._copies.get((session, thread))
        if copy is None:
            copy = self._copies[session, thread] = Copy()
            self._drop_oldest()
        self._copies.move_to_end((session, thread))
        return copy

    def __len__(self) -> int:
        return len(self._copies)

    def _drop_oldest(self) -> None:
        for key in list(self._copies)[: max(0, len(self._copies) - self._most)]:
            if not self._copies[key].lock.locked():
                del self._copies[key]


def insertions(request: ModelRequest, positions: Sequence[str], blocks: Sequence[Block]) -> list[Insertion]:
    """Where the bytes of `blocks` go in the body of `request`."""
    users = dict(zip(positions, request.users, strict=True))
    found: list[Insertion] = []
    for block in blocks:
        anchor = request.system if block.kind is BlockKind.PINNED else users[block.position].anchor
        if anchor is not None:
            found += anchor.insertions(block.text)
    return found
