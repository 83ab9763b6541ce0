"""`bead doctor`: what is wrong with this home and with what runs on it, why, and the command that mends it.

It looks and reports; what each subject's look is, is `bead_cli.doctoring`'s. Which files are damaged is the store's to
say, asked through curate when bead runs and in this process when it does not.
"""

import argparse
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bead.errors import BeadError, NotFound
from bead_cli import runtime
from bead_cli.context import Context
from bead_cli.doctoring import around, home, hooks, nights
from bead_cli.doctoring.finding import Finding
from bead_cli.door import Door, opened
from bead_cli.probe import health_of, proxy_health

_PERSON, _DOWN = 4, 3
_LIMIT_S = 60.0
_LITTLE_BYTES, _TOO_LITTLE_BYTES = 1 << 30, 100 << 20
_BEHIND_CURATE = ("store", "index", "dream")
_EPILOG = """\
Looks at the home (who may read it, damaged files, tokens, audit log), disk, clock, settings, ports, services, index,
nights, jobs, certificates, Docker, the agents' hooks and when each last fired, and whatever else names bead. Exit code
4 when a file needs a person, 3 when something is not available, 0 when all is well. Nothing is changed; --fix makes the
home's files private again and takes away what a killed bead left, and touches nothing else.

examples:
  bead doctor
  bead doctor --json
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """`--fix` alone."""
    parser.epilog = _EPILOG
    parser.add_argument("--fix", action="store_true", help="mend what can be mended safely")


def run(args: argparse.Namespace, context: Context) -> int:
    """Every check, then one answer."""
    findings = [*home.readable(context, fix=args.fix), *home.tokens(context), *home.clock(context, time.time())]
    findings += [*_space(context), *home.inodes(context), *_settings(context), *around.certificates(context)]
    who = None
    try:
        who = runtime.read(context.home)
    except BeadError as error:
        findings.append(Finding("person", "runtime", error.message, f"rm {context.home}/runtime.json"))
    is_running = who is not None and runtime.is_running(who)
    if who is not None and is_running:
        findings += [*_services(context, who), *nights.running_home(context), *around.docker(who)]
    else:
        findings += [*_not_running(context, who), *home.left_behind(context, who, fix=args.fix)]
    findings += [*_files(context), *hooks.never_firing(context)]
    findings += _places(context, who)
    code = _exit_code(findings)
    _report(context, findings, is_running, code)
    return code


def _space(context: Context) -> Iterator[Finding]:
    place = Path(context.home)
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < _TOO_LITTLE_BYTES:
        yield Finding(
            "unavailable", "disk", f"only {free >> 20} MB are free; writes will fail", "make room", str(place)
        )
    elif free < _LITTLE_BYTES:
        yield Finding("note", "disk", f"only {free >> 20} MB are free", "make room soon", str(place))


def _settings(context: Context) -> Iterator[Finding]:
    try:
        context.settings()
    except BeadError as error:
        config = str(context.layout().config)
        yield Finding("person", "settings", error.message, f"edit {config}, or unset the variable", config)


def _services(context: Context, who: runtime.Runtime) -> Iterator[Finding]:
    """Whether each service answers, for this home, and what it says does not work."""
    curate = health_of(who.place("curate"))
    for name in who.ports:
        health = curate if name == "curate" else _health(context, who, name, curate is not None)
        url = who.place(name).url
        if health is None:
            yield Finding("unavailable", name, f"does not answer on {url}", "bead down && bead up")
        elif health.get("home_id") != who.home_id:
            cause = f"what answers on {url} serves another home"
            yield Finding("unavailable", name, cause, f"set BEAD_{name.upper()}__PORT to a free port; bead up")
        else:
            level = "note" if health.get("ready") else "unavailable"
            for words in health.get("degraded", ()):
                yield Finding(level, name, str(words), "see the files below, or restart: bead down && bead up")


def _health(context: Context, who: runtime.Runtime, name: str, curate_answers: bool) -> dict[str, Any] | None:
    if name == "proxy":
        return proxy_health(who.place(name))
    if name not in _BEHIND_CURATE:
        return health_of(who.place(name))
    if not curate_answers:
        return None
    try:
        with opened(context) as door:
            answer = door.call(name, "GET", "/health")
    except BeadError:
        return None
    return answer if isinstance(answer, dict) else None


def _not_running(context: Context, who: runtime.Runtime | None) -> Iterator[Finding]:
    """What would keep bead from starting."""
    yield Finding("note", "bead", f"is not running on {context.home}", "bead up")
    if who is not None:
        yield Finding("note", "bead", f"was killed (pid {who.pid}); nothing is lost", "bead up")
    try:
        settings = context.settings()
    except BeadError:
        return
    from bead_cli.hosting import NAMES

    for name in NAMES:
        listener = getattr(settings, name)
        if listener.port and not _is_free(listener.host, listener.port):
            cause = f"port {listener.port} is taken by another program"
            yield Finding("unavailable", name, cause, f"BEAD_{name.upper()}__PORT=<a free port> bead up")


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _files(context: Context) -> Iterator[Finding]:
    """What the store says about its files, and the index about its copy."""
    try:
        with opened(context, "store") as door:
            yield from _damage(door)
            yield from _audit(door, context)
    except NotFound as error:
        yield Finding("note", "home", error.message, "bead up")
    except BeadError as error:
        level = "person" if error.exit_code == _PERSON else "unavailable"
        yield Finding(level, "store", error.message, "bead status")
    layout = context.layout()
    if layout.facts.exists() and not layout.index_db.exists():
        yield Finding("note", "index", "has not been built yet", "bead up (it builds itself), or: bead index rebuild")


def _places(context: Context, who: runtime.Runtime | None) -> Iterator[Finding]:
    """What on this machine names bead though `bead setup` has no note of it: left over, or put there by hand."""
    person = context.environ.get("HOME")
    if not person or context.in_container():
        return
    from bead_cli.setup.journal import Journal
    from bead_cli.setup.places import strays
    from bead_cli.setup.units import Machine

    try:
        journal = Journal(Path(context.home))
        port = who.ports["proxy"] if who else context.settings().proxy.port
    except BeadError as error:
        yield Finding("person", "setup", error.message, "bead unsetup")
        return
    known = {*journal.entries, *(entry.real for entry in journal.entries.values())}
    known |= {"crontab"} if "crontab" in journal.unit else set()
    for stray in strays(Machine(context.environ, Path(person), Path()), [port], known):
        cause = "names bead, and `bead setup` has not written it"
        mend = "leave it when you wrote it yourself, else take the line out"
        yield Finding("note", "setup", cause, mend, stray.path, stray.line)


def _damage(door: Door) -> Iterator[Finding]:
    report = door.call("store", "GET", "/v1/damage", timeout_s=_LIMIT_S)
    for file in report["files"]:
        place = f"+{file['line']} {file['path']}" if file["line"] else file["path"]
        yield Finding("person", "file", file["reason"], f"${{EDITOR:-vi}} {place}", file["path"], file["line"])
    for note in report["notes"]:
        yield Finding("note", "file", note["reason"], f"look at it, then move it away: {note['path']}", note["path"])


def _audit(door: Door, context: Context) -> Iterator[Finding]:
    report = door.call("store", "GET", "/v1/audit/verify", timeout_s=_LIMIT_S)
    bad = report["first_bad_line"]
    if bad is not None:
        path = str(context.layout().audit_log)
        cause = "this line does not follow the one before it; somebody has changed the log"
        yield Finding("person", "audit", cause, "find out who has; compare with a backup", path, bad)


def _exit_code(findings: list[Finding]) -> int:
    levels = {finding.level for finding in findings}
    return _PERSON if "person" in levels else _DOWN if "unavailable" in levels else 0


def _report(context: Context, findings: list[Finding], is_running: bool, code: int) -> None:
    output = context.output
    if output.as_json:
        document = {"home": context.home, "running": is_running, "healthy": code == 0}
        fired = [each._asdict() for each in hooks.hooks(context)]
        output.document({**document, "findings": [finding._asdict() for finding in findings], "hooks": fired})
        return
    colours = {"person": "red", "unavailable": "yellow", "note": "dim"}
    words = {"person": "needs you", "unavailable": "not there", "note": "note"}
    for finding in sorted(findings, key=lambda each: list(colours).index(each.level)):
        place = f"{finding.path}:{finding.line}" if finding.line else finding.path
        word = output.style(colours[finding.level], f"{words[finding.level]:<9}")
        output.text(f"{word}  {finding.check}: {output.stored(f'{place}: ' if place else '')}{finding.cause}")
        if finding.mend:
            output.text(output.stored(f"           {finding.mend}"))
    for hook in hooks.hooks(context):
        seen = f"last ran {hook.last_seen}" if hook.last_seen else "has not run yet"
        output.text(output.style("dim", f"hook       {hook.agent} {hook.event}: {seen}"))
    if code == 0:
        output.text(output.style("green", "nothing needs you") if not findings else "nothing else was found")
