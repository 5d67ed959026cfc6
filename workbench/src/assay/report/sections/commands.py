"""Commands: wall clock, times of tasks, CPU and bytes of each program that was run."""

from collections.abc import Mapping, Sequence

from assay.analyse.programs.bound import BoundKind, pressure_difference
from assay.analyse.programs.results import MachineCounts, ProgramResult, command_result
from assay.model.result.decision import PointOutcome
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Num, Paragraph, Section, Table
from assay.report.sections.commands_cells import megabits_cell, place_words, share_cell, size_cell, time_words
from assay.report.sections.commands_costs import CommandRow, cost_blocks
from assay.report.sections.commands_figures import figures_table, missing_figures, stated_units
from assay.report.sections.commands_replication import replication_blocks, syncs_of
from assay.report.sections.commands_tasks import tasks_fold
from assay.report.sections.leading_columns import COMMAND_COLUMNS, command_cells
from assay.report.view import RunView

MIN_STARVED = 0.05
"""From this share of the time on it is said that threads were ready and had no CPU."""
MAX_SENTENCES = 20
MIN_SHARE = 0.01
"""Smaller shares of the time are not mentioned."""
_MACHINES = (
    "What the machines that ran the tasks counted in the same time, whatever program it was for; medians over the "
    "repeats. Links: to other hosts. Loopback: between programs of one host, such as a task and a server on the same "
    "machine, counted once. NFS: between mounted file systems and their servers. Device: the block device below the "
    "target. I/O waits: share of the time in which one thread of the machine, or all that had something to do, waited "
    "for I/O (PSI); the kernel counts no waits for FUSE there, and for network file systems only some."
)
_NO_PRESSURE = " This kernel does not count waits for I/O (PSI)."
_CAPTION = (
    "Medians over the repeats that count, with the 95 % interval of the wall clock. Wall clock: from the start of the "
    "first task to the end of the last. In and out: what the programs read and wrote by calls, from files, caches and "
    "pipes, per second of wall clock. Storage: what of it the kernel fetched from and sent to storage; network file "
    "systems do not always count there. Bound by is not known (–) of programs that were too short for 20 looks."
)


def section(view: RunView) -> Section | None:
    """Return the section; None without commands."""
    tasks = tasks_fold(view)
    found = (*command_blocks(view), *(() if tasks is None else (tasks,)))
    return Section("commands", "Commands", found) if found else None


def command_blocks(view: RunView) -> tuple[Block, ...]:
    """Return what commands took and what bounds them, for a page or a terminal; empty without commands."""
    found = [(row, result) for row in view.analysis.rows if (result := command_result(row)) is not None]
    if not found:
        return ()
    # A replication's wall clock includes making and comparing its files, and its program mostly waits for others.
    programs = [(row, result) for row, result in found if not syncs_of(result)]
    blocks: list[Block] = [Paragraph(_lead(view, programs))] if programs else []
    # A run of many cases has the rest in the table.
    known = {row.case.id: result for row, result in programs}
    bounds = [line for row, result in programs if (line := _bound_sentence(view, row, result, known)) is not None]
    if bounds:
        blocks.append(Bullets(tuple(bounds[:MAX_SENTENCES])))
    # A replication prints what its scenario and its link have; its tables show that.
    units = stated_units(view) if programs else {}
    if missing := [line for row, _ in programs for line in missing_figures(view, row, units)]:
        blocks.append(Bullets(tuple(missing[:MAX_SENTENCES])))
    if programs:
        blocks.append(_table(view, programs))
    more = (*replication_blocks(view, found), _machines_table(view, found), figures_table(view, programs, units))
    return (*blocks, *(table for table in more if table is not None), *cost_blocks(view, found))


def _lead(view: RunView, found: Sequence[CommandRow]) -> str:
    words = [f"{place_words(view, row)}: {time_words(result.wall_s)}" for row, result in found[:3]]
    more = f", and {len(found) - 3} more below" if len(found) > 3 else ""
    return f"Wall clock: {'; '.join(words)}{more}."


_BOUND_WORDS: dict[BoundKind, str] = {
    "storage": "storage-bound",
    "network": "network-bound",
    "compute": "compute-bound",
    "busy": "bound by what is not known, because the machine was busy",
    "waiting": "bound by neither storage nor computing",
    "mixed": "bound by several things",
}


_PRESSURE_WORDS = {
    "kernel": " The kernel does not agree: by its count (PSI) all of the machine waited for I/O {all} of the time. "
    "Other programs waited, or threads that the task did not wait for.",
    "looks": " The kernel does not agree: by its count (PSI) a thread waited for I/O {some} of the time. It counts no "
    "waits for FUSE, and for network file systems only some; or a call on a file waited for something else.",
}


