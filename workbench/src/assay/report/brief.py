"""Short tables of results and the first page in words, the same in a report and on a terminal."""

from collections.abc import Sequence

from assay.model.result.brief_result import BriefResult
from assay.model.result.summary_page import MAX_CAVEATS, SummaryLine, SummaryPage
from assay.model.study.names import group_of
from assay.report import numbers
from assay.report.document import Badge, Block, Bullets, Cell, Column, Heading, Num, Paragraph, Share, Table
from assay.report.measure import COUNTED, DATA, MEASURES, Measure, measure_of

WIDEST = 1000
"""Greatest quotient of the ends of an interval that is shown: two repeats that differ often leave more open."""


def rate_cell(per_second: float | None, measure: Measure) -> Num:
    """Return a rate as a cell, without its unit."""
    return Num(measure.number(per_second), per_second)


def interval_cell(low: float | None, high: float | None, measure: Measure) -> Num:
    """Return both ends of an interval as a cell, without the unit; `too wide` if it says nothing of the rate."""
    if low is None or high is None:
        return Num(numbers.NONE, None)
    if high > WIDEST * low:
        return Num("too wide", None)
    return Num(f"{measure.number(low)} – {measure.number(high)}", low)


def ceiling_cells(name: str, share: float | None, more: str = "") -> tuple[str, Share]:
    """Return cells for the nearest ceiling and the share of it that was reached; `more` is a remark."""
    return ("none known", Share(None)) if share is None else (name, Share(share, more))


def other_measure(measure: Measure, has_contents: bool) -> Column | None:
    """Return the column of the second measure: IOPS of data operations, or MB/s written to new files by metadata ones.

    None for metadata operations without contents.
    """
    if not measure.is_count:
        return Column("Operations", "1/s", is_numeric=True, drop_rank=5)
    return Column("Contents", "MB/s", is_numeric=True, drop_rank=5) if has_contents else None


def result_tables(results: Sequence[BriefResult]) -> list[Table]:
    """Return tables with a row for each result: one for each unit."""
    groups = {measure: [one for one in results if measure_of(one.operation) is measure] for measure in MEASURES}
    return [_table(group, measure) for measure, group in groups.items() if group]


def _table(results: Sequence[BriefResult], measure: Measure) -> Table:
    # Transfers over networks have no operations per second.
    is_bare = not measure.is_count and all(group_of(one.operation) == "other" for one in results)
    other = None if is_bare else other_measure(measure, any(one.throughput for one in results))
    limited = any(one.ceiling for one in results)
    columns = (
        Column("Case"),
        Column("What", drop_rank=1),
        Column("Operation"),
        Column(measure.title, measure.unit, is_numeric=True),
        Column("95 % interval", measure.unit, is_numeric=True, drop_rank=2),
        Column("n", is_numeric=True, drop_rank=4),
        *((other,) if other else ()),
        *(
            (Column("Nearest limit", drop_rank=4), Column("% of limit", is_numeric=True, drop_rank=4))
            if limited
            else ()
        ),
        Column("Verdict"),
    )
    rows = tuple(_cells(one, measure, other is not None, limited) for one in results)
    return Table("metadata-table" if measure.is_count else "results-table", columns, rows)


def _cells(one: BriefResult, measure: Measure, with_other: bool, limited: bool) -> tuple[Cell, ...]:
    rate, second_rate = (one.iops, one.throughput) if one.is_counted else (one.throughput, one.iops)
    return (
        *(one.case, one.label, one.operation),
        rate_cell(rate, measure),
        interval_cell(one.low, one.high, measure),
        Num(str(one.n), one.n),
        *((rate_cell(second_rate, DATA if one.is_counted else COUNTED),) if with_other else ()),
        *(ceiling_cells(one.ceiling, one.share) if limited else ()),
        Badge(one.verdicts[0], one.finding, one.verdicts[1:], one.is_partly_checked),
    )


_CAPTIONS = (
    "Medians over the repeats, without intervals.",
    "Medians over the repeats, in brackets their 95 % interval.",
    "Medians over the repeats; a range goes from the lowest to the highest over all sizes and settings.",
)


def line_tables(found: tuple[SummaryLine, ...], title: str, more: int | None = None) -> list[Table]:
    """Return lines of the first page as tables, one for all lines with the same columns.

    Args:
        found: The lines.
        title: Title of the first column.
        more: The number of lines left out; None: no caption.
    """
    groups: dict[tuple[str, ...], list[SummaryLine]] = {}
    for line in found:
        groups.setdefault(tuple(line.values), []).append(line)
    tables = []
    for place, (names, group) in enumerate(groups.items()):
        texts, limits = any(line.text for line in group), any(line.limit for line in group)
        columns = (title, *names, *(("Result",) if texts else ()), *(("Limit",) if limits else ()))
        rows = tuple(
            (
                line.label,
                *(line.values[name] for name in names),
                *((line.text,) if texts else ()),
                *((line.limit,) if limits else ()),
            )
            for line in group
        )
        caption = "" if more is None else _CAPTIONS[min(2, max(line.points for line in group))]
        if more is not None and any(line.text and line.points for line in group):
            caption += " Typically: median of the ratios. At least: bound of all of them together, 95 %."
        last = more and place == len(groups) - 1
        caption += f" {numbers.plural(more or 0, 'more line', 'more lines')} under Evidence." if last else ""
        tables.append(Table(f"answer-{title.lower()}-{place}", tuple(map(Column, columns)), rows, caption))
    return tables


def page_blocks(page: SummaryPage) -> tuple[Block, ...]:
    """Return a stored first page as blocks: the answer, its tables, cost, caveats, the next step."""
    rest = len(page.caveats) - MAX_CAVEATS
    more = (f"{rest:,} more: `assay report` lists all.",) if rest > 0 else ()
    caveats = (*(one.words for one in page.caveats[:MAX_CAVEATS]), *more)
    return (
        Paragraph(page.answer),
        *line_tables(page.needs, "Needed"),
        *line_tables(page.lines, "Work", page.more),
        *((Heading("Cost", ""), Bullets((page.cost,))) if page.cost else ()),
        *((Heading("Caveats", ""), Bullets(caveats)) if caveats else ()),
        *((Heading("Next step", ""), Bullets((page.next,))) if page.next else ()),
    )
