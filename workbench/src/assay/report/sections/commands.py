"""Commands: wall clock, times of tasks, CPU and bytes of each program that was run."""

import math
from collections.abc import Mapping
from decimal import Decimal

from assay.analyse.programs.bound import Bound, BoundKind
from assay.analyse.programs.results import ProgramResult, command_result
from assay.model.money.amount import EXACT
from assay.model.money.priced_designs import FrozenPrices
from assay.model.result.decision import PointOutcome
from assay.model.result.result import Estimate, ResultRow
from assay.model.result.tasks import TaskResult
from assay.money.cost.stored_prices import egress_cost, hour_of_hosts
from assay.report import numbers
from assay.report.costs import target_costs
from assay.report.document import Block, Bullets, Cell, Column, Num, Paragraph, Section, Table
from assay.report.pricing import money_cell
from assay.report.sections.replication import replication_blocks, syncs_of
from assay.report.view import RunView

_COSTS = (
    "An hour of the target's design and of the rented hosts, times the median wall clock. Requests and traffic are in "
    "the hour only as far as the study states them as use of a month. Saving: what storage that never waits would take "
    "off a run, if it cost the same."
)
_EGRESS = (
    " Egress: what the hosts' links received or sent in a run, as data to the internet beyond what is free each month. "
    "What they received is paid if the storage is in this cloud and the hosts are not, what they sent if the hosts are "
    "and the storage is not."
)
MIN_REPEATS = 3
"""With fewer repeats an interval is shown nowhere: that of two is as wide as a guess."""
MIN_STARVED = 0.05
"""From this share of the time on it is said that threads were ready and had no CPU."""
MAX_SENTENCES = 20
MIN_WHOLE = 1000
"""From here on, figures of programs are shown as whole numbers: counts of files must not be rounded to three digits."""
MIN_SHARE = 0.01
"""Smaller shares of the time are not mentioned."""
_BITS_PER_MEGABIT = 1e6
_CAPTION = (
    "Medians over the repeats that count, with the 95 % interval of the wall clock. Wall clock: from the start of the "
    "first task to the end of the last. In and out: what the programs read and wrote by calls, from files, caches and "
    "pipes, per second of wall clock. Links: what the hosts received and sent, whatever program it was for. Storage: "
    "what of it the kernel fetched from and sent to storage; network file systems do not always count there. Bound by "
    "is not known (–) of programs that were too short for 20 looks."
)


def section(view: RunView) -> Section | None:
    """Return the section; None without commands."""
    found = command_blocks(view)
    return Section("commands", "Commands", found) if found else None


def command_blocks(view: RunView) -> tuple[Block, ...]:
    """Return what commands took and what bounds them, for a page or a terminal; empty without commands."""
    found = [(row, result) for row in view.analysis.rows if (result := command_result(row)) is not None]
    if not found:
        return ()
    blocks: list[Block] = [Paragraph(_lead(view, found))]
    # A run of many cases has the rest in the table.
    known = {row.case.id: result for row, result in found}
    bounds = [line for row, result in found if (line := _bound_sentence(view, row, result, known)) is not None]
    if bounds:
        blocks.append(Bullets(tuple(bounds[:MAX_SENTENCES])))
    blocks.append(_table(view, found))
    more = (*replication_blocks(view, found), _figures_table(view, found), _costs_table(view, found))
    return (*blocks, *(table for table in more if table is not None))


def task_table(row: ResultRow) -> Table | None:
    """Return a table with a line for each task of each repeat of a result; None without tasks."""
    tasks = [(sample.repeat, task) for sample in row.samples for task in sample.tasks]
    if not tasks:
        return None
    columns = (
        Column("Repeat", is_numeric=True),
        Column("Task"),
        Column("Host"),
        Column("Start", is_numeric=True),
        Column("Time", is_numeric=True),
        Column("CPU time", is_numeric=True),
        Column("Read", "by calls", is_numeric=True),
        Column("Written", "by calls", is_numeric=True),
        Column("Waited", "for storage", is_numeric=True),
        Column("End"),
    )
    lines = tuple(_task_line(repeat, task) for repeat, task in tasks)
    return Table("tasks-table", columns, lines, "", is_interactive=True)


def _task_line(repeat: int, task: TaskResult) -> tuple[Cell, ...]:
    io, states = task.io, task.states
    waited = states.storage_ns / states.observed_ns if states is not None and states.observed_ns else None
    return (
        Num(str(repeat), repeat),
        task.task,
        task.host,
        Num(numbers.seconds(task.started_ns / 1e9), task.started_ns),
        Num(numbers.seconds(task.elapsed_ns / 1e9), task.elapsed_ns),
        Num(numbers.seconds(task.cpu_ns / 1e9), task.cpu_ns),
        _size(None if io is None else io.call_read_bytes),
        _size(None if io is None else io.call_write_bytes),
        Num(numbers.NONE if waited is None else f"{100 * waited:.0f} %", waited),
        _task_end(task),
    )


