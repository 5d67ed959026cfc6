"""The part `schedule` of papers: tasks, or the runs of the paper, with dates, as a table and a chart."""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, model_validator

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.room import hook
from assay.model.study.axis import fault
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.document import Block, Chart, Column, Num, Table
from assay.report.draw.drawing import ChartAxis, Drawing, IntervalMark, NamedRows
from assay.report.draw.scales import AxisScale
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.report.view import RunView

_DAY = 86400.0
_ROW = 20
"""Height of a row of the chart, in pixels."""
_MAX_TICKS = 7
_MAX_TASKS = 60


_MIN_YEAR, _MAX_YEAR = 1900, 9000


class ScheduledTask(Frozen):
    """A task.

    Attributes:
        start: First day.
        end: Last day.
        days: In place of `end`: how many days it takes.
    """

    task: Annotated[str, Field(min_length=1, max_length=200)]
    start: dt.date
    end: dt.date | None = None
    days: Annotated[int, Field(ge=1, le=36500)] | None = None

    @model_validator(mode="after")
    def _check_end(self) -> "ScheduledTask":
        if (self.end is None) == (self.days is None):
            raise fault(f"`{self.task}` needs one of `end` and `days`", "write end: 2007-04-30, or days: 14")
        if self.end is not None and self.end < self.start:
            raise fault(f"`{self.task}` ends on {self.end}, before it starts", "mend one of the dates", "end")
        if not _MIN_YEAR <= self.start.year <= self.start.year + (self.days or 0) // 365 < _MAX_YEAR:
            raise fault(f"`{self.task}` is not between the years {_MIN_YEAR} and {_MAX_YEAR}", "mend its dates")
        return self

    @property
    def last(self) -> dt.date:
        """Its last day."""
        return self.end or self.start + dt.timedelta(days=(self.days or 1) - 1)


class ScheduleOptions(PartOptions):
    """Options of the part; without tasks, it is the schedule of the runs."""

    tasks: Annotated[tuple[ScheduledTask, ...], Field(max_length=_MAX_TASKS)] = ()
    caption: Annotated[str, Field(max_length=1000)] = ""


class _Bar(NamedTuple):
    """A row of the schedule.

    Attributes:
        start, end: Seconds since 1970.
        how_long: Its length in words.
        start_words: Its start in words.
    """

    name: str
    start: float
    end: float
    how_long: str
    start_words: str


def schedule_blocks(options: ScheduleOptions, context: PaperContext) -> list[Block]:
    """Return a table and a chart of tasks, or of what the runs were measured in.

    Raises:
        AssayError: There are no tasks, and no run has dates.
    """
    bars = [_of_task(task) for task in options.tasks]
    if not bars:
        views = context.chosen_runs(options)
        bars = [bar for name, view in views.items() for bar in _of_run(name, view)][:_MAX_TASKS]
    if not bars:
        raise AssayError("no run of this part has dates", "write tasks: [{task: NAME, start: DATE, days: 5}]")
    is_short = max(bar.end for bar in bars) - min(bar.start for bar in bars) < 4 * _DAY
    rows = tuple((bar.name, bar.start_words, Num(bar.how_long, bar.end - bar.start)) for bar in bars)
    columns = (Column("Task" if options.tasks else "What"), Column("Start"), Column("Takes", is_numeric=True))
    caption = options.caption or ("Tasks with their dates." if options.tasks else "When the results were measured.")
    chart = Chart("schedule", "Schedule", caption, _drawing(bars, is_short))
    return [chart, Table("tasks", columns, rows, "The same in numbers.")]


def _of_task(task: ScheduledTask) -> _Bar:
    start = _seconds(dt.datetime.combine(task.start, dt.time()))
    end = _seconds(dt.datetime.combine(task.last, dt.time())) + _DAY
    return _Bar(task.task, start, end, numbers.plural(round((end - start) / _DAY), "day"), str(task.start))


def _of_run(name: str, view: RunView) -> Iterator[_Bar]:
    """Yield when a run was measured, or when each output of an imported run began, in their order."""
    run = view.run
    if not run.imports:
        if run.finished_at is not None:
            seconds = run.finished_at - run.created_at
            yield _Bar(name, run.created_at, run.finished_at, about_duration(seconds), numbers.utc_time(run.created_at))
        return
    names = _names_of_outputs(view)
    began = [
        (start, names.get(at, f"{Path(one.file).name}:{one.line}"))
        for at, one in enumerate(run.imports)
        if (start := _began(one.date)) is not None
    ]
    for start, label in sorted(began):
        # The clock is that of whatever wrote the output, and its zone is not known.
        words = numbers.utc_time(start).removesuffix(" UTC")
        yield _Bar(label, start, start, "not stated", words)


def _names_of_outputs(view: RunView) -> dict[int, str]:
    """Return what imported outputs with a target are of, by their number: `d2.8xlarge, initial writers`."""
    found: dict[int, str] = {}
    for number, texts, _ in hook("imported_figures")(Path(view.run.folder)):
        if len(texts) > 1 and texts[1] in view.targets:
            found.setdefault(number, f"{texts[1]}, {texts[0]}")
    return found


def _began(date: str) -> float | None:
    """Return a date that an output states, as of its own clock, in seconds since 1970; None without a time of day."""
    for form in (None, "%a %b %d %H:%M:%S %Y"):
        try:
            moment = dt.datetime.strptime(date, form) if form else dt.datetime.fromisoformat(date)
        except ValueError:
            continue
        return _seconds(moment) if ":" in date else None
    return None


def _seconds(moment: dt.datetime) -> float:
    return moment.replace(tzinfo=dt.UTC).timestamp()


def _drawing(bars: Sequence[_Bar], with_time: bool) -> Drawing:
    low, high = min(bar.start for bar in bars), max(bar.end for bar in bars)
    room = max(high - low, 60.0) * 0.01
    scale = AxisScale(low, high + room)
    ticks = tuple((at, _tick(at, with_time)) for at in _ticks(low, high))
    marks = tuple(
        IntervalMark((bar.start, max(bar.end, bar.start + room / 4)), (row + 0.5, row + 0.5), "t0", "task")
        for row, bar in enumerate(bars)
    )
    return Drawing(ChartAxis("", scale, ticks), NamedRows(tuple(bar.name for bar in bars), _ROW), marks)


def _tick(seconds: float, with_time: bool) -> str:
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return f"{moment:%m-%d %H:%M}" if with_time else f"{moment:%Y-%m-%d}"


def _ticks(low: float, high: float) -> list[float]:
    """Return moments between the ends, at whole steps of minutes, hours, days or weeks."""
    steps = (60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 12 * 3600.0, _DAY, 2 * _DAY)
    weeks = (7 * _DAY, 14 * _DAY, 28 * _DAY, 91 * _DAY, 364 * _DAY, 3640 * _DAY)
    step = next((one for one in (*steps, *weeks) if (high - low) / one <= _MAX_TICKS), weeks[-1])
    first = low - low % _DAY if step > _DAY else low - low % step
    found = [first + place * step for place in range(_MAX_TICKS + 2)]
    return [at for at in found if low <= at <= high]


SCHEDULE = PartKind(schedule_blocks, "Schedule", ScheduleOptions)
