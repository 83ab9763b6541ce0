"""Whose socket it is: the kernel's answer, and the same from /proc, for real connections."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bead_proxy import peer

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sock_diag is Linux's")

Pair = tuple[socket.socket, socket.socket]


def connect(family: socket.AddressFamily, address: str) -> Iterator[Pair]:
    with socket.create_server((address, 0), family=family) as listener:
        client = socket.create_connection(listener.getsockname()[:2])
        accepted, _ = listener.accept()
        with client, accepted:
            yield client, accepted


@pytest.fixture(params=[(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")], ids=["IPv4", "IPv6"])
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    yield from connect(*request.param)


def ends(pair: Pair) -> tuple[tuple[str, int], tuple[str, int]]:
    """The client's and the server's address, as the server sees them."""
    return pair[1].getpeername()[:2], pair[1].getsockname()[:2]


def test_a_connection_of_this_process_is_this_users(pair: Pair) -> None:
    assert peer.owner_of(*ends(pair)) == os.getuid()


def test_proc_says_the_same(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_netlink(*_: object) -> int:
        raise OSError("not permitted")

    monkeypatch.setattr(peer, "_ask_kernel", no_netlink)
    assert peer.owner_of(*ends(pair)) == os.getuid()


def test_a_connection_that_is_not_there_is_nobodys(pair: Pair) -> None:
    client, server = ends(pair)
    assert peer.owner_of((client[0], 1), server) is None


def test_a_closed_connection_is_nobodys(pair: Pair) -> None:
    """TIME_WAIT has lost its owner and would be reported as root's."""
    client, server = ends(pair)
    pair[0].close()
    pair[1].close()

    assert peer.owner_of(client, server) is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a socket of another user")
@pytest.mark.parametrize("by", ["netlink", "proc"])
def test_the_owner_is_the_clients_not_the_listeners(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if by == "proc":
        monkeypatch.setattr(peer, "_ask_kernel", peer._search_proc)
    # No import after setuid: the interpreter's files may be readable for root alone.
    connect = "import os,socket,sys; os.setuid(65534); s=socket.socket(); s.connect(('127.0.0.1', int(sys.argv[1])))"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        program = [sys.executable, "-c", f"{connect}; sys.stdin.read()", str(listener.getsockname()[1])]
        with subprocess.Popen(program, stdin=subprocess.PIPE) as child:
            accepted, address = listener.accept()
            with accepted:
                assert peer.owner_of(address, accepted.getsockname()) == 65534
            child.communicate()
