"""The greatest rate of each target, for each workload and operation."""

from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.measure import measure_of
from assay.report.view import RunView, is_plausible

MIN_TARGETS = 3
"""Fewest targets of the table: two are compared."""
MAX_COLUMNS = 16
_MARK = "greatest-table"


def table(view: RunView) -> Table | None:
    """Return a row for each target, and one for the greatest; None for fewer than three targets.

    Rates that are cached or impossible are left out.
    """
    found: dict[tuple[str, str], dict[str, ResultRow]] = {}
    for workload in view.workloads:
        for row in workload.rows:
            if row.rate is None or not is_plausible(row):
                continue
            best = found.setdefault((row.case.workload, row.operation), {})
            known = best.get(row.case.target)
            if known is None or known.rate is None or row.rate.median > known.rate.median:
                best[row.case.target] = row
    # One target for each workload is no table to compare in.
    keys = [key for key, best in found.items() if len(best) > 1][:MAX_COLUMNS]
    targets = [target for target in view.targets if any(target in found[key] for key in keys)]
    if len(targets) < MIN_TARGETS:
        return None
    several = len({workload for workload, _ in keys}) > 1
    columns = [
        Column(
            " ".join(filter(None, (workload if several else "", numbers.operation_title(operation).lower()))),
            is_numeric=True,
        )
        for workload, operation in keys
    ]
    lines: list[tuple[Cell, ...]] = [(target, *(_cell(found[key].get(target)) for key in keys)) for target in targets]
    winners = [max(found[key].values(), key=lambda row: row.rate.median if row.rate else 0.0) for key in keys]
    last: tuple[Cell, ...] = ("Greatest", *(_named(row) for row in winners))
    caption = "The greatest median of each target over all its points; cached and impossible results are left out."
    return Table(_MARK, (Column("Target"), *columns), (*lines, last), caption)


def _cell(row: ResultRow | None) -> Num:
    if row is None or row.rate is None:
        return Num(numbers.NONE, None)
    return Num(measure_of(row.operation).text(row.rate.median), row.rate.median)


def _named(row: ResultRow) -> Num:
    rate = row.rate.median if row.rate else 0.0
    return Num(f"{row.case.target}: {measure_of(row.operation).text(rate)}", rate)
