"""The listener: the library's, where it would answer by itself what a provider should be asked (I8).

Two things differ. Its fast parser knows the methods that are registered, so a connection that begins with another one
is given to the library's slow parser, which takes any token. And a body that turns out to be malformed on its way is
told to whoever reads it; the library would answer only after a request that never ends.
"""

import asyncio
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from aiohttp import web
from aiohttp.http_parser import HttpRequestParserPy
from aiohttp.web_protocol import RequestHandler, RequestPayloadError

from bead_proxy.lettinggo import let_go_of_frames

HEAD_LIMIT = 256 * 1024
"""Longest request target, and longest header field, in either direction."""

_STREAM_GRACE_S = 0.2
"""Open answers may end by themselves this long when the proxy stops; the library then takes as long to cut them."""
_READ_BUFFER_BYTES = 256 * 1024
_BACKLOG = 512

_BEGINNING = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) [/*h]")
# What llhttp knows of HTTP; it answers 400 to any other. Each is passed on by the fast parser.
_KNOWN = frozenset(
    b"GET POST PUT DELETE HEAD PATCH OPTIONS CONNECT TRACE COPY LOCK MKCOL MOVE PROPFIND PROPPATCH SEARCH UNLOCK BIND"
    b" REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE PURGE MKCALENDAR LINK"
    b" UNLINK SOURCE QUERY".split()
)


@asynccontextmanager
async def serving(app: web.Application, listener: socket.socket) -> AsyncIterator[None]:
    """`app` answers on `listener` while the block runs; at its end, open answers are cut within a second."""
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=_STREAM_GRACE_S)
    await runner.setup()
    try:
        assert runner.server is not None, "a runner that is set up has a server"
        loop = asyncio.get_running_loop()
        handlers = partial(_Handler, runner.server, loop=loop, **_options())
        opened = await loop.create_server(handlers, sock=listener, backlog=_BACKLOG)
        try:
            yield
        finally:
            opened.close()
    finally:
        await runner.cleanup()


def _options() -> dict[str, Any]:
    return {
        "access_log": None,
        # The library logs what it could not parse, and that is somebody's header (I15).
        "logger": _silent_logger(),
        "auto_decompress": False,
        "keepalive_timeout": 75.0,
        "read_bufsize": _READ_BUFFER_BYTES,
        "max_line_size": HEAD_LIMIT,
        "max_field_size": HEAD_LIMIT,
    }


class _Handler(RequestHandler):
    """One connection."""

    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        if self._current_request is None and not self._messages and self._is_for_the_slow_parser(data):
            self._parser = self._slow_parser()
        super().data_received(data)
        error = getattr(self._messages[-1][0], "exc", None) if self._messages else None
        if error is not None:
            let_go_of_frames(error)
            self._tell_of_a_bad_body()

    def _is_for_the_slow_parser(self, data: bytes) -> bool:
        begins = _BEGINNING.match(data)
        return begins is not None and begins[1] not in _KNOWN and not isinstance(self._parser, HttpRequestParserPy)

    def _slow_parser(self) -> Any:
        return HttpRequestParserPy(
            self,
            self._loop,
            _READ_BUFFER_BYTES,
            max_line_size=HEAD_LIMIT,
            max_field_size=HEAD_LIMIT,
            payload_exception=RequestPayloadError,
            auto_decompress=False,
        )

    def _tell_of_a_bad_body(self) -> None:
        reading = self._current_request
        if reading is not None and not reading.content.is_eof() and reading.content.exception() is None:
            reading.content.set_exception(RequestPayloadError("the body is not well formed"))


def _silent_logger() -> logging.Logger:
    logger = logging.Logger("bead_proxy.http")
    logger.disabled = True
    return logger
