"""Tables and bars from a result document, and the README's copy of them. Pure; what the numbers are is `results`."""

from collections.abc import Sequence

from bead_evals.bench.results import Report, SizeResult, TargetResult, size_label

README_BEGIN = "<!-- bench proxy:begin -->"
README_END = "<!-- bench proxy:end -->"
MOST_RATIO = 2.0
MOONSHOT_RATIO = 1.25
_BAR_WIDTH = 40


def terminal(report: Report) -> str:
    """The whole report for a terminal: a table and bars for each size, and a verdict."""
    parts = [f"{table(size)}\n\n{chart(size)}" for size in report.sizes]
    return "\n\n".join([*parts, _footer(report), *verdict(report)])


def table(size: SizeResult) -> str:
    """One size as aligned columns; times in milliseconds."""
    head = [
        "ms",
        "ttfb p50",
        "opening",
        "added p50",
        "added p95",
        "x bare",
        "95 % of x",
        "CPU",
        "CPU all",
        "event",
        "peak MB",
    ]
    rows = [
        [
            target.name,
            f"{target.ttfb_p50:.2f}",
            f"{target.opening_p50:.2f}",
            f"{target.added_p50:.2f}",
            f"{target.added_p95:.2f}",
            _number(target.ratio),
            _interval(target),
            _number(target.cpu_ms),
            _number(target.cpu_all_ms),
            _number(target.transit_p50),
            _number(target.peak_mb, 0),
        ]
        for target in size.targets
    ]
    return f"{size_label(size.size_bytes)} body, {size.targets[0].requests} requests each\n{_aligned([head, *rows])}"


def chart(size: SizeResult) -> str:
    """Added time to first byte (p50) as bars of `#`, the longest `_BAR_WIDTH` wide."""
    most = max((target.added_p50 for target in size.targets), default=0.0)
    width = max(len(target.name) for target in size.targets)
    lines = []
    for target in size.targets:
        bar = "#" * round(_BAR_WIDTH * max(target.added_p50, 0.0) / most) if most > 0 else ""
        lines.append(f"  {target.name:<{width}} |{bar} {target.added_p50:.2f}")
    return "\n".join(lines)


def verdict(report: Report) -> list[str]:
    """One line a size for bead: held, or by how much not. Empty without bead in the run."""
    lines = []
    for size in report.sizes:
        for target in size.targets:
            if target.name == "bead" and target.ratio is not None:
                state = (
                    "moonshot" if target.ratio <= MOONSHOT_RATIO else "held" if target.ratio <= MOST_RATIO else "MISSED"
                )
                label = size_label(size.size_bytes)
                lines.append(
                    f"{label}: bead adds {target.ratio:.2f}x what bare adds (at most {MOST_RATIO:g}x): {state}"
                )
    return lines


def markdown(report: Report) -> str:
    """The README's table: one line a size and target, and under it where and how it was measured."""
    lines = [
        "| body | target | added p50 ms | added p95 ms | x bare (95 %) | CPU ms | event transit p50 ms |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for size in report.sizes:
        for t in size.targets:
            ratio = f"{_number(t.ratio)} ({_interval(t)})" if t.ratio_low is not None else _number(t.ratio)
            cells = [size_label(size.size_bytes), t.name, f"{t.added_p50:.2f}", f"{t.added_p95:.2f}", ratio]
            lines.append("| " + " | ".join([*cells, _number(t.cpu_ms), _number(t.transit_p50)]) + " |")
    return "\n".join([*lines, "", _footer(report)])


def with_section(text: str, section: str) -> str:
    """`text` with `section` between the two markers; everything outside them is kept.

    Raises ValueError unless each marker stands there exactly once, in order.
    """
    if (
        text.count(README_BEGIN) != 1
        or text.count(README_END) != 1
        or text.index(README_END) < text.index(README_BEGIN)
    ):
        raise ValueError(f"needs one {README_BEGIN} and behind it one {README_END}")
    before, _, rest = text.partition(README_BEGIN)
    _, _, after = rest.partition(README_END)
    return f"{before}{README_BEGIN}\n{section.strip()}\n{README_END}{after}"


def _footer(report: Report) -> str:
    machine, asked = report.machine, report.settings
    commit = (report.commit or "unknown commit")[:12] + ("+changes" if report.is_dirty else "")
    return (
        f"{report.date}, {commit}, {machine.cpu}, {machine.cores} cores, {machine.kernel}, Python {machine.python}, "
        f"load {machine.load_before:.1f} before and {machine.load_after:.1f} after. "
        f"{asked.rounds} rounds of {asked.turns} requests, {asked.lanes} at a time, {asked.events} events "
        f"{asked.spacing_ms:g} ms apart, {asked.facts} facts stored. Loopback, no TLS."
    )


def _number(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(target: TargetResult) -> str:
    if target.ratio_low is None or target.ratio_high is None:
        return "-"
    return f"{target.ratio_low:.2f}-{target.ratio_high:.2f}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """First column to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
