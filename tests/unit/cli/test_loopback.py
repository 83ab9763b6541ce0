"""The small HTTP client against a socket that answers as told."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import pytest

from bead.errors import ServiceDown
from bead_cli.loopback import exchange, quoted

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def answering(*parts: bytes, hold: Event | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """A server for one request; with `hold` it keeps the connection open until the event."""
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                seen.append(connection.recv(65_536))
                for part in parts:
                    connection.sendall(part)
                if hold:
                    hold.wait(10)

        thread = Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1], seen
        finally:
            if hold:
                hold.set()
            thread.join(10)


def test_the_request_carries_host_token_and_body_and_the_answer_comes_back() -> None:
    with answering(HEAD + b"Content-Length: 4\r\n\r\n", b"null") as (port, seen):
        answer = exchange("127.0.0.1", port, "POST", "/x?a=1", body=b"{}", token="t0", timeout_s=5)
    assert (answer.status, answer.body) == (200, b"null")
    assert seen[0].startswith(b"POST /x?a=1 HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{port}\r\n".encode() in seen[0]
    assert b"Authorization: Bearer t0\r\n" in seen[0]
    assert seen[0].endswith(b"\r\n\r\n{}")


def test_a_chunked_answer_is_put_together() -> None:
    with answering(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n2;x=y\r\n,2\r\n1\r\n]\r\n0\r\n\r\n") as (
        port,
        _,
    ):
        assert exchange("127.0.0.1", port, "GET", "/", timeout_s=5).body == b"[1,2]"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        HEAD,
        HEAD + b"Content-Length: 10\r\n\r\nshort",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\nshort",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_what_is_not_a_whole_answer_is_no_answer(raw: bytes) -> None:
    with answering(raw) as (port, _), pytest.raises(ServiceDown):
        exchange("127.0.0.1", port, "GET", "/", timeout_s=5)


def test_a_server_that_says_nothing_is_given_up_in_time() -> None:
    started = time.monotonic()
    with answering(HEAD, hold=Event()) as (port, _), pytest.raises(ServiceDown):
        exchange("127.0.0.1", port, "GET", "/", timeout_s=0.2)
    assert time.monotonic() - started < 2


def test_nobody_listening_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ServiceDown):
        exchange("127.0.0.1", port, "GET", "/", timeout_s=5)


def test_a_key_is_one_piece_of_a_path() -> None:
    assert quoted("project/shop/a.b_c-d~1") == "project%2Fshop%2Fa.b_c-d~1"
    assert quoted("größe &=?") == "gr%C3%B6%C3%9Fe%20%26%3D%3F"
