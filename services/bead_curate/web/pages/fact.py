"""One fact: its history as differences, sources, uses and trigger card; and what a person does with it.

Edits are the person's own words: `user_stated`. Each action is the same bus call as the command's, so the audit log
cannot tell them apart.
"""

from typing import Any, NamedTuple
from urllib.parse import unquote

from starlette.responses import Response

from bead import keys
from bead.errors import BadRequest, BeadError, NotFound
from bead.facts import FactType, FactVersion, Sensitivity, Status, TriggerCard, Trust
from bead.wire.store import Mark, Rekey, Verb, WriteFact
from bead.wire.vault import Seal
from bead.wire.views import Use
from bead_curate.web.app import Page
from bead_curate.web.backend import optional
from bead_curate.web.rendering import fact_url
from bead_curate.web.words import Piece, difference

_FIELDS = ("say", "do", "see", "unless")
_SESSION_ID_CHARS = 36


class Step(NamedTuple):
    """A version, and what it changed."""

    version: FactVersion
    pieces: tuple[Piece, ...]


class Told(NamedTuple):
    """A use with the session that its conversation belongs to."""

    use: Use
    session: str


async def show(page: Page) -> Response:
    """Everything known about one fact."""
    key = _key(page)
    history = await page.backend.store.history(key)
    newest = history.versions[-1] if history.versions else None
    if newest is None:
        raise NotFound(f"no version of '{key}' can be read; `bead doctor` says why")
    damaged = await _damage(page, key)
    uses = await optional(page.backend.views.uses(newest.uid))
    lines = await optional(page.backend.views.audit(what=newest.uid, limit=20))
    noted = [use.at for use in uses.uses if use.at] if uses else []
    return page.show(
        "fact.html",
        fact=newest,
        injected=max([*noted, *([newest.last_injected] if newest.last_injected else [])], default=None),
        damaged=damaged,
        steps=_steps(history.versions),
        uses=[Told(use, use.conversation[:_SESSION_ID_CHARS]) for use in uses.uses] if uses else [],
        lines=lines.lines if lines else (),
        types=tuple(FactType),
        fields=_FIELDS,
    )


async def edit(page: Page) -> Response:
    """A new version in the person's words."""
    key = _key(page)
    body = page.sent("body").replace("\r\n", "\n").strip()
    if not body:
        raise BadRequest("an empty text would hide the fact; to remove it, forget it")
    current = await page.backend.store.current_fact(key)
    if str(current.version) != page.sent("version"):
        return page.go(fact_url(key), "It was changed meanwhile; look at it and edit again.", is_good=False)
    answer = await page.backend.store.write_fact(
        WriteFact(
            body=body,
            key=key,
            type=FactType(page.sent("type", current.type.value)),
            trust=Trust.USER_STATED,
            when=_card(page),
            sensitivity=current.sensitivity if current.sensitivity is not Sensitivity.SECRET else Sensitivity.PRIVATE,
        )
    )
    return page.go(fact_url(answer.key), _SAID[answer.verb].format(version=answer.version))


async def create(page: Page) -> Response:
    """A fact of the person's own."""
    body = page.sent("body").replace("\r\n", "\n").strip()
    if not body:
        raise BadRequest("a fact needs some text")
    scope = page.sent("scope", "user")
    name = page.sent("name").strip()
    key = str(keys.in_scope(scope, name or keys.derive_name(body)))
    answer = await page.backend.store.write_fact(
        WriteFact(body=body, key=key, trust=Trust.USER_STATED, when=_card(page))
    )
    return page.go(fact_url(answer.key), _SAID[answer.verb].format(version=answer.version))


async def mark(page: Page) -> Response:
    """Pin, unpin, reinforce."""
    key = _key(page)
    wanted, said = _MARKS.get(page.sent("mark"), (None, ""))
    if wanted is None:
        raise BadRequest("a fact can be pinned, unpinned or reinforced")
    await page.backend.store.mark(Mark(key=key, **wanted))
    return page.go(fact_url(key), said)


async def rekey(page: Page) -> Response:
    """Another key for the whole history."""
    old, new = _key(page), page.sent("new").strip()
    moved = await page.backend.store.rekey(Rekey(old=old, new=str(keys.in_scope(keys.parse(old).scope, new))))
    return page.go(fact_url(moved.key), f"Moved to {moved.key} with its whole history.")


async def seal(page: Page) -> Response:
    """Into the vault; from then on only a terminal shows it."""
    answer = await page.backend.vault.seal(Seal(key=_key(page)))
    left = f" {len(answer.left)} places still hold its text: bead doctor names them." if answer.left else ""
    said = f"Sealed {answer.key}. Only a terminal with your passphrase shows it now.{left}"
    return page.go("/facts", said, is_good=not left)


async def _damage(page: Page, key: str) -> str:
    """Why the highest version cannot be read; empty when it can. The older value does not count then (I1)."""
    try:
        await page.backend.store.current_fact(key)
    except BeadError as error:
        return error.message
    return ""


def _steps(versions: tuple[FactVersion, ...]) -> list[Step]:
    """Newest first; the first version changed nothing."""
    found: list[Step] = []
    before = ""
    for number, version in enumerate(versions):
        pieces = difference(before, version.body) if number else (Piece("same", version.body),)
        found.append(Step(version, pieces))
        before = version.body
    return found[::-1]


def _card(page: Page) -> TriggerCard | None:
    """The card as it stands in the form, one entry a line; None when the form has none, or it is empty."""
    entries: dict[str, Any] = {
        field: tuple(line.strip() for line in page.sent(field).splitlines() if line.strip()) for field in _FIELDS
    }
    return TriggerCard(**entries) or None


def _key(page: Page) -> str:
    return str(keys.parse(unquote(page.path("key"))))


_SAID = {
    Verb.CREATED: "Remembered.",
    Verb.SUPERSEDED: "Saved as version {version}.",
    Verb.UNCHANGED: "Nothing to change: it says so already.",
    Verb.REINFORCED: "Reinforced: it counts as your own words now.",
    Verb.QUEUED: "Waits for review.",
}
_MARKS: dict[str, tuple[dict[str, Any], str]] = {
    "pin": ({"pinned": True}, "Pinned: every new conversation starts with it."),
    "unpin": ({"pinned": False}, "Unpinned."),
    "reinforce": ({"status": Status.CURRENT}, "Reinforced: it is shown to agents again."),
}
ROUTES = (
    ("POST", "/remember", create),
    ("GET", "/fact/{key:path}", show),
    ("POST", "/edit/{key:path}", edit),
    ("POST", "/mark/{key:path}", mark),
    ("POST", "/rekey/{key:path}", rekey),
    ("POST", "/seal/{key:path}", seal),
)
