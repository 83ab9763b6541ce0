"""`bead explain TURN`: what a turn was given, what stayed out and why, and whether the agent used it.

What was decided comes from the trace (ids and numbers); terms and reasons are worked out again from the turn's text
with the facts of now, and are said to be.
"""

import argparse
from collections.abc import Sequence
from typing import Any

from bead.errors import BadRequest, NotFound
from bead.recall import CueSource
from bead.turns import Role, spoken, tool_texts
from bead.wire.traces import is_turn_id, split_turn
from bead_cli.context import Context
from bead_cli.door import Door, opened
from bead_cli.lookup import caught_up
from bead_cli.loopback import quoted
from bead_cli.output import Output

_EARLIER_STEPS = 12
_MOST_TERMS = 12
_EPILOG = """\
TURN is <session>/turn-<number>, as the admin page shows it, or the word last.

examples:
  bead explain last
  bead explain 3f2a91c4/turn-7 --json
"""

Turn = dict[str, Any]
JsonCue = dict[str, str]


def configure(parser: argparse.ArgumentParser, name: str) -> None:
    """A turn."""
    parser.epilog = _EPILOG
    parser.add_argument("turn", metavar="TURN", help="<session>/turn-<number>, or: last")


def run(args: argparse.Namespace, context: Context) -> int:
    """Explain one turn; 1 when neither a trace nor a turn of that name is kept."""
    if args.turn != "last" and not is_turn_id(args.turn):
        raise BadRequest("a turn is named <session>/turn-<number>, or: last")
    with opened(context, "store", "index") as door:
        caught_up(door)
        turn = _last(door) if args.turn == "last" else str(args.turn)
        document = {"turn": turn, "trace": _trace(door, turn), "now": _explained(door, turn, context)}
    if document["trace"] is None and document["now"] is None:
        raise NotFound("neither a trace nor a turn of that name is kept")
    context.output.document(document) if context.output.as_json else _print(context.output, document)
    return 0


def _last(door: Door) -> str:
    """The newest step that has a trace, else the person's newest turn."""
    kept = door.call("store", "GET", "/v1/traces", query={"limit": 100})["traces"]
    steps = [str(each["trace"]["turn"]) for each in kept if "/turn-" in each["trace"]["turn"]]
    if steps:
        return steps[-1]
    for session in door.call("store", "GET", "/v1/sessions", query={"limit": 10})["sessions"]:
        asked = [turn for turn in _turns(door, session) if turn["role"] == Role.USER]
        if asked:
            return f"{session}/turn-{asked[-1]['ordinal']}"
    raise NotFound("no turn is kept yet")


def _trace(door: Door, turn: str) -> dict[str, Any] | None:
    try:
        trace: dict[str, Any] = door.call("store", "GET", f"/v1/traces/{quoted(turn)}")["trace"]
    except NotFound:
        return None
    return trace


def _turns(door: Door, session: str) -> list[Turn]:
    turns: list[Turn] = door.call("store", "GET", f"/v1/sessions/{quoted(session)}")["turns"]
    return turns


def _explained(door: Door, turn: str, context: Context) -> dict[str, Any] | None:
    session, step = split_turn(turn)
    number = step.removeprefix("turn-")
    try:
        turns = _turns(door, session) if number.isdigit() else []
    except NotFound:
        return None
    at = next((at for at, each in enumerate(turns) if each["ordinal"] == int(number)), None)
    if at is None:
        return None
    asked = [index for index in range(at) if turns[index]["role"] == Role.USER][-_EARLIER_STEPS:]
    trace = _trace(door, turn)
    request = {
        "owner": context.settings().owner,
        "project": turns[at]["project"] or "",
        "cues": _cues(turns, at),
        "earlier": [_cues(turns, index) for index in asked],
        "then": _next(turns, at),
        "also": [*(trace or {}).get("pinned", ()), *(each["id"] for each in (trace or {}).get("selected", ()))],
    }
    answer: dict[str, Any] = door.call("index", "POST", "/v1/explain", request)
    return answer


