"""`/v0/beads/memories`: the four verbs of beads over HTTP, for scripts and tools that know them.

Who may come in is decided before: the token for agents lists, reads and remembers; forgetting takes the admin token,
for it is a person's decision. What is remembered here counts as observed by an agent (I4).
"""

from collections.abc import AsyncIterator, Mapping
from typing import Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field

from bead import guards, keys
from bead.bus.transport import Transport
from bead.clients.store import StoreClient
from bead.errors import NotFound, Refused
from bead.facts import FactType, FactVersion, Trust
from bead.wire.store import ConfirmForget, ForgetKeys, Verb, WriteFact

PATH = "/v0/beads/memories"
TOKEN_SCOPE = "memories"
SCOPES: Mapping[str, tuple[str, ...]] = {TOKEN_SCOPE: (f"GET {PATH}", f"POST {PATH}")}
"""What the token for agents may do here."""


class Memory(BaseModel):
    """A fact as beads tells one."""

    key: str
    value: str


class Memories(BaseModel):
    """`GET`: every current fact that has the term in key or value, whatever its case."""

    memories: tuple[Memory, ...]


class Remember(BaseModel):
    """`POST`: without `key` one is made of the first words."""

    model_config = ConfigDict(extra="forbid")

    value: str = Field(min_length=1)
    key: str | None = None
    project: str | None = None
    type: FactType | None = None


class Remembered(BaseModel):
    """What that did, and what was there before."""

    key: str
    verb: Verb | Literal["recalled"]
    """`recalled`: the value was a bare key, and nothing was written; `value` is what is stored under it."""
    replaced: str | None = None
    value: str | None = None


class Forgot(BaseModel):
    """What a `DELETE` took out."""

    key: str
    verb: str = "forgot"


def add_memory_routes(api: FastAPI, bus: Transport) -> None:
    """The four verbs over the store behind `bus`."""
    store = StoreClient(bus)

    @api.get(PATH)
    async def memories(term: str = "", project: str | None = None) -> Memories:
        scope = f"project/{project.removeprefix('project/')}" if project else None
        wanted = term.casefold()
        found = [
            Memory(key=fact.key, value=fact.body)
            async for fact in _every(store, scope)
            if wanted in fact.key.casefold() or wanted in fact.body.casefold()
        ]
        return Memories(memories=tuple(found))

    @api.post(PATH)
    async def remember(request: Remember) -> Remembered:
        # A key of blanks alone is none: under it nothing could ever be read or forgotten.
        key = request.key if request.key and request.key.strip() else None
        if key is None and (slip := await _slip(store, request)):
            return slip
        answer = await store.write_fact(
            WriteFact(
                key=key,
                body=request.value,
                project=request.project,
                type=request.type,
                trust=Trust.AGENT_OBSERVED,
            )
        )
        return Remembered(key=answer.key, verb=answer.verb, replaced=answer.replaced)

    @api.get(f"{PATH}/{{key:path}}")
    async def memory(key: str, project: str | None = None) -> Memory:
        fact = await store.current_fact(whole_key(key, project))
        return Memory(key=fact.key, value=fact.body)

    @api.delete(f"{PATH}/{{key:path}}")
    async def forget(key: str, project: str | None = None) -> Forgot:
        name = whole_key(key, project)
        preview = await store.preview_forget(ForgetKeys(keys=(name,)))
        if preview.confirm is None:
            raise NotFound(f"nothing is stored under '{name}'")
        await store.forget(ConfirmForget(keys=(name,), confirm=preview.confirm))
        return Forgot(key=name)


async def _slip(store: StoreClient, request: Remember) -> Remembered | None:
    """What was probably not meant as a memory: a bare key is read instead; None when the value is one.

    Raises:
        Refused: it names a command, or a key under which nothing is stored.
    """
    value = request.value
    if guards.is_command(value):
        raise Refused("the value looks like a command, not something to remember; to keep it anyway give it a key")
    if not guards.is_bare_key(value):
        return None
    scopes = [request.project, None] if request.project else [None]
    for project in scopes:
        try:
            fact = await store.current_fact(whole_key(guards.bare(value), project))
        except NotFound:
            continue
        return Remembered(key=fact.key, verb="recalled", value=fact.body)
    raise Refused("the value looks like a key, and nothing is stored under it; to keep it as text give it a key")


def whole_key(key: str, project: str | None) -> str:
    """`key` with its scope: its own, else the project's, else `user/`.

    Raises:
        InvalidKey: that is no key.
    """
    scope = f"project/{project.removeprefix('project/')}" if project else "user"
    return str(keys.in_scope(scope, key))


async def _every(store: StoreClient, scope: str | None) -> AsyncIterator[FactVersion]:
    after: str | None = None
    while True:
        page = await store.list_facts(scope=scope, after=after)
        for fact in page.facts:
            yield fact
        if (after := page.next_after) is None:
            return