def _lead(view: RunView, found: list[tuple[ResultRow, ProgramResult]]) -> str:
    words = [
        f"{row.case.workload} on {row.case.target}{_at(view, row)}: {_time(result.wall_s)}" for row, result in found[:3]
    ]
    more = f", and {len(found) - 3} more below" if len(found) > 3 else ""
    return f"Wall clock: {'; '.join(words)}{more}."


def _task_end(task: TaskResult) -> str:
    left = numbers.plural(task.left_running, "process", "processes") if task.left_running else ""
    return f"{task.failure or 'ok'}{f'; {left} that it left running were killed' if left else ''}"


_BOUND_WORDS: dict[BoundKind, str] = {
    "storage": "storage-bound",
    "network": "network-bound",
    "compute": "compute-bound",
    "waiting": "bound by neither storage nor computing",
    "mixed": "bound by several things",
}


def _bound_sentence(
    view: RunView, row: ResultRow, result: ProgramResult, known: Mapping[str, ProgramResult]
) -> str | None:
    """Return what bounds a command, and what faster storage would save; None if it is not known."""
    bound = result.bound
    if bound is None:
        return None
    shares = (
        (bound.running, "a thread was running"),
        (bound.storage, "none was running and one waited for storage"),
        (bound.network, "one waited for a network"),
        (bound.other, "all slept or waited for each other"),
    )
    seen = ", ".join(f"{100 * share:.0f} % of the time {words}" for share, words in shares if share >= MIN_SHARE)
    wall = result.wall_s.median
    saved = "faster storage would save next to nothing"
    if bound.saving >= MIN_SHARE:
        least = numbers.seconds(bound.saving * wall)
        saved = f"storage that never waits would save at most {100 * bound.saving:.0f} % ({least})"
    where = f"{row.case.workload} on {row.case.target}{_at(view, row)}"
    starved = ""
    if bound.starved >= MIN_STARVED:
        starved = f" (at least {100 * bound.starved:.0f} % only ready to run: other threads had the CPUs)"
    return f"{where} is {_BOUND_WORDS[bound.kind]}: {seen}{starved}; {saved}.{_in_memory(view, row, known)}"


def _in_memory(view: RunView, row: ResultRow, known: Mapping[str, ProgramResult]) -> str:
    """Return what the same command took on a target in memory, in a sentence; empty without one.

    Args:
        view: The run.
        row: The result on a target.
        known: Case id -> result, of all commands.
    """
    own = view.place(row.case.target)
    if own is not None and own.is_memory:
        return ""
    for target in view.targets:
        place = view.place(target)
        other = view.row(row.case.workload, row.operation, target, row.case.axes)
        result = known.get(other.case.id) if other is not None and place is not None and place.is_memory else None
        if result is not None:
            there, wall = result.wall_s.median, known[row.case.id].wall_s.median
            difference = "no difference is decided"
            if _is_decided(view, row, target):
                difference = f"{abs(100 * (1 - there / wall)):.0f} % {'less' if there < wall else 'more'}"
            return f" In memory (target {target}) it takes {numbers.seconds(there)}: {difference}."
    return ""


def _is_decided(view: RunView, row: ResultRow, target: str) -> bool:
    """Return whether the run decides which of a result's target and another one is faster at the result's point."""
    both = {row.case.target, target}
    return any(
        point.outcome is PointOutcome.FASTER
        for one in view.analysis.decisions
        if (one.workload, one.operation) == (row.case.workload, row.operation) and {one.base, one.other} == both
        for point in one.points
        if point.axes == row.case.axes
    )


def _at(view: RunView, row: ResultRow) -> str:
    point = view.point_of(row)
    return f" ({point})" if point else ""


def _time(value: Estimate) -> str:
    middle = numbers.seconds(value.median)
    if value.low is None or value.high is None or value.n < MIN_REPEATS:
        return middle
    return f"{middle} ({numbers.seconds(value.low)} to {numbers.seconds(value.high)})"


def _table(view: RunView, found: list[tuple[ResultRow, ProgramResult]]) -> Table:
    linked = any(result.received is not None for _, result in found)
    columns = (
        Column("Command"),
        Column("Target"),
        Column("Point"),
        Column("Tasks", is_numeric=True),
        Column("Wall clock", is_numeric=True),
        Column("Bound by"),
        Column("Saving", "at most", is_numeric=True),
        Column("Task", "median", is_numeric=True, is_detail=True),
        Column("Task", "longest", is_numeric=True, is_detail=True),
        Column("CPUs busy", is_numeric=True, drop_rank=1),
        Column("In", "Mb/s", is_numeric=True, drop_rank=1),
        Column("Out", "Mb/s", is_numeric=True, drop_rank=1),
        Column("Total", "Mb/s", is_numeric=True, drop_rank=1),
        *((Column(f"Links {way}", "Mb/s", is_numeric=True, drop_rank=2) for way in ("in", "out")) if linked else ()),
        Column("Storage", "read", is_numeric=True, is_detail=True),
        Column("Storage", "written", is_numeric=True, is_detail=True),
    )
    lines = tuple(_line(view, row, result, linked) for row, result in found)
    return Table("commands-table", columns, lines, _CAPTION, is_interactive=True)


