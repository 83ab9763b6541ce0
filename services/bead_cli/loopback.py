"""One HTTP/1.1 exchange over a plain socket: a client command must start faster than an HTTP library imports."""

import socket
import time
from typing import NamedTuple

from bead.errors import ServiceDown

_CHUNK_BYTES = 65_536
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Answer(NamedTuple):
    """Status and body."""

    status: int
    body: bytes


def exchange(
    host: str, port: int, method: str, path: str, *, body: bytes = b"", token: str | None = None, timeout_s: float
) -> Answer:
    """Send one request and read the whole answer within `timeout_s`.

    Raises:
        ServiceDown: nobody listens, no answer in time (`facts["is_late"]`), or not an answer.
    """
    until = time.monotonic() + timeout_s
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    head = f"{method} {path} HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    if body:
        head += "Content-Type: application/json\r\n"
    if token is not None:
        head += f"Authorization: Bearer {token}\r\n"
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as connection:
            connection.sendall(head.encode("ascii") + b"\r\n" + body)
            return _answer(_read_all(connection, until))
    except (OSError, ValueError) as error:
        is_late = isinstance(error, TimeoutError)
        raise ServiceDown(f"no answer from {place} ({type(error).__name__})", is_late=is_late) from None


def quoted(text: str) -> str:
    """`text` as one piece of a path or query (RFC 3986); `/` included."""
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in text.encode())


def _read_all(connection: socket.socket, until: float) -> bytes:
    parts: list[bytes] = []
    while True:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(_CHUNK_BYTES)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _answer(raw: bytes) -> Answer:
    head, found, body = raw.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    if not found or not lines[0].startswith(b"HTTP/1."):
        raise ValueError("not an HTTP answer")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        body = _dechunked(body)
    elif len(body) != int(headers.get(b"content-length", len(body))):
        raise ValueError("the answer was cut off")
    return Answer(int(lines[0].split()[1]), body)


def _dechunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    while True:
        size_line, found, body = body.partition(b"\r\n")
        size = int(size_line.split(b";")[0], 16)
        if not found or len(body) < size:
            raise ValueError("the answer was cut off")
        if not size:
            return b"".join(parts)
        parts.append(body[:size])
        body = body[size + 2 :]
