"""`bead wrap HARNESS -- ARGS`: become the harness, with memory when bead answers and without when it does not (I10)."""

import argparse
import os
import shutil
from typing import NoReturn

from bead.errors import BeadError, NotFound, ServiceDown
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.door import Door, Running
from bead_cli.loopback import exchange
from bead_cli.probe import proxy_health
from bead_cli.wrapping import HARNESSES, TOOL_SEARCH, Harness, with_memory, without_capability

_NOTE_PROJECT_S = 0.5
_ASK_S = 0.3
_NOT_RUNNING = "not running"
_NEEDS_TO_KNOW = "/bead/usage"
"""A route that the proxy answers to its own user, or to who has the capability."""
_REFUSED = 400
_EPILOG = """\
If bead does not answer within a second, the harness starts without memory, and a line says so.
Everything after HARNESS is the harness's own; what is meant for bead goes before it (`bead wrap --home DIR claude`).
This process becomes the harness, so --json changes only how bead's own errors are told.

examples:
  bead wrap claude
  bead wrap claude -- --resume
  bead wrap claude -- -p "what day do we deploy?"
  bead wrap codex -- exec "what day do we deploy?"
  bead wrap opencode -- run "what day do we deploy?"
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A harness; everything after it is the harness's own."""
    parser.epilog = _EPILOG
    parser.add_argument(
        "--print-env",
        choices=("sh", "fish"),
        metavar="sh|fish",
        help="print what the harness's environment needs for a shell function to read, and start nothing",
    )
    parser.add_argument(
        "--tool-search",
        action="store_true",
        help="Claude Code: go on searching for tools, which it gives up at another address (ENABLE_TOOL_SEARCH)",
    )
    parser.add_argument("harness", choices=tuple(HARNESSES), metavar="HARNESS", help=", ".join(HARNESSES))
    parser.add_argument("rest", metavar="-- ARGS", nargs=argparse.REMAINDER, help="arguments of the harness")


def run(args: argparse.Namespace, context: Context) -> int:
    """Does not return when the harness starts."""
    harness = HARNESSES[args.harness]
    if args.print_env:
        return _print_environment(context, args)
    rest = args.rest[1:] if args.rest[:1] == ["--"] else args.rest
    if shutil.which(harness.program, path=context.environ.get("PATH")) is None:
        raise NotFound(f"{harness.program} is not on PATH; install it first")
    base_url = None if _is_refused(context, harness) else _base_url(context, args.harness)
    if base_url is None:
        _become(harness, rest, dict(context.environ))
    try:
        start = _start(context, harness, base_url, rest)
    except (BeadError, OSError) as error:
        cause = error.message if isinstance(error, BeadError) else type(error).__name__
        context.output.note(f"{cause}; starting {harness.program} without memory")
        _become(harness, rest, dict(context.environ))
    _note_replaced(context, harness, base_url)
    arguments, environ = start
    _become(harness, arguments, environ | _asked(args, context))


