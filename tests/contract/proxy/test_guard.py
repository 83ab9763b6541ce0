"""Who may use the proxy, over plain sockets (D11, I16): nothing that is refused reaches the provider."""

import asyncio

import pytest

from bead_proxy import peer
from tests.contract.proxy.conftest import TOKEN, Serve, World
from tests.contract.proxy.http import exchange

CAPABLE = f"/t/{TOKEN}/v1/messages"
BODY = b'{"messages":[{"role":"user","content":"hi"}]}'


def raw(line: str, *headers: str, body: bytes = BODY) -> bytes:
    length = () if any(header.lower().startswith("transfer-encoding") for header in headers) else (len(body),)
    lines = [f"{line} HTTP/1.1", *headers, *(f"Content-Length: {size}" for size in length), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


GOOD = {
    "the capability": (f"POST {CAPABLE}", "Host: 127.0.0.1:{port}"),
    "another name of ours": (f"POST {CAPABLE}", "Host: LocalHost:{port}"),
    "an IPv6 name": (f"POST {CAPABLE}", "Host: [::1]:{port}"),
    "node's fetch": (f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Sec-Fetch-Mode: cors"),
    "typed into an address bar": (f"GET /t/{TOKEN}/v1/models", "Host: 127.0.0.1:{port}", "Sec-Fetch-Site: none"),
    "an upload of any type": (f"POST /t/{TOKEN}/v1/files", "Host: 127.0.0.1:{port}", "Content-Type: text/plain"),
    "an upload to a bare URL": ("POST /v1/files", "Host: 127.0.0.1:{port}", "Content-Type: multipart/form-data"),
    "any type with the capability": (f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Content-Type: text/plain"),
    "the same user without it": ("POST /v1/messages", "Host: 127.0.0.1:{port}"),
}
BAD = {
    "a rebound name": (421, f"POST {CAPABLE}", "Host: evil.example:{port}"),
    "a name that resolves to us": (421, f"POST {CAPABLE}", "Host: 127.0.0.1.nip.io:{port}"),
    "a user part": (421, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}@evil.example"),
    "all addresses": (421, f"POST {CAPABLE}", "Host: 0.0.0.0:{port}"),
    "another port": (421, f"POST {CAPABLE}", "Host: 127.0.0.1:9"),
    "no name": (421, f"POST {CAPABLE}"),
    "a rebound name for health": (421, "GET /bead/health", "Host: evil.example"),
    "an origin": (403, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Origin: https://evil.example"),
    "our own origin": (403, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Origin: http://127.0.0.1:{port}"),
    "no origin at all": (403, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Origin: null"),
    "another site": (403, f"GET {CAPABLE}", "Host: 127.0.0.1:{port}", "Sec-Fetch-Site: cross-site"),
    "a preflight": (403, f"OPTIONS {CAPABLE}", "Host: 127.0.0.1:{port}", "Origin: https://evil.example"),
    "a form to a bare URL": (403, "POST /v1/messages", "Host: 127.0.0.1:{port}", "Content-Type: text/plain"),
    "a form with a boundary": (
        403,
        "POST /v1/messages",
        "Host: 127.0.0.1:{port}",
        "Content-Type: Multipart/Form-Data; boundary=x",
    ),
    "a form from a page": (
        403,
        f"POST {CAPABLE}",
        "Host: 127.0.0.1:{port}",
        "Content-Type: text/plain",
        "Origin: https://evil.example",
    ),
    "another site's name before ours": (421, f"POST {CAPABLE}", "Host: localhost.evil.example"),
    "a page of the same site": (403, f"GET {CAPABLE}", "Host: 127.0.0.1:{port}", "Sec-Fetch-Site: same-site"),
    "a page of the same origin": (403, f"GET {CAPABLE}", "Host: 127.0.0.1:{port}", "Sec-Fetch-Site: same-origin"),
    "a wrong capability": (401, f"POST /t/{'A' * 43}/v1/messages", "Host: 127.0.0.1:{port}"),
    "half a capability": (401, f"POST /t/{TOKEN[:-1]}/v1/messages", "Host: 127.0.0.1:{port}"),
    "an empty capability": (401, "POST /t//v1/messages", "Host: 127.0.0.1:{port}"),
    "absolute form": (400, "POST http://127.0.0.1:{port}" + CAPABLE, "Host: 127.0.0.1:{port}"),
    "two lengths": (
        400,
        f"POST {CAPABLE}",
        "Host: 127.0.0.1:{port}",
        "Transfer-Encoding: chunked",
        "Content-Length: 3",
    ),
    "a folded header": (400, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", " x: y"),
    "a blank before the colon": (400, f"POST {CAPABLE}", "Host : 127.0.0.1"),
    "two names": (400, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "Host: evil.example"),
    "headers without end": (400, f"POST {CAPABLE}", "Host: 127.0.0.1:{port}", "x: " + "a" * 400_000),
}


@pytest.mark.parametrize("request_lines", GOOD.values(), ids=GOOD)
async def test_ours_come_in(world: World, serve: Serve, request_lines: tuple[str, ...]) -> None:
    async with serve() as proxy:
        answer = await exchange(proxy.port, raw(*(line.replace("{port}", str(proxy.port)) for line in request_lines)))

    assert answer.status < 500 and len(world.upstream.requests) == 1
    assert TOKEN not in world.upstream.requests[0].target


@pytest.mark.parametrize("refused", BAD.values(), ids=BAD)
async def test_others_stay_out(world: World, serve: Serve, refused: tuple[int, str, str]) -> None:
    status, *lines = refused
    async with serve() as proxy:
        answer = await exchange(proxy.port, raw(*(str(line).replace("{port}", str(proxy.port)) for line in lines)))

    assert answer.status in (status, 400)
    assert answer.status == status or status == 421
    assert not world.upstream.requests
    assert TOKEN.encode() not in answer.body


async def test_another_user_needs_the_capability(world: World, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "owner_of", lambda client, server: 12345)
    async with serve() as proxy:
        host = f"Host: 127.0.0.1:{proxy.port}"
        answers = [await exchange(proxy.port, raw(line, host)) for line in ("POST /v1/messages", f"POST {CAPABLE}")]
        health = await exchange(proxy.port, raw("GET /bead/health", host, body=b""))
        metrics = await exchange(proxy.port, raw("GET /bead/metrics", host, body=b""))

    assert [answer.status for answer in (*answers, health, metrics)] == [401, 200, 200, 401]
    assert len(world.upstream.requests) == 1


async def test_a_bare_url_can_be_switched_off(world: World, serve: Serve) -> None:
    async with serve(bare_url=False) as proxy:
        answer = await exchange(proxy.port, raw("POST /v1/messages", f"Host: 127.0.0.1:{proxy.port}"))

    assert answer.status == 401 and not world.upstream.requests


async def test_the_kernel_is_asked_once_a_connection(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    real = peer.owner_of

    def ask(client: tuple[str, int], server: tuple[str, int]) -> int | None:
        asked.append(client)
        return real(client, server)

    monkeypatch.setattr(peer, "owner_of", ask)
    async with serve() as proxy, asyncio.timeout(5):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        for _ in range(3):
            writer.write(raw("HEAD /", f"Host: 127.0.0.1:{proxy.port}", body=b""))
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert len(asked) == 1
