import pytest

from bead_evals.bench import report as rendering
from bead_evals.bench.report import README_BEGIN, README_END
from bead_evals.bench.results import Machine, Report, Settings, SizeResult, TargetResult, size_label


def target(name: str, added: float, ratio: float | None) -> TargetResult:
    return TargetResult(
        name=name,
        requests=72,
        ttfb_p50=1.0 + added,
        ttfb_p95=2.0 + added,
        added_p50=added,
        added_p95=added + 0.5,
        ratio=ratio,
        ratio_low=None if ratio is None else ratio - 0.1,
        ratio_high=None if ratio is None else ratio + 0.1,
        opening_p50=1.5,
        cpu_ms=None,
        cpu_all_ms=None,
        transit_p50=0.05,
        peak_mb=40.4,
        inserted_bytes_p50=0.0,
        memory_blocks={"0": 72},
        round_medians=[1.0],
    )


def report(bead_ratio: float = 1.4) -> Report:
    targets = [target("direct", 0.0, 0.0), target("bare", 2.0, 1.0), target("bead", 2.0 * bead_ratio, bead_ratio)]
    return Report(
        bench="proxy",
        date="2026-01-02T03:04:05+00:00",
        commit="0123456789abcdef",
        is_dirty=False,
        machine=Machine("made-up CPU", 2, "Linux 6", "3.11.7", 0.1, 0.2),
        settings=Settings(12, 2, 6, 1, 50, 1.0, 200),
        sizes=[SizeResult(1_500_000, targets)],
    )


def test_the_columns_of_a_table_line_up() -> None:
    lines = rendering.table(report().sizes[0]).splitlines()

    assert lines[0] == "1.5 MB body, 72 requests each"
    assert len({len(line) for line in lines[1:]}) == 1
    assert [line.split()[0] for line in lines[2:]] == ["direct", "bare", "bead"]


def test_what_was_not_measured_is_a_dash_and_not_a_zero() -> None:
    bead = rendering.table(report().sizes[0]).splitlines()[-1].split()

    assert bead == ["bead", "3.80", "1.50", "2.80", "3.30", "1.40", "1.30-1.50", "-", "-", "0.05", "40"]


def test_bars_are_as_long_as_what_they_show() -> None:
    bars = [line.count("#") for line in rendering.chart(report(bead_ratio=2.0).sizes[0]).splitlines()]

    assert bars == [0, 20, 40]


def test_a_target_that_seems_faster_than_direct_has_no_bar() -> None:
    size = SizeResult(30_000, [target("direct", 0.0, None), target("bare", -0.2, None)])

    assert "#" not in rendering.chart(size)


@pytest.mark.parametrize(
    ("ratio", "word"), [(1.25, "moonshot"), (1.26, "held"), (2.0, "held"), (2.0001, "MISSED"), (9.0, "MISSED")]
)
def test_the_verdict_judges_the_unrounded_ratio(ratio: float, word: str) -> None:
    (line,) = rendering.verdict(report(ratio))

    assert line.endswith(word)


def test_the_markdown_table_has_one_line_for_each_size_and_target() -> None:
    lines = rendering.markdown(report()).splitlines()

    assert lines[2] == "| 1.5 MB | direct | 0.00 | 0.50 | 0.00 (-0.10-0.10) | - | 0.05 |"
    assert {line.count("|") for line in lines[:5]} == {8}
    assert lines[5] == ""
    assert lines[6].startswith("2026-01-02T03:04:05+00:00, 0123456789ab, made-up CPU, 2 cores")


def test_the_section_between_the_markers_is_replaced_and_nothing_else() -> None:
    text = f"# Title\n\nbefore\n{README_BEGIN}\nold | table\n{README_END}\nafter\n"

    changed = rendering.with_section(text, "new\n")

    assert changed == f"# Title\n\nbefore\n{README_BEGIN}\nnew\n{README_END}\nafter\n"
    assert rendering.with_section(changed, "new") == changed


@pytest.mark.parametrize(
    "text",
    [
        "no markers",
        f"{README_BEGIN}\nno end",
        f"{README_END}\n{README_BEGIN}",
        f"{README_BEGIN}{README_END}{README_BEGIN}{README_END}",
    ],
)
def test_a_readme_without_one_pair_of_markers_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="needs one"):
        rendering.with_section(text, "new")


@pytest.mark.parametrize(
    ("size_bytes", "label"), [(30_000, "30 KB"), (300_000, "300 KB"), (1_500_000, "1.5 MB"), (6_000_000, "6 MB")]
)
def test_sizes_are_named_in_decimal_units(size_bytes: int, label: str) -> None:
    assert size_label(size_bytes) == label
