"""The tools that take something away, in two calls: a preview with a confirm word, then the deed (I7)."""

from collections.abc import Mapping
from typing import Any

from bead.errors import NoVault
from bead_curate.mcp.answers import Item, listed
from bead_curate.mcp.arguments import Forget, ForgetMatching, Seal
from bead_curate.mcp.confirming import LIFE_S, Words
from bead_curate.mcp.services import Services, fact_path

_LIMIT_S = 600.0
"""Each reads the whole raw log."""

FORGET, MATCHING, SEAL = "forget", "forget_matching", "seal"
_UNSEEN = "would go too and are too many to show here"
_INDEX = {
    "applied": "no byte of it is left in the search index",
    "pending": "the search index follows: it drops the text before it answers again",
    "no index": "there is no search index",
}


async def forget(services: Services, words: Words, asked: Forget) -> str:
    """Exactly these keys."""
    keys = list(asked.keys)
    if asked.confirm:
        store_word = words.redeem(asked.confirm, FORGET, asked.keys)
        body = {"keys": keys, "confirm": store_word}
        return _receipt(await services.call("store", "POST", "/v1/forget", body, timeout_s=_LIMIT_S))
    preview = await services.call("store", "POST", "/v1/forget/preview", {"keys": keys}, timeout_s=_LIMIT_S)
    missing = [f"Nothing is stored under {key}." for key in preview["missing"]]
    if not preview["hits"]:
        return "\n".join([*missing, "There is nothing to forget."])
    word = words.issue(FORGET, asked.keys, preview["confirm"])
    head = "\n".join([*missing, _warning("forget everything below for good", word)])
    items = [Item(_key_line(hit), hit["key"]) for hit in preview["hits"]]
    return listed(items, offset=0, total=len(items), noun="keys", head=head, rest=_UNSEEN)


async def forget_matching(services: Services, words: Words, asked: ForgetMatching) -> str:
    """Everything that holds this text."""
    subject = (asked.text,)
    if asked.confirm:
        store_word = words.redeem(asked.confirm, MATCHING, subject)
        body = {"match": asked.text, "confirm": store_word}
        return _receipt(await services.call("store", "POST", "/v1/forget/select", body, timeout_s=_LIMIT_S))
    chosen = {"match": asked.text}
    preview = await services.call("store", "POST", "/v1/forget/select/preview", chosen, timeout_s=_LIMIT_S)
    if not preview["hits"]:
        return "Nothing that bead keeps holds this text."
    word = words.issue(MATCHING, subject, preview["confirm"])
    counts = f"{len(preview['keys'])} facts with every version, {preview['turns']} turns."
    head = "\n".join([counts, _warning("forget everything below for good", word)])
    items = [Item(f"- {hit['place']}: {hit['name']} ({hit['count']})", hit["name"]) for hit in preview["hits"]]
    return listed(items, offset=0, total=len(items), noun="places", head=head, rest=_UNSEEN)


async def seal(services: Services, words: Words, asked: Seal) -> str:
    """One fact, as it is now: a version that came meanwhile means another preview."""
    vault = await services.call("store", "GET", "/v1/vault")
    if not vault["recipient"]:
        raise NoVault("there is no vault yet; the person makes it with: bead vault init")
    versions = (await services.call("store", "GET", fact_path(asked.key, "/history")))["versions"]
    subject = (asked.key, *(f"{each['uid']}@{each['version']}" for each in versions))
    if asked.confirm:
        words.redeem(asked.confirm, SEAL, subject)
        answer = await services.call("store", "POST", "/v1/vault/seal", {"key": asked.key}, timeout_s=_LIMIT_S)
        left = [f"left: {each}" for each in answer["left"]]
        count = f"sealed: {answer['key']} ({answer['versions']} versions, {answer['redacted']} copies taken out)"
        return "\n".join([count, *left, _INDEX[answer["index"]]])
    word = words.issue(SEAL, subject)
    newest = versions[-1]
    item = Item(f"- [{asked.key}] {len(versions)} versions, now: {newest['body']}", asked.key)
    head = _warning("encrypt it, so that only the person's passphrase opens it", word)
    return listed([item], offset=0, total=1, noun="facts", head=head)


def _warning(deed: str, word: str) -> str:
    return (
        f"PREVIEW: nothing was done. To {deed}, ask the person first; if they agree, call again with the same "
        f"arguments "
        f'and confirm="{word}" (works once, within {LIFE_S // 60} minutes).'
    )


def _key_line(hit: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{hit[name]} {name}" for name in ("versions", "turns", "blocks", "queue") if hit[name])
    also = f"\nthese say it too and stay: {', '.join(hit['also_in'])}" if hit["also_in"] else ""
    return f"- {hit['key']}: {counts}{also}"


def _receipt(receipt: Mapping[str, Any]) -> str:
    lines = [f"forgot: {key}" for key in receipt["forgot"]]
    lines += [f"{place['place']}: {place['removed']} {place['how']}" for place in receipt["places"] if place["removed"]]
    lines += [f"left in {place['place']}: {left}" for place in receipt["places"] for left in place["left"]]
    return "\n".join([*lines, _INDEX[receipt["index"]], f"receipt {receipt['id']}"])