def _start(context: Context, harness: Harness, base_url: str, rest: list[str]) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment with which it speaks through bead.

    Raises:
        BeadError, OSError: it cannot.
    """
    environ = with_memory(harness, base_url, context.environ)
    if harness.config:
        from bead_cli import throwaway

        upstreams = context.settings().proxy.upstream.model_dump()
        made = throwaway.made(harness.config, throwaway.Asked(context.home, base_url, upstreams, context.environ, rest))
        return made.arguments, environ | made.environ
    return [*_arguments(context, harness, base_url), *rest], environ


def _print_environment(context: Context, args: argparse.Namespace) -> int:
    """What the shell function of `bead setup` sets; nothing when bead does not answer, and a line says why."""
    from bead_cli.setup.profiles import assignments

    harness = HARNESSES[args.harness]
    base_url = None if _is_refused(context, harness) else _base_url(context, args.harness)
    if base_url is not None:
        _note_replaced(context, harness, base_url)
        wanted = with_memory(harness, base_url, context.environ) | _asked(args, context)
        new = {key: value for key, value in wanted.items() if context.environ.get(key) != value}
        context.output.text(assignments(args.print_env, new).rstrip("\n"))
    return 0


def _asked(args: argparse.Namespace, context: Context) -> dict[str, str]:
    """Variables that a person asks for; one that they have set themselves stays."""
    if args.harness != "claude" or not args.tool_search or TOOL_SEARCH in context.environ:
        return {}
    return {TOOL_SEARCH: "true"}


def _is_refused(context: Context, harness: Harness) -> bool:
    why = harness.refuses(context.environ)
    if why:
        context.output.note(f"{why}; starting {harness.program} without memory")
    return bool(why)


def _arguments(context: Context, harness: Harness, base_url: str) -> tuple[str, ...]:
    """Every user of the machine can read arguments: the capability stays out of them where the proxy knows its own.

    A bead that is set to know nobody (`proxy.bare_url: false`), or cannot, is asked: only it knows.
    """
    if not harness.arguments(base_url):
        return ()
    if _knows_its_own(context):
        return harness.arguments(without_capability(base_url))
    context.output.note(
        f"the arguments of {harness.program} hold the proxy's address with its token; other users here can read them"
    )
    return harness.arguments(base_url)


def _knows_its_own(context: Context) -> bool:
    who = runtime.read(context.home)
    if who is None:
        return False
    try:
        return exchange(*who.place("proxy"), "GET", _NEEDS_TO_KNOW, timeout_s=_ASK_S).status < _REFUSED
    except ServiceDown:
        return False


def _become(harness: Harness, rest: list[str], environ: dict[str, str]) -> NoReturn:
    os.execvpe(harness.program, [harness.program, *rest], environ)


def _base_url(context: Context, harness: str) -> str | None:
    """The proxy's address with the capability; None when it does not answer, which is never a reason not to work.

    Says then why there is no memory: that must not look like a memory that is empty (I10).
    """
    try:
        who = runtime.read(context.home)
        trouble = _trouble(who)
        if trouble is None and who is not None:
            _make_project_known(context, who)
            return f"{who.place('proxy').url}/t/{read_token(context.home, 'proxy', context.environ)}"
    except BeadError as error:
        trouble = error.message
    what = "start it with: bead up" if trouble == _NOT_RUNNING else "see: bead status"
    context.output.note(f"{trouble}, starting {harness} without memory ({what})")
    return None


def _trouble(who: runtime.Runtime | None) -> str | None:
    if who is None or not runtime.is_running(who):
        return _NOT_RUNNING
    health = proxy_health(who.place("proxy"))
    if health is None:
        return "does not answer"
    return None if health.get("home_id") == who.home_id else "another bead answers on its port"


def _make_project_known(context: Context, who: runtime.Runtime) -> None:
    """Tell the store which project this directory is: a proxy in a container cannot look (D1)."""
    from bead.git import identify

    try:
        directory = os.getcwd()
        found = identify(directory)
        if found is None:
            return
        curate = Running(who.place("curate"), read_token(context.home, "admin", context.environ), "bead")
        request = {"directory": directory, "identities": found.ids, "name": found.name}
        Door(curate).call("store", "POST", "/v1/projects/resolve", request, timeout_s=_NOTE_PROJECT_S)
    except (BeadError, OSError):
        return  # the harness starts all the same; the proxy takes the project by its path


def _note_replaced(context: Context, harness: Harness, base_url: str) -> None:
    """An address that somebody had set before is named (not shown, it may hold a credential), not silently lost."""
    before = context.environ.get(harness.base_variable)
    if before and not before.startswith(f"http://{runtime.LOOPBACK}:") and before != base_url:
        context.output.note(
            f"{harness.base_variable} was set and is replaced; to keep that gateway, make it"
            f" proxy.upstream.{harness.provider} in config.yaml"
        )
