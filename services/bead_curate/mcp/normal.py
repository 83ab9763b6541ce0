"""The tools that every agent has: `recall` and `remember`."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from bead.blocks import estimate_tokens, render
from bead.conversations import BlockKind
from bead.errors import BeadError
from bead.recall import RecalledExcerpt, RecalledFact
from bead_curate.mcp.answers import BUDGET_TOKENS, ITEM_TOKENS
from bead_curate.mcp.arguments import MAX_LIMIT, Card, Recall, Remember
from bead_curate.mcp.services import Services

AGENT = "agent_observed"
PERSON = "user_stated"

_MOST_HITS = 200
_FACTS_A_PAGE = 200
_EXCERPTS = 2
_CATCH_UP_S = 2.0
_LONGEST_SESSION = 200
# Past every change there is: the store answers with its last number and nothing else.
_NO_CHANGES = 2**53
BEHIND = "The search index has not read the newest memories yet; some may be missing here."


async def recall(services: Services, asked: Recall) -> str:
    """Facts that hold words of the query, whole and best first, and at most two pieces of earlier conversations."""
    project = asked.project or await services.project()
    is_whole = await caught_up(services)
    query = {"q": asked.query, "project": project, "limit": _MOST_HITS}
    hits, excerpts = await asyncio.gather(
        services.call("index", "GET", "/v1/search", query=query), _excerpts(services, asked, project)
    )
    keys = [hit["id"] for hit in hits["hits"] if hit["kind"] == "fact"]
    wanted = keys[asked.offset : asked.offset + min(asked.limit, MAX_LIMIT)]
    return "\n".join(
        [
            *_shown(await facts_of(services, wanted), excerpts, asked.offset, len(keys)),
            *([] if is_whole else [BEHIND]),
        ]
    )


async def remember(services: Services, asked: Remember, trust: str, harness: str | None) -> str:
    """Write one fact, and say truly what that did."""
    project = asked.project.removeprefix("project/") if asked.project else await services.project()
    request = {
        "body": asked.text.strip() or asked.text,
        "key": asked.key,
        "type": asked.type,
        "trust": trust,
        "project": project,
        "when": card_of(asked.when) if asked.when else None,
        "harness": harness,
        "session": f"{services.session()} {harness or ''}"[:_LONGEST_SESSION],
    }
    wanted = {name: value for name, value in request.items() if value is not None}
    return told(await services.call("store", "POST", "/v1/facts", wanted))


def told(answer: Mapping[str, Any]) -> str:
    """What a write did, in a line or two."""
    verb, name = answer["verb"], f"{answer['key']} (version {answer['version']})"
    if verb == "queued" and answer.get("reason"):
        return f"queued: {answer['reason']} (item {answer['review_id']}); tell the person."
    if verb == "queued":
        return (
            f"queued: {answer['key']} says otherwise in the person's own words, which stay. They decide about yours "
            f"(item {answer['review_id']}); tell them."
        )
    lines = [f"{verb}: {name}"]
    if verb == "superseded" and answer.get("replaced"):
        lines.append(f"was: {json.dumps(answer['replaced'][:300], ensure_ascii=False)}")
    if answer.get("conflicts_with"):
        lines.append(
            f"{answer['conflicts_with']} says something else about this, and only one of the two is shown to agents "
            f"(item {answer['review_id']} waits for the person)."
        )
    return "\n".join(lines)


def card_of(card: Card) -> dict[str, list[str]]:
    """The parts of a trigger card that say something."""
    return {name: list(entries) for name, entries in card.model_dump().items() if entries}


async def caught_up(services: Services) -> bool:
    """Wait a moment until the index has the store's last change; whether it has (read your writes)."""
    query: dict[str, str | int | float | None] = {"epoch": "", "after": _NO_CHANGES, "wait_s": 0}
    page = await services.call("store", "GET", "/v1/changes", query=query)
    reached = {"seq": page["seq"], "wait_s": _CATCH_UP_S}
    return bool(await services.call("index", "GET", "/v1/applied", query=reached))


async def facts_of(services: Services, keys: list[str]) -> list[dict[str, Any]]:
    """The current versions of these keys, in their order; one that is gone meanwhile is left out."""
    if not keys:
        return []
    found: list[dict[str, Any]] = []
    for start in range(0, len(keys), _FACTS_A_PAGE):
        part = keys[start : start + _FACTS_A_PAGE]
        page = await services.call("store", "POST", "/v1/views/facts", {"keys": part, "limit": len(part)})
        found += page["facts"]
    return found


async def _excerpts(services: Services, asked: Recall, project: str | None) -> list[RecalledExcerpt]:
    """Pieces of past conversations as requests get them: what people and agents said, nothing from tools."""
    if asked.offset or not asked.query.strip():
        return []
    cue = {"source": "person", "text": asked.query}
    body = {"owner": "", "project": project or "", "session": "", "cues": [cue], "max_facts": 0}
    try:
        answer = await services.call("index", "POST", "/v1/recall", {**body, "max_excerpts": _EXCERPTS})
    except BeadError:  # the facts alone are an answer
        return []
    return [
        RecalledExcerpt(id=each["id"], kind=each["kind"], at=each["at"], text=each["text"])
        for each in answer["excerpts"]
    ]


def _shown(facts: list[dict[str, Any]], excerpts: list[RecalledExcerpt], offset: int, total: int) -> list[str]:
    """The same block that requests get, as far as whole facts fit."""
    chosen: list[RecalledFact] = []
    used = 100 + sum(estimate_tokens(each.text) for each in excerpts)
    for each in facts:
        fact = _recalled(each)
        if estimate_tokens(fact.body) > ITEM_TOKENS:
            length = f"too long to show here ({len(fact.body):,} characters)"
            fact = RecalledFact(fact.uid, fact.key, fact.version, fact.type, fact.trust, fact.valid_from, length)
        used += estimate_tokens(fact.key + fact.body) + 20
        if used > BUDGET_TOKENS:
            break
        chosen.append(fact)
    if not chosen and not excerpts:
        return ["Memory holds nothing about this." if not total else "No more facts about this."]
    left = total - offset - len(chosen)
    more = [f"{left} more facts left out; the next part: offset={offset + len(chosen)}"] if left > 0 else []
    return [render(BlockKind.RECALL, chosen, excerpts), *more]


def _recalled(fact: Mapping[str, Any]) -> RecalledFact:
    return RecalledFact(
        fact["uid"], fact["key"], fact["version"], fact["type"], fact["trust"], fact["valid_from"], fact["body"]
    )
