"""Byte-exact forwarding to the provider: the head and body that came, the answer as it arrives (I8).

Nothing here knows about memory: a caller may swap the body and watch the answer go by. Who may ask is `access`'s.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from aiohttp import payload, web
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict
from yarl import URL

from bead.errors import BadRequest
from bead_proxy.answers import GIVEN, provider_error
from bead_proxy.lettinggo import let_go_of_address, let_go_of_frames
from bead_proxy.listening import HEAD_LIMIT
from bead_proxy.oddheaders import Odd, decoded, write_odd
from bead_proxy.outbound import Outbound, is_loopback, shown
from bead_proxy.protocol import Pieces

CONNECT_TIMEOUT_S = 10.0
"""The only time limit towards the provider: an open stream may be quiet as long as it likes."""

KEEP_ALIVE_S = 30.0
"""How long an idle connection is kept: shorter than providers do, so that none is used while it is being closed."""

SMALL_BODY_BYTES = 128 * 1024
"""A body up to this size is sent in one piece."""

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# Host is the provider's own; Expect was answered here.
_REQUEST_ONLY = frozenset({b"host", b"expect"})
_OURS = b"x-bead-"
_NEVER_INVENTED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

RawHeaders = Iterable[tuple[bytes, bytes]]
Watch = Callable[[int, "CIMultiDict[str]"], Callable[[bytes], None] | None]
"""Told the status and headers of an answer; what it returns sees every chunk after it was sent on."""


_DIRECT = Outbound()


class Upstream:
    """The provider behind one base address; `open` it before use."""

    def __init__(self, base: str, outbound: Outbound = _DIRECT) -> None:
        """Raises:
        BadRequest: the address would send credentials in the clear, or the way there makes no sense.
        """
        self._base = checked_base(base)
        self._proxy = outbound.proxy_for(self._base)
        self._trust = outbound.trust
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Start the pool of connections."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, ttl_dns_cache=60, keepalive_timeout=KEEP_ALIVE_S, ssl=self._trust or True
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
            # A jar would hand one caller's cookies to another.
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_Request,
            skip_auto_headers=_NEVER_INVENTED,
            max_line_size=HEAD_LIMIT,
            max_field_size=HEAD_LIMIT,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def relay(
        self, request: web.Request, target: str, body: Pieces, watch: Watch | None = None
    ) -> web.StreamResponse:
        """Send `request` on, as `target` with `body`, and its answer back as it arrives."""
        assert self._session is not None
        size = sum(map(len, body))
        headers, odd = request_headers(request.raw_headers, size)
        is_chunked = b"transfer-encoding" in {name.lower() for name, _ in request.raw_headers}
        upload = _Body(body, size) if size or is_chunked else None
        # Nobody needs the body once it is sent, and an answer can take minutes.
        del body
        try:
            answer = await self._session.request(
                request.method,
                URL(self._base + target, encoded=True),
                headers=headers,
                data=_Sent(upload, odd) if odd else upload,
                allow_redirects=False,
                proxy=self._proxy,
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            let_go_of_frames(error)
            return provider_error(502, "api_error", f"cannot reach {self._named()} ({type(error).__name__})")
        finally:
            let_go_of_address(target)
        del upload
        async with answer:
            return await _send_back(request, answer, watch)

    def _named(self) -> str:
        """Where requests go, for a person."""
        return shown(self._base) + (f" through the proxy {shown(self._proxy)}" if self._proxy else "")


def request_headers(raw: RawHeaders, body_length: int) -> tuple[CIMultiDict[str], Odd]:
    """Headers for the provider: in order, in their own spelling, without ours and those of the connection."""
    pairs, odd = decoded(_forwarded(raw, _REQUEST_ONLY))
    headers = CIMultiDict(pairs)
    if "Content-Length" in headers:
        headers["Content-Length"] = str(body_length)
    return headers, odd


def response_headers(raw: RawHeaders) -> tuple[CIMultiDict[str], Odd]:
    """Headers for the caller: in order, in their own spelling, without those of the connection."""
    pairs, odd = decoded(_forwarded(raw, frozenset()))
    return CIMultiDict(pairs), odd


def checked_base(base: str) -> str:
    """`base` without a slash at its end.

    Raises:
        BadRequest: not https, and not loopback either.
    """
    parts = urlsplit(base)
    if not parts.hostname or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise BadRequest(f"upstream address {base!r} must look like https://api.example.com or http://127.0.0.1:8080")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise BadRequest(f"upstream address {base!r} must be https: keys would travel in the clear")
    return base.rstrip("/")


async def _send_back(request: web.Request, answer: aiohttp.ClientResponse, watch: Watch | None) -> web.StreamResponse:
    headers, odd = response_headers(answer.raw_headers)
    response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
    response[GIVEN] = frozenset(name.lower() for name in headers)
    see = watch(answer.status, headers) if watch else None
    write_odd(request.protocol, odd)
    try:
        await response.prepare(request)
        async for chunk in answer.content.iter_any():
            await response.write(chunk)
            if see is not None:
                see(chunk)
    except aiohttp.ClientError:
        # One of the two is gone. The caller must see a cut answer, not one that ends well.
        if request.transport is not None:
            request.transport.close()
        return response
    await response.write_eof()
    return response


def _forwarded(raw: RawHeaders, also: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
    pairs = [(name, value, name.lower()) for name, value in raw]
    left_out = _HOP_BY_HOP | also
    named = {
        token.strip().lower() for _, value, lower in pairs if lower == b"connection" for token in value.split(b",")
    }
    if named:
        left_out |= named - {b""}
    return [(name, value) for name, value, lower in pairs if lower not in left_out and not lower.startswith(_OURS)]


class _Sent(NamedTuple):
    """A body and what its head holds that is no UTF-8: one way through the library for both."""

    upload: "_Body | None"
    odd: Odd


class _Request(aiohttp.ClientRequest):
    """The library's own gives a DELETE without a body a Content-Length; a direct client does not."""

    _odd: Odd | None = None

    def update_body_from_data(self, body: Any, _stacklevel: int = 3) -> None:
        if isinstance(body, _Sent):
            self._odd, body = body.odd, body.upload
        if body is not None:
            super().update_body_from_data(body, _stacklevel)

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        if self._odd:
            write_odd(conn.protocol, self._odd)
        return await super().send(conn)


class _Body(payload.Payload):
    """A whole body that is written in one go: the library's own warns above 1 MB."""

    _autoclose = True

    def __init__(self, pieces: Pieces, size: int) -> None:
        # A small one is worth a copy: it leaves in one packet with the head.
        super().__init__(pieces if size > SMALL_BODY_BYTES else (b"".join(pieces),))
        self._size: int = size

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        raise TypeError("a body is bytes")

    async def write(self, writer: AbstractStreamWriter) -> None:
        if self._size > SMALL_BODY_BYTES:
            writer.send_headers()  # else the library copies head and body into one
        for piece in self._value:
            await writer.write(piece)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await self.write(writer)

    async def as_bytes(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"".join(self._value)

    def __repr__(self) -> str:
        return f"_Body({self._size} bytes)"
