"""Client of the index: search for people, recall and the pinned facts for the proxy."""

import msgspec

from bead.bus.transport import Transport, call
from bead.wire.explain import ExplainAnswer, ExplainRequest
from bead.wire.health import Health
from bead.wire.index import PinnedAnswer, PinnedRequest, RecallAnswer, RecallRequest, SearchAnswer

_encode = msgspec.json.Encoder().encode
_recalled = msgspec.json.Decoder(RecallAnswer).decode
_explained = msgspec.json.Decoder(ExplainAnswer).decode
_pinned = msgspec.json.Decoder(PinnedAnswer).decode


class IndexClient:
    """The derived copy of the store that can search."""

    def __init__(self, bus: Transport) -> None:
        self._bus = bus

    async def health(self) -> Health:
        """Readiness and what is degraded."""
        return Health.model_validate_json(await call(self._bus, "GET", "/health"))

    async def search(
        self,
        query: str,
        project: str | None = None,
        limit: int = 20,
        *,
        all_versions: bool = False,
        as_of: str | None = None,
        explain: bool = False,
    ) -> SearchAnswer:
        """Facts, turns and episodes that match, best first; `query` is plain words, never syntax.

        `all_versions` looks at superseded versions too, `as_of` (a day or a time) at what held then.
        """
        parameters: dict[str, str | int | None] = {"q": query, "project": project, "limit": limit, "as_of": as_of}
        parameters |= {
            name: "true" for name, wanted in (("all_versions", all_versions), ("explain", explain)) if wanted
        }
        return SearchAnswer.model_validate_json(await call(self._bus, "GET", "/v1/search", query=parameters))

    async def recall(self, request: RecallRequest) -> RecallAnswer:
        """What to inject for these cues."""
        return _recalled(await call(self._bus, "POST", "/v1/recall", _encode(request)))

    async def pinned(self, request: PinnedRequest) -> PinnedAnswer:
        """What a new conversation starts with."""
        return _pinned(await call(self._bus, "POST", "/v1/pinned", _encode(request)))

    async def explain(self, request: ExplainRequest) -> ExplainAnswer:
        """Why these cues give what they give, as of now."""
        return _explained(await call(self._bus, "POST", "/v1/explain", _encode(request)))

    async def rebuild(self) -> None:
        """Throw the copy away and build it again from the store."""
        await call(self._bus, "POST", "/v1/rebuild", timeout_s=600.0)

    async def check(self) -> None:
        """Compare the copy with the store and repair what differs.

        Raises:
            Unavailable: it was not done in time.
        """
        await call(self._bus, "POST", "/v1/check", timeout_s=600.0)

    async def applied(self, seq: int, wait_s: float = 5.0) -> bool:
        """Wait until the index has applied change `seq`; False when it has not within `wait_s`."""
        answer = await call(self._bus, "GET", "/v1/applied", query={"seq": seq, "wait_s": wait_s}, timeout_s=wait_s + 5)
        return answer == b"true"
