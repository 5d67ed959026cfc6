"""Tables of totals that grow with hosts, tasks or lanes."""

from collections.abc import Iterator, Sequence

from assay.analyse.growth.bend import Bend
from assay.analyse.growth.best import BestPoint
from assay.analyse.scaling import Scaling, ScalingPoint
from assay.analyse.servers import Growth
from assay.analyse.statistics.segments import moving_average
from assay.model.units import about_number
from assay.report import numbers
from assay.report.document import Cell, Column, Num, Table
from assay.report.growth.sentences import count_words, has_several_workloads, number_words, scaling_title
from assay.report.measure import measure_of


def totals_table(scaled: Sequence[Scaling]) -> Table:
    """Return a table of total, efficiency and time at each number of hosts, tasks or lanes."""
    columns = (
        Column("Result", is_filter=True),
        Column("With", is_filter=True),
        Column("Unit", is_filter=True),
        Column("All", is_numeric=True),
        Column("Moving average", is_numeric=True),
        Column("Each", is_numeric=True),
        Column("Ideal", is_numeric=True),
        Column("Efficiency", is_numeric=True),
        Column("95 % interval"),
        Column("Work", is_filter=True),
        Column("Time", "s", is_numeric=True),
        Column("Ideal time", "s", is_numeric=True),
    )
    caption = (
        "All: the median over repeats. Ideal: each adds as much as the first; efficiency: the total as a share of the "
        "ideal, with an interval by Student's t on the logarithms of the repeats. Moving average: the mean of the "
        "totals here and at the next smaller and larger number. Work: weak if the work of each stays the same, "
        "strong if the total work does. Time: the median of a phase that goes over the data once; the ideal time is "
        "constant with weak scaling, and inversely proportional to the number with strong scaling."
    )
    named = has_several_workloads(scaled)
    lines = tuple(line for found in scaled for line in _totals(found, named))
    return Table("scaling-table", columns, lines, caption, is_interactive=True)


def _totals(found: Scaling, named: bool) -> Iterator[tuple[Cell, ...]]:
    measure, where, first = measure_of(found.operation), scaling_title(found, named), found.points[0]
    averages = moving_average([point.rate for point in found.points], reach=1)
    for point, average in zip(found.points, averages, strict=True):
        ideal = first.rate * point.number / first.number
        yield (
            where,
            Num(count_words(found, point.number), point.number),
            measure.unit,
            *(Num(measure.number(rate), rate) for rate in (point.rate, average, point.rate / point.number, ideal)),
            Num(numbers.share(point.efficiency), point.efficiency),
            ""
            if point.efficiency_interval is None
            else f"{numbers.share(point.efficiency_interval[0])} to {numbers.share(point.efficiency_interval[1])}",
            found.work or "other",
            _seconds(point.seconds),
            _seconds(_ideal_seconds(found, point)),
        )


def _seconds(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else numbers.significant(value), value)


def _ideal_seconds(found: Scaling, point: ScalingPoint) -> float | None:
    first = found.points[0]
    if first.seconds is None or not found.work:
        return None
    return first.seconds if found.work == "weak" else first.seconds * first.number / point.number


def best_table(found: Sequence[BestPoint]) -> Table:
    """Return a table of the best rate of each target at each number of hosts, over all values of the other axes."""
    columns = (
        Column("Target", is_filter=True),
        Column("Operation", is_filter=True),
        Column("With", is_filter=True),
        Column("Unit", is_filter=True),
        Column("Best", is_numeric=True),
        Column("95 % interval"),
        Column("At"),
        Column("Of", is_numeric=True),
    )
    lines: list[tuple[Cell, ...]] = []
    for item in found:
        measure = measure_of(item.operation)
        ends = (
            "" if item.low is None or item.high is None else f"{measure.number(item.low)} to {measure.text(item.high)}"
        )
        lines.append(
            (
                item.target,
                numbers.operation_title(item.operation),
                Num(number_words(item.axis, item.number, item.operation), item.number),
                measure.unit,
                Num(measure.number(item.rate), item.rate),
                ends,
                _at(item),
                Num(str(item.point_count), item.point_count),
            )
        )
    caption = (
        "Of: number of points of the other axes that were measured; this is the best of them. The best of several "
        "points is slightly too high; its interval is that of the single point."
    )
    return Table("best-table", columns, tuple(lines), caption, is_interactive=True)


def _at(item: BestPoint) -> str:
    return ", ".join(
        f"{numbers.axis_title(name).lower()} {numbers.axis_value(name, value)}"  # type: ignore[arg-type]
        for name, value in item.at
    )


def servers_table(grown: Sequence[Growth]) -> Table:
    """Return a table of totals by number of servers and hosts, with the sum that separate servers would reach."""
    lines: list[tuple[Cell, ...]] = []
    for found in grown:
        measure = measure_of(found.operation)
        values = [numbers.axis_value(name, value) for name, value in found.others]  # type: ignore[arg-type]
        where = ", ".join([numbers.operation_title(found.operation), found.workload, *values])
        for cell in found.cells:
            parts, share, ratio = cell.parts, cell.efficiency, found.ratios.get(cell.servers)
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
                    _ratio(ratio),
                )
            )
    columns = (
        Column("Result", is_filter=True),
        Column("Target", is_filter=True),
        Column("Servers", is_numeric=True),
        Column("Hosts", is_numeric=True),
        Column("Unit", is_filter=True),
        *(
            Column(name, is_numeric=True)
            for name in ("All", "Sum of the parts", "Efficiency", "Bend, hosts per server")
        ),
    )
    caption = (
        "Sum of the parts: the total of as many separate servers, each with its part of the hosts, from the measured "
        "rate of one server with as many hosts; with fewer hosts than servers each host has its own server. "
        "Efficiency: the total as a share of this sum. Bend, hosts per server: hosts divided by servers where the "
        "total bends, with its 95 % interval; empty without a significant bend, or with too few host counts or repeats."
    )
    return Table("servers-table", columns, tuple(lines), caption, is_interactive=True)


def _ratio(bend: Bend | None) -> Num:
    if bend is None or bend.at is None:
        return Num("", None)
    return Num(
        f"{about_number(bend.at.value, 2)} ({about_number(bend.at.low, 2)} to {about_number(bend.at.high, 2)})",
        bend.at.value,
    )