def _cues(turns: Sequence[Turn], at: int) -> list[JsonCue]:
    """What the newest step of a request after this turn says, as the proxy makes cues of it."""
    found = _parts(turns[at]["text"], CueSource.PERSON, CueSource.TOOL_OUTPUT)
    if at and turns[at - 1]["role"] == Role.ASSISTANT:
        found += _parts(turns[at - 1]["text"], CueSource.ASSISTANT, CueSource.TOOL_INPUT)
    return found


def _parts(text: str, words: CueSource, tools: CueSource) -> list[JsonCue]:
    said = spoken(text).strip()
    cues = [{"source": words.value, "text": said}] if said else []
    return cues + [{"source": tools.value, "text": each} for each in tool_texts(text)]


def _next(turns: Sequence[Turn], at: int) -> str:
    following = turns[at + 1] if at + 1 < len(turns) else None
    return str(following["text"]) if following and following["role"] == Role.ASSISTANT else ""


def _print(output: Output, document: dict[str, Any]) -> None:
    output.text(output.style("bold", document["turn"]))
    now = document["now"]
    names = {each["uid"]: each for part in ("also", "selected", "rejected") for each in (now or {}).get(part, ())}
    if document["trace"]:
        _print_trace(output, document["trace"], names)
    else:
        output.text("no trace is kept of it; this is what the facts of now would give")
    if now:
        _print_now(output, now)


def _print_trace(output: Output, trace: dict[str, Any], names: dict[str, dict[str, Any]]) -> None:
    threshold = f", threshold {trace['threshold']:g}" if trace.get("threshold") else ""
    output.text(f"decided then{threshold}:")
    for chosen in trace.get("selected", ()):
        known = names.get(chosen["id"], {})
        line = f"in   {known.get('key', chosen['id'])}  score {chosen.get('score', 0):.2f}  {chosen.get('reason', '')}"
        output.text(f"  {output.stored(line)}  {chosen.get('tokens', 0)} tokens; {_used(known)}")
    for rival in trace.get("rejected", ()):
        name = names.get(rival["id"], {}).get("key", rival["id"])
        output.text(f"  out  {output.stored(name)}  score {rival.get('score', 0):.2f}  {rival.get('reason', '')}")
    if not trace.get("selected"):
        output.text(f"  nothing was added: {trace.get('abstained') or 'no reason is kept'}")
    output.text(
        f"tokens: {trace.get('inserted_tokens', 0)} inserted; input {trace.get('input_tokens', 0)},"
        f" read from the provider's cache {trace.get('cache_read_tokens', 0)},"
        f" written to it {trace.get('cache_write_tokens', 0)}"
    )


def _used(known: dict[str, Any]) -> str:
    signs = known.get("used", ())
    return f"used: the agent then wrote {', '.join(signs[:_MOST_TERMS])}" if signs else "no sign that it was used"


def _print_now(output: Output, now: dict[str, Any]) -> None:
    output.text(f"as of now, gate '{now['gate']}', threshold {now['threshold']:g}:")
    for source, terms in now["terms"].items():
        more = f" and {len(terms) - _MOST_TERMS} more" if len(terms) > _MOST_TERMS else ""
        output.text(f"  {source}: {output.stored(', '.join(terms[:_MOST_TERMS]))}{more}")
    for sign, part in (("in ", "selected"), ("out", "rejected")):
        for each in now[part]:
            line = f"{each['key']} v{each['version']}  score {each['score']:.2f}  {each['tokens']} tokens"
            used = f"; {_used(each)}" if part == "selected" else ""
            output.text(f"  {sign} {output.stored(line)}{used}")
            output.text(f"      {output.stored(each['reason'])}")
    if not now["selected"]:
        output.text("  nothing passes")
