"""`bead dream`: a night now, taking one back, what the nights did, and a timer for people who run only the command."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from bead.errors import BadRequest
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.harness_env import refuse_inside_harness
from bead_cli.loopback import quoted

_POLL_S = 0.2
_START_S = 30.0
_UNDO_S = 600.0
_STATUS_S = 120.0
_SHOWN_RUNS = 10
_LABEL = "com.bead.dream"
_HOUR, _MINUTE = 3, 7
_ACTIONS = ("run", "undo", "status", "install")
_ENDED_BADLY = {"failed": 3, "stopped": 1, "cancelled": 1}
_EPILOG = """\
A night reads what is new in the sessions, proposes facts, tidies, lets unused facts sleep, and writes a report of ids
and counts. Without a model (dream.provider: none, the default) everything works by rule, and what it finds only waits
in 'bead queue'. It never deletes, and never overrules you.

`undo RUN` gives back the facts' files byte for byte. The sessions of that night count as unread again, so the next one
reads them anew: reject what you do not want in 'bead queue'.

exit codes: 0 done; 1 stopped at a limit or cancelled; 3 another run is at work, or the store or model cannot be reached

examples:
  bead dream run
  bead dream run --dry-run
  bead dream undo 20261201-030700-1f0c
  bead dream status
  bead dream install                          # the timer, without `bead up`
"""


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """What to do, and for `undo` with which run."""
    parser.epilog = _EPILOG
    parser.add_argument("action", choices=_ACTIONS, metavar="run|undo|status|install")
    parser.add_argument("run_id", nargs="?", metavar="RUN", help="a run as `status` shows it")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done; change nothing")


def run(args: argparse.Namespace, context: Context) -> int:
    """Do it; see the exit codes in the help."""
    if (args.action == "undo") != (args.run_id is not None):
        raise BadRequest("'undo' needs one RUN, as 'bead dream status' shows it; the other actions need none")
    if args.action == "install":
        return _install(context)
    if args.action == "undo":
        refuse_inside_harness(context.environ, "undo")
    with opened(context, "store", "index", "dream") as door:
        if args.action == "run":
            return _run(door, context, is_dry=args.dry_run)
        if args.action == "undo":
            return _undo(door, context, args.run_id)
        return _status(door, context)


def _run(door: Door, context: Context, *, is_dry: bool) -> int:
    view = door.call("dream", "POST", "/v1/runs", {"dry_run": is_dry}, timeout_s=_START_S)
    try:
        view = _followed(door, context, view)
    except KeyboardInterrupt:
        view = door.call("dream", "POST", "/v1/runs/current/cancel", timeout_s=_START_S)
    output = context.output
    if output.as_json:
        output.document(view)
    else:
        _tell(context, view)
    return _ENDED_BADLY.get(view["state"], 0)


def _followed(door: Door, context: Context, view: dict[str, Any]) -> dict[str, Any]:
    has_bar = context.output.is_terminal and not context.output.as_json
    phase = ""
    while view["state"] == "running":
        if has_bar and view["total"]:
            if view["phase"] != phase:
                phase = view["phase"]
                context.output.note(phase)
            context.output.bar(view["done"], view["total"])
        time.sleep(_POLL_S)
        view = door.call("dream", "GET", "/v1/runs/current")
    return view


def _tell(context: Context, view: dict[str, Any]) -> None:
    output = context.output
    colour = "green" if view["state"] == "done" else "yellow"
    about = f"{view['provider']}{' ' + view['model'] if view['model'] else ''}, {view['tokens']} tokens"
    output.text(f"dream run {view['id']} {output.style(colour, view['state'])} ({about})")
    for words, count in sorted(view["counts"].items()):
        output.text(f"{count:>6}  {words}")
    if view["message"]:
        output.text(view["message"])
    if view["preview"] is not None:
        output.text("nothing was changed; the report would have been:")
        output.text(view["preview"])
    elif view["report"]:
        output.text(f"report: {context.layout().root / 'store' / view['report']}")
        output.text(f"take it back with: bead dream undo {view['id']}")


def _undo(door: Door, context: Context, run: str) -> int:
    undone = door.call("dream", "POST", f"/v1/runs/{quoted(run)}/undo", timeout_s=_UNDO_S)
    output = context.output
    if output.as_json:
        output.document(undone)
        return 0
    output.text(
        f"undid {undone['id']}: {undone['removed_versions']} versions, {undone['restored_files']} files restored,"
        f" {undone['removed_items']} review items, {undone['episodes']} episodes"
    )
    for left in undone["left"]:
        output.text(f"  left as it is, changed since: {left}")
    return 0


def _status(door: Door, context: Context) -> int:
    status = door.call("dream", "GET", "/v1/status", timeout_s=_STATUS_S)
    output = context.output
    if output.as_json:
        output.document(status)
        return 0
    output.text(f"provider {status['provider']}{' ' + status['model'] if status['model'] else ''}")
    if status["trouble"]:
        output.text(output.style("yellow", status["trouble"]))
    spent = status["spent_today"]
    output.text(f"{status['unread_sessions']} sessions unread, {status['failing_sessions']} given up")
    output.text(f"today: {spent['calls']} calls, {spent['tokens']} tokens, {spent['usd']:.4f} dollars")
    if status["running"]:
        now = status["running"]
        output.text(f"at work: {now['id']}, {now['phase']} {now['done']}/{now['total']}")
    for record in status["runs"][:_SHOWN_RUNS]:
        output.text(f"  {record['id']}  {record['state']:<9} {record['changes']} changes  {record['started']}")
    return 0


def _install(context: Context) -> int:
    """Write the timer's file on macOS, print a line for cron elsewhere; nothing is loaded by itself."""
    command = [str(Path(sys.argv[0]).resolve()), "dream", "run", "--home", context.home]
    if sys.platform == "darwin":
        path = Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plist(command, Path(context.home) / "dream.log"), encoding="utf-8")
        answer = {"written": str(path), "load": f"launchctl bootstrap gui/$(id -u) {path}"}
        words = f"wrote {path}; load it with:\n  {answer['load']}"
    else:
        line = f"{_MINUTE} {_HOUR} * * * {' '.join(_shell(word) for word in command)}"
        answer = {"crontab": line}
        words = f"add this line with `crontab -e`:\n{line}"
    if context.output.as_json:
        context.output.document(answer)
    else:
        context.output.text(words)
    return 0


def plist(command: list[str], log: Path) -> str:
    """A launch agent that runs `command` once a night."""
    arguments = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>{_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{arguments}
  </array>
  <key>StartCalendarInterval</key>
  <dict><key>Hour</key><integer>{_HOUR}</integer><key>Minute</key><integer>{_MINUTE}</integer></dict>
  <key>StandardErrorPath</key><string>{escape(str(log))}</string>
</dict>
</plist>
"""


def _shell(word: str) -> str:
    from shlex import quote

    return quote(word).replace("%", "\\%")  # cron ends a command at a percent sign
