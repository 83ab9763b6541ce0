"""Who may use the proxy: the capability in the URL, or a bare URL from the same user; browsers and foreign hosts never.

Pure. Whose process holds the other end of a connection is `peer`; the Host and browser rules are `bead.bus.guard`'s.
Decision D11, invariant I16, SECURITY T1, T2, T4.
"""

import hmac
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from bead.bus.guard import Unauthorized, check_host, check_not_browser
from bead.errors import BadRequest

RawHeaders = Sequence[tuple[bytes, bytes]]

HEALTH = "/bead/health"
_FORM_TYPES = frozenset({"text/plain", "application/x-www-form-urlencoded", "multipart/form-data"})
_CAPABILITY = re.compile(r"/t/([^/?]*)(?=[/?]|\Z)")


@dataclass(frozen=True, slots=True)
class Rules:
    """What a request must show."""

    token: str
    """The capability of this home, `tokens/proxy`."""
    port: int
    """The listener's own port."""
    bare_url: bool
    """Whether the same user may leave the capability out."""
    hosts: Collection[str] = ()
    """Names that are ours beside the loopback ones: the service's own under compose."""

    def __repr__(self) -> str:
        return f"Rules(port={self.port}, bare_url={self.bare_url})"


def admit(target: str, headers: RawHeaders, rules: Rules, is_same_user: Callable[[], bool]) -> str:
    """The request target without its capability, to be logged, routed and forwarded; `target` is as it came.

    Raises:
        BadRequest: not a path, or a body whose length is told in two ways.
        WrongHost, NotAllowed: see `bead.bus.guard`.
        Unauthorized: a wrong capability, or none from somebody else's process.
    """
    if not target.startswith("/"):
        raise BadRequest("the request target must be a path")
    check_host(headers, rules.port, rules.hosts)
    check_not_browser(headers)
    _check_framing(headers)
    capability = _CAPABILITY.match(target)
    if capability:
        if not hmac.compare_digest(capability[1].encode("utf-8", "surrogateescape"), rules.token.encode()):
            raise Unauthorized(
                "the capability /t/<token> in this base URL is not this home's; start the harness with `bead wrap`,"
                " or take the address that `bead status` prints"
            )
        rest = target[capability.end() :]
        return rest if rest.startswith("/") else f"/{rest}"
    if target.partition("?")[0] != HEALTH and not (rules.bare_url and is_same_user()):
        raise Unauthorized(
            "this base URL needs the capability /t/<token>; start the harness with `bead wrap`,"
            " or take the address that `bead status` prints"
        )
    return target


def is_form(content_type: str) -> bool:
    """Whether a web page may post this type anywhere without a preflight (SECURITY T2)."""
    return content_type.partition(";")[0].strip().lower() in _FORM_TYPES


def _check_framing(headers: RawHeaders) -> None:
    names = {name.lower() for name, _ in headers}
    if b"transfer-encoding" in names and b"content-length" in names:
        raise BadRequest("a request has a Content-Length or a Transfer-Encoding, not both")
