"""Replays: what traces took beside their recordings, their operations by kind, and how late they were."""

from assay.analyse.programs.replays import KindResult, ReplayedTrace, replay_result
from assay.model.result.result import ResultRow
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Num, Paragraph, Section, Table
from assay.report.pricing import money_cell
from assay.report.sections.commands_cells import place_words, time_words
from assay.report.sections.commands_costs import cost_of, hourly_costs
from assay.report.sections.leading_columns import COMMAND_COLUMNS, command_cells
from assay.report.view import RunView

MAX_SENTENCES = 20
MAX_DIFFERENCES = 20
MIN_LATE = 0.1
"""From this share of the time of its operations on, the lateness of a replay is said."""
LATE_END = 0.05
"""From this share of the time that it should take on, a replay is said to have ended late."""
_CAPTION = (
    "Medians over the repeats that count, with the 95 % interval. Time: from the start of the first copy to the end of "
    "the last. I/O: the times of all operations of a copy, added up; those of tasks that work at the same time count "
    "each. At a recorded pace the time is mostly the program's own, so that targets are compared by their I/O. "
    "Recorded times of a trace of assay record include what tracing cost."
)
_KINDS_CAPTION = (
    "Counts and bytes of one copy. Recorded and replayed: the times of these operations, added up. Latency: from when "
    "an operation was due to its end, so that a late start counts; with pace: fast, from its start."
)


def section(view: RunView) -> Section | None:
    """Return the section; None without replays."""
    found = replay_blocks(view)
    return Section("replays", "Replays", found) if found else None


def replay_blocks(view: RunView) -> tuple[Block, ...]:
    """Return what replays took, for a page or a terminal; empty without any."""
    rows = [row for row in view.analysis.rows if any(sample.replays for sample in row.samples)]
    if not rows:
        return ()
    found = [(row, result) for row in rows if (result := replay_result(row)) is not None]
    blocks: list[Block] = []
    if found:
        blocks = [Paragraph(_lead(view, found)), Bullets(_sentences(view, found)), _table(view, found)]
        blocks.append(_kinds_table(view, found))
        if (costs := _costs_table(view, found)) is not None:
            blocks.append(costs)
    if (differences := _differences_table(view, rows)) is not None:
        blocks.append(differences)
    return tuple(blocks)


def _lead(view: RunView, found: list[tuple[ResultRow, ReplayedTrace]]) -> str:
    words = [
        f"{place_words(view, row)}: {time_words(result.wall_s)}, recorded {numbers.seconds(result.recorded_s)}"
        for row, result in found[:3]
    ]
    more = f", and {len(found) - 3} more below" if len(found) > 3 else ""
    return f"Time of a replay: {'; '.join(words)}{more}."


def _sentences(view: RunView, found: list[tuple[ResultRow, ReplayedTrace]]) -> tuple[str, ...]:
    sentences = [f"{place_words(view, row)}: {_io_words(result)}{_late_words(result)}." for row, result in found]
    return tuple(sentences[:MAX_SENTENCES])


def _io_words(result: ReplayedTrace) -> str:
    copy = "" if result.copies == 1 else "of each copy "
    spent = f"the {result.operations:,} operations {copy}took {time_words(result.io_s)} in all"
    if not result.recorded_io_s:
        return f"{spent}; the recording has no times of operations"
    ratio = numbers.significant(result.io_s.median / result.recorded_io_s)
    return f"{spent}, {ratio} times the recorded {numbers.seconds(result.recorded_io_s)}"


def _late_words(result: ReplayedTrace) -> str:
    """Return how late a replay was, if that matters; empty for the pace `fast`."""
    if result.late_s is None or result.due_s is None:
        return ""
    words = ""
    late, spent = result.late_s * result.operations, result.io_s.median
    if late >= MIN_LATE * spent:
        mean, most = (numbers.latency(1e9 * time_s) for time_s in (result.late_s, result.max_delay_s))
        words = f"; they started {mean} late on average and {most} at most, which counts in their latencies"
    if result.wall_s.median > (1 + LATE_END) * result.due_s:
        over = numbers.seconds(result.wall_s.median - result.due_s)
        words += f"; it ended {over} after the {numbers.seconds(result.due_s)} that this pace takes"
    return words


def _table(view: RunView, found: list[tuple[ResultRow, ReplayedTrace]]) -> Table:
    columns = (
        *COMMAND_COLUMNS,
        Column("Copies", is_numeric=True),
        Column("Time", is_numeric=True),
        Column("Recorded", "time", is_numeric=True),
        Column("I/O", is_numeric=True),
        Column("Recorded", "I/O", is_numeric=True),
        Column("Operations", is_numeric=True, drop_rank=1),
        Column("Bytes", is_numeric=True, drop_rank=1),
        Column("Late", "mean", is_numeric=True, drop_rank=2),
        Column("Late", "at most", is_numeric=True, drop_rank=2),
        Column("Opened", "unrecorded", is_numeric=True, is_detail=True),
    )
    lines = tuple(_line(view, row, result) for row, result in found)
    return Table("replays-table", columns, lines, _CAPTION, is_interactive=True)