def _bound_sentence(
    view: RunView, row: ResultRow, result: ProgramResult, known: Mapping[str, ProgramResult]
) -> str | None:
    """Return what bounds a command, and what faster storage would save; None if it is not known."""
    bound = result.bound
    if bound is None:
        return None
    shares = (
        (bound.running, "a thread was running or ready to run"),
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
    where = place_words(view, row)
    starved = ""
    if bound.starved >= MIN_STARVED:
        starved = f" (at least {100 * bound.starved:.0f} % only ready to run: other threads had the CPUs)"
    differs = pressure_difference(bound, result.machines.io_some, result.machines.io_full)
    pressure = "" if differs is None else _PRESSURE_WORDS[differs].format(**_percents(result.machines))
    return f"{where} is {_BOUND_WORDS[bound.kind]}: {seen}{starved}; {saved}.{pressure}{_in_memory(view, row, known)}"


def _percents(machines: MachineCounts) -> dict[str, str]:
    shares = {"some": machines.io_some, "all": machines.io_full}
    return {name: f"{100 * (share or 0.0):.0f} %" for name, share in shares.items()}


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
                bound = known[row.case.id].bound
                if bound is not None and 1 - there / wall >= bound.saving + MIN_SHARE:
                    cpu = [numbers.seconds(one.cpus_busy * one.wall_s.median) for one in (result, known[row.case.id])]
                    difference += f", more than the waits that were seen; CPU time {cpu[0]} instead of {cpu[1]}"
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


def _table(view: RunView, found: Sequence[CommandRow]) -> Table:
    columns = (
        *COMMAND_COLUMNS,
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
        Column("Storage", "read", is_numeric=True, is_detail=True),
        Column("Storage", "written", is_numeric=True, is_detail=True),
    )
    lines = tuple(_line(view, row, result) for row, result in found)
    return Table("commands-table", columns, lines, _CAPTION, is_interactive=True)


def _line(view: RunView, row: ResultRow, result: ProgramResult) -> tuple[Cell, ...]:
    wall, io = result.wall_s.median, result.io
    moved = (None, None) if io is None else (io.call_read_bytes, io.call_write_bytes)
    total = None if io is None else io.call_read_bytes + io.call_write_bytes
    stored = (None, None) if io is None else (io.read_bytes, io.write_bytes)
    return (
        *command_cells(view, row),
        Num(f"{result.tasks:,}", result.tasks),
        Num(time_words(result.wall_s), wall),
        numbers.NONE if result.bound is None else result.bound.kind,
        share_cell(None if result.bound is None else result.bound.saving),
        Num(numbers.seconds(result.task_s), result.task_s),
        Num(numbers.seconds(result.longest_task_s), result.longest_task_s),
        Num(numbers.significant(result.cpus_busy), result.cpus_busy),
        *(megabits_cell(amount, wall) for amount in (*moved, total)),
        *(size_cell(amount) for amount in stored),
    )


_MACHINE_COLUMNS: Mapping[str, tuple[str, str]] = {
    "received": ("Links in", "Mb/s"),
    "sent": ("Links out", "Mb/s"),
    "loopback": ("Loopback", "Mb/s"),
    "nfs_read": ("NFS", "read"),
    "nfs_written": ("NFS", "written"),
    "device_read": ("Device", "read"),
    "device_written": ("Device", "written"),
    "io_some": ("I/O waits", "some"),
    "io_full": ("I/O waits", "all"),
}
"""Field of `MachineCounts` -> heading, and unit or part."""


def _machines_table(view: RunView, found: Sequence[CommandRow]) -> Table | None:
    """Return what the machines counted meanwhile, without what none has counted; None if that is nothing."""
    names = [name for name in _MACHINE_COLUMNS if any(getattr(one.machines, name) is not None for _, one in found)]
    if not names:
        return None
    lines = [
        (*command_cells(view, row), *(_machine_cell(name, getattr(one.machines, name), one) for name in names))
        for row, one in found
    ]
    columns = (*COMMAND_COLUMNS, *(Column(*_MACHINE_COLUMNS[name], is_numeric=True) for name in names))
    is_counted = any(sample.uses for row, _ in found for sample in row.samples)
    unknown = _NO_PRESSURE if is_counted and "io_some" not in names else ""
    return Table("command-machines", columns, tuple(lines), _MACHINES + unknown, is_interactive=True)


def _machine_cell(name: str, value: float | None, result: ProgramResult) -> Num:
    if name in ("io_some", "io_full"):
        return share_cell(value)
    is_rate = _MACHINE_COLUMNS[name][1] == "Mb/s"
    return megabits_cell(value, result.wall_s.median) if is_rate else size_cell(value)
