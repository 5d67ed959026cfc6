"""The measured use of links, CPUs and disks of the hosts during phases."""

from collections.abc import Iterator, Sequence
from statistics import median

from assay.analyse.usable import usable
from assay.model.result.host_use import DiskUse, HostUse, LinkUse
from assay.model.result.result import ResultRow
from assay.model.result.sample import Sample
from assay.report import chart_selection, numbers
from assay.report.charts.host_usage import host_usage_chart
from assay.report.document import Cell, Chart, Column, Fold, Num, Paragraph, Table
from assay.report.measure import DATA
from assay.report.sections.leading_columns import LEADING_COLUMNS, leading_cells
from assay.report.view import RunView

_MAX_ROWS = 500
_WORDS = (
    "Counted on each host about twice a second by the engine: bytes of network interfaces, time of CPUs and disks "
    "by all programs, TCP segments retransmitted, frames dropped. Counters are of the repeat with the median rate."
)
_SHARED = (
    " The hosts of a box share the CPUs and disks of one machine, so these have one line for all hosts; each host "
    "has its own links and loop devices."
)


def folds(view: RunView) -> Iterator[Fold]:
    """Yield a table with a row for each host of each result, and charts over time of some; nothing without counters."""
    found = [(row, sample) for row in view.analysis.rows if (sample := _middle(row)) is not None]
    if not found:
        return
    shared = any(use.shared for _, sample in found for use in sample.uses)
    lines = [line for row, sample in found for line in _lines(view, row, sample.uses)]
    caption = (
        "Link: the busiest interface, in its busier direction; share of its speed if known. Disk: the busiest disk, by "
        "the time with a request in flight, and the average number of requests in flight."
    )
    if len(lines) > _MAX_ROWS:
        caption += f" The first {_MAX_ROWS:,} of {len(lines):,}."
    table = Table("uses-table", _COLUMNS, tuple(lines[:_MAX_ROWS]), caption, is_interactive=True)
    drawn = chart_selection.limited_gallery(_charts(view, found), "charts")
    words = Paragraph(_WORDS + (_SHARED if shared else ""))
    yield Fold("Use of links, CPUs and disks", (words, table, *drawn), "host-uses")


def _middle(row: ResultRow) -> Sample | None:
    """Return the repeat with the median rate, or the lower of the two middle ones; None without counters."""
    counted = sorted((sample for sample in usable(row.samples) if sample.uses), key=lambda sample: sample.rate)
    return counted[(len(counted) - 1) // 2] if counted else None


_COLUMNS = (
    *LEADING_COLUMNS,
    Column("Host", is_filter=True),
    Column("CPUs", "busy", is_numeric=True),
    Column("Link"),
    Column("Carried", DATA.unit, is_numeric=True),
    Column("Share", is_numeric=True),
    Column("Disk"),
    Column("Busy", is_numeric=True),
    Column("Queue", is_numeric=True),
    Column("Retransmitted", "TCP", is_numeric=True),
    Column("Dropped", "frames", is_numeric=True),
)


def _lines(view: RunView, row: ResultRow, uses: tuple[HostUse, ...]) -> Iterator[tuple[Cell, ...]]:
    head = leading_cells(view, row)
    shared = [use for use in uses if use.shared]
    if shared:
        cpu = [use.cpu for use in shared if use.cpu is not None]
        others = [disk for use in shared for disk in use.disks if disk not in use.own_disks]
        begin = (*head, "all, this machine", _share(median(cpu) if cpu else None))
        yield (*begin, *_link(None), *_disk(_busiest(others)), *_lost(None))
    for use in uses:
        link = max(use.outer_links or use.links, key=lambda link: max(link.received, link.sent), default=None)
        begin = (*head, use.host, _share(None if use.shared else use.cpu))
        yield (*begin, *_link(link), *_disk(_busiest(use.own_disks)), *_lost(use))


def _busiest(disks: Sequence[DiskUse]) -> DiskUse | None:
    return max(disks, key=lambda disk: disk.busy, default=None)


def _share(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else numbers.share(value), value)


def _link(link: LinkUse | None) -> tuple[Cell, ...]:
    if link is None:
        return (numbers.NONE, Num(numbers.NONE, None), Num(numbers.NONE, None))
    carried = max(link.received, link.sent)
    way = "received" if link.received >= link.sent else "sent"
    return (f"{link.name}, {way}", Num(DATA.number(carried), carried), _share(link.share))


def _disk(disk: DiskUse | None) -> tuple[Cell, ...]:
    if disk is None:
        return (numbers.NONE, Num(numbers.NONE, None), Num(numbers.NONE, None))
    return (disk.name, _share(disk.busy), Num(f"{disk.queue:.1f}", disk.queue))


def _lost(use: HostUse | None) -> tuple[Cell, ...]:
    if use is None or use.segments is None or use.segments_again is None:
        resent: Num = Num(numbers.NONE, None)
    else:
        resent = Num(f"{use.segments_again:,}", float(use.segments_again))
    if use is None:
        return (resent, Num(numbers.NONE, None))
    dropped = sum(link.drops for link in use.links) + (use.softnet_drops or 0)
    return (resent, Num(f"{dropped:,}", float(dropped)))


def _charts(view: RunView, found: list[tuple[ResultRow, Sample]]) -> Iterator[Chart]:
    for number, (row, sample) in enumerate(found):
        drawing = host_usage_chart(sample.uses)
        if drawing is not None:
            case, target, operation, where = leading_cells(view, row)
            title = f"{operation} · {target} · {where}"
            words = f"Case {case}, repeat {sample.repeat}: shares of the time, of links shares of their speed."
            yield Chart(f"uses-{number}", title, words, drawing)