def _line(view: RunView, row: ResultRow, result: ReplayedTrace) -> tuple[Cell, ...]:
    late = (None, None) if result.late_s is None else (result.late_s, result.max_delay_s)
    return (
        *command_cells(view, row),
        Num(f"{result.copies:,}", result.copies),
        Num(time_words(result.wall_s), result.wall_s.median),
        Num(numbers.seconds(result.recorded_s), result.recorded_s),
        Num(time_words(result.io_s), result.io_s.median),
        Num(numbers.seconds(result.recorded_io_s), result.recorded_io_s),
        Num(f"{result.operations:,}", result.operations),
        Num(numbers.size(result.bytes), result.bytes),
        *(_latency(None if time_s is None else 1e9 * time_s) for time_s in late),
        Num(f"{result.opened:,}", result.opened),
    )


def _kinds_table(view: RunView, found: list[tuple[ResultRow, ReplayedTrace]]) -> Table:
    columns = (
        *COMMAND_COLUMNS,
        Column("Operation"),
        Column("Count", is_numeric=True),
        Column("Failed", "as recorded", is_numeric=True, is_detail=True),
        Column("Bytes", is_numeric=True, drop_rank=1),
        Column("Recorded", is_numeric=True),
        Column("Replayed", is_numeric=True),
        *(Column("Latency", name, is_numeric=True, drop_rank=rank) for name, rank in _LATENCIES.items()),
    )
    lines = tuple(
        (*command_cells(view, row), name, *_kind_cells(kind))
        for row, result in found
        for name, kind in result.kinds.items()
    )
    return Table("replayed-kinds-table", columns, lines, _KINDS_CAPTION, is_interactive=True)


_LATENCIES = {"p50": 0, "p99": 0, "p99.9": 1, "max": 2}
"""Column -> how early it is left out where there is no room."""


def _kind_cells(kind: KindResult) -> tuple[Cell, ...]:
    return (
        Num(f"{kind.count:,}", kind.count),
        Num(f"{kind.failed:,}", kind.failed),
        Num(numbers.size(kind.bytes), kind.bytes),
        Num(numbers.seconds(kind.recorded_s), kind.recorded_s),
        Num(numbers.seconds(kind.replayed_s.median), kind.replayed_s.median),
        *(_latency(kind.latency.get(name)) for name in _LATENCIES),
    )


def _latency(nanoseconds: float | None) -> Num:
    if nanoseconds is None:
        return Num(numbers.NONE, None)
    return Num(numbers.latency(nanoseconds), nanoseconds)


def _costs_table(view: RunView, found: list[tuple[ResultRow, ReplayedTrace]]) -> Table | None:
    """Return what the time of each replay costs; None if the study names no prices for their targets."""
    prices = view.run.prices
    hours = {} if prices is None else hourly_costs(view, prices, [row for row, _ in found])
    lines = [
        (
            *command_cells(view, row),
            money_cell(hours[row.case.id]),
            money_cell(cost_of(hours[row.case.id], result.wall_s.median)),
        )
        for row, result in found
        if row.case.id in hours
    ]
    if prices is None or not lines:
        return None
    unit = prices.book.currency
    columns = (
        *COMMAND_COLUMNS,
        *(Column(name, unit, is_numeric=True) for name in ("An hour", "A replay")),
    )
    caption = "An hour of the target's design and of the rented hosts, times the median time of all copies."
    return Table("replay-costs", columns, tuple(lines), caption, is_interactive=True)


def _differences_table(view: RunView, rows: list[ResultRow]) -> Table | None:
    """Return the first operations that ended otherwise than recorded; None if there are none."""
    lines = [
        (
            *command_cells(view, row),
            Num(str(sample.repeat), sample.repeat),
            Num(f"{one.line:,}", one.line),
            one.operation,
            one.file,
            one.message,
        )
        for row in rows
        for sample in row.samples
        for replay in sample.replays
        for one in replay.first_differences
    ]
    if not lines:
        return None
    count = sum(replay.differences for row in rows for sample in row.samples for replay in sample.replays)
    columns = (
        *COMMAND_COLUMNS,
        Column("Repeat", is_numeric=True),
        Column("Line", "of the trace", is_numeric=True),
        *(Column(name) for name in ("Operation", "File", "Difference")),
    )
    caption = f"Operations that ended otherwise than recorded: {numbers.plural(count, 'operation')} in all repeats. "
    caption += "A repeat that has one is no result."
    return Table("differences-table", columns, tuple(lines[:MAX_DIFFERENCES]), caption, is_interactive=True)
