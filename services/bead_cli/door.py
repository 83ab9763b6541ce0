"""The way to the store: through the curate service of a running bead, else through services of this process.

A home that a running bead serves is never opened here: no answer is an error, not a reason to go around it.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from bead.errors import BadRequest, HomeUnusable, NotFound, ServiceDown, from_problem
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.loopback import Answer, exchange, quoted

DEFAULT_TIMEOUT_S = 5.0
"""For a call that touches one fact or one page; what takes longer says how long."""
_UNAUTHORIZED = 401

Query = Mapping[str, str | int | float | None]


class Sender(Protocol):
    """Something that brings one request to curate and its answer back."""

    def send(self, method: str, path: str, body: bytes, timeout_s: float) -> Answer:
        """Raises `ServiceDown`."""
        ...


class Door:
    """Calls on services, the same for a running bead and for one of our own."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def call(
        self,
        service: str,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Query | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
    ) -> Any:
        """The JSON document of a good answer (None for an empty one).

        Raises:
            BeadError: the class that the service raised.
        """
        target = f"/api/{service}{path}"
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        if wanted:
            target += "?" + "&".join(f"{name}={quoted(str(value))}" for name, value in wanted.items())
        answer = self._sender.send(method, target, _encoded(body), timeout_s)
        if answer.status >= 400:
            raise from_problem(_document(answer.body), answer.status)
        return json.loads(answer.body) if answer.body else None


class Running:
    """curate of a bead that runs."""

    def __init__(self, place: runtime.Place, token: str, who: str) -> None:
        self._place, self._token, self._who = place, token, who

    def send(self, method: str, path: str, body: bytes, timeout_s: float) -> Answer:
        """See `Sender.send`."""
        try:
            answer = exchange(*self._place, method, path, body=body, token=self._token, timeout_s=timeout_s)
        except ServiceDown as error:
            late = f" within {timeout_s:g} s" if error.facts.get("is_late") else ""
            raise ServiceDown(
                f"{self._who} does not answer on {self._place.url}{late}; see `bead status`, or stop it: `bead down`"
            ) from None
        if answer.status == _UNAUTHORIZED:
            raise ServiceDown(f"what answers on {self._place.url} does not know this home's admin token")
        return answer


@contextmanager
def opened(context: Context, *services: str, begins: bool = False) -> Iterator[Door]:
    """A door to the home's services; `services` are those that must run when they have to run in this process.

    A home that is not there yet is made only for a command that `begins` one: a mistyped --home leaves no folder.

    Raises:
        NotFound: there is no home, and this command does not begin one.
        Unavailable: bead runs but does not answer, or another process holds the home.
    """
    found = running(context)
    if found is not None:
        yield Door(found)
        return
    if not begins and not context.layout().home_id.exists():
        raise NotFound(f"there is no memory in {context.home} yet; `bead remember` or `bead up` begins one")
    from bead_cli import own

    try:
        with own.services(context, services) as sender:
            yield Door(sender)
    except HomeUnusable as error:
        if begins:
            raise
        facts = context.layout().facts
        raise HomeUnusable(
            f"{error.message}. Even to read, bead needs its lock there; the facts lie in {facts}"
        ) from None


def running(context: Context) -> Running | None:
    """curate of the bead that runs on this home, None when none does.

    Raises:
        HomeUnusable: runtime.json or the admin token cannot be read.
    """
    url = context.environ.get("BEAD_CURATE__URL")
    if url:
        return Running(place_of(url), read_token(context.home, "admin", context.environ), "curate")
    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        return None
    name = "bead in its containers" if who.pid is None else f"bead (pid {who.pid})"
    return Running(who.place("curate"), read_token(context.home, "admin", context.environ), name)


def place_of(url: str) -> runtime.Place:
    """Where `BEAD_CURATE__URL` says that curate is.

    Raises:
        BadRequest: it is no address of an HTTP server.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise BadRequest("BEAD_CURATE__URL must look like http://127.0.0.1:7078")
    return runtime.Place(parts.hostname, parts.port or 80)


def fact_path(key: str, below: str = "") -> str:
    """The store's path of a key."""
    return f"/v1/facts/{quoted(key)}{below}"


def _encoded(body: Mapping[str, Any] | None) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
