"""Objects that one client puts and another looks for: the time until they are seen, and the number of stale looks."""

from collections.abc import Sequence
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.measure import COUNTED
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_TIMES = ("p50", "p99", "max")


def visibility_table(view: RunView) -> Table | None:
    """Return a table with a row for each result in which another client looked for new objects; None without any."""
    lines = tuple(line for row in view.analysis.rows if (line := _line(view, row)) is not None)
    if not lines:
        return None
    columns = (
        *LEADING_COLUMNS,
        Column("Seen", "objects", is_numeric=True),
        *(Column(f"Seen after {name}", "µs", is_numeric=True) for name in _TIMES),
        Column("Looks", is_numeric=True),
        Column("Stale looks", is_numeric=True),
        Column("Stale", "%", is_numeric=True),
    )
    caption = (
        "Each object was put by one client and immediately requested by another, with its own connection (and at "
        "another endpoint, if there are several), until it was visible: one round trip at least. Stale looks found no "
        "object, or the one before. Counts are sums over the repeats that count; times are medians of the repeats' "
        "percentiles, and the maximum is that of all repeats."
    )
    return Table("seen-table", columns, lines, caption, is_interactive=True)


def _line(view: RunView, row: ResultRow) -> tuple[Cell, ...] | None:
    counting = usable(row.samples)
    service_counts = [sample.service for sample in counting if sample.service is not None and sample.service.looks]
    if not service_counts:
        return None
    looks, stale = sum(one.looks for one in service_counts), sum(one.stale_looks for one in service_counts)
    seen_ops = sum(counts.ops for sample in counting for counts in sample.kinds if counts.kind == "see")
    share = 100 * stale / looks
    return (
        *leading_cells(view, row),
        Num(f"{seen_ops:,}", float(seen_ops)),
        *(_time(counting, name) for name in _TIMES),
        Num(f"{looks:,}", float(looks)),
        Num(f"{stale:,}", float(stale)),
        Num(COUNTED.number(share) if stale else "0", share),
    )


def _time(samples: Sequence[Sample], name: str) -> Num:
    """Return the time until objects were seen; no number unless each repeat has enough operations."""
    kinds = [counts for sample in samples for counts in sample.kinds if counts.kind == "see" and counts.ops]
    latencies = [counts.latency if name == "max" else counts.reliable_latency for counts in kinds]
    values = [one[name] for one in latencies if name in one]
    if not values or len(values) < len(kinds):
        return Num("too few" if kinds else numbers.NONE, None)
    value = max(values) if name == "max" else median(values)
    return Num(numbers.microseconds(value), value)
