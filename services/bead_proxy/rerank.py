"""The optional second opinion: a model picks among the gate's candidates within a hard timeout (D7).

Off by default: the person's words go to the provider that they name for it. Whatever fails, the gate's own choice
stands and the failure is counted. What is asked and how an answer is read is `bead.rerank`.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import aiohttp

from bead.bounded import TooLong, read_whole
from bead.recall import Cue, RecalledFact
from bead.rerank import picked, question
from bead.settings import RerankSettings

_MAX_ANSWER_BYTES = 64 << 10
_MAX_TOKENS = 100
_BASES = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}
_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


class Reranker:
    """Asks one model. `on_failure` is told a word for each time that the gate's choice had to stand."""

    def __init__(self, settings: RerankSettings, environ: Mapping[str, str], on_failure: Callable[[str], None]) -> None:
        self._settings = settings
        self._key = environ.get(settings.api_key_env or _KEYS.get(settings.provider, ""), "")
        self._on_failure = on_failure
        self._session: aiohttp.ClientSession | None = None

    @property
    def is_on(self) -> bool:
        """Whether a model is asked at all."""
        return self._settings.provider != "none"

    async def close(self) -> None:
        """Let the connections go."""
        if self._session is not None:
            await self._session.close()

    async def choose(self, cues: Sequence[Cue], candidates: Sequence[RecalledFact]) -> tuple[RecalledFact, ...] | None:
        """Those of `candidates` that the model wants, best first; None: the gate's own choice stands."""
        if not self.is_on or not candidates:
            return None
        if not self._key or not self._settings.model:
            self._on_failure("no key" if not self._key else "no model")
            return None
        try:
            async with asyncio.timeout(self._settings.timeout_ms / 1_000):
                text = await self._ask(question(cues, candidates))
        except TimeoutError:
            self._on_failure("too late")
            return None
        except (aiohttp.ClientError, OSError, ValueError, KeyError, IndexError, TypeError, TooLong):
            self._on_failure("no answer")
            return None
        chosen = picked(text, candidates)
        if chosen is None:
            self._on_failure("not understood")
        return chosen

    async def _ask(self, text: str) -> str:
        if self._session is None:
            self._session = aiohttp.ClientSession(raise_for_status=True)
        body: dict[str, Any] = {
            "model": self._settings.model,
            "max_tokens": _MAX_TOKENS,
            "messages": [{"role": "user", "content": text}],
        }
        base = str(self._settings.base_url or _BASES[self._settings.provider]).rstrip("/")
        if self._settings.provider == "anthropic":
            headers = {"x-api-key": self._key, "anthropic-version": "2023-06-01"}
            document = await self._post(f"{base}/v1/messages", headers, body)
            return str(document["content"][0]["text"])
        document = await self._post(f"{base}/v1/chat/completions", {"authorization": f"Bearer {self._key}"}, body)
        return str(document["choices"][0]["message"]["content"])

    async def _post(self, url: str, headers: dict[str, str], body: dict[str, Any]) -> Any:
        assert self._session is not None, "opened before the first question"
        async with self._session.post(url, json=body, headers=headers, allow_redirects=False) as answer:
            return json.loads(await read_whole(answer, _MAX_ANSWER_BYTES))
