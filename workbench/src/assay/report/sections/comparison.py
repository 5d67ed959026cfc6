"""The comparison between targets: ratio and difference with interval, point by point."""

from assay.model.result import Comparison
from assay.report import figures, numbers
from assay.report.charts.dots import ratio_chart
from assay.report.document import Block, Cell, Chart, Column, Gallery, Note, Num, Paragraph, Section, Table
from assay.report.measure import DATA, METADATA, Measure, measure_of
from assay.report.view import View

_MOST_POINTS = 30
"""Points in one chart."""
_MOST_ROWS = 5000


def section(view: View) -> Section | None:
    """The section; None if there is nothing to compare."""
    pairs = view.analysis.comparisons
    if not pairs:
        return None
    words = (
        "Each dot is the throughput (of metadata operations the rate) of one target divided by that of the other at "
        "the same parameters, with its 95 % interval. "
        "Where the interval includes 1 the two are not separable: the repeats do not show which one is faster."
    )
    blocks: list[Block] = [Paragraph(words)]
    charts = _charts(view)
    blocks.append(Gallery(tuple(charts[: figures.MOST_FIGURES])))
    if len(charts) > figures.MOST_FIGURES:
        blocks.append(Note(f"Only the first {figures.MOST_FIGURES} of {len(charts)} charts are drawn."))
    for measure in (DATA, METADATA):
        mine = [pair for pair in pairs if measure_of(pair.operation) is measure]
        blocks += [_table(mine, measure, view)] if mine else []
    return Section("comparison", "Comparison", tuple(blocks))


def _charts(view: View) -> list[Chart]:
    groups: dict[tuple[str, str, str, str], list[Comparison]] = {}
    for pair in view.analysis.comparisons:
        groups.setdefault((pair.workload, pair.operation, pair.base, pair.other), []).append(pair)
    several = len({workload for workload, *_ in groups}) > 1
    found = []
    for place, ((workload, operation, base, other), pairs) in enumerate(groups.items()):
        if not any(view.comparable(pair) for pair in pairs):
            continue
        title = numbers.operation_title(operation) + (f" · {workload}" if several else "")
        title += f" · {other} ÷ {base}" if len(view.targets) > 2 else ""
        caption = (
            f"Ratio of median {measure_of(operation).title.lower()}s, 95 % interval; the dashed line is no difference."
        )
        if len(pairs) > _MOST_POINTS:
            caption += f" The first {_MOST_POINTS} of {len(pairs)} points."
        found.append(Chart(f"ratio-{place}", title, caption, ratio_chart(pairs[:_MOST_POINTS], view)))
    return found


def _table(pairs: list[Comparison], measure: Measure, view: View) -> Table:
    columns = (
        Column("Workload", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Targets", facet=True),
        Column("Result", facet=True),
        Column("Ratio", "÷", numeric=True),
        Column("95 % from", numeric=True),
        Column("to", numeric=True),
        Column("Difference", measure.unit, numeric=True),
        Column("from", measure.unit, numeric=True),
        Column("to", measure.unit, numeric=True),
        Column("Caveat"),
    )
    rows = tuple(_cells(pair, view) for pair in pairs[:_MOST_ROWS])
    caption = "Difference: the interval of the ratio times the base's median."
    if len(pairs) > _MOST_ROWS:
        caption += f" The first {_MOST_ROWS:,} of {len(pairs):,}."
    name = "comparison-metadata-table" if measure.metadata else "comparison-table"
    return Table(name, columns, rows, caption, interactive=True)


def _cells(pair: Comparison, view: View) -> tuple[Cell, ...]:
    names = view.swept_of(pair.workload)
    where = " / ".join(numbers.axis_value(name, pair.axes.get(name)) for name in names) or numbers.NONE
    side = view.sides(pair)[0]
    drawn = view.comparable(pair)
    base = side.rate.median if side and side.rate else None
    ratios = (pair.ratio, pair.low, pair.high) if drawn else (None, None, None)
    differences = [None if base is None or ratio is None else base * (ratio - 1) for ratio in ratios]
    if not drawn:
        result = "not compared"
    elif not pair.separable:
        result = "not separable"
    else:
        result = f"{pair.other if pair.ratio > 1 else pair.base} faster"
    return (
        pair.workload,
        numbers.operation_title(pair.operation),
        where,
        f"{pair.other} ÷ {pair.base}",
        result,
        *(Num(numbers.NONE if ratio is None else numbers.significant(ratio), ratio) for ratio in ratios),
        *(Num(_signed(value, measure_of(pair.operation)), value) for value in differences),
        pair.caveat or numbers.NONE,
    )


def _signed(value: float | None, measure: Measure) -> str:
    if value is None:
        return numbers.NONE
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{measure.number(abs(value))}"
