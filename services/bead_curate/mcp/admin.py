"""The tools of a curation session that show and mark; what takes something away is `destroying`.

Of a review item that reads like an instruction a model gets the id only (I14). Nothing here reads the vault or drafts.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any

from bead.errors import BeadError
from bead_curate.mcp.answers import Item, listed
from bead_curate.mcp.arguments import MAX_LIMIT, History, OneKey, Page, Pin, Rekey, Search, SetWhen
from bead_curate.mcp.normal import BEHIND, card_of, caught_up, facts_of
from bead_curate.mcp.services import Services, fact_path

_MOST_HITS = 200
_REKEY_S = 60.0
_MOST_SCOPES = 30
_REPORT_CHARS = 8_000


async def summary(services: Services) -> str:
    """Counts and the latest report, which holds ids and counts only."""
    dormant = {"status": "dormant", "limit": 1}
    facts, asleep, queue, sealed, drafts, reports = await asyncio.gather(
        services.call("store", "POST", "/v1/views/facts", {"limit": 1}),
        services.call("store", "POST", "/v1/views/facts", dormant),
        services.call("store", "GET", "/v1/queue"),
        services.call("store", "GET", "/v1/vault/sealed"),
        _optional(services.call("store", "GET", "/v1/drafts")),
        services.call("store", "GET", "/v1/views/reports"),
    )
    scopes = facts["scopes"]
    lines = [f"{facts['stored']} facts, {asleep['total']} of them dormant, {len(sealed['sealed'])} sealed keys"]
    lines += [f"  {scope['name']}: {scope['count']}" for scope in scopes[:_MOST_SCOPES]]
    if scopes[_MOST_SCOPES:]:
        lines.append(f"  {len(scopes) - _MOST_SCOPES} more scopes left out")
    suspicious = sum(bool(item["suspicious"]) for item in queue["items"])
    lines.append(f"{len(queue['items'])} items wait for the person, {suspicious} of them read like instructions")
    waiting = len((drafts or {}).get("drafts", ()))
    lines.append(
        f"{waiting} drafts from other agents' memories wait too; only the person reads them, with `bead review`"
    )
    head = "\n".join(lines)
    if not reports["reports"]:
        return f"{head}\nNo night has been reported yet."
    day = reports["reports"][0]
    report = (await services.call("store", "GET", f"/v1/views/reports/{day}"))["text"]
    cut = f"\n({len(report) - _REPORT_CHARS} characters left out; all of it: bead dream status)"
    shown = report if len(report) <= _REPORT_CHARS else report[:_REPORT_CHARS] + cut
    return listed([Item(shown, f"the report of {day}")], offset=0, total=1, noun="reports", head=head)


async def search(services: Services, asked: Search) -> str:
    """Facts whole, pieces of turns and episodes as snippets."""
    project = asked.project or await services.project()
    is_whole = await caught_up(services)
    query: dict[str, str | int | float | None] = {"q": asked.query, "project": project, "limit": _MOST_HITS}
    if asked.all_versions:
        query["all_versions"] = "true"
    hits = (await services.call("index", "GET", "/v1/search", query=query))["hits"]
    page = hits[asked.offset : asked.offset + min(asked.limit, MAX_LIMIT)]
    current = [hit["id"] for hit in page if hit["kind"] == "fact" and "@v" not in hit["id"]]
    facts = {fact["key"]: fact for fact in await facts_of(services, current)}
    items = [Item(_fact_line(facts[hit["id"]]) if hit["id"] in facts else _hit_line(hit), hit["id"]) for hit in page]
    text = listed(items, offset=asked.offset, total=len(hits), noun="results")
    return text if is_whole else f"{text}\n{BEHIND}"


async def history(services: Services, asked: History) -> str:
    """Newest first."""
    versions = (await services.call("store", "GET", fact_path(asked.key, "/history")))["versions"][::-1]
    items = [Item(_version_line(version), f"version {version['version']}") for version in versions[asked.offset :]]
    return listed(items, offset=asked.offset, total=len(versions), noun="versions")


async def review_queue(services: Services, asked: Page) -> str:
    """Oldest first; with the value that is stored, where an item would change it."""
    waiting = (await services.call("store", "GET", "/v1/queue"))["items"]
    page = waiting[asked.offset : asked.offset + MAX_LIMIT]
    stored = {fact["key"]: fact for fact in await facts_of(services, sorted({item["key"] for item in page}))}
    items = [Item(_queue_line(item, stored.get(item["key"])), f"item {item['id']}") for item in page]
    return listed(items, offset=asked.offset, total=len(waiting), noun="waiting items")


async def list_sealed(services: Services, asked: Page) -> str:
    """Names and version counts."""
    sealed = (await services.call("store", "GET", "/v1/vault/sealed"))["sealed"]
    items = [Item(f"- {each['key']}: {_count(len(each['versions']), 'version')}", each["key"]) for each in sealed]
    return listed(items[asked.offset :], offset=asked.offset, total=len(sealed), noun="sealed keys")


async def set_when(services: Services, asked: SetWhen) -> str:
    """Another trigger card on the current version."""
    card = card_of(asked.when)
    fact = await services.call("store", "POST", "/v1/marks", {"key": asked.key, "when": card})
    parts = ", ".join(f"{len(entries)} {name}" for name, entries in card.items()) or "empty"
    return f"trigger card of {fact['key']} (version {fact['version']}): {parts}"


async def pin(services: Services, asked: Pin) -> str:
    """Mark the current version."""
    fact = await services.call("store", "POST", "/v1/marks", {"key": asked.key, "pinned": asked.pinned})
    return f"{'pinned' if asked.pinned else 'unpinned'}: {fact['key']} (version {fact['version']})"


async def reinforce(services: Services, asked: OneKey) -> str:
    """Wake the current version."""
    fact = await services.call("store", "POST", "/v1/marks", {"key": asked.key, "status": "current"})
    return f"current: {fact['key']} (version {fact['version']})"


async def rekey(services: Services, asked: Rekey) -> str:
    """Move a fact."""
    body = {"old": asked.old, "new": asked.new}
    moved = await services.call("store", "POST", "/v1/rekey", body, timeout_s=_REKEY_S)
    return f"moved: {asked.old} to {moved['key']} ({_count(moved['versions'], 'version')})"


async def _optional(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except BeadError:
        return None


def _fact_line(fact: Mapping[str, Any]) -> str:
    marks = [fact["type"], fact["trust"], str(fact["valid_from"])[:10]]
    marks += [word for word, is_so in (("pinned", fact["pinned"]), ("dormant", fact["status"] == "dormant")) if is_so]
    return f"- [{fact['key']}@v{fact['version']}] ({', '.join([*marks, _card(fact)])}) {fact['body']}"


def _version_line(fact: Mapping[str, Any]) -> str:
    sources = f"\nsources: {', '.join(fact['sources'])}" if fact.get("sources") else ""
    return _fact_line(fact) + sources


def _hit_line(hit: Mapping[str, Any]) -> str:
    words = [hit["kind"], str(hit.get("trust") or ""), str(hit.get("since") or "")[:10]]
    return f"- [{hit['id']}] ({', '.join(word for word in words if word)}) {hit['snippet']}"


def _queue_line(item: Mapping[str, Any], stored: Mapping[str, Any] | None) -> str:
    if item["suspicious"]:
        return f"- item {item['id']}: reads like an instruction; only the person sees it, with `bead review`"
    agent = item.get("harness") or item["trust"]
    lines = [f"- item {item['id']} ({item['kind']}, {agent}, {str(item['created'])[:10]}) {item['key']}"]
    lines.append(f"proposed: {item['body']}")
    if stored:
        lines.append(f"stored: {stored['body']}")
    lines += [f"{word}: {item[name]}" for word, name in (("why", "reason"), ("moves to", "new_key")) if item.get(name)]
    if item.get("others"):
        lines.append(f"these would sleep: {', '.join(item['others'])}")
    return "\n".join(lines)


def _card(fact: Mapping[str, Any]) -> str:
    """Cards are matched and never shown to a model (D7): only how large it is."""
    card = fact.get("when") or {}
    parts = [f"{len(entries)} {name}" for name, entries in card.items() if entries]
    return f"card: {' '.join(parts)}" if parts else "no card"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
