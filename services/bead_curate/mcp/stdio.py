"""An MCP server on standard input and output, for the program that started this process.

The SDK speaks the protocol; here is what it leaves open: a line that is no message gets an error and the server lives
on, and what was asked before standard input closed is still answered.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage

_ANSWER_S = 610.0
"""Longest wait for answers after the input has ended: a forget reads the whole raw log."""

_QUEUE = 64


def serve(server: Server) -> None:
    """Until standard input closes."""
    anyio.run(_serve, server)


async def _serve(server: Server) -> None:
    async with stdio_server() as (lines, out), _watched(lines, out) as (messages, answers):
        await server.run(messages, answers, server.create_initialization_options())


class _Open:
    """Requests that have no answer yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._all_answered = anyio.Event()

    def asked(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._ids.add(_name(message.id))
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # A cancelled request is never answered.
            self._ids.discard(_name((message.params or {}).get("requestId")))

    def answered(self, message: Any) -> None:
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._ids.discard(_name(message.id))
            if not self._ids:
                self._all_answered.set()
                self._all_answered = anyio.Event()

    async def wait(self) -> None:
        with anyio.move_on_after(_ANSWER_S):
            while self._ids:
                await self._all_answered.wait()


@asynccontextmanager
async def _watched(lines: Any, out: Any) -> AsyncIterator[tuple[Any, Any]]:
    """The same two streams, with errors for what is no message, and an end that waits for answers."""
    messages_in, messages = anyio.create_memory_object_stream[Any](_QUEUE)
    answers, answers_out = anyio.create_memory_object_stream[Any](_QUEUE)
    open_requests = _Open()

    async def read() -> None:
        async with messages_in:
            async for item in lines:
                if isinstance(item, Exception):
                    if (refusal := _refusal(item)) is not None:
                        await out.send(SessionMessage(refusal))
                    continue
                open_requests.asked(item.message)
                await messages_in.send(item)
            await open_requests.wait()

    async def write() -> None:
        # Closed here at the end: the SDK's own end waits for it.
        async with answers_out, out:
            async for item in answers_out:
                await out.send(item)
                open_requests.answered(item.message)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        yield messages, answers
        group.cancel_scope.cancel()


def _refusal(error: Exception) -> types.JSONRPCError | None:
    """What a line that is no message is answered; nothing for an empty one."""
    errors = error.errors(include_url=False) if hasattr(error, "errors") else [{"type": "", "input": ""}]
    line = errors[0]["input"]
    is_json = True
    try:
        json.loads(line) if isinstance(line, str | bytes) else None
    except ValueError:
        is_json = False
    if isinstance(line, str) and not line.strip():
        return None
    code, said = (types.INVALID_REQUEST, "not a JSON-RPC message") if is_json else (types.PARSE_ERROR, "not JSON")
    return types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=said))


def _name(id: Any) -> str:
    return repr(id)
