"""`bead bench proxy`: what bead adds to the time to the first byte, beside no proxy and beside the barest proxy.

Targets take turns inside one run, in another order each round; numbers are compared only within a round
(`stats`). A run in which memory did not reach the upstream measures nothing, and ends with an error instead of a table.
"""

import argparse
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from bead_evals.bench import report as rendering
from bead_evals.bench import results
from bead_evals.bench.bodies import SMALLEST_BYTES
from bead_evals.bench.embedded import INJECTION_LIMIT_S, bead
from bead_evals.bench.failures import BenchFailed
from bead_evals.bench.measure import BARE, DIRECT, Nonces, measure_size, prove_injection
from bead_evals.bench.results import Report, Settings
from bead_evals.bench.targets import MESSAGES_PATH, Target, child_server, load_client

SIZES = (30_000, 300_000, 1_500_000, 6_000_000)
RESULT_FILE = "evals/results/bench-proxy.json"
_UNITS = {"": 1, "kb": 1_000, "mb": 1_000_000}

Say = Callable[[str], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `bead bench proxy`."""
    parser.add_argument("--quick", action="store_true", help="few rounds, for CI: a smoke test, not a measurement")
    parser.add_argument("--rounds", type=_at_least_one, help="measured rounds for each size (20; quick: 3)")
    parser.add_argument("--warmup", type=_at_least_one, help="rounds thrown away before them (2; quick: 1)")
    parser.add_argument("--turns", type=_at_least_one, help="requests in a target's part of a round (6; quick: 4)")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="body sizes, as 30KB,300KB,1.5MB,6MB")
    parser.add_argument(
        "--concurrency",
        type=_at_least_one,
        default=1,
        metavar="N",
        help="conversations at a time (1); the client holds N x turns x size bytes",
    )
    parser.add_argument("--events", type=_at_least_one, help="events in an answer (50; quick: 10)")
    parser.add_argument("--spacing-ms", type=float, default=1.0, help="time between two events (1)")
    parser.add_argument("--facts", type=_at_least_one, default=200, help="facts in bead's store (200)")
    parser.add_argument("--no-bead", action="store_true", help="leave bead out: check the bench itself")
    parser.add_argument("--check", action="store_true", help="add a second bare passthrough and one that reparses JSON")
    parser.add_argument(
        "--target",
        type=_peer,
        action="append",
        default=[],
        metavar="NAME=URL[,PID]",
        help="another proxy that runs already, by its base URL (repeatable); give --upstream-port as well",
    )
    parser.add_argument("--upstream-port", type=int, default=0, metavar="PORT", help="where --target must lead")
    parser.add_argument("--max-ratio", type=float, metavar="X", help="exit 1 when bead adds more than X times bare")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON document")
    parser.add_argument(
        "--save", nargs="?", const=RESULT_FILE, type=Path, metavar="FILE", help=f"save it ({RESULT_FILE})"
    )
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="use a saved result, measure nothing")
    parser.add_argument("--readme", type=Path, metavar="FILE", help="put the table between the markers of FILE")


def main(argv: list[str]) -> int:
    """Measure, then print, save and publish as asked. 0 done, 1 refused, 2 usage, 3 a part did not start."""
    parser = argparse.ArgumentParser(prog="bead bench proxy", description=__doc__)
    add_arguments(parser)
    return run(parser.parse_args(argv))


def run(args: argparse.Namespace) -> int:
    """`main` for arguments that are parsed already."""
    say = _progress()
    try:
        report = _saved(args.source) if args.source else _measure(args, say)
        say("")
        _publish(report, args)
    except BenchFailed as failure:
        say("")
        print(f"bead bench proxy: {failure}", file=sys.stderr)
        return failure.exit_code
    return _exit_code(report, args.max_ratio)


def _measure(args: argparse.Namespace, say: Say) -> Report:
    load_before = results.load_average()
    asked = _settings(args)
    # The clock only makes conversations new to a target that was running before this bench.
    nonces = Nonces(int(time.time()) << 20)
    with _targets(args, asked, say) as targets, load_client() as client:
        for target in targets:
            if target.injects_memory:
                say(f"waiting for memory in {target.name}'s requests")
                prove_injection(client, target, min(args.sizes), nonces, INJECTION_LIMIT_S)
        sizes = [measure_size(client, targets, size, asked, nonces, say) for size in args.sizes]
    commit, is_dirty = results.commit()
    return Report("proxy", results.now(), commit, is_dirty, results.machine(load_before), asked, sizes)


@contextmanager
def _targets(args: argparse.Namespace, asked: Settings, say: Say) -> Iterator[list[Target]]:
    """Start the upstream and everything before it; direct first, bare second."""
    with ExitStack() as running:
        upstream, upstream_pid = running.enter_context(
            child_server(
                "upstream", "--port", str(args.upstream_port), "--events", str(asked.events),
                "--spacing-ms", str(asked.spacing_ms),
            )
        )  # fmt: skip

        def passthrough(name: str, *options: str) -> Target:
            server = child_server("passthrough", *options, environment={"BENCH_UPSTREAM": upstream})
            url, pid = running.enter_context(server)
            return Target(name, url + MESSAGES_PATH, pid, keeps_bytes="--reparse" not in options)

        targets = [Target(DIRECT, upstream + MESSAGES_PATH, upstream_pid), passthrough(BARE)]
        if args.check:
            targets += [passthrough("bare twin"), passthrough("json", "--reparse")]
        targets += args.target
        if not args.no_bead:
            targets.append(running.enter_context(bead(upstream, asked.facts, say)))
        yield targets


def _settings(args: argparse.Namespace) -> Settings:
    return Settings(
        rounds=args.rounds or (3 if args.quick else 20),
        warmup=args.warmup or (1 if args.quick else 2),
        turns=args.turns or (4 if args.quick else 6),
        lanes=args.concurrency,
        events=args.events or (10 if args.quick else 50),
        spacing_ms=args.spacing_ms,
        facts=0 if args.no_bead else args.facts,
    )


def _saved(source: Path) -> Report:
    try:
        return msgspec.json.decode(source.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError) as exc:
        raise BenchFailed(f"{source} is no saved result of this bench: {exc}") from exc


def _publish(report: Report, args: argparse.Namespace) -> None:
    """Save, write the README's section, print. Raises BenchFailed when a file cannot be written."""
    document = msgspec.json.format(msgspec.json.encode(report), indent=2)
    try:
        if args.save:
            args.save.parent.mkdir(parents=True, exist_ok=True)
            args.save.write_bytes(document + b"\n")
        if args.readme:
            text = args.readme.read_text(encoding="utf-8")
            args.readme.write_text(rendering.with_section(text, rendering.markdown(report)), encoding="utf-8")
    except (OSError, ValueError) as exc:
        raise BenchFailed(f"{args.readme or args.save}: {exc}") from exc
    print(document.decode() if args.json else rendering.terminal(report))


def _exit_code(report: Report, most: float | None) -> int:
    """1 when `most` is given and bead exceeds it, or cannot be judged, at any size."""
    if most is None:
        return 0
    ratios = [target.ratio for size in report.sizes for target in size.targets if target.name == "bead"]
    too_much = [ratio for ratio in ratios if ratio is None or ratio > most]
    for ratio in too_much:
        print(f"bead bench proxy: a ratio of {ratio} exceeds --max-ratio {most:g}", file=sys.stderr)
    return 1 if too_much or not ratios else 0


def _progress() -> Say:
    """Says on standard error what runs now: one line that renews itself on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _at_least_one(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _sizes(text: str) -> tuple[int, ...]:
    """`30KB,1.5MB` in bytes; decimal units."""
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(kb|mb|)", part.strip().lower())
        if match is None:
            raise argparse.ArgumentTypeError(f"{part!r} is no size such as 300KB or 1.5MB")
        sizes.append(round(float(match[1]) * _UNITS[match[2]]))
        if sizes[-1] < SMALLEST_BYTES:
            raise argparse.ArgumentTypeError(f"{part} is less than the smallest body, {SMALLEST_BYTES} bytes")
    return tuple(sizes)


def _peer(text: str) -> Target:
    """`NAME=URL[,PID]` of a proxy that somebody else started; nothing is asked of its bytes."""
    name, _, rest = text.partition("=")
    url, _, pid = rest.partition(",")
    if not name or not url.startswith("http://") or (pid and not pid.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=http://HOST:PORT[,PID]")
    return Target(name, url.rstrip("/") + MESSAGES_PATH, int(pid) if pid else None, keeps_bytes=False)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
