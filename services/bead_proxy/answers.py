"""The proxy's own answers: errors in the provider's shape, so that a harness shows them, and the local routes."""

import json
from collections.abc import Sequence
from typing import Final

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from bead.bus.guard import Unauthorized
from bead.errors import BadRequest, BeadError
from bead.wire.health import Health
from bead_proxy.accounts import Account

GIVEN: Final = web.ResponseKey("given", frozenset)
"""In a relayed response: lower-case names of the headers it was given; what the library adds is taken out again."""

_INVENTED = ("Server", "Date", "Content-Type")


async def drop_invented_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Signal handler: a relayed answer has the provider's headers only (I8)."""
    given = response.get(GIVEN)
    if given is None:
        response.headers.pop("Server", None)
        return
    for name in _INVENTED:
        if name.lower() not in given:
            response.headers.pop(name, None)


def provider_error(status: int, kind: str, message: str) -> web.Response:
    """An error that names bead, as the provider would write it."""
    document = {"type": "error", "error": {"type": kind, "message": f"bead: {message}"}}
    return web.Response(status=status, body=json.dumps(document).encode(), content_type="application/json")


def refusal(error: BeadError) -> web.Response:
    """The answer to a request that may not come in."""
    match error:
        case Unauthorized():
            kind = "authentication_error"
        case BadRequest():
            kind = "invalid_request_error"
        case _:
            kind = "permission_error"
    response = provider_error(error.status, kind, error.message)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.force_close()
    return response


def no_websocket() -> web.Response:
    """Told at once, a harness goes on over HTTP without trying again."""
    response = provider_error(426, "invalid_request_error", "WebSocket is not supported here; use HTTP")
    response.force_close()
    return response


def health_answer(health: Health) -> web.Response:
    """`GET /bead/health`."""
    return web.Response(body=health.model_dump_json().encode(), content_type="application/json")


def metrics_answer(registry: CollectorRegistry) -> web.Response:
    """`GET /bead/metrics`."""
    return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


def usage_answer(accounts: Sequence[tuple[str, str, Account]]) -> web.Response:
    """`GET /bead/usage`: tokens by conversation, newest first, and what memory cost of them."""
    rows = [
        {
            "session": session,
            "thread": thread,
            "requests": account.requests,
            "input": account.input,
            "output": account.output,
            "cache_read": account.cache_read,
            "cache_write": account.cache_write,
            "inserted_estimate": account.inserted,
            "memory_cost_estimate": round(account.cost),
            "cache_saved_estimate": round(account.saved),
            "recall_ended": account.is_stopped,
        }
        for session, thread, account in accounts
    ]
    return web.Response(body=json.dumps({"conversations": rows}).encode(), content_type="application/json")


def no_such_route() -> web.Response:
    """Everything else below /bead/ is ours and is not there."""
    return provider_error(404, "not_found_error", "there is no such local route")
