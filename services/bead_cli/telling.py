"""What hooks have told a session: kept by the store as blocks of a conversation of their own, beside the proxy's.

A harness keeps what a hook told in its history, so each fact is told once; after a compaction its history is gone, and
so is what counts as told. A forget takes these blocks too, and raises the generation that a commit must name (D6).
"""

from typing import Any, NamedTuple

from bead.conversations import BlockKind, roll
from bead_cli.door import Door

THREAD = "hooks"
MOST = 200
"""Most blocks of one session; after that its hooks tell nothing more (I17)."""


class Told(NamedTuple):
    """A session's state as the store has it."""

    owner: str
    project: str
    conversation: str
    generation: int
    place: str
    """Position of the next block; empty when there are as many as may be."""
    seen: tuple[str, ...]
    """Facts and excerpts that the harness's history still holds, as a recall request takes them."""


def told(door: Door, owner: str, project: str, session: str, timeout_s: float) -> Told:
    """What this session was told since its history began.

    Raises:
        BeadError: the store did not say.
    """
    # Without the project: a session that changes its directory keeps its history.
    positions = tuple(roll(owner, "", ([f"bead hook {session}", str(number)] for number in range(MOST))))
    question = {"owner": owner, "project": project, "session": session, "thread": THREAD, "positions": positions}
    answer = door.call("store", "POST", "/v1/conversations/find", question, timeout_s=timeout_s)
    found = {block["position"]: block for block in answer["blocks"]}
    blocks = [found[position] for position in positions if position in found]
    begins = max((at for at, block in enumerate(blocks) if block["kind"] == BlockKind.PINNED.value), default=0)
    seen = tuple(name for block in blocks[begins:] for name in _names(block))
    free = [position for position in positions if position not in found]
    return Told(owner, project, answer["id"], answer["generation"], free[0] if free else "", seen)


def keep(door: Door, state: Told, kind: BlockKind, text: str, facts: list[Any], timeout_s: float) -> None:
    """Note that a block is told now; a pinned one begins the history anew.

    Raises:
        StaleConversation: something was forgotten meanwhile, or another hook was faster; nothing may be told.
        BeadError: it cannot be kept.
    """
    block = {
        "position": state.place,
        "kind": kind.value,
        "text": text,
        "fact_uids": [fact["uid"] for fact in facts if "uid" in fact],
        "fact_versions": [fact["version"] for fact in facts if "uid" in fact],
        "excerpt_ids": [fact["id"] for fact in facts if "uid" not in fact],
    }
    request = {
        "conversation": state.conversation,
        "generation": state.generation,
        "owner": state.owner,
        "project": state.project,
        "blocks": [block],
    }
    door.call("store", "POST", "/v1/conversations/commit", request, timeout_s=timeout_s)


def _names(block: dict[str, Any]) -> list[str]:
    uids, versions = block.get("fact_uids", []), block.get("fact_versions", [])
    facts = [f"{uid}@{version}" for uid, version in zip(uids, versions, strict=True)] if versions else uids
    return [*facts, *block.get("excerpt_ids", [])]
