"""Whose process holds the other end of a loopback connection (D11).

Linux only: one exact `sock_diag` question to the kernel, `/proc/net/tcp` where netlink is not there. Everywhere else
the answer is "not known", which admits nobody. What follows from the answer is `access`.
"""

import asyncio
import os
import socket
import struct
import sys
from pathlib import Path
from weakref import WeakKeyDictionary

_ESTABLISHED = 1
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_TIMEOUT_S = 0.2
_NO_COOKIE = 0xFFFFFFFF

# struct nlmsghdr; struct inet_diag_req_v2 with its inet_diag_sockid; struct inet_diag_msg. linux/inet_diag.h
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI2s2s16s16sIII")
_ANSWER = struct.Struct("=BBBB2s2s16s16sIIIIIIII")


class Peers:
    """Answers once a connection and remembers it as long as the connection lives."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[asyncio.BaseTransport, bool] = WeakKeyDictionary()

    def is_same_user(self, transport: asyncio.BaseTransport | None) -> bool:
        """Whether the process at the other end of `transport` runs as this process's user."""
        if transport is None:
            return False
        known = self._known.get(transport)
        if known is None:
            known = self._known[transport] = _ask(transport) == os.getuid()
        return known


def owner_of(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """uid of the process whose socket `client` is connected to our `server`; None where that is not known.

    Only an ESTABLISHED socket counts: one in TIME_WAIT belongs to nobody and is reported as root's.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        return _ask_kernel(client, server)
    except OSError:
        return _search_proc(client, server)


def _ask(transport: asyncio.BaseTransport) -> int | None:
    client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    return owner_of(client[:2], server[:2]) if client and server else None


def _ask_kernel(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    family = _family(client)
    request = _REQUEST.pack(
        family,
        socket.IPPROTO_TCP,
        0,
        1 << _ESTABLISHED,
        client[1].to_bytes(2, "big"),
        server[1].to_bytes(2, "big"),
        socket.inet_pton(family, client[0]),
        socket.inet_pton(family, server[0]),
        0,
        _NO_COOKIE,
        _NO_COOKIE,
    )
    length = _HEADER.size + _REQUEST.size
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(_TIMEOUT_S)
        kernel.send(_HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 1, 0) + request)
        answer = kernel.recv(8192)
    kind = _HEADER.unpack_from(answer)[1]
    if kind != _SOCK_DIAG_BY_FAMILY:
        return None
    fields = _ANSWER.unpack_from(answer, _HEADER.size)
    state, uid = fields[1], fields[14]
    same = fields[4:6] == (client[1].to_bytes(2, "big"), server[1].to_bytes(2, "big"))
    return int(uid) if state == _ESTABLISHED and same else None


def _search_proc(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    name = "tcp" if _family(client) == socket.AF_INET else "tcp6"
    wanted = [_as_in_proc(client), _as_in_proc(server), f"{_ESTABLISHED:02X}"]
    try:
        lines = Path("/proc/net", name).read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return None
    return next((int(columns[7]) for columns in map(str.split, lines) if columns[1:4] == wanted), None)


def _as_in_proc(address: tuple[str, int]) -> str:
    """Address and port as /proc/net/tcp writes them: 32-bit words in the machine's byte order, in hexadecimal."""
    packed = socket.inet_pton(_family(address), address[0])
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"


def _family(address: tuple[str, int]) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address[0] else socket.AF_INET
