"""Facts that may say in other words what is to be forgotten: what recall would bring up for that text.

Named for the person to decide, never taken along. The scorer works with a gate of its own, so that asking changes no
later answer; it sees one project at a time, and plain search says which projects to look into.
"""

from collections.abc import Collection, Mapping
from typing import Any

from bead.errors import BeadError
from bead.recall import CueSource
from bead_cli.door import Door, fact_path
from bead_cli.lookup import caught_up

MOST = 5
_MOST_PROJECTS = 8
_MOST_FACTS = 20
_SEARCHED = 50
_NEAR = 0.1
"""Share of the score that recall asks for: what is forgotten itself fits better, and keeps the others low."""
_BUDGET_TOKENS = 1_000_000

Fact = dict[str, Any]


def paraphrases(door: Door, owner: str, text: str, preview: Mapping[str, Any], project: str) -> list[Fact]:
    """`key` and `text` of facts that are not in `preview`, the likeliest first; empty without an index."""
    taken = frozenset(preview["keys"])
    try:
        caught_up(door)
        found = door.call("index", "GET", "/v1/search", query={"q": text, "limit": _SEARCHED})["hits"]
        hits = [hit for hit in found if hit["kind"] == "fact"]
        scores = _scores(door, owner, text, _projects(project, [*preview["hits"], *hits]), taken)
        return [{"key": key, "text": _body(door, key)} for key in scores[:MOST]]
    except BeadError:
        return []


def _projects(active: str, hits: list[Fact]) -> list[str]:
    named = (str(hit["project"]) for hit in hits if hit["project"])
    return list(dict.fromkeys(("", active, *named)))[:_MOST_PROJECTS]


def _scores(door: Door, owner: str, text: str, projects: list[str], taken: Collection[str]) -> list[str]:
    """Keys by score: what recall would tell, and what comes near it."""
    best: dict[str, float] = {}
    for project in projects:
        answer = door.call("index", "POST", "/v1/explain", _question(owner, project, text))
        least = answer["threshold"] * _NEAR
        for each in (*answer["selected"], *answer["rejected"]):
            if each["key"] not in taken and each["score"] >= least:
                best[each["key"]] = max(best.get(each["key"], 0.0), each["score"])
    return sorted(best, key=lambda key: (-best[key], key))


def _question(owner: str, project: str, text: str) -> dict[str, Any]:
    return {
        "owner": owner,
        "project": project,
        "cues": [{"source": CueSource.PERSON.value, "text": text}],
        "budget_tokens": _BUDGET_TOKENS,
        "max_facts": _MOST_FACTS,
    }


def _body(door: Door, key: str) -> str:
    return str(door.call("store", "GET", fact_path(key))["body"])