def _line(view: RunView, row: ResultRow, result: ProgramResult, linked: bool) -> tuple[Cell, ...]:
    """Return the cells of a command's case; `linked`: with the rates of the hosts' links."""
    wall, io = result.wall_s.median, result.io
    moved = (None, None) if io is None else (io.call_read_bytes, io.call_write_bytes)
    total = None if io is None else io.call_read_bytes + io.call_write_bytes
    stored = (None, None) if io is None else (io.read_bytes, io.write_bytes)
    cells: tuple[Cell, ...] = (
        row.case.workload,
        row.case.target,
        view.point_of(row),
        Num(f"{result.tasks:,}", result.tasks),
        Num(_time(result.wall_s), wall),
        numbers.NONE if result.bound is None else result.bound.kind,
        _saving(result.bound),
        Num(numbers.seconds(result.task_s), result.task_s),
        Num(numbers.seconds(result.longest_task_s), result.longest_task_s),
        Num(numbers.significant(result.cpus_busy), result.cpus_busy),
        *(_megabits(amount, wall) for amount in (*moved, total)),
        *(_megabits(amount, wall) for amount in ((result.received, result.sent) if linked else ())),
        *(_size(amount) for amount in stored),
    )
    return cells


def _saving(bound: Bound | None) -> Num:
    if bound is None:
        return Num(numbers.NONE, None)
    return Num(f"{100 * bound.saving:.0f} %", bound.saving)


def _megabits(amount: int | None, seconds: float) -> Num:
    if amount is None:
        return Num(numbers.NONE, None)
    value = 8 * amount / seconds / _BITS_PER_MEGABIT
    return Num(numbers.significant(value), value)


def _size(amount: int | None) -> Num:
    return Num(numbers.NONE, None) if amount is None else Num(numbers.size(amount), amount)


def _figures_table(view: RunView, found: list[tuple[ResultRow, ProgramResult]]) -> Table | None:
    found = [(row, result) for row, result in found if not syncs_of(result)]
    names = list(dict.fromkeys(name for _, result in found for name in result.figures))
    if not names:
        return None
    columns = (Column("Command"), Column("Target"), Column("Point"), *(Column(name, is_numeric=True) for name in names))
    lines: list[tuple[Cell, ...]] = [
        (row.case.workload, row.case.target, view.point_of(row), *(_figure(result.figures.get(name)) for name in names))
        for row, result in found
    ]
    caption = "Numbers that the programs printed: the mean of a repeat's tasks, then the median over the repeats."
    return Table("figures-table", columns, tuple(lines), caption, is_interactive=True)


def _figure(value: Estimate | None) -> Num:
    if value is None:
        return Num(numbers.NONE, None)
    number = value.median
    is_whole = number.is_integer() or (math.isfinite(number) and abs(number) >= MIN_WHOLE)
    return Num(numbers.count(number) if is_whole else numbers.significant(number), number)


def _costs_table(view: RunView, found: list[tuple[ResultRow, ProgramResult]]) -> Table | None:
    """Return what a run of each command costs; None if the study names no prices for their targets."""
    prices = view.run.prices
    if prices is None:
        return None
    hours = {item.target: item.hour for item in target_costs(view) if item.hour is not None}
    linked = any(result.received is not None for _, result in found) and egress_cost(prices, 0) is not None
    lines = [
        _cost_line(view, row, result, EXACT.add(hours[row.case.target], hour_of_hosts(prices)))
        + (_egress(prices, result) if linked else ())
        for row, result in found
        if row.case.target in hours
    ]
    if not lines:
        return None
    unit = prices.book.currency
    columns = (
        Column("Command"),
        Column("Target"),
        Column("Point"),
        Column("An hour", unit, is_numeric=True),
        Column("A run", unit, is_numeric=True),
        Column("A task", unit, is_numeric=True),
        Column("Saving", "at most", is_numeric=True),
        *((Column("Egress", way, is_numeric=True) for way in ("received", "sent")) if linked else ()),
    )
    caption = _COSTS + (_EGRESS if linked else "")
    return Table("command-costs", columns, tuple(lines), caption, is_interactive=True)


def _cost_line(view: RunView, row: ResultRow, result: ProgramResult, hour: Decimal) -> tuple[Cell, ...]:
    cost = EXACT.divide(EXACT.multiply(hour, Decimal(repr(result.wall_s.median))), Decimal(3600))
    saved = None if result.bound is None else EXACT.multiply(cost, Decimal(repr(result.bound.saving)))
    return (
        row.case.workload,
        row.case.target,
        view.point_of(row),
        money_cell(hour),
        money_cell(cost),
        money_cell(EXACT.divide(cost, Decimal(result.tasks))),
        Num(numbers.NONE, None) if saved is None else money_cell(saved),
    )


def _egress(prices: FrozenPrices, result: ProgramResult) -> tuple[Cell, ...]:
    costs = (None if size is None else egress_cost(prices, size) for size in (result.received, result.sent))
    return tuple(Num(numbers.NONE, None) if cost is None else money_cell(cost) for cost in costs)
