"""Forget: a preview of exactly what would go, a confirmation that is bound to it, and a receipt.

Facts go by key; a text, a turn or a session goes by what the store finds for it. The word of a preview works once, for
its own list, for ten minutes (I7).
"""

from starlette.responses import Response

from bead.errors import BadRequest, NotFound
from bead.wire.forget import MAX_MATCH_CHARS, ConfirmSelected, SelectForget
from bead.wire.store import ConfirmForget, ForgetKeys
from bead_curate.web.app import Page


async def preview(page: Page) -> Response:
    """What would go of these facts; nothing is changed."""
    keys = page.sent_all("key")
    if not keys:
        raise BadRequest("choose what to forget first")
    found = await page.backend.store.preview_forget(ForgetKeys(keys=keys))
    if not found.hits:
        raise NotFound(f"nothing is stored under {', '.join(found.missing)}")
    return page.show("forget.html", preview=found, keys=keys, back=_back(page))


async def confirm(page: Page) -> Response:
    """Forget the list that the preview showed, once."""
    request = ConfirmForget(keys=page.sent_all("key"), confirm=page.sent("confirm"))
    return page.show("receipt.html", receipt=await page.backend.store.forget(request))


async def select_preview(page: Page) -> Response:
    """What would go of a session, of a turn, or with a text."""
    session, turn = page.sent("session"), page.sent("turn")
    if turn:
        selection = SelectForget(match=await _text_of(page, session, turn))
    elif session:
        selection = SelectForget(session=session)
    else:
        selection = SelectForget(match=_match(page))
    found = await page.backend.store.preview_selected(selection)
    if found.confirm is None:
        raise NotFound("nothing holds that text")
    return page.show("forgetselected.html", preview=found, selection=selection, turn=turn, back=_back(page))


async def select_confirm(page: Page) -> Response:
    """Forget the selection that the preview showed, once."""
    request = ConfirmSelected(
        match=_match(page) or None, session=page.sent("session") or None, confirm=page.sent("confirm")
    )
    return page.show("receipt.html", receipt=await page.backend.store.forget_selected(request))


async def _text_of(page: Page, session: str, turn: str) -> str:
    """The words of one turn: whoever holds them is part of what is forgotten."""
    view = await page.backend.store.session(session, int(turn) - 1 if turn.isdigit() else 0)
    text = next((each.text for each in view.turns if str(each.ordinal) == turn), "")
    if not text.strip():
        raise NotFound("there is no such turn, or it holds no text")
    return text.strip()[:MAX_MATCH_CHARS]


def _match(page: Page) -> str:
    """The text of the form as it was written; browsers send line ends of their own."""
    return page.sent("match").replace("\r\n", "\n").strip()[:MAX_MATCH_CHARS]


def _back(page: Page) -> str:
    where = page.sent("back", "/facts")
    return where if where.startswith("/") and not where.startswith("//") else "/facts"


ROUTES = (
    ("POST", "/forget", preview),
    ("POST", "/forget/confirm", confirm),
    ("POST", "/forget/selected", select_preview),
    ("POST", "/forget/selected/confirm", select_confirm),
)
