"""What every provider is asked and answers, and one way to send it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

import aiohttp

from bead.bounded import TooLong, read_whole
from bead.errors import ModelTrouble

MAX_REPLY_BYTES = 4 << 20
_CLIENT_ERRORS = (400, 413, 422)
_SERVER_ERROR = 500

JsonObject = dict[str, Any]
Key = Callable[[], Awaitable[str | None]]
"""The API key; None where none is needed."""


class Question(NamedTuple):
    """One call. The transcript in `prompt` is redacted already."""

    purpose: str
    """For the spend ledger: `extract`, `cards`, `keys`, `judge`."""
    system: str
    prompt: str
    schema: JsonObject
    """JSON schema of the answer, for providers that keep to one."""
    max_tokens: int = 4_000

    def __repr__(self) -> str:
        return f"Question({self.purpose!r})"


class Answer(NamedTuple):
    """What came back."""

    text: str
    input_tokens: int
    output_tokens: int
    is_cut: bool = False
    """The model stopped at its limit."""

    def __repr__(self) -> str:
        return f"Answer(tokens={self.input_tokens + self.output_tokens})"


class RefusedByModel(ModelTrouble):
    """The provider would not take this question: another one may do."""

    code, status = "refused-by-model", 422


class ServerFailed(ModelTrouble):
    """The model's server says that it has failed: some do at a field they do not know."""

    code, status = "model-server-failed", 502


class Provider(Protocol):
    """A model that can be asked."""

    name: str
    model: str

    async def ask(self, question: Question) -> Answer:
        """One answer.

        Raises:
            RefusedByModel: this question is too long or not allowed.
            ModelTrouble: no key, no connection, a limit, an error of the server.
        """
        ...


class Sender:
    """Sends JSON to one address. Only the status of an error is told: its text may quote what was sent (I15)."""

    def __init__(self, base_url: str, timeout_s: float) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s

    async def post(self, path: str, body: JsonObject, headers: Mapping[str, str]) -> JsonObject:
        """The answer's document.

        Raises:
            ModelTrouble: none came.
        """
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, timeout=timeout) as session,
                session.post(self._base_url + path, json=body, headers=headers, allow_redirects=False) as response,
            ):
                if response.status in _CLIENT_ERRORS:
                    raise RefusedByModel(f"the model's server refused a request with status {response.status}")
                if response.status != 200:
                    failure = ServerFailed if response.status >= _SERVER_ERROR else ModelTrouble
                    raise failure(f"the model's server answered with status {response.status}; see its own log")
                return _document(await read_whole(response, MAX_REPLY_BYTES))
        except TooLong:
            raise ModelTrouble(f"the model's server answered more than {MAX_REPLY_BYTES >> 20} MB") from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ModelTrouble(f"no answer from {self._base_url} ({type(error).__name__})") from None


def _document(data: bytes) -> JsonObject:
    import json

    try:
        document = json.loads(data)
    except ValueError:
        raise ModelTrouble("the model's server answered something that is not JSON") from None
    if not isinstance(document, dict):
        raise ModelTrouble("the model's server answered JSON that is no object")
    return document


def count(document: JsonObject, *path: str) -> int:
    """A number of tokens; 0 when the server does not tell."""
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0
