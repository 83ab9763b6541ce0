"""Conversations: blocks that bead inserted, and where they go again (D6, I9).

A *position* is the rolling hash of the normalised human texts and tool-use ids up to one message; `roll` is its only
definition, so the proxy that inserts and the store that keeps can never disagree. Pure.
"""

from collections.abc import Container, Iterable, Iterator
from enum import StrEnum
from hashlib import blake2b

import msgspec

POSITION_BYTES = 16


class BlockKind(StrEnum):
    """Where a block sits: at the end of the system part, or at the end of a user message."""

    PINNED = "pinned"
    RECALL = "recall"


class Block(msgspec.Struct, frozen=True):
    """Text that was inserted at `position`, byte for byte. Empty text records "decided: nothing here"."""

    position: str
    kind: BlockKind
    text: str
    fact_uids: tuple[str, ...] = ()
    excerpt_ids: tuple[str, ...] = ()
    fact_versions: tuple[int, ...] = ()
    """Versions of `fact_uids`, in their order; empty where nobody noted them: then any version counts as told."""

    @property
    def told(self) -> tuple[str, ...]:
        """What a conversation with this block was told, as `is_told` reads it."""
        if len(self.fact_versions) != len(self.fact_uids):
            return self.fact_uids
        return tuple(f"{uid}@{version}" for uid, version in zip(self.fact_uids, self.fact_versions, strict=True))

    def __repr__(self) -> str:  # the text is memory and must not reach a traceback
        return f"Block(position={self.position!r}, kind={self.kind!r}, facts={len(self.fact_uids)})"


class Conversation(msgspec.Struct, frozen=True):
    """One session's thread with its blocks; `generation` rises with every forget that touches it."""

    id: str
    """`<session>-<thread>`, also its file name."""
    generation: int
    blocks: tuple[Block, ...] = ()


def is_told(uid: str, version: int, told: Container[str]) -> bool:
    """Whether this version of a fact is in `told`; a newer one than was told is not."""
    return uid in told or f"{uid}@{version}" in told


def roll(owner: str, project: str, messages: Iterable[Iterable[str]], *, after: str | None = None) -> Iterator[str]:
    """The position after each message; a message is its normalised human texts and tool-use ids, in order.

    `after` is the position of the message before them, in the same project; None where they are the first.
    FROZEN: stored blocks are found by these values. Parts are length-prefixed, so no two lists share a position.
    """
    state = _digest(b"bead position 1", owner, project) if after is None else bytes.fromhex(after)
    for parts in messages:
        state = _digest(state, *parts)
        yield state.hex()


def _digest(state: bytes, *parts: str) -> bytes:
    digest = blake2b(state, digest_size=POSITION_BYTES)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
