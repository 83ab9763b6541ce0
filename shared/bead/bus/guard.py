"""Who may ask at all: exact Host, no browser, a token (I16, SECURITY T1, T2, T5).

Pure functions over header values; the ASGI and aiohttp edges call them before anything is read or answered.
"""

import hmac
import re
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256

from bead.errors import NotAllowed

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?\Z")

Headers = Iterable[tuple[bytes, bytes]]


class WrongHost(NotAllowed):
    """The Host header is not one of ours: another site's name points at this machine."""

    code, status = "wrong-host", 421


class Unauthorized(NotAllowed):
    """No token, or a wrong one."""

    code, status = "unauthorized", 401


def check_host(headers: Headers, port: int, extra_hosts: Collection[str] = ()) -> None:
    """Refuse any Host but loopback names (and `extra_hosts`, the service's own name under compose) with our port.

    Raises:
        WrongHost: none, several, or a foreign one.
    """
    hosts = [value.decode("latin-1").strip() for name, value in headers if name.lower() == b"host"]
    match = _HOST.match(hosts[0]) if len(hosts) == 1 else None
    if not match or match[1].lower() not in LOCAL_HOSTS | set(extra_hosts) or (match[2] and int(match[2]) != port):
        raise WrongHost("this address answers only to its own loopback name")


def check_not_browser(headers: Headers) -> None:
    """Refuse what only a browser sends: an Origin, or a Sec-Fetch-Site other than `none`.

    Raises:
        NotAllowed: a web page is asking.
    """
    for name, value in headers:
        lower = name.lower()
        if lower == b"origin" or (lower == b"sec-fetch-site" and value.strip().lower() != b"none"):
            raise NotAllowed("requests from web pages are refused")


def scoped_token(secret: str, scope: str) -> str:
    """The bus token of one service, derived from the secret in `tokens/bus`; the secret itself may do everything."""
    return hmac.new(secret.encode(), b"bead bus " + scope.encode(), sha256).hexdigest()


def fingerprint(token: str) -> str:
    """What a service that may not know the secret keeps of its callers' tokens: enough to know one, not to show it."""
    return sha256(b"bead bus token " + token.encode()).hexdigest()


def scope_of_known(headers: Headers, known: Mapping[str, str], scopes: Collection[str]) -> str:
    """Whose bearer token this is, by the fingerprints of the callers' tokens.

    Raises:
        Unauthorized: no known token.
    """
    found = fingerprint(_bearer(headers))
    for scope in scopes:
        if hmac.compare_digest(found, known.get(scope, "")):
            return scope
    raise Unauthorized("a bearer token of a service that may call this one is needed")


def scope_of(headers: Headers, secret: str, scopes: Collection[str]) -> str:
    """Whose bearer token this is: one of `scopes`, or `all` for the secret itself.

    Raises:
        Unauthorized: no known token.
    """
    token = _bearer(headers)
    if hmac.compare_digest(token.encode(), secret.encode()):
        return "all"
    for scope in scopes:
        if hmac.compare_digest(token.encode(), scoped_token(secret, scope).encode()):
            return scope
    raise Unauthorized("a bearer token of this home is needed: tokens/admin for curate, tokens/bus for the others")


def _bearer(headers: Headers) -> str:
    given = next((value.decode("latin-1") for name, value in headers if name.lower() == b"authorization"), "")
    return given[7:].strip() if given[:7].lower() == "bearer " else ""
