"""First fetches of objects compared with repeated ones, which a cache may answer."""

from collections.abc import Sequence
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.result import ResultRow
from assay.model.result.sample import KindCounts
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_PERCENTILES = ("p50", "p99")


def repeated_access_table(view: RunView) -> Table | None:
    """Return a table with a row for each result with repeated fetches; None without any."""
    rows = [row for row in view.analysis.rows if _fetches(row)]
    # A case whose phases fetch each object once has a row for the first phase and one for the second.
    cases = {row.case.id for row in rows if any(counts.repeated_ops for counts in _fetches(row))}
    rows = [row for row in rows if row.case.id in cases]
    # If a case fetches all objects first and then all again, the first latency is that of its other row.
    first = {row.case.id: half for row in reversed(rows) if (half := _median(_first(row), "p50")) is not None}
    lines = [_line(view, row, first.get(row.case.id)) for row in rows]
    if not lines:
        return None
    columns = (
        *LEADING_COLUMNS,
        Column("First", "fetches", is_numeric=True),
        *(Column(f"First {name}", "µs", is_numeric=True) for name in _PERCENTILES),
        Column("Repeated", "fetches", is_numeric=True),
        *(Column(f"Repeated {name}", "µs", is_numeric=True) for name in _PERCENTILES),
        Column("Repeated / first", "p50", is_numeric=True),
    )
    caption = (
        "Repeated: fetches of an object that the same repeat had fetched before since it was stored; first: all the "
        "others. Counts are sums over the repeats that count; times are medians of the repeats' percentiles. A ratio "
        "far below 1 may mean that a cache on the way keeps what was fetched. If both are in one phase, first fetches "
        "are mostly at its beginning, when connections are made."
    )
    return Table("accesses-table", columns, tuple(lines), caption, is_interactive=True)


def _fetches(row: ResultRow) -> list[KindCounts]:
    """Return the counts of fetches in each repeat that counts."""
    return [counts for sample in usable(row.samples) for counts in sample.kinds if counts.kind == "get" and counts.ops]


def _first(row: ResultRow) -> list[dict[str, float]]:
    return [counts.reliable_first if counts.repeated_ops else counts.reliable_latency for counts in _fetches(row)]


def _line(view: RunView, row: ResultRow, of_case: float | None) -> tuple[Cell, ...]:
    kinds = _fetches(row)
    first_ops, repeated_ops = (
        sum(counts.ops - counts.repeated_ops for counts in kinds),
        sum(counts.repeated_ops for counts in kinds),
    )
    first = _first(row)
    repeated = [counts.reliable_repeated for counts in kinds]
    medians = (_median(first, "p50") or of_case, _median(repeated, "p50"))
    ratio = medians[1] / medians[0] if medians[0] and medians[1] is not None else None
    return (
        *leading_cells(view, row),
        Num(f"{first_ops:,}", float(first_ops)),
        *(_time(first, name, first_ops) for name in _PERCENTILES),
        Num(f"{repeated_ops:,}", float(repeated_ops)),
        *(_time(repeated, name, repeated_ops) for name in _PERCENTILES),
        Num(numbers.NONE, None) if ratio is None else Num(f"{ratio:.2f}", ratio),
    )


def _median(repeats: Sequence[dict[str, float]], name: str) -> float | None:
    """Return the median of a percentile over the repeats with enough operations; None unless most have enough."""
    values = [latencies[name] for latencies in repeats if name in latencies]
    return median(values) if 2 * len(values) > len(repeats) else None


def _time(repeats: Sequence[dict[str, float]], name: str, ops: int) -> Num:
    value = _median(repeats, name)
    if value is None:
        return Num("too few" if ops else numbers.NONE, None)
    return Num(numbers.microseconds(value), value)
