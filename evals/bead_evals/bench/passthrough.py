"""The measure of everything: the least an aiohttp proxy can do. aiohttp on both ends, uvloop, body read whole.

`python -m bead_evals.bench.passthrough` reads `BENCH_UPSTREAM` from its environment and prints `{"port": N}`. It looks
at nothing, adds nothing and waits for ever. `--reparse` turns it into what a careful proxy must never be: it decodes
and encodes the body as JSON, which shows that the bench sees such a cost.
"""

import argparse
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from multidict import CIMultiDict

from bead_evals.bench.serving import run_until_stdin_closes

_NOT_FORWARDED = frozenset(
    "connection content-length host keep-alive proxy-connection te trailer transfer-encoding upgrade".split()
)
_NEVER = ClientTimeout(total=None, connect=None, sock_connect=None, sock_read=None)


@asynccontextmanager
async def _listening(upstream: str, reparse: bool) -> AsyncIterator[int]:
    async with ClientSession(
        auto_decompress=False,
        timeout=_NEVER,
        connector=TCPConnector(limit=0),
        cookie_jar=DummyCookieJar(),
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
    ) as session:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", _relay(session, upstream, reparse))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield int(runner.addresses[0][1])
        finally:
            await runner.cleanup()


def _relay(
    session: ClientSession, upstream: str, reparse: bool
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def relay(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if reparse:
            body = json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
        target = upstream + request.raw_path
        async with session.request(request.method, target, data=body, headers=_forwarded(request.headers)) as answer:
            response = web.StreamResponse(status=answer.status, headers=_forwarded(answer.headers))
            await response.prepare(request)
            async for piece in answer.content.iter_any():
                await response.write(piece)
            await response.write_eof()
            return response

    return relay


def _forwarded(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Every header but the hop-by-hop ones and those that the next hop computes itself."""
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in _NOT_FORWARDED)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bead_evals.bench.passthrough", description=__doc__)
    parser.add_argument("--reparse", action="store_true")
    args = parser.parse_args(argv)
    upstream = os.environ["BENCH_UPSTREAM"]
    run_until_stdin_closes(_listening(upstream, args.reparse))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
