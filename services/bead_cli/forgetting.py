"""`bead forget` by text or by session: preview, paraphrases, receipt, agents' own transcripts, and `--verify`.

A text comes from the argument, a question, or standard input, and is in nothing that is written or logged here.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bead.errors import BadRequest, NotFound
from bead_cli import transcripts, verifying
from bead_cli.context import Context
from bead_cli.disguises import LEAST_CHARS
from bead_cli.door import opened
from bead_cli.lookup import active_project, key_named
from bead_cli.output import Output
from bead_cli.paraphrases import paraphrases
from bead_store.values import holds, may_hold, needles

_LIMIT_S = 600.0
_PENDING = 3
_MOST_SHOWN = 50

Ask = Callable[..., None]
Show = Callable[[Output, dict[str, Any]], None]


def run(args: argparse.Namespace, context: Context, *, ask: Ask, show_receipt: Show) -> int:
    """One forget that names no key alone, or a look whether anything is left."""
    if args.verify:
        return _verify(context, _text(context.output, "the text that must be nowhere: "))
    if args.from_session:
        if args.keys:
            raise BadRequest("--from-session takes no keys; forget them by themselves")
        return _forget(args, context, {"session": args.from_session}, ask, show_receipt)
    text = args.match or _text(context.output, "the text to forget: ")
    return _forget(args, context, {"match": text}, ask, show_receipt)


def in_transcripts(context: Context, texts: Sequence[str], *, change: bool, yes: bool, ask: Ask) -> int:
    """Name the files of agents that hold one of `texts`, and blank them when `change`; how many still hold it."""
    output, wanted = context.output, needles(texts)
    found = transcripts.find(
        context.environ,
        Path.home(),
        lambda data: may_hold(data, wanted) and holds(data.decode("utf-8", "replace"), wanted),
    )
    for each in found:
        how = "" if each.can_change else " (only its own program can change it)"
        output.note(f"{each.harness} keeps it too: {each.path}{how}")
    can = [each for each in found if each.can_change]
    if not can:
        return len(found)
    if not change:
        output.note("--transcripts blanks it there too, after one more question")
        return len(found)
    if not yes:
        ask(output, f"blank it in these {len(can)} files of other programs? [y/N] ")
    left = len(found)
    for each in can:
        try:
            is_done = transcripts.redact(each.path, lambda text: holds(text, wanted))
        except OSError as error:
            output.note(f"{each.path} cannot be changed ({error.strerror})")
            continue
        left -= is_done
        output.note(f"{each.path}: {'blanked' if is_done else 'still holds it; look at it'}")
    return left


def _forget(args: argparse.Namespace, context: Context, what: dict[str, Any], ask: Ask, show_receipt: Show) -> int:
    output = context.output
    with opened(context, "store", "index") as door:
        what["keys"] = [key_named(context, door, key, args.project) for key in args.keys]
        preview = door.call("store", "POST", "/v1/forget/select/preview", what, timeout_s=_LIMIT_S)
        project = active_project(door, args.project) or ""
        text = what.get("match")
        others = paraphrases(door, context.settings().owner, text, preview, project) if text else []
        if not output.as_json:
            _show_preview(output, preview, others)
        if not preview["hits"]:
            if "match" in what:
                in_transcripts(context, [what["match"]], change=False, yes=False, ask=ask)
            raise NotFound("nothing that bead keeps holds that; nothing was forgotten")
        if not args.yes:
            ask(output)
        confirmed = {**what, "confirm": preview["confirm"]}
        receipt = door.call("store", "POST", "/v1/forget/select", confirmed, timeout_s=_LIMIT_S)
    output.document({**receipt, "paraphrases": others}) if output.as_json else show_receipt(output, receipt)
    if "match" in what:
        in_transcripts(context, [what["match"]], change=args.transcripts, yes=args.yes, ask=ask)
    return _PENDING if receipt["index"] == "pending" else 0


def _show_preview(output: Output, preview: dict[str, Any], others: list[dict[str, Any]]) -> None:
    for hit in preview["hits"][:_MOST_SHOWN]:
        project = f" (project {hit['project']})" if hit["project"] else ""
        name = output.style("bold", output.stored(hit["name"]))
        output.text(f"{hit['place']}: {name}{project}  {hit['count']}")
    if len(preview["hits"]) > _MOST_SHOWN:
        output.text(f"and {len(preview['hits']) - _MOST_SHOWN} more places")
    if preview["hits"]:
        output.text(f"{len(preview['keys'])} facts with every version, {preview['turns']} turns")
    for other in others:
        text = output.stored(" ".join(other["text"].split()))
        output.text(
            output.style("dim", f"  maybe the same in other words, stays unless you name it: {other['key']}  {text}")
        )


def _verify(context: Context, text: str) -> int:
    output = context.output
    if len(text.strip()) < LEAST_CHARS:
        raise BadRequest(f"a text to look for has at least {LEAST_CHARS} characters")
    home = context.layout().root
    if not home.is_dir():
        raise NotFound(f"there is no memory in {context.home}")

    def tell(done: int, total: int) -> None:
        if output.is_terminal and not output.as_json:
            output.bar(done, total)

    seen = verifying.verify(home, text, tell)
    if output.as_json:
        output.document(
            {
                "files": seen.files,
                "bytes": seen.bytes,
                "found": [{"path": each.path, "disguises": each.disguises} for each in seen.traces],
                "words_in_index": [each.path for each in seen.hints],
                "unread": seen.unread,
                "encrypted": seen.encrypted,
            }
        )
        return 1 if seen.traces or seen.unread else 0
    for trace in seen.traces:
        output.text(f"{output.style('red', 'found')} {output.stored(trace.path)}: {', '.join(trace.disguises)}")
    for hint in seen.hints:
        output.text(f"{output.stored(hint.path)}: {', '.join(hint.hints)}; other texts may say that word")
    for path in seen.unread:
        output.text(output.style("yellow", f"not readable: {output.stored(path)}"))
    if seen.encrypted:
        output.text(f"{len(seen.encrypted)} encrypted files, which nobody can look into without their key:")
        for path in seen.encrypted[:_MOST_SHOWN]:
            output.text(output.style("dim", f"  {output.stored(path)}"))
    result = f"{len(seen.traces)} files hold it" if seen.traces else "it is nowhere"
    output.text(f"looked at {seen.files} files, {seen.bytes} bytes, and their names: {result}")
    return 1 if seen.traces or seen.unread else 0


def _text(output: Output, question: str) -> str:
    if not output.as_json and sys.stdin.isatty():
        output.ask(question)
    text = sys.stdin.readline() if sys.stdin.isatty() else sys.stdin.read()
    text = text.rstrip("\n")
    if not text.strip():
        raise BadRequest("there is no text; give it after --match, at the question, or on standard input")
    return text
