"""Which protocol a request speaks, and which provider it is for: one table, told by path and, where providers share a
path, by headers.

Pure. What a protocol's bodies say is its own package's; sending is `forward`'s.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from bead_proxy import anthropic, gemini, openai_chat, openai_responses
from bead_proxy.protocol import Reading, ReplyReader


class Provider(StrEnum):
    """Whose address a request goes to, `proxy.upstream.<provider>`."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GEMINI = "gemini"


class Module(Protocol):
    """What a protocol's package offers."""

    @property
    def read_on(self) -> Callable[[bytes, Any], Reading[Any]]:
        """What a body asks, read on from an earlier one of its conversation. Raises Unreadable."""

    @property
    def reply_reader(self) -> Callable[[str, str], ReplyReader]:
        """A reader for a response of this content type and content encoding."""


class Spoken(NamedTuple):
    """One row: a request that is posted to such a path asks for a model's answer, in this protocol."""

    name: str
    """As traces and metrics have it; also the package's name."""
    provider: Provider
    """Unless the path or a header says another."""
    path: re.Pattern[str]
    """Searched in the path, query left out; any prefix may stand before it."""
    module: Module


PROTOCOLS = (
    Spoken("anthropic", Provider.ANTHROPIC, re.compile(r"/v1/messages\Z"), anthropic),
    Spoken("openai_chat", Provider.OPENAI, re.compile(r"/chat/completions\Z"), openai_chat),
    Spoken("openai_responses", Provider.OPENAI, re.compile(r"/responses\Z"), openai_responses),
    Spoken(
        "gemini",
        Provider.GEMINI,
        re.compile(r"/(?P<model>[^/:]+):(?:generateContent|streamGenerateContent)\Z"),
        gemini,
    ),
)


class Route(NamedTuple):
    """Where a request goes."""

    provider: Provider
    target: str
    """The request target as the provider gets it: without the prefix that named it here."""
    spoken: Spoken | None
    """None: nothing of the request is read."""
    model: str = ""
    """Where it stands in the path instead of in the body."""


# A harness's base URL may name the provider in front; an upstream address has a path of its own where one is needed.
_PREFIX = re.compile(rf"/(?P<provider>{'|'.join(Provider)})(?=[/?]|\Z)")

_GEMINI_PATH = re.compile(r"/(?:upload/)?v1(?:alpha|beta)\w*/")
_OPENAI_PATH = re.compile(
    r"/(?:v1/)?(?:chat/completions|completions|responses|conversations|embeddings|moderations|images|audio|realtime"
    r"|assistants|threads|vector_stores|fine_tuning)(?:/|\Z)"
)
# Sent by one provider's clients only, whatever the path.
_HEADERS: tuple[tuple[str, Provider], ...] = (
    ("anthropic-version", Provider.ANTHROPIC),
    ("anthropic-beta", Provider.ANTHROPIC),
    ("x-goog-api-key", Provider.GEMINI),
    ("x-goog-api-client", Provider.GEMINI),
    ("openai-organization", Provider.OPENAI),
    ("openai-project", Provider.OPENAI),
    ("openai-beta", Provider.OPENAI),
    ("chatgpt-account-id", Provider.OPENAI),
)
# Routes that several providers have: there Bearer is OpenAI's, for Anthropic's clients say which version they speak.
_SHARED_PATH = re.compile(r"/v1/(?:models|files|batches|organization)(?:/|\Z)")


def route(method: str, target: str, headers: Mapping[str, str]) -> Route:
    """Where a request of that target, its capability taken off, goes."""
    prefix = _PREFIX.match(target)
    if prefix:
        rest = target[prefix.end() :]
        target = rest if rest.startswith("/") else f"/{rest}"
    path = target.partition("?")[0]
    spoken, model = _spoken(path) if method == "POST" else (None, "")
    provider = Provider(prefix["provider"]) if prefix else _provider(path, headers, spoken)
    return Route(provider, target, spoken, model)


def _spoken(path: str) -> tuple[Spoken | None, str]:
    for spoken in PROTOCOLS:
        if match := spoken.path.search(path):
            return spoken, match.groupdict().get("model", "")
    return None, ""


def _provider(path: str, headers: Mapping[str, str], spoken: Spoken | None) -> Provider:
    if _GEMINI_PATH.match(path):
        return Provider.GEMINI
    for name, provider in _HEADERS:
        if name in headers:
            return provider
    if spoken is not None:
        return spoken.provider
    if _OPENAI_PATH.search(path):
        return Provider.OPENAI
    if _SHARED_PATH.search(path) and headers.get("Authorization", "").lower().startswith("bearer "):
        return Provider.OPENAI
    return Provider.ANTHROPIC
