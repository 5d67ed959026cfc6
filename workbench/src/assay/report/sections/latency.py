"""Latency: percentile curves, latency against each swept axis, the percentiles as numbers."""

from assay.model.result.percentile import PERCENTILES, Standing
from assay.model.result.result import Row
from assay.report import figures, numbers, percentiles
from assay.report.document import Badge, Block, Bullets, Cell, Column, Heading, Note, Num, Paragraph, Section, Table
from assay.report.sections.lead import LEAD, lead
from assay.report.view import View

_MOST_ROWS = 2000
_MOST_UNCERTAIN = 8


def section(view: View) -> Section:
    """Curves, charts, table."""
    blocks: list[Block] = [Heading("Percentiles", "latency-percentiles", 4)]
    drawn: list[Block] = []
    for workload in view.main_workloads():
        mark = str(view.workloads.index(workload))
        drawn += figures.capped(figures.percentile_charts(view, workload, mark), "charts")
    if not drawn:
        blocks.append(Note("No latencies were recorded.", "warning"))
    blocks += drawn
    for workload in view.main_workloads():
        mark = str(view.workloads.index(workload))
        for axis in workload.numeric_axes()[::-1]:
            charts = figures.capped(figures.line_charts(view, workload, axis, "latency", mark), "charts")
            if charts:
                where = f" ({workload.name})" if len(view.main_workloads()) > 1 else ""
                title = f"Median latency against {numbers.axis_title(axis).lower()}{where}"
                blocks += [Heading(title, f"latency-{mark}-{axis}", 4), *charts]
    blocks += [Heading("Latency percentiles in numbers", "latency-all", 4), *_known(view), _table(view)]
    return Section("latency", "Latency", tuple(blocks))


def _known(view: View) -> list[Block]:
    """In how many results the percentiles are known, and which p99 are least."""
    tallies = [words for name in ("p50", "p99", "p99.9") if (words := percentiles.tally(view.analysis.rows, name))]
    found = [item for row in view.analysis.rows if (item := _uncertain(row, view)) is not None]
    worst = tuple(words for _, words in sorted(found, reverse=True)[:_MOST_UNCERTAIN])
    if worst:
        more = f", the widest {len(worst)} of {len(found):,}" if len(worst) < len(found) else ""
        tallies.append(f"uncertain p99{more}")
    paragraph = Paragraph(f"{'; '.join(tallies)}{':' if worst else '.'}")
    return [paragraph, *([Bullets(worst)] if worst else [])] if tallies else []


def _uncertain(row: Row, view: View) -> tuple[float, str] | None:
    """How wide the interval of its p99 is, and what was seen; None if it is not uncertain."""
    tail = row.percentile("p99")
    if tail is None or tail.standing is not Standing.UNCERTAIN:
        return None
    low, high = tail.interval
    name = " · ".join(
        word for word in (row.case.target, numbers.operation_title(row.operation), view.point_of(row)) if word
    )
    return (high or 0.0) / (low or 1.0), f"{name} ({row.case.id}): {percentiles.words(tail)}."


def _table(view: View) -> Table:
    columns = (
        Column("Verdict", facet=True),
        *LEAD,
        *(Column(name, "µs", numeric=True) for name in ("min", "mean", *PERCENTILES, "max")),
    )
    rows: list[tuple[Cell, ...]] = []
    found = [row for row in view.analysis.rows if row.latency]
    for row in found[:_MOST_ROWS]:
        rows.append((Badge(row.verdict), *lead(view, row), *_times(row)))
    caption = (
        "min, mean and max: of all repeats. Percentiles: median of the repeats' own and its 95 % interval; the method "
        "says what makes one uncertain, and how many operations it takes."
    )
    if len(found) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(found):,} results; `assay export` writes all."
    return Table("latency-table", columns, tuple(rows), caption, interactive=True)


def _times(row: Row) -> list[Num]:
    of_repeats = [percentiles.cell(row.percentile(name), interval=True) for name in PERCENTILES]
    return [_time(row, "min"), _time(row, "mean"), *of_repeats, _time(row, "max")]


def _time(row: Row, name: str) -> Num:
    value = row.latency.get(name)
    return Num(numbers.microseconds(value), value)
