"""The admin page as an ASGI app: checks, sessions, routes, and what a refusal looks like to a person.

Behind it is `backend`; what each page shows is in `pages`. Sits at curate's listener beside the JSON door, which takes
the admin token and no browser.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bead.bus.guard import check_host
from bead.bus.limit import bounded
from bead.errors import BadRequest, BeadError, NotAllowed, NotFound
from bead.settings import Effective
from bead_curate.web.backend import Backend
from bead_curate.web.checks import SECURITY_HEADERS, check_read, check_write, cookie_of
from bead_curate.web.door import Door, Session
from bead_curate.web.rendering import Static, environment, load_statics

MAX_FORM_BYTES = 2 << 20
MAX_FIELDS = 6_000
_PATIENCE = 5
_DELAY_S = 1.0
_KEEP_FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True)
class Page:
    """One request of a person who is in."""

    web: "Web"
    request: Request
    session: Session
    form: FormData

    @property
    def backend(self) -> Backend:
        """The services."""
        return self.web.backend

    def asked(self, name: str, default: str = "") -> str:
        """A value of the query."""
        return self.request.query_params.get(name, default).strip()

    def path(self, name: str) -> str:
        """A part of the path."""
        return str(self.request.path_params[name])

    def sent(self, name: str, default: str = "") -> str:
        """A text field of the form."""
        value = self.form.get(name, default)
        return value if isinstance(value, str) else default

    def sent_all(self, name: str) -> tuple[str, ...]:
        """Every text of that name in the form."""
        return tuple(value for value in self.form.getlist(name) if isinstance(value, str))

    def show(self, template: str, /, **values: Any) -> Response:
        """A whole page."""
        return self.web.show(self, template, 200, values)

    def part(self, template: str, /, **values: Any) -> Response:
        """A part of a page, for the script."""
        return self.web.html(self.web.render(template, self.session, **values))

    def go(self, where: str, message: str = "", *, is_good: bool = True) -> Response:
        """On to another page, after something was done."""
        if message:
            self.session.say(message, is_good=is_good)
        return RedirectResponse(where, 303)


Handler = Callable[[Page], Awaitable[Response]]


class Web:
    """The admin page of one curate. `guarded` is its entry."""

    def __init__(self, backend: Backend, effective: Sequence[Effective] = ()) -> None:
        from bead_curate.web.pages import every

        self.backend = backend
        self.effective = tuple(effective)
        self.door = Door(time.monotonic)
        self._statics = load_statics()
        self._templates = environment(self._statics)
        self._wrong = 0
        self._router = Router(
            [
                Route("/static/{tag}/{name}", self._static, methods=["GET"]),
                Route("/login/{word}", self._login, methods=["GET"]),
                Route("/logout", self._handled(_leave), methods=["POST"]),
                *(Route(path, self._handled(handler), methods=[method]) for method, path, handler in every.ROUTES),
                Route("/{rest:path}", self._handled(_nothing_there), methods=["GET"]),
            ]
        )

    def guarded(self, port: int, hosts: frozenset[str] = frozenset()) -> ASGIApp:
        """ASGI entry for a listener on `port`: nothing is read or answered before the checks agree."""

        async def checked(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                check_host(scope["headers"], port, hosts)
                check_read(scope["headers"]) if scope["method"] in ("GET", "HEAD") else check_write(scope["headers"])
                receive = bounded(scope, receive)
            except BeadError as error:
                await self.html(self._plain("Refused", error.message), error.status)(scope, receive, _hardened(send))
                return
            scope["bead.cookie"] = f"bead_{port}"
            await self._router(scope, receive, _hardened(send))

        return checked

    # -- answers -----------------------------------------------------------------------------------------------------

    def render(self, template: str, session: Session | None, /, **values: Any) -> str:
        """One template; `token(action)` in it makes the hidden field's value of a form."""
        token = session.form_token if session else lambda action: ""
        return self._templates.get_template(template).render(token=token, **values)

    def show(self, page: Page, template: str, status: int, values: Mapping[str, Any]) -> Response:
        """A whole page with menu and messages."""
        messages = page.session.take_messages()
        path = page.request.url.path
        return self.html(self.render(template, page.session, path=path, messages=messages, **values), status)

    def html(self, text: str, status: int = 200) -> Response:
        """HTML that nobody keeps."""
        return Response(text, status, _NO_STORE, "text/html; charset=utf-8")

    def events(self, source: AsyncIterator[bytes]) -> Response:
        """An event stream."""
        return StreamingResponse(source, 200, {**_NO_STORE, "X-Accel-Buffering": "no"}, "text/event-stream")

    def _plain(self, title: str, text: str, *, refresh: bool = False) -> str:
        return self.render("plain.html", None, title=title, text=text, refresh=refresh)

    # -- who comes in ------------------------------------------------------------------------------------------------

    async def _login(self, request: Request) -> Response:
        """A launch link. The next page is asked for by ours, so that a strict cookie goes with it."""
        if self._wrong >= _PATIENCE:
            await asyncio.sleep(_DELAY_S)
        cookie = self.door.enter(str(request.path_params["word"]))
        if cookie is None:
            self._wrong += 1
            text = "This link was used already, or is older than a minute. A new one: bead curate --web"
            return self.html(self._plain("Link expired", text), 401)
        self._wrong = 0
        answer = self.html(self._plain("Welcome", "Opening your memory …", refresh=True))
        answer.set_cookie(request.scope["bead.cookie"], cookie, httponly=True, samesite="strict", path="/")
        return answer

    def _handled(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """`handler` for those who are in; what it refuses is shown as a page."""

        async def endpoint(request: Request) -> Response:
            session = self.door.session(cookie_of(request.scope["headers"], request.scope["bead.cookie"]))
            if session is None:
                text = "To open this page, type in a terminal: bead curate --web"
                return self.html(self._plain("Not logged in", text), 401)
            page = Page(self, request, session, FormData())
            try:
                page = Page(self, request, session, await self._form(request, session))
                return await handler(page)
            except BeadError as error:
                said = {"title": _TITLES.get(error.status, "Refused"), "message": error.message}
                return self.show(page, "error.html", error.status, said)

        return endpoint

    async def _form(self, request: Request, session: Session) -> FormData:
        """What was sent, once it is known to be meant: a form of ours, made for this session and this action.

        Raises:
            NotAllowed: it carries no token, or another one.
        """
        if request.method != "POST":
            return FormData()
        size = request.headers.get("content-length", "")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded" or not size.isdigit() or int(size) > MAX_FORM_BYTES:
            raise BadRequest(f"a form of at most {MAX_FORM_BYTES} bytes is expected here")
        form = await request.form(max_fields=MAX_FIELDS)
        token = form.get("token")
        if not session.accepts(request.url.path, token if isinstance(token, str) else ""):
            raise NotAllowed("this form is too old or was not made by this page; go back, reload and send it again")
        return form

    async def _static(self, request: Request) -> Response:
        found: Static | None = self._statics.get(str(request.path_params["name"]))
        if found is None or found.tag != request.path_params["tag"]:
            return Response(status_code=404)
        return Response(found.data, 200, {**_KEEP_FOR_EVER, "Content-Type": found.kind})


_TITLES: Mapping[int, str] = {
    403: "Not allowed",
    404: "Nothing here",
    409: "Not done",
    422: "A file needs you",
    503: "Not available now",
}


async def _leave(page: Page) -> Response:
    name = page.request.scope["bead.cookie"]
    page.web.door.leave(cookie_of(page.request.scope["headers"], name))
    said = {"title": "Logged out", "text": "A new link: bead curate --web", "refresh": False}
    answer = page.web.html(page.web.render("plain.html", None, **said))
    answer.delete_cookie(name, path="/", httponly=True, samesite="strict")
    return answer


async def _nothing_there(page: Page) -> Response:
    raise NotFound("there is no such page")


def _hardened(send: Send) -> Send:
    """Every answer carries the headers that keep other pages out."""
    added = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *added]}
        with suppress(OSError):  # the browser has left
            await send(message)

    return sending
