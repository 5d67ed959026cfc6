"""Results in tables of a few columns, and a first page in words: the same of a report and on a terminal."""

from collections.abc import Sequence

from assay.model.result.brief import Result
from assay.model.result.first_page import CAVEATS_SHOWN, FirstPage
from assay.report import numbers
from assay.report.document import Badge, Block, Bullets, Cell, Column, Heading, Num, Paragraph, Share, Table
from assay.report.measure import COUNTED, DATA, Measure


def rate_cell(per_second: float | None, measure: Measure) -> Num:
    """A rate without its unit."""
    return Num(measure.number(per_second), per_second)


def interval_cell(low: float | None, high: float | None, measure: Measure) -> Num:
    """Both ends of an interval, without the unit."""
    if low is None or high is None:
        return Num(numbers.NONE, None)
    return Num(f"{measure.number(low)} – {measure.number(high)}", low)


def ceiling_cells(name: str, share: float | None, more: str = "") -> tuple[str, Share]:
    """The ceiling that binds, and the share of it; `more` is what else is to be said."""
    return ("none known", Share(None)) if share is None else (name, Share(share, more))


def other_measure(measure: Measure, contents: bool) -> Column | None:
    """The column of the measure beside: operations of data; of metadata the contents of new files, if there are any."""
    if not measure.counted:
        return Column("Operations", "1/s", numeric=True, rank=5)
    return Column("Contents", "MB/s", numeric=True, rank=5) if contents else None


def result_tables(results: Sequence[Result]) -> list[Table]:
    """A line for each result; those of metadata operations, which are counted otherwise, in a table of their own."""
    groups = ([one for one in results if one.counted == measure.counted] for measure in (DATA, COUNTED))
    return [_table(group, measure) for group, measure in zip(groups, (DATA, COUNTED), strict=True) if group]


def _table(results: Sequence[Result], measure: Measure) -> Table:
    other = other_measure(measure, any(one.throughput for one in results))
    limited = any(one.ceiling for one in results)
    columns = (
        Column("Case"),
        Column("What", rank=1),
        Column("Operation"),
        Column(measure.title, measure.unit, numeric=True),
        Column("95 % interval", measure.unit, numeric=True, rank=2),
        Column("n", numeric=True, rank=4),
        *((other,) if other else ()),
        *((Column("Closest ceiling", rank=4), Column("Share of it", numeric=True, rank=4)) if limited else ()),
        Column("Verdict"),
    )
    rows = tuple(_cells(one, measure, other is not None, limited) for one in results)
    return Table("metadata-table" if measure.counted else "results-table", columns, rows)


def _cells(one: Result, measure: Measure, with_other: bool, limited: bool) -> tuple[Cell, ...]:
    rate, beside = (one.iops, one.throughput) if one.counted else (one.throughput, one.iops)
    return (
        *(one.case, one.label, one.operation),
        rate_cell(rate, measure),
        interval_cell(one.low, one.high, measure),
        Num(str(one.n), one.n),
        *((rate_cell(beside, DATA if one.counted else COUNTED),) if with_other else ()),
        *(ceiling_cells(one.ceiling, one.share) if limited else ()),
        Badge(one.verdicts[0], one.finding, one.verdicts[1:], one.as_far_as_seen),
    )


def page_blocks(page: FirstPage) -> tuple[Block, ...]:
    """What a run keeps of its first page, as blocks: the answer, a line for each kind of work, cost, caveats, steps."""
    lines = tuple(f"{line.label}: {line.text}" for line in page.lines)
    # Of one kind of work the answer is the line.
    told = lines if len(lines) > 1 or page.answer not in lines else ()
    more = (f"{numbers.plural(page.more, 'more', 'more')}: `assay report` has all.",) if page.more else ()
    blocks: list[Block] = (
        [Paragraph(page.answer), Bullets((*told, *more))] if told or more else [Paragraph(page.answer)]
    )
    rest = len(page.caveats) - CAVEATS_SHOWN
    minded = (*page.caveats[:CAVEATS_SHOWN], *((f"{rest:,} more: `assay report` has all.",) if rest > 0 else ()))
    return (
        *blocks,
        *((Heading("Cost", ""), Bullets((page.cost,))) if page.cost else ()),
        *((Heading("Mind", ""), Bullets(minded)) if minded else ()),
        *((Heading("Next", ""), Bullets(page.steps)) if page.steps else ()),
    )
