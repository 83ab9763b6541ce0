"""What the fake provider was sent, kept exactly, in memory and in files.

The files hold everything but credentials: those headers and query values are replaced by a digest, so that two runs can
still be compared. Deciding what to reply is `script`; waiting for files of another process is `tests.harness.records`.
"""

import asyncio
import gzip
import hashlib
import json
import os
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Self

CREDENTIAL_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"}
)
_CREDENTIAL_QUERY = re.compile(r"(?<=[?&]key=)[^&]+")


@dataclass
class Recorded:
    """One request as it came off the socket."""

    number: int
    """From 1, in the order in which the requests were complete."""
    connection: int
    """From 1; two requests with the same number shared a connection."""
    method: str
    target: str
    """Path and query, not decoded."""
    headers: list[tuple[str, str]]
    """Names in their original case and order, repeated ones included."""
    body: bytes
    """The exact bytes, still compressed when the request was."""
    outcome: str = "open"
    """`open`, then `answered`, `disconnected` (by us, on purpose) or `client gone`."""
    closed: asyncio.Event = field(default_factory=asyncio.Event, repr=False, compare=False)
    """Set when `outcome` is final. Only for requests of this process."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        return self.target.partition("?")[2]

    def header(self, name: str) -> str | None:
        """The first value of that header, whatever the case of its name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def decoded_body(self) -> bytes:
        """The body without its content encoding (gzip, deflate, zstd where a zstd module is installed)."""
        return decode_body(self.body, self.header("content-encoding") or "")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises:
            ValueError: the body is not a JSON object.
        """
        value = json.loads(self.decoded_body)
        if not isinstance(value, dict):
            raise ValueError(f"request {self.number} to {self.path} has a body that is no JSON object")
        return value

    def messages(self) -> list[dict[str, Any]]:
        """The conversation in the request's own shape: `messages`, else `input`, else `contents`."""
        body = self.json()
        found: list[dict[str, Any]] | str = next(
            (body[key] for key in ("messages", "input", "contents") if key in body), []
        )
        if isinstance(found, str):
            return [{"role": "user", "content": found}]
        return found

    def write(self, folder: Path) -> None:
        """Save as NNNN.body and NNNN.json; a reader that sees the second one sees both whole."""
        stem = folder / f"{self.number:04d}"
        _replace_file(stem.with_suffix(".body"), self.body)
        _replace_file(stem.with_suffix(".json"), json.dumps(self._without_credentials(), indent=1).encode())

    def _without_credentials(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "connection": self.connection,
            "method": self.method,
            "target": _CREDENTIAL_QUERY.sub(lambda match: _digest(match.group()), self.target),
            "headers": [
                [key, _digest(value) if key.lower() in CREDENTIAL_HEADERS else value] for key, value in self.headers
            ],
            "outcome": self.outcome,
        }

    @classmethod
    def read(cls, json_file: Path) -> Self:
        """The request that `write` saved there, with digests where credentials were."""
        about = json.loads(json_file.read_bytes())
        return cls(
            number=about["number"],
            connection=about["connection"],
            method=about["method"],
            target=about["target"],
            headers=[(key, value) for key, value in about["headers"]],
            body=json_file.with_suffix(".body").read_bytes(),
            outcome=about["outcome"],
        )


def decode_body(body: bytes, encoding: str) -> bytes:
    """Undo one content encoding; an encoding that is not known here leaves the bytes as they are."""
    match encoding.lower():
        case "gzip":
            return gzip.decompress(body)
        case "deflate":
            return zlib.decompress(body)
        case "zstd":
            return _decode_zstd(body)
        case _:
            return body


def _decode_zstd(body: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            return bytes(import_module(name).decompress(body))
    return body


def next_number(folder: Path) -> int:
    """The first number that no file in the folder has, so a restarted recorder goes on where the last one stopped."""
    return max((int(file.stem) for file in folder.glob("[0-9]*.json")), default=0) + 1


def _digest(secret: str) -> str:
    return f"[redacted {hashlib.sha256(secret.encode()).hexdigest()[:12]}]"


def _replace_file(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(content)
    os.replace(temporary, path)
