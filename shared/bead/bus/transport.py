"""How a client reaches a service: over a socket, or straight into its ASGI app. Same bytes, same errors."""

import asyncio
import json
from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote, urlencode

import aiohttp
from starlette.types import ASGIApp

from bead.errors import ServiceDown, from_problem

DEFAULT_TIMEOUT_S = 30.0


class Answer(NamedTuple):
    """Status and body of one call."""

    status: int
    body: bytes


class Transport(Protocol):
    """One service, reachable."""

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        """One call; `path` carries its query.

        Raises:
            ServiceDown: no answer, or none within `timeout_s`.
        """
        ...


async def call(
    transport: Transport,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    query: Mapping[str, str | int | float | None] | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> bytes:
    """The body of a good answer.

    Raises:
        BeadError: the class the service raised.
    """
    if query:
        path += "?" + urlencode({name: value for name, value in query.items() if value is not None})
    answer = await transport.send(method, path, body, timeout_s=timeout_s)
    if answer.status >= 400:
        raise from_problem(_document(answer.body), answer.status)
    return answer.body


def _document(body: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


class HttpTransport:
    """Over a socket, with a bearer token; the session is the caller's and is shared."""

    def __init__(self, session: aiohttp.ClientSession, base_url: str, token: str) -> None:
        self._session = session
        self._base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        """See `Transport.send`."""
        try:
            async with self._session.request(
                method,
                self._base_url + path,
                data=body or None,
                headers=self._headers,
                timeout=aiohttp.ClientTimeout(total=timeout_s),
                allow_redirects=False,
            ) as response:
                return Answer(response.status, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServiceDown(f"no answer from {self._base_url} ({type(error).__name__})") from None


class InProcessTransport:
    """Straight into an app of the same process: `bead up` and the CLI's own store."""

    def __init__(self, name: str, app: ASGIApp) -> None:
        self._name = name
        self._app = app

    async def send(self, method: str, path: str, body: bytes = b"", *, timeout_s: float = DEFAULT_TIMEOUT_S) -> Answer:
        """See `Transport.send`."""
        answer = _Collected(body)
        try:
            async with asyncio.timeout(timeout_s):
                await self._app(_scope(method, path), answer.receive, answer.send)
        except TimeoutError:
            raise ServiceDown(f"no answer from {self._name} within {timeout_s:g} s") from None
        return Answer(answer.status, b"".join(answer.parts))


class _Collected:
    """The two ends of one in-process ASGI exchange."""

    def __init__(self, body: bytes) -> None:
        self._request: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
        self._gone = asyncio.Event()
        self.status = 500
        self.parts: list[bytes] = []

    async def receive(self) -> MutableMapping[str, Any]:
        if self._request:
            return self._request.pop()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.parts.append(message.get("body", b""))


def _scope(method: str, target: str) -> dict[str, Any]:
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": None,
        "server": None,
        "state": {},
    }
