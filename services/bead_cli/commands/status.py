"""`bead status`: which services answer, whether they are ready, and what is degraded."""

import argparse
from typing import Any

from bead import __version__
from bead.errors import BeadError
from bead_cli import runtime
from bead_cli.context import Context, read_token
from bead_cli.door import Door, Running
from bead_cli.probe import LIMIT_S, health_of, proxy_health

_DOWN = 3
_BEHIND_CURATE = ("store", "index", "dream")
_EPILOG = """\
Exit code 0 when every service is ready, 3 when bead does not run or one of them does not answer.

examples:
  bead status
  bead status --json
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """No arguments of its own."""
    parser.epilog = _EPILOG


def run(args: argparse.Namespace, context: Context) -> int:
    """Ask each service for its health."""
    who = runtime.read(context.home)
    if who is None or not runtime.is_running(who):
        return _not_running(context)
    # curate first: what lies behind it is not asked when it does not answer, each question costs a second.
    curate = _state(who, "curate", health_of(who.place("curate")))
    services = {
        name: curate if name == "curate" else _state(who, name, _health(context, who, name, curate["ready"]))
        for name in who.ports
    }
    if context.output.as_json:
        context.output.document({"running": True, "home": context.home, **who._asdict(), "services": services})
    else:
        _print(context, who, services)
    return 0 if all(state["ready"] for state in services.values()) else _DOWN


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
    if not curate_answers:
        return None
    try:
        curate = Running(who.place("curate"), read_token(context.home, "admin", context.environ), "bead")
        answer = Door(curate).call(name, "GET", "/health", timeout_s=LIMIT_S)
    except (BeadError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _not_running(context: Context) -> int:
    if context.output.as_json:
        context.output.document({"running": False, "home": context.home, "version": __version__, "services": {}})
    else:
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
