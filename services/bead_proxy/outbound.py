"""How connections to providers leave this machine: through a company's proxy, and which certificates they trust.

Only what calls a provider uses this; calls between services never leave loopback. `SSL_CERT_FILE` and `SSL_CERT_DIR`
are OpenSSL's own, and hold here as everywhere.
"""

import ipaddress
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from bead.errors import BadRequest
from bead.settings import ProxySettings

_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class Outbound(NamedTuple):
    """The way out."""

    proxies: Mapping[str, str] = {}
    """By scheme, `all` for any; `no` lists the hosts that are reached directly."""
    trust: ssl.SSLContext | None = None
    """None: what the system trusts."""

    def proxy_for(self, base: str) -> str | None:
        """Address of the proxy through which `base` is called, login included; None where it is called directly.

        Raises:
            BadRequest: it is of a kind that is not spoken here.
        """
        parts = urlsplit(base)
        host = parts.hostname or ""
        if is_loopback(host) or _is_direct(host, parts.port, self.proxies.get("no", "")):
            return None
        address = self.proxies.get(parts.scheme) or self.proxies.get("all")
        if not address:
            return None
        address = address if "://" in address else f"http://{address}"
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
            raise BadRequest(f"{parts.scheme.upper()}_PROXY must look like http://proxy.example.com:3128")
        return address


def outbound_of(settings: ProxySettings, environ: Mapping[str, str]) -> Outbound:
    """What `settings` and the environment say.

    Raises:
        BadRequest: the file of certificates cannot be used.
    """
    proxies = {
        name.removesuffix("_proxy"): value
        for name in _VARIABLES
        if (value := environ.get(name) or environ.get(name.upper()))
    }
    return Outbound(proxies, _trust(settings.ca_file) if settings.ca_file else None)


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown(proxy: str) -> str:
    """`proxy` without its login."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")


def _is_direct(host: str, port: int | None, listed: str) -> bool:
    """Whether NO_PROXY names `host`: itself, a domain above it, either with a port, or everything by `*`."""
    for entry in (part.strip().lower() for part in listed.split(",")):
        name, _, only_port = entry.partition(":")
        name = name.removeprefix("*").lstrip(".")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}")) and only_port in ("", str(port))):
            return True
    return False


def _trust(path: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=path)
    except (OSError, ssl.SSLError) as error:
        raise BadRequest(
            f"proxy.ca_file {path} cannot be used ({type(error).__name__}); it must be a PEM file"
        ) from None
    return context
