"""The way to a provider: TLS with a company's own certificate, through a company's proxy, and behind a gateway."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bead.bus.transport import Transport
from bead.errors import BadRequest
from bead.settings import ProxySettings, Upstreams
from bead_proxy.outbound import Outbound, outbound_of
from tests.contract.proxy.bus import FakeStore
from tests.contract.proxy.conftest import Serve

HOST = "provider.test"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture
def store() -> Transport:
    """Nothing here is about what a store does."""
    return FakeStore()


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate of our own for HOST, with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    path = tmp_path / "company.pem"
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(plain + made.public_bytes(pem))
    return path


@asynccontextmanager
async def tls_provider(certificate: Path, heads: list[bytes]) -> AsyncIterator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def company_proxy(port: int, heads: list[bytes]) -> AsyncIterator[int]:
    """Connects whoever asks for whatever to `port`."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(tunnel, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_company_certificate_is_trusted_when_the_settings_say_so(serve: Serve, certificate: Path) -> None:
    heads: list[bytes] = []
    async with tls_provider(certificate, heads) as port:
        upstream = Upstreams(anthropic=f"https://127.0.0.1:{port}")
        async with serve(upstream=upstream) as proxy:
            refused = await proxy.send("GET /v1/models")
        async with serve(upstream=upstream, ca_file=str(certificate)) as proxy:
            answer = await proxy.send("GET /v1/models")

    assert (refused.status, answer.status, answer.body) == (502, 200, b"ok")
    assert b"Certificate" in refused.body and len(heads) == 1


async def test_requests_take_the_companys_proxy_and_keep_their_key_from_it(serve: Serve, certificate: Path) -> None:
    seen: list[bytes] = []
    asked: list[bytes] = []
    async with tls_provider(certificate, seen) as port, company_proxy(port, asked) as proxy_port:
        environ = {"HTTPS_PROXY": f"http://me:secret@127.0.0.1:{proxy_port}"}
        upstream = Upstreams(anthropic=f"https://{HOST}/gateway")
        async with serve(upstream=upstream, ca_file=str(certificate), environ=environ) as proxy:
            answer = await proxy.send("GET /v1/models?a=b", f"X-Api-Key: {'k' * 20}")

    assert answer.body == b"ok"
    assert asked[0].startswith(f"CONNECT {HOST}:443 ".encode()) and b"Proxy-Authorization: Basic" in asked[0]
    assert b"k" * 20 not in asked[0]
    assert seen[0].startswith(b"GET /gateway/v1/models?a=b ") and b"k" * 20 in seen[0]
    assert b"secret" not in seen[0] and b"Proxy-" not in seen[0]


async def test_a_proxy_that_is_away_is_named_without_its_login(serve: Serve) -> None:
    upstream = Upstreams(anthropic=f"https://{HOST}")
    async with serve(upstream=upstream, environ={"https_proxy": "http://me:secret@127.0.0.1:9"}) as proxy:
        answer = await proxy.send("GET /v1/models")

    assert answer.status == 502
    assert f"https://{HOST} through the proxy http://127.0.0.1:9".encode() in answer.body
    assert b"secret" not in answer.body


@pytest.mark.parametrize(
    ("environ", "base", "proxy"),
    [
        ({}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": "http://q:1"}, "https://a.example", "http://q:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://a.example", None),
        ({"ALL_PROXY": "p:1"}, "https://a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example,.example"}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://a.example", None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other"}, "https://a.example", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://p:1"}, "http://127.0.0.1:8080", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://localhost:8080", None),
    ],
)
def test_the_variables_say_which_way(environ: dict[str, str], base: str, proxy: str | None) -> None:
    assert outbound_of(ProxySettings(), environ).proxy_for(base) == proxy


def test_what_cannot_be_used_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="HTTPS_PROXY"):
        Outbound({"https": "socks5://p:1"}).proxy_for("https://a.example")
    with pytest.raises(BadRequest, match="ca_file"):
        outbound_of(ProxySettings(ca_file=str(tmp_path / "missing.pem")), {})
