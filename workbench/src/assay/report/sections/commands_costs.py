"""What runs of commands cost: a table, and the cost of a task and the wall clock over the number of hosts."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from assay.analyse.programs.results import ProgramResult
from assay.model.money.amount import EXACT
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.result import ResultRow
from assay.money.cost.stored_prices import egress_cost, hour_of_hosts
from assay.report import numbers
from assay.report.charts.theme import measured_axis, tooltip_text
from assay.report.costs import target_costs
from assay.report.document import Block, Cell, Chart, Column, Gallery, Num, Table
from assay.report.growth.charts import LinePoint, number_lines
from assay.report.growth.sentences import number_words
from assay.report.pricing import money_cell
from assay.report.sections.leading_columns import COMMAND_COLUMNS, command_cells
from assay.report.view import RunView, point_words

CommandRow = tuple[ResultRow, ProgramResult]
"""A case of a command, and what it took."""
MIN_HOST_COUNTS = 3
"""Fewest numbers of hosts for a curve."""

_COSTS = (
    "An hour of the target's design and of the rented hosts, times the median wall clock. Requests and traffic are in "
    "the hour only as far as the study states them as use of a month. Saving: what storage that never waits would take "
    "off a run, if it cost the same."
)
_SHARED = (
    " Where the number of hosts varies, a point pays for its hosts only: with one of at most four, a quarter of the "
    "hour of the rented hosts."
)
_EGRESS = (
    " Egress: what the hosts' links received or sent in a run, as data to the internet beyond what is free each month. "
    "What they received is paid if the storage is in this cloud and the hosts are not, what they sent if the hosts are "
    "and the storage is not."
)


def cost_blocks(view: RunView, found: Sequence[CommandRow]) -> tuple[Block, ...]:
    """Return what a run of each command costs; empty if the study names no prices for their targets."""
    prices = view.run.prices
    if prices is None:
        return ()
    hours = hourly_costs(view, prices, [row for row, _ in found])
    priced = [(row, result) for row, result in found if row.case.id in hours]
    if not priced:
        return ()
    charts = _charts(view, prices, hours, priced)
    return (_table(view, prices, hours, priced), *((Gallery(charts),) if charts else ()))


def hourly_costs(view: RunView, prices: FrozenPrices, rows: Sequence[ResultRow]) -> Mapping[str, Decimal]:
    """Return case id -> cost of an hour of the target's design and of the case's hosts; without unknown costs."""
    designs = {item.target: item.hour for item in target_costs(view) if item.hour is not None}
    most: dict[str, int] = {}
    for row in rows:
        most[row.case.workload] = max(most.get(row.case.workload, 0), row.case.parameters.hosts)
    hosts = hour_of_hosts(prices)
    return {
        row.case.id: EXACT.add(
            designs[row.case.target],
            EXACT.divide(EXACT.multiply(hosts, Decimal(row.case.parameters.hosts)), Decimal(most[row.case.workload])),
        )
        for row in rows
        if row.case.target in designs
    }


def cost_of(hour: Decimal, seconds: float) -> Decimal:
    """Return what so many seconds cost."""
    return EXACT.divide(EXACT.multiply(hour, Decimal(repr(seconds))), Decimal(3600))


def _table(view: RunView, prices: FrozenPrices, hours: Mapping[str, Decimal], found: Sequence[CommandRow]) -> Table:
    linked = any(result.machines.received is not None for _, result in found) and egress_cost(prices, 0) is not None
    unit = prices.book.currency
    columns = (
        *COMMAND_COLUMNS,
        Column("An hour", unit, is_numeric=True),
        Column("A run", unit, is_numeric=True),
        Column("A task", unit, is_numeric=True),
        Column("Saving", "at most", is_numeric=True),
        *((Column("Egress", way, is_numeric=True) for way in ("received", "sent")) if linked else ()),
    )
    lines = tuple(
        (*command_cells(view, row), *_cells(hours[row.case.id], result), *(_egress(prices, result) if linked else ()))
        for row, result in found
    )
    varies = any(len(_host_counts(found, row.case.workload)) > 1 for row, _ in found)
    caption = _COSTS + (_SHARED if varies else "") + (_EGRESS if linked else "")
    return Table("command-costs", columns, lines, caption, is_interactive=True)


def _cells(hour: Decimal, result: ProgramResult) -> tuple[Cell, ...]:
    cost = cost_of(hour, result.wall_s.median)
    saved = None if result.bound is None else EXACT.multiply(cost, Decimal(repr(result.bound.saving)))
    return (
        money_cell(hour),
        money_cell(cost),
        money_cell(EXACT.divide(cost, Decimal(result.tasks))),
        Num(numbers.NONE, None) if saved is None else money_cell(saved),
    )


def _egress(prices: FrozenPrices, result: ProgramResult) -> tuple[Cell, ...]:
    sizes = result.machines.received, result.machines.sent
    costs = (None if size is None else egress_cost(prices, round(size)) for size in sizes)
    return tuple(Num(numbers.NONE, None) if cost is None else money_cell(cost) for cost in costs)


def _host_counts(found: Sequence[CommandRow], workload: str) -> set[int]:
    return {row.case.parameters.hosts for row, _ in found if row.case.workload == workload}


def _charts(
    view: RunView, prices: FrozenPrices, hours: Mapping[str, Decimal], found: Sequence[CommandRow]
) -> tuple[Chart, ...]:
    """Return charts of a task's cost and of the wall clock over hosts; empty with too few numbers of hosts."""
    rows = [(row, one) for row, one in found if len(_host_counts(found, row.case.workload)) >= MIN_HOST_COUNTS]
    if not rows:
        return ()
    unit = prices.book.currency
    costs, times = [], []
    for row, one in rows:
        count, line = row.case.parameters.hosts, _line_name(view, row)
        wall = one.wall_s
        low, high = (wall.median if end is None else end for end in (wall.low, wall.high))
        second = float(cost_of(hours[row.case.id], 1.0)) / one.tasks
        cost = wall.median * second
        words = tooltip_text(line, number_words("hosts", count), f"{numbers.significant(cost)} {unit}")
        costs.append(LinePoint(line, count, cost, low * second, high * second, words))
        words = tooltip_text(line, number_words("hosts", count), numbers.seconds(wall.median))
        times.append(LinePoint(line, count, wall.median, low, high, words))
    drawn = (
        ("tasks-cost", "Cost of a task over hosts", costs, f"Cost of a task ({unit})"),
        ("tasks-time", "Wall clock over hosts", times, "Wall clock (s)"),
    )
    caption = "Medians of the same tasks on more hosts, with 95 % intervals."
    return tuple(
        Chart(name, title, caption, number_lines(points, "hosts", measured_axis([point.y for point in points], axis)))
        for name, title, points, axis in drawn
    )


def _line_name(view: RunView, row: ResultRow) -> str:
    others = [axis for axis in view.swept_axes_of(row.case.workload) if axis != "hosts"]
    point = point_words(row.case.axes, others)
    return f"{row.case.workload} on {row.case.target}{f' ({point})' if point else ''}"
