"""One MCP server for the SDK: lists the tools of the table, checks arguments, and answers in words a model can read.

A tool's trouble is an answer (`is_error`), never the end of the connection; its text names places and rules, no
content."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from pydantic import ValidationError

from bead import __version__
from bead.errors import BeadError
from bead_curate.mcp import admin, destroying, normal
from bead_curate.mcp import arguments as args
from bead_curate.mcp.confirming import Words
from bead_curate.mcp.services import Services
from bead_curate.mcp.tools import ADMIN, ADMIN_INSTRUCTIONS, INSTRUCTIONS, NORMAL, Tool, by_name

_NAME_CHARS = 40

Handler = Callable[[Services, Any, str | None], Awaitable[str]]
Context = ServerRequestContext[Any]


def create_server(
    services: Services, *, is_admin: bool, harness: str | None = None, words: Words | None = None
) -> Server:
    """`harness` is who asks, where the surroundings tell; else what the client calls itself."""
    # The SDK tells its log what it chokes on, and that may be content (I15).
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    tools = by_name(ADMIN if is_admin else NORMAL)
    handlers = _admin_handlers(words or Words()) if is_admin else _NORMAL_HANDLERS

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in tools.values()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _answer(f"there is no tool '{params.name}'; there are: {', '.join(tools)}", is_error=True)
        try:
            asked = tool.arguments.model_validate(params.arguments or {})
            return _answer(await handlers[tool.name](services, asked, harness or _client(context)))
        except ValidationError as error:
            return _answer(_wrong(tool, error), is_error=True)
        except BeadError as error:
            return _answer(error.message, is_error=True)
        except Exception as error:  # the outermost place of a call: its text may hold content
            return _answer(f"internal error, please report it: {type(error).__name__}", is_error=True)

    server: Server = Server(
        "bead-admin" if is_admin else "bead",
        version=__version__,
        title="bead, curation" if is_admin else "bead, memory",
        instructions=ADMIN_INSTRUCTIONS if is_admin else INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # spans of its own would name what is called
    return server


async def _remember(services: Services, asked: args.Remember, harness: str | None) -> str:
    return await normal.remember(services, asked, normal.AGENT, harness)


async def _recall(services: Services, asked: args.Recall, harness: str | None) -> str:
    return await normal.recall(services, asked)


_NORMAL_HANDLERS: dict[str, Handler] = {"recall": _recall, "remember": _remember}


def _admin_handlers(words: Words) -> dict[str, Handler]:
    async def summary(services: Services, asked: args.Nothing, harness: str | None) -> str:
        return await admin.summary(services)

    async def remember(services: Services, asked: args.Remember, harness: str | None) -> str:
        # In a curation session the person directs what is kept, so it is theirs (I4).
        return await normal.remember(services, asked, normal.PERSON, None)

    def plain(work: Callable[[Services, Any], Awaitable[str]]) -> Handler:
        return lambda services, asked, harness: work(services, asked)

    def confirmed(work: Callable[[Services, Words, Any], Awaitable[str]]) -> Handler:
        return lambda services, asked, harness: work(services, words, asked)

    return {
        "summary": summary,
        "remember": remember,
        "search": plain(admin.search),
        "history": plain(admin.history),
        "review_queue": plain(admin.review_queue),
        "list_sealed": plain(admin.list_sealed),
        "set_when": plain(admin.set_when),
        "pin": plain(admin.pin),
        "reinforce": plain(admin.reinforce),
        "rekey": plain(admin.rekey),
        destroying.FORGET: confirmed(destroying.forget),
        destroying.MATCHING: confirmed(destroying.forget_matching),
        destroying.SEAL: confirmed(destroying.seal),
    }


def _listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.is_read_only,
        destructive_hint=tool.is_destructive,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name, title=tool.title, description=tool.description, input_schema=tool.schema(), annotations=hints
    )


def _answer(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _wrong(tool: Tool, error: ValidationError) -> str:
    wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_input=False))
    return f"{tool.name} was not called: {wrong}. It takes: {', '.join(tool.arguments.model_fields) or 'nothing'}"


def _client(context: Context) -> str | None:
    """What the client calls itself, when that is a plain name."""
    told = context.session.client_params
    name = told.client_info.name if told else ""
    is_plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum() and len(name) <= _NAME_CHARS
    return name if is_plain else None
