"""How p50 and p99 of latency differ between two runs or two targets, in words."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.run_variation import MIN_RUNS
from assay.model.result.comparison import ComparedRow, ComparedSide, RunsComparison
from assay.model.result.result import ComparedQuantity, Comparison, Percentile
from assay.model.study.repeats import MIN_COMPARED
from assay.report import numbers

COMPARED_PERCENTILES: tuple[ComparedQuantity, ...] = ("p50", "p99")


class LatencyRow(NamedTuple):
    """A percentile of one row on both sides of a comparison, in nanoseconds."""

    name: str
    before: float
    after: float
    pair: Comparison


def percentile_comparison(row: ComparedRow, name: ComparedQuantity) -> Comparison | None:
    """Return the comparison of a row's percentile; None if a side has too few operations for it, or no latencies."""
    return row.p50 if name == "p50" else row.p99


def latency_rows(found: RunsComparison) -> dict[ComparedQuantity, list[LatencyRow]]:
    """Return the rows in which each percentile is compared, without false results; empty if no row has latencies."""
    recorded = [row for row in found.rows if _recorded(row)]
    return {name: _rows(recorded, name) for name in COMPARED_PERCENTILES} if recorded else {}


def _rows(recorded: Sequence[ComparedRow], name: ComparedQuantity) -> list[LatencyRow]:
    rows = []
    for row in recorded:
        pair, before, after = percentile_comparison(row, name), _value(row.before, name), _value(row.after, name)
        if pair is not None and before is not None and after is not None and not row.has_no_result:
            rows.append(LatencyRow(row.name, before, after, pair))
    return rows


def _value(side: ComparedSide, name: ComparedQuantity) -> float | None:
    item: Percentile | None = getattr(side, name)
    return None if item is None else item.value


def _recorded(row: ComparedRow) -> bool:
    return row.before.p50 is not None and row.after.p50 is not None


def row_words(row: LatencyRow) -> str:
    """Return a row in words: `disk / grid, read: 4.08 ms -> 7.97 ms, +95.4 % (+56.1 % to 2.52x), p 0.003`."""
    pair = row.pair
    ends = (pair.low, pair.high)
    interval = (
        "" if None in ends else f" ({' to '.join(numbers.difference_text(end) for end in ends if end is not None)})"
    )
    caveat = f"; {pair.caveat}" if pair.caveat else ""
    times = f"{numbers.latency(row.before)} -> {numbers.latency(row.after)}"
    return (
        f"{row.name}: {times}, {numbers.difference_text(pair.ratio)}{interval}, p "
        f"{numbers.p_value(pair.p_adjusted)}{caveat}"
    )


def latency_lines(found: RunsComparison) -> list[str]:
    """Return a line for each percentile that is compared."""
    return [f"{name} of latency: {latency_words(found, name)}" for name in latency_rows(found)]


def latency_words(found: RunsComparison, name: ComparedQuantity) -> str:
    """Count the differences of a percentile: `0 shorter, 2 longer, 10 without a significant difference; ...`."""
    pairs = [row.pair for row in latency_rows(found).get(name, [])]
    recorded = [row for row in found.rows if _recorded(row)]
    too_few_operations = sum(percentile_comparison(row, name) is None and not row.has_no_result for row in recorded)
    false_results = sum(row.has_no_result for row in recorded)
    parts = []
    if pairs:
        differ = [pair for pair in pairs if pair.separable]
        shorter = sum(pair.is_better for pair in differ)
        same = len(pairs) - len(differ)
        parts.append(
            f"{shorter:,} shorter, {len(differ) - shorter:,} longer, {same:,} without a significant difference"
        )
    if too_few_repeats := sum(pair.has_too_few for pair in pairs):
        least = f"{MIN_RUNS} runs" if pairs[0].unit == "run" else f"{MIN_COMPARED} repeats"
        parts.append(f"fewer than {least} on a side in {numbers.plural(too_few_repeats, 'row')}")
    if too_few_operations:
        parts.append(f"too few operations in {numbers.plural(too_few_operations, 'row')}")
    if false_results:
        parts.append(
            f"{numbers.plural(false_results, 'row')} left out, where a side is cached, impossible or incomplete"
        )
    return "; ".join(parts)
