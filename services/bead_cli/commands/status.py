"""`bead status`: which services answer, whether they are ready, and what is degraded."""

import argparse
from typing import Any

from bead import __version__
from bead.errors import BeadError
from bead_cli import runtime
from bead_cli.connecting import claude_line
from bead_cli.context import Context, read_token
from bead_cli.door import Door, Running
from bead_cli.probe import LIMIT_S, health_of, proxy_health

_DOWN, _DAMAGED = 3, 4
_MOST_FILES = 20
_BEHIND_CURATE = ("store", "index", "dream")
_EPILOG = """\
Exit code 0 when every service is ready, 3 when bead does not run or one of them is not ready, 4 when all are ready and
files cannot be read.

examples:
  bead status
  bead status --json
  bead status --containers                     what Docker says, restarts too
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """Which way of running to look at."""
    parser.epilog = _EPILOG
    parser.add_argument("--containers", action="store_true", help="ask Docker about bead's containers")
    parser.add_argument("--project", default="bead", metavar="P", help="compose project (default: bead)")


def run(args: argparse.Namespace, context: Context) -> int:
    """Ask each service for its health."""
    if args.containers:
        return _containers(context, args.project)
    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        return _not_running(context)
    # curate first: what lies behind it is not asked when it does not answer, each question costs a second.
    curate = _state(who, "curate", health_of(who.place("curate")))
    services = {
        name: curate if name == "curate" else _state(who, name, _health(context, who, name, curate["ready"]))
        for name in who.ports
    }
    files = _damaged(context, who) if curate["ready"] else []
    if context.output.as_json:
        document = {"running": True, "home": context.home, **who._asdict(), "services": services, "damaged": files}
        context.output.document(document)
    else:
        _print(context, who, services)
        _print_damaged(context, files)
    if not all(state["ready"] for state in services.values()):
        return _DOWN
    return _DAMAGED if files else 0


def _containers(context: Context, project: str) -> int:
    """What Docker says of each service's container: a loop of restarts is seen here and nowhere else."""
    from bead_cli.containers import containers

    found = containers(project)
    if context.output.as_json:
        told = [{**each._asdict(), "trouble": each.trouble} for each in found]
        context.output.document({"running": bool(found), "containers": told})
    else:
        for each in found:
            word = context.output.style("red", "trouble") if each.trouble else context.output.style("green", "ready  ")
            context.output.text(f"  {each.service:<10} {word}  {each.trouble}".rstrip())
        if not found:
            context.output.text(f"no containers in the compose project {project} (start them: docker compose up -d)")
    return _DOWN if not found or any(each.trouble for each in found) else 0


def _state(who: runtime.Runtime, name: str, health: dict[str, Any] | None) -> dict[str, Any]:
    """One service as a document; one that does not answer, or answers for another home, is not ready."""
    url = who.place(name).url
    if health is None:
        return {"url": url, "ready": False, "degraded": ["it does not answer"]}
    if health.get("home_id") != who.home_id:
        return {"url": url, "ready": False, "degraded": ["what answers there serves another home"]}
    return {"url": url, "ready": bool(health.get("ready")), "degraded": list(health.get("degraded", ()))}


def _health(context: Context, who: runtime.Runtime, name: str, curate_answers: bool) -> dict[str, Any] | None:
    if name == "proxy":
        return proxy_health(who.place(name))
    if name not in _BEHIND_CURATE:
        return health_of(who.place(name))
    return _asked(context, who, name, "/health") if curate_answers else None


def _asked(context: Context, who: runtime.Runtime, name: str, path: str) -> dict[str, Any] | None:
    try:
        curate = Running(who.place("curate"), read_token(context.home, "admin", context.environ), "bead")
        answer = Door(curate).call(name, "GET", path, timeout_s=LIMIT_S)
    except (BeadError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _damaged(context: Context, who: runtime.Runtime) -> list[dict[str, Any]]:
    """The files that the store cannot read, with line and reason."""
    report = _asked(context, who, "store", "/v1/damage")
    return list(report.get("files", ())) if report else []


def _print_damaged(context: Context, files: list[dict[str, Any]]) -> None:
    if files:
        context.output.text(f"{len(files)} files cannot be read; mend them with an editor, bead leaves them alone:")
    for file in files[:_MOST_FILES]:
        place = f"{file['path']}:{file['line']}" if file.get("line") else file["path"]
        context.output.text(f"  {place}: {file['reason']}")
    if len(files) > _MOST_FILES:
        context.output.text(f"  and {len(files) - _MOST_FILES} more; all of them: bead status --json")


def _not_running(context: Context) -> int:
    if context.output.as_json:
        context.output.document({"running": False, "home": context.home, "version": __version__, "services": {}})
    else:
        if context.in_container():
            context.output.text("this container sees only itself; on the host: bead status --containers")
            return _DOWN
        context.output.text(f"bead is not running on {context.home} (start it with: bead up)")
    return _DOWN


def _print(context: Context, who: runtime.Runtime, services: dict[str, dict[str, Any]]) -> None:
    output = context.output
    name = "in containers" if who.pid is None else f"pid {who.pid}"
    output.text(f"bead {who.version} runs on {context.home} ({name}, since {who.started})")
    for service, state in services.items():
        word = output.style("green", "ready    ") if state["ready"] else output.style("red", "not ready")
        reasons = "; ".join(state["degraded"])
        output.text(f"  {service:<10} {word}  {state['url']}{'  ' + reasons if reasons else ''}")
    output.text(f"start Claude Code with memory: {claude_line(context, who)}")
