"""Small charts as numbers: where each bar of an inline SVG stands. Pure; the drawing is a template's.

A chart is told in words too (`summary`), for those who do not see it.
"""

from collections.abc import Sequence
from typing import NamedTuple

WIDTH = 168.0
HEIGHT = 40.0
_GAP = 3.0
_LEAST = 1.5


class Bar(NamedTuple):
    """One bar; lengths in the chart's own units."""

    x: float
    y: float
    width: float
    height: float
    label: str
    """What it stands for, with its value."""
    is_last: bool


class Chart(NamedTuple):
    """A row of bars."""

    bars: tuple[Bar, ...]
    summary: str


class Part(NamedTuple):
    """One part of a whole bar, in percent of it."""

    name: str
    value: int
    start: float
    share: float


def bars(values: Sequence[int | float], names: Sequence[str], unit: str) -> Chart:
    """A bar for each of `values`; the highest fills the height, zero is a hairline."""
    highest = max(values, default=0)
    width = (WIDTH - _GAP * max(len(values) - 1, 0)) / max(len(values), 1)
    made = []
    for number, (value, name) in enumerate(zip(values, names, strict=True)):
        height = max(_LEAST, HEIGHT * value / highest) if highest else _LEAST
        made.append(
            Bar(
                round(number * (width + _GAP), 2),
                round(HEIGHT - height, 2),
                round(width, 2),
                round(height, 2),
                f"{name}: {value:,} {unit}",
                number == len(values) - 1,
            )
        )
    total = sum(values)
    return Chart(tuple(made), f"{unit} over {len(values)} days: {total:,} in all, at most {highest:,} a day")


def parts(values: Sequence[tuple[str, int]]) -> tuple[Part, ...]:
    """How much of the whole each named value is; empty when there is nothing."""
    whole = sum(value for _, value in values)
    found: list[Part] = []
    start = 0.0
    for name, value in values:
        share = 100.0 * value / whole if whole else 0.0
        if value:
            found.append(Part(name, value, round(start, 2), round(share, 2)))
        start += share
    return tuple(found)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie; 0.0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
