"""Tasks of commands as a flat table: a record for each execution of a program."""

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import Sample
from assay.model.result.tasks import TaskResult
from assay.report.sections.commands_figures import stated_units
from assay.report.tables import FlatColumn, FlatTable, Record, Value
from assay.report.view import RunView

TASK_COLUMNS = (
    FlatColumn("case", "text", "Case"),
    FlatColumn("target", "text", "Target"),
    FlatColumn("command", "text", "Command"),
    FlatColumn("repeat", "integer", "Repeat"),
    FlatColumn("repeat_status", "text", "Status of the repeat at its end"),
    FlatColumn("task", "text", "Task: what $task stood for"),
    FlatColumn("host", "text", "Host; empty on this machine alone"),
    FlatColumn("lane", "integer", "Lane that ran it, from 0"),
    FlatColumn("started_at_unix_s", "number", "Start, seconds since 1970"),
    FlatColumn("started_ns", "integer", "From the start of the phase to its own"),
    FlatColumn("elapsed_ns", "integer", "How long it took"),
    FlatColumn("exit_code", "integer", "Exit code; empty if a signal ended it or it was not started"),
    FlatColumn("signal", "integer", "Signal that ended it"),
    FlatColumn("failure", "text", "Why it has failed; empty if it has not"),
    FlatColumn("cpu_user_ns", "integer", "CPU time in user space of all its processes"),
    FlatColumn("cpu_system_ns", "integer", "CPU time in the kernel of all its processes"),
    FlatColumn("max_rss_bytes", "integer", "Greatest resident memory of one of its processes"),
    FlatColumn("read_bytes", "integer", "Bytes that read calls returned, from files, caches and pipes"),
    FlatColumn("write_bytes", "integer", "Bytes that write calls took"),
    FlatColumn("reads", "integer", "Read calls"),
    FlatColumn("writes", "integer", "Write calls"),
    FlatColumn("device_read_bytes", "integer", "Bytes fetched from storage; network file systems may not count"),
    FlatColumn("device_write_bytes", "integer", "Bytes sent to storage; network file systems may not count"),
    FlatColumn("looks", "integer", "Looks at its threads; without any the next four are empty"),
    FlatColumn("running_ns", "integer", "A thread was on a CPU, or ready for one"),
    FlatColumn("storage_ns", "integer", "None was, and one waited for storage"),
    FlatColumn("network_ns", "integer", "None of these, and one waited for a network"),
    FlatColumn("other_ns", "integer", "All slept or waited for each other"),
    FlatColumn("left_running", "integer", "Processes that it left running, which were killed"),
)
"""Columns of `tasks_table` that each run has; behind them is one for each figure."""


def task_records(analysis: RunAnalysis) -> Iterator[dict[str, Any]]:
    """Yield a record for each task of each repeat, failed ones included; `figures` has those that it printed."""
    for row, sample, task in _tasks(analysis):
        yield {**_record(row, sample, task), "figures": dict(task.figures)}


def tasks_table(analysis: RunAnalysis) -> FlatTable:
    """Return the table of all tasks, with a column for each figure that the study states or a task printed."""
    units = stated_units(RunView(analysis))
    found = list(_tasks(analysis))
    names: dict[tuple[str, str], str] = {
        (row.case.workload, name): _heading(name, units.get((row.case.workload, name), ""))
        for row, _, task in found
        for name in (*(figure for command, figure in units if command == row.case.workload), *task.figures)
    }
    columns = tuple(
        FlatColumn(heading, "number", "Figure that the program printed; empty if its pattern found no number")
        for heading in dict.fromkeys(names.values())
    )
    empty: Mapping[str, Value] = {column.name: None for column in columns}
    records = tuple(
        {
            **_record(row, sample, task),
            **empty,
            **{names[row.case.workload, name]: value for name, value in task.figures.items()},
        }
        for row, sample, task in found
    )
    return FlatTable("tasks", (*TASK_COLUMNS, *columns), records)


def _tasks(analysis: RunAnalysis) -> Iterator[tuple[ResultRow, Sample, TaskResult]]:
    return ((row, sample, task) for row in analysis.rows for sample in row.samples for task in sample.tasks)


def _heading(name: str, unit: str) -> str:
    return f"figure {name} ({unit})" if unit else f"figure {name}"


def _record(row: ResultRow, sample: Sample, task: TaskResult) -> Record:
    io, states = task.io, task.states
    started_at = sample.started_at + task.started_ns / 1e9 if sample.started_at else None
    values: tuple[Value, ...] = (
        *(row.case.id, row.case.target, row.case.workload, sample.repeat, sample.status),
        *(task.task, task.host, task.lane, started_at, task.started_ns, task.elapsed_ns),
        *(task.exit_code, task.signal, task.failure, task.user_ns, task.system_ns, task.max_rss_bytes),
        *(
            None if io is None else getattr(io, name)
            for name in ("call_read_bytes", "call_write_bytes", "reads", "writes", "read_bytes", "write_bytes")
        ),
        *(
            None if states is None else getattr(states, name)
            for name in ("looks", "running_ns", "storage_ns", "network_ns", "other_ns")
        ),
        task.left_running,
    )
    return dict(zip((column.name for column in TASK_COLUMNS), values, strict=True))
