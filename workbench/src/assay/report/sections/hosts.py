"""The hosts: how a result of several is shared out among them, and how the total grows with their number."""

import math
from collections.abc import Sequence

from assay.analyse import hosts
from assay.analyse.scaling import BINDS, Scaling, scalings
from assay.analyse.servers import Growth, growths
from assay.analyse.statistics.segments import moving_average
from assay.analyse.usl import Law, Range, fit_law
from assay.model.result.result import Row
from assay.report import numbers
from assay.report.brief import rate_cell
from assay.report.document import (
    Badge,
    Block,
    Bullets,
    Cell,
    Column,
    Fold,
    Num,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from assay.report.measure import Measure, measure_of
from assay.report.sections import uses
from assay.report.view import View

_WORDS = (
    "Each host is a machine with an engine of its own; all start at a barrier, at a time of the controller's clock. "
    "Least transferred is what the slowest host had moved when the first lane of any host ended: far from the others' "
    "amount, the hosts did not work together for most of the time. All figures are medians over repeats."
)
_MOST_ROWS = 500


def section(view: View) -> Section | None:
    """A line for each result with the least, mean and greatest share, and all hosts of each in a fold."""
    rows = [row for row in view.analysis.rows if hosts.summary(row) is not None]
    counted = uses.blocks(view)
    if not rows:
        return Section("hosts", "Hosts", tuple(counted)) if counted else None
    each = [line for row in rows for line in _hosts(view, row)]
    unit = measure_of(rows[0].operation).unit
    scaled = scalings(rows)
    sentences = [text for found in scaled for text in (sentence(found), law_sentence(found)) if text]
    blocks: list[Block] = [Bullets(tuple(sentences))] if sentences else []
    blocks += [Paragraph(_WORDS), _totals(view, rows, unit)]
    blocks += [_moving(scaled)] if scaled else []
    grown = growths(view.analysis.rows, view.run.places)
    blocks += [Bullets(tuple(growth_sentence(found) for found in grown)), _servers(grown)] if grown else []
    caption = (
        "" if len(each) <= _MOST_ROWS else f"The first {_MOST_ROWS:,} of {len(each):,}; `assay export` writes all."
    )
    table = Table("host-table", _host_columns(unit), tuple(each[:_MOST_ROWS]), caption, interactive=True)
    blocks.append(Fold("Host by host", (table,)))
    return Section("hosts", "Hosts", (*blocks, *counted))


def sentence(found: Scaling) -> Text:
    """Where the total stops growing, how many hosts that takes, and what binds there."""
    return (Strong(f"{scaled_where(found)}: "), scaled_words(found))


def scaled_words(found: Scaling) -> str:
    """The sentence without its beginning."""
    measure = measure_of(found.operation)
    first = found.points[0]
    one = f"{numbers.plural(first.hosts, 'host')} alone {'reaches' if first.hosts == 1 else 'reach'}"
    begin = f"{one} {measure.text(first.rate)}"
    if first.binding is not None and first.binding.share >= BINDS:
        begin += f" ({numbers.share(first.binding.share)} of the ceiling {first.binding.name})"
    end = f"{begin}{_growth(found)}"
    if found.binding is not None:
        share = numbers.share(found.binding.share)
        end += f" What binds there is the {found.binding.name} ({share} of it; {found.binding.how})."
    else:
        end += " No known ceiling is near: what binds is the store, or something that was not measured."
    return end


def law_sentence(found: Scaling) -> Text | None:
    """What the universal scalability law says of it; None if too little was measured to fit it."""
    law = fit_law(found.repeats)
    if law is None:
        return None
    head = Strong(f"{scaled_where(found)}, by the universal scalability law: ")
    if not law.fits:
        words = f"it does not describe the total, which is up to {numbers.share(law.off)} from its curve,"
        return (head, f"{words} more than repeats vary. Nothing is concluded from it.")
    measure = measure_of(found.operation)
    rate, ends = law.rate, (measure.number(law.rate.low), measure.text(law.rate.high))
    words = f"a host alone {measure.number(rate.value)} ({ends[0]} to {ends[1]}), contention {_range(law.contention)}, "
    words += f"coherency {_range(law.coherency)}; the points are within {numbers.share(law.off)} of the curve."
    return (head, f"{words} {_peak(found, law)}")


def _range(item: Range) -> str:
    """In percent, with two digits of the larger end."""
    decimals = max(0, 1 - math.floor(math.log10(100 * item.high))) if item.high > 0 else 0
    value, low, high = (f"{100 * part:.{decimals}f}" for part in item)
    return f"{value} % ({low} to {high} %)"


def _peak(found: Scaling, law: Law) -> str:
    """A total that a ceiling or a plateau stops does not show where it would fall."""
    stopped = found.saturated is not None or found.binding is not None
    if law.peak is None or (stopped and not law.falls):
        return f"No peak is seen up to {numbers.plural(law.most, 'host')}."
    value, low, high = (max(1, round(part)) for part in law.peak)
    beyond = f", beyond the {law.most} that were measured" if value > law.most else ""
    return f"The total is greatest with about {numbers.plural(value, 'host')} ({low} to {high}){beyond}."


def scaled_where(found: Scaling) -> str:
    """Such as `Read, store, 4 KiB`."""
    values = [numbers.axis_value(name, value) for name, value in found.others]  # type: ignore[arg-type]
    return ", ".join([numbers.operation_title(found.operation), found.target, *values])


def _growth(found: Scaling) -> str:
    """How the total goes on from the fewest hosts."""
    measure = measure_of(found.operation)
    first, last, stop, top = found.points[0], found.points[-1], found.saturated, found.greatest
    if stop is first:
        return "; more add nothing."
    if stop is not None:
        grows = f"The total grows up to {numbers.plural(stop.hosts, 'host')} and stops at {measure.text(stop.rate)}"
        return f". {grows}; more add nothing."
    if top is not last:
        most = f"The total is greatest with {numbers.plural(top.hosts, 'host')}, {measure.text(top.rate)}"
        return f". {most}; {last.hosts} reach {measure.text(last.rate)} only."
    times = f"{numbers.share(last.efficiency)} of {last.hosts / first.hosts:.3g} times as much"
    return f"; {last.hosts} reach {measure.text(last.rate)}, {times}. The total still grows there."


def _totals(view: View, rows: list[Row], unit: str) -> Table:
    columns = (
        Column("Verdict", facet=True),
        Column("Target", facet=True),
        Column("Operation", facet=True),
        Column("At"),
        Column("Hosts", numeric=True),
        *(Column(name, unit, numeric=True) for name in ("All", "Least", "Mean", "Most")),
        Column("Least transferred", numeric=True),
        Column("Start skew", "ms", numeric=True),
    )
    return Table("hosts-table", columns, tuple(_total(view, row) for row in rows), interactive=True)


def _total(view: View, row: Row) -> tuple[Cell, ...]:
    found = hosts.summary(row)
    assert found is not None
    measure = measure_of(row.operation)
    rates = (row.rate.median if row.rate else None, found.least, found.mean, found.most)
    skew = f"{found.skew_ns / 1e6:.2g} ± {found.uncertainty_ns / 1e6:.2g}"
    return (
        Badge(row.verdict),
        row.case.target,
        numbers.operation_title(row.operation),
        view.point_of(row) or row.case.workload,
        Num(str(found.hosts), found.hosts),
        *(Num(measure.number(rate), rate) for rate in rates),
        Num(numbers.size(found.least_transferred), found.least_transferred),
        Num(skew, found.skew_ns),
    )


def _moving(scaled: Sequence[Scaling]) -> Table:
    """How totals go on with the number of hosts, smoothed; a single odd point hides no trend."""
    lines: list[tuple[Cell, ...]] = []
    for found in scaled:
        measure, where = measure_of(found.operation), scaled_where(found)
        averages = moving_average([point.rate for point in found.points], reach=1)
        for point, average in zip(found.points, averages, strict=True):
            each = point.rate / point.hosts
            rates = (Num(measure.number(rate), rate) for rate in (point.rate, average, each))
            lines.append((where, Num(str(point.hosts), point.hosts), measure.unit, *rates))
    columns = (
        Column("Result", facet=True),
        Column("Hosts", numeric=True),
        Column("Unit", facet=True),
        *(Column(name, numeric=True) for name in ("All", "Moving average", "Each host")),
    )
    caption = "Moving average: the mean of the totals at this number of hosts and at the next smaller and larger one."
    return Table("moving-table", columns, tuple(lines), caption, interactive=True)


def growth_sentence(found: Growth) -> Text:
    """What the most servers do together, against what they would do apart."""
    measure, most = measure_of(found.operation), found.most
    head = f"{numbers.operation_title(found.operation)} on {most.servers} servers"
    values = [numbers.axis_value(name, value) for name, value in found.others]  # type: ignore[arg-type]
    words = f"{measure.text(most.rate)} at most, with {numbers.plural(most.hosts, 'host')}"
    if most.efficiency is not None and most.parts is not None:
        words += f": {numbers.share(most.efficiency)} of the sum of the parts ({measure.text(most.parts)})"
    bend = found.bends.get(most.servers)
    if bend is not None:
        each = bend / most.servers
        words += f". From {each:.3g} host{'s' * (each != 1)} for each server on, more add nothing"
    return (Strong(f"{', '.join([head, *values])}: "), f"{words}.")


def _servers(grown: Sequence[Growth]) -> Table:
    """Each number of servers with each number of hosts, and what as many servers would do apart."""
    lines: list[tuple[Cell, ...]] = []
    for found in grown:
        measure = measure_of(found.operation)
        values = [numbers.axis_value(name, value) for name, value in found.others]  # type: ignore[arg-type]
        where = ", ".join([numbers.operation_title(found.operation), found.workload, *values])
        for cell in found.cells:
            parts, share = cell.parts, cell.efficiency
            lines.append(
                (
                    where,
                    found.targets[cell.servers],
                    Num(str(cell.servers), cell.servers),
                    Num(str(cell.hosts), cell.hosts),
                    measure.unit,
                    Num(measure.number(cell.rate), cell.rate),
                    Num(measure.number(parts), parts) if parts is not None else "not measured",
                    Num(numbers.share(share), share) if share is not None else "",
                )
            )
    columns = (
        Column("Result", facet=True),
        Column("Target", facet=True),
        Column("Servers", numeric=True),
        Column("Hosts", numeric=True),
        Column("Unit", facet=True),
        *(Column(name, numeric=True) for name in ("All", "Sum of the parts", "Efficiency")),
    )
    caption = (
        "Sum of the parts: as many servers that share nothing, each with its part of the hosts, do what one server "
        "does with so many; with fewer hosts than servers each host has a server for itself. Efficiency: the total as "
        "a share of that."
    )
    return Table("servers-table", columns, tuple(lines), caption, interactive=True)


def _host_columns(unit: str) -> tuple[Column, ...]:
    return (Column("Target", facet=True), Column("Operation", facet=True), Column("At"), *_line_columns(unit))


def _hosts(view: View, row: Row) -> list[tuple[Cell, ...]]:
    measure, where = measure_of(row.operation), view.point_of(row) or row.case.workload
    head = (row.case.target, numbers.operation_title(row.operation), where)
    return [(*head, *_line_cells(line, measure)) for line in hosts.lines(row)]


def _line_columns(unit: str) -> tuple[Column, ...]:
    """Of what `_line_cells` says."""
    return (
        Column("Host", facet=True),
        Column("Rate", unit, numeric=True),
        Column("Moved", numeric=True),
        Column("Until the first ended", numeric=True),
        Column("p50", "µs", numeric=True),
        Column("p99", "µs", numeric=True),
        Column("CPUs used", numeric=True),
    )


def _line_cells(line: hosts.HostLine, measure: Measure) -> tuple[Cell, ...]:
    """What a host had of a result."""
    return (
        line.host,
        rate_cell(line.rate, measure),
        Num(numbers.size(line.bytes), line.bytes),
        Num(numbers.size(line.stonewall_bytes), line.stonewall_bytes),
        Num(numbers.microseconds(line.p50_ns), line.p50_ns),
        Num(numbers.microseconds(line.p99_ns), line.p99_ns),
        Num(f"{line.cpu_share:.2f}", line.cpu_share),
    )


def host_tables(rows: Sequence[Row]) -> list[Table]:
    """What each host had of results that several made, medians over repeats; none for results of one host."""
    found = []
    for row in rows:
        measure = measure_of(row.operation)
        cells: list[tuple[Cell, ...]] = [(row.operation, *_line_cells(line, measure)) for line in hosts.lines(row)]
        if cells:
            found.append(Table("host-table", (Column("Operation"), *_line_columns(measure.unit)), tuple(cells)))
    return found
