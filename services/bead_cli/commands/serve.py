"""`bead serve SERVICE` and `bead proxy`: one service in this process."""

import argparse

from bead_cli.context import Context

_SERVICES = ("store", "index", "dream", "curate", "scheduler", "proxy")
_DESCRIPTION = """\
Run one service in this process. It finds the others through BEAD_<SERVICE>__URL and shows them the bus token of
tokens/bus in the home, or of the file that BEAD_BUS_TOKEN_FILE names. BEAD_IN_CONTAINER=1 allows an address that is
not loopback; publish such a port on loopback only. On one machine `bead up` is simpler.
"""
_EPILOG = """\
examples:
  bead serve store
  BEAD_STORE__URL=http://store:7071 bead serve index
  bead serve store --check                   is it ready?
  bead serve store --json                    prints one document as soon as it answers
  bead proxy                                 the same as: bead serve proxy
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`serve` takes the name of a service; `proxy` is one."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    if name == "serve":
        parser.add_argument("service", choices=_SERVICES, metavar="SERVICE", help=", ".join(_SERVICES))
    else:
        parser.set_defaults(service="proxy")
    parser.add_argument("--trace", metavar="FILE", help="proxy: append a line of ids and numbers for each request")
    parser.add_argument("--project", metavar="P", help="proxy: the project of requests that name none")
    parser.add_argument("--check", action="store_true", help="only ask whether it is ready here: exit code 0 or 3")


def run(args: argparse.Namespace, context: Context) -> int:
    """Serve until a signal."""
    if args.check:
        return _check(args.service, context)
    from bead.logs import configure as configure_logs
    from bead_cli import single
    from bead_cli.tracefile import asked

    configure_logs()
    single.run(args.service, context, project=args.project, on_trace=asked(args.trace, context.environ))
    return 0


def _check(service: str, context: Context) -> int:
    """The health check of a container: 0 when the service on this machine is ready, else 3."""
    from bead_cli.probe import health_of, proxy_health
    from bead_cli.runtime import LOOPBACK, Place

    # The variable alone when it is set: reading all settings costs more than the question.
    port = int(context.environ.get(f"BEAD_{service.upper()}__PORT") or getattr(context.settings(), service).port)
    place = Place(LOOPBACK, port)
    health = proxy_health(place) if service == "proxy" else health_of(place)
    is_ready = health is not None and health.get("ready") is True
    if context.output.as_json:
        context.output.document(health or {"name": service, "ready": False})
    elif not is_ready:
        context.output.note(f"{service} on port {port} is not ready")
    return 0 if is_ready else 3
