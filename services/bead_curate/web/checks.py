"""Which requests a browser may make of the admin page (I16, SECURITY T1 to T3). Pure functions over header values.

`bead.bus.guard` refuses browsers altogether; here they are welcome, from our own pages only. Other ports of this
machine are the same *site* to a browser, so cookies alone prove nothing: the Origin must be ours.
"""

from collections.abc import Iterable

from bead.errors import NotAllowed

Headers = Iterable[tuple[bytes, bytes]]

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # Not `no-referrer`: with it a browser says `Origin: null` for our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
"""On every answer."""


def check_read(headers: Headers) -> None:
    """Let a page be opened from anywhere, it shows nothing without the cookie; its parts only by our own pages.

    Raises:
        NotAllowed: another page loads it as a part of itself.
    """
    site, mode = value_of(headers, b"sec-fetch-site"), value_of(headers, b"sec-fetch-mode")
    place = value_of(headers, b"sec-fetch-dest")
    is_ours = site in ("", "none", "same-origin")
    is_opened = mode == "navigate" and place in ("", "document")
    if not is_ours and not is_opened:
        raise NotAllowed("another web page asks for a part of the admin page")


def check_write(headers: Headers) -> None:
    """Accept a form from our own pages only.

    Raises:
        NotAllowed: no Origin, or another one than the address that it was sent to.
    """
    host = value_of(headers, b"host").lower()
    origin = value_of(headers, b"origin").lower()
    site = value_of(headers, b"sec-fetch-site")
    if not host or origin != f"http://{host}" or site not in ("", "same-origin"):
        raise NotAllowed("the form does not come from this page")


def cookie_of(headers: Headers, name: str) -> str:
    """The value of one cookie, empty when it is not there."""
    for header, value in headers:
        if header.lower() == b"cookie":
            for part in value.decode("latin-1").split(";"):
                found, _, text = part.strip().partition("=")
                if found == name:
                    return text
    return ""


def value_of(headers: Headers, name: bytes) -> str:
    """The first value of a header, empty when it is not there."""
    return next((value.decode("latin-1").strip() for found, value in headers if found.lower() == name), "")
