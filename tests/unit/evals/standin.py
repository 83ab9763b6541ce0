"""A stand-in for the `bead` command, just enough of it to start, seed and send through: `standin.py up --home DIR`.

Ports and upstream come from the environment as they do for bead. `STANDIN` there says how it fails, if it should.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from aiohttp import ClientSession, web

BLOCK = b'"text":"<bead-memory>made up</bead-memory>"},{"type":"text","text":"'


async def serve(home: Path, failing: str) -> None:
    bus, proxy = "bus-token", "proxy-token"
    (home / "tokens").mkdir(parents=True)
    (home / "tokens" / "bus").write_text(bus + "\n")
    (home / "tokens" / "proxy").write_text(proxy + "\n")
    upstream = os.environ["BEAD_PROXY__UPSTREAM__ANTHROPIC"]
    facts: list[dict[str, object]] = []

    async def write(request: web.Request) -> web.Response:
        if failing == "store" or request.headers["Authorization"] != f"Bearer {bus}":
            return web.Response(status=403)
        facts.append(await request.json())
        return web.json_response({"verb": "created"}, status=201)

    async def health(request: web.Request) -> web.Response:
        return web.json_response({"ready": True})

    async def relay(request: web.Request) -> web.Response:
        body = await request.read()
        if failing != "memory" and facts:
            body = body.replace(b'"text":"', BLOCK, 1)
        async with ClientSession() as session, session.post(upstream + "/v1/messages", data=body) as answer:
            return web.Response(body=await answer.read(), content_type="text/event-stream")

    runners = []
    for port, method, path, handler in (
        (os.environ["BEAD_STORE__PORT"], "POST", "/v1/facts", write),
        (os.environ["BEAD_PROXY__PORT"], "GET", "/bead/health", health),
    ):
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route(method, path, handler)
        app.router.add_post(f"/t/{proxy}/v1/messages", relay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", int(port)).start()
        runners.append(runner)
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await stopped.wait()
    for runner in runners:
        await runner.cleanup()


if __name__ == "__main__":
    assert sys.argv[1:3] == ["up", "--home"]
    mode = os.environ.get("STANDIN", "")
    if mode == "start":
        raise SystemExit("no, not today")
    asyncio.run(serve(Path(sys.argv[3]), mode))
