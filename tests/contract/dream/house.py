"""A real store, the dream service beside it, and a night at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bead.bus.transport import InProcessTransport, Transport
from bead.clients.dream import DreamClient
from bead.clients.night import NightClient
from bead.home import Home
from bead.settings import DreamSettings
from bead.turns import Role
from bead.wire.dream import RunView, StartRun
from bead.wire.store import AppendTurn
from bead_dream.app import create_service, now
from tests.contract.store.opening import Open, opened

ENVIRON = {"OPENAI_API_KEY": "-".join(("no", "key", "at", "all")), "ANTHROPIC_API_KEY": "-".join(("none", "either"))}
_LIMIT_S = 20


@dataclass
class House:
    """Store and dream service of one home."""

    store: Open
    dream: DreamClient
    nights: NightClient
    bus: Transport
    home: Home

    async def night(self, **request: object) -> RunView:
        """One run, to its end."""
        await self.dream.start(StartRun.model_validate(request))
        return await self.ended()

    async def ended(self) -> RunView:
        """The current run once it has ended."""
        async with asyncio.timeout(_LIMIT_S):
            await self.bus.send("GET", "/v1/runs/current/events")
        return await self.dream.current()

    async def session(self, name: str, *turns: tuple[str, str], project: str | None = "shop-api") -> None:
        """Turns as capture appends them."""
        for number, (role, text) in enumerate(turns, 1):
            at = datetime(2026, 11, 5, 9, number % 60, tzinfo=UTC).isoformat()
            await self.store.client.append_turn(
                AppendTurn(session=name, turn_id=f"{name}-{number}", role=Role(role), text=text, at=at, project=project)
            )

    async def bodies(self) -> dict[str, str]:
        """Current facts: text and trust by key."""
        facts = (await self.store.client.list_facts()).facts
        return {fact.key: f"{fact.body} ({fact.trust})" for fact in facts}

    async def waiting(self) -> list[tuple[str, str, str]]:
        """Kind, key and text of what waits."""
        return [(item.kind, item.key, item.body) for item in (await self.store.client.review_queue()).items]


@asynccontextmanager
async def living(
    home: Home,
    settings: DreamSettings | None = None,
    environ: Mapping[str, str] = ENVIRON,
    clock: Callable[[], datetime] = now,
) -> AsyncIterator[House]:
    """The services of `home` while the block runs."""
    async with opened(home) as store:
        service = create_service(settings or DreamSettings(), "home-1", store.bus, environ, clock)
        bus = InProcessTransport("dream", service.app)
        async with service.running():
            yield House(store, DreamClient(bus), NightClient(store.bus), bus, home)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
