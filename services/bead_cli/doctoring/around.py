"""What bead needs around it: certificates of authorities, a company's own, Docker where containers run bead."""

import os
import ssl
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from bead.errors import BeadError, Refused
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.doctoring.finding import Finding

_SOON = timedelta(days=14)
_MOST_BYTES = 4 << 20


def certificates(context: Context) -> Iterator[Finding]:
    """Whether the proxy can check whom it talks to."""
    try:
        proxy = context.settings().proxy
    except BeadError:
        return  # the settings are a finding of their own
    if proxy.ca_file:
        yield from _own(os.path.expanduser(proxy.ca_file))
    needs = [name for name, url in proxy.upstream.model_dump().items() if str(url).startswith("https:")]
    if needs and not _has_authorities(context.environ):
        cause = f"no certificates of authorities on this machine: {', '.join(needs)} cannot be reached"
        yield Finding("unavailable", "certificates", cause, "install your system's ca-certificates")


def docker(who: runtime.Runtime | None) -> Iterator[Finding]:
    """Containers that are in trouble, where bead runs in containers."""
    if who is None or who.pid is not None:
        return
    from bead_cli.containers import containers

    try:
        found = containers()
    except Refused as error:
        yield Finding("note", "docker", error.message, "docker compose ps")
        return
    except BeadError as error:
        yield Finding("unavailable", "docker", error.message, "start Docker, then: docker compose up -d")
        return
    if not found:
        cause = "runtime.json speaks of containers, and there are none"
        yield Finding("unavailable", "docker", cause, "docker compose up -d")
    for each in found:
        if each.trouble:
            mend = f"docker compose up -d {each.service}"
            yield Finding("unavailable", "docker", f"{each.service}: {each.trouble}", mend)


def _own(path: str) -> Iterator[Finding]:
    from cryptography import x509
    from cryptography.utils import CryptographyDeprecationWarning

    mend = f"put the company's certificates there, as PEM: {path}; or take proxy.ca_file out"
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore", CryptographyDeprecationWarning)
            found = x509.load_pem_x509_certificates(file.read(_MOST_BYTES))
    except OSError as error:
        yield Finding("unavailable", "certificates", f"proxy.ca_file cannot be read ({error.strerror})", mend, path)
        return
    except ValueError:
        yield Finding("unavailable", "certificates", "proxy.ca_file holds no certificate", mend, path)
        return
    now = datetime.now(UTC)
    ends = min(each.not_valid_after_utc for each in found)
    if ends < now:
        yield Finding("unavailable", "certificates", f"one in proxy.ca_file ended on {ends:%Y-%m-%d}", mend, path)
    elif ends < now + _SOON:
        yield Finding("note", "certificates", f"one in proxy.ca_file ends on {ends:%Y-%m-%d}", mend, path)


def _has_authorities(environ: Mapping[str, str]) -> bool:
    named = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
    if any(named):
        return any(path and os.path.exists(path) for path in named)
    if ssl.create_default_context().cert_store_stats()["x509_ca"]:
        return True
    folder = ssl.get_default_verify_paths().capath
    return bool(folder and os.path.isdir(folder) and os.listdir(folder))
