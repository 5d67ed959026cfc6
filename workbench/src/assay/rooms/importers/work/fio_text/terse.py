"""fio's terse output (`--minimal`, `--output-format=terse`), versions 2 to 5: a line of fields for each job.

Source: fio, stat.c, `show_thread_status_terse_all` and `show_ddir_status_terse`; HOWTO, "Terse output". Figures are
named as in fio's JSON.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from assay.model.escape import escape_line
from assay.rooms.importers.work.fio_latency import Latency, latency_of
from assay.rooms.importers.work.fio_measured import HINT, MAX_NAME, MAX_RUNTIME_MS, Direction
from assay.rooms.importers.work.json_text import Number
from assay.rooms.importers.work.results import Figure, Figures, OutputError

TERSE = re.compile(r"(?:[345];fio-[^;]*;|2;[^;]*;(?:[0-9]{1,20};){8}[0-9]{1,20}\.[0-9]{6};).*")
"""A line of terse output, by its beginning."""
LIKE_TERSE = re.compile(r"[345];fio-|2;[^;]*;[0-9]{1,9};[0-9]{1,9};")
"""How a line begins that may be damaged, in a text that has other lines of fio."""
_SUMMARY = ("min", "max", "mean", "stddev")
_PERCENTILES = 20
_PERCENTILE_NAME = "clat.percentile"
_DIRECTIONS = ("read", "write", "trim", "mixed")
_US = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_DISK = ("read_ios", "write_ios", "read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue", "util")
_WHOLE = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"[0-9]{1,20}\.[0-9]{1,6}")
_SHARE = re.compile(r"[0-9]{1,20}\.[0-9]{1,6}%")
_PERCENTILE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)%=([0-9]{1,20})")
_NAN = re.compile(r"-?(?:nan|inf)%?")
"""What C prints for the share of nothing, which is no figure."""
_MIN_INTERVAL_MS = 900
_MIN_REPORTS = 8
"""How often the jobs of a file that goes on must have been printed to be known as reports of one time after another."""
_MAX = 2**50
"""Most KiB, KiB/s and IOPS."""
_MIN_IOPS = 100
"""Least IOPS of which the number of operations follows to 1 %."""


class Field(NamedTuple):
    """What a field of the line is.

    Attributes:
        name: Name of the figure.
        form: How it is written.
        unit: Its unit.
    """

    name: str
    form: re.Pattern[str]
    unit: str = ""


def _direction_fields(version: int) -> tuple[Field, ...]:
    """Return the fields of reads, of writes, or of trims."""

    def times(name: str) -> tuple[Field, ...]:
        return tuple(Field(f"{name}.{one}", _WHOLE if one in ("min", "max") else _DECIMAL, "us") for one in _SUMMARY)

    fields = (
        Field("io_kbytes", _WHOLE, "KiB"),
        Field("bw", _WHOLE, "KiB/s"),
        Field("iops", _WHOLE, "1/s"),
        Field("runtime", _WHOLE, "ms"),
        *times("slat"),
        *times("clat"),
        *(Field(_PERCENTILE_NAME, _PERCENTILE, "us"),) * _PERCENTILES,
        *times("lat"),
        Field("bw_min", _WHOLE, "KiB/s"),
        Field("bw_max", _WHOLE, "KiB/s"),
        Field("bw_agg", _SHARE, "%"),
        Field("bw_mean", _DECIMAL, "KiB/s"),
        Field("bw_dev", _DECIMAL, "KiB/s"),
    )
    if version < 5:
        return fields
    more = (("bw_samples", _WHOLE, ""), ("iops_min", _WHOLE, "1/s"), ("iops_max", _WHOLE, "1/s"))
    last = (("iops_mean", _DECIMAL, "1/s"), ("iops_stddev", _DECIMAL, "1/s"), ("iops_samples", _WHOLE, ""))
    return (*fields, *(Field(*one) for one in (*more, *last)))


_TAIL = (
    Field("usr_cpu", _SHARE, "%"),
    Field("sys_cpu", _SHARE, "%"),
    *(Field(name, _WHOLE) for name in ("ctx", "majf", "minf")),
    *(Field(f"iodepth_level.{depth}", _SHARE, "%") for depth in ("1", "2", "4", "8", "16", "32", ">=64")),
    *(Field(f"latency_us.{time}", _SHARE, "%") for time in _US),
    *(Field(f"latency_ms.{time}", _SHARE, "%") for time in (*_US, 2000, ">=2000")),
)


class TerseJob(NamedTuple):
    """One line of terse output.

    Attributes:
        form: Version of the format, 2 to 5.
        version: Version of fio; empty in version 2 of the format.
        name: Name of the job.
        group: Number of its group.
        error: Number of the error; 0 without one.
        line: Line of the file, from 1.
        figures: All numbers of the line.
        total_errors: Number of errors, and number of the first, with continue_on_error; None if it is not printed.
        later: How many lines of this job, this one first, a later one counts again.
    """

    form: int
    version: str
    name: str
    group: int
    error: int
    line: int
    figures: Figures
    total_errors: tuple[int, int] | None
    later: int = 0

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """Direction -> its figures by name, and its percentiles."""
        found: dict[str, dict[str, Any]] = {}
        for name, text, _ in self.figures:
            direction, _, rest = name.partition(".")
            if direction in _DIRECTIONS:
                part = found.setdefault(direction, {})
                if rest.startswith(f"{_PERCENTILE_NAME}."):
                    part.setdefault(_PERCENTILE_NAME, {})[rest.removeprefix(f"{_PERCENTILE_NAME}.")] = Number(text)
                else:
                    part[rest] = Number(text)
        return found

    def direction(self, name: str) -> Direction:
        """Return what was done in a direction.

        Raises:
            OutputError: Its figures contradict each other.
        """
        return _direction(self, name, self.parts.get(name, {}))


def terse_job(line: str, number: int) -> TerseJob:
    """Return what a line says.

    Args:
        line: The line.
        number: Its number in the file, from 1.

    Raises:
        OutputError: It has other fields than its version of the format.
    """
    fields = line.rstrip().split(";")
    form = int(fields[0])
    head = 4 if form == 2 else 5
    whole = _direction_fields(form)
    names = _directions(fields, form, head, len(whole))
    if names is None or not all(_WHOLE.fullmatch(one) and len(one) < 10 for one in fields[head - 2 : head]):
        message = f"not the fields of terse output, version {form}: {len(fields)} fields"
        raise OutputError(number, message, f"{HINT}, in whole lines; names of jobs may have no semicolon")
    version = "" if form == 2 else escape_line(fields[1].removeprefix("fio-"), MAX_NAME)
    name = escape_line(fields[head - 3], MAX_NAME) or "job"
    figures = [Figure("groupid", fields[head - 2]), Figure("error", fields[head - 1])]
    position = head
    for direction in names:
        for field, text in zip(whole, fields[position:], strict=False):
            figures += _take(field, text, f"{direction}.", number, name)
        position += len(whole)
    for field, text in zip(_TAIL, fields[position:], strict=False):
        figures += _take(field, text, "", number, name)
    more, errors = _end(fields[position + len(_TAIL) :])
    group, error = int(fields[head - 2]), int(fields[head - 1])
    return TerseJob(form, version, name, group, error, number, Figures((*figures, *more)), errors)


def _directions(fields: Sequence[str], form: int, head: int, size: int) -> tuple[str, ...] | None:
    """Return the directions of a line, which are those before the use of CPUs; None if that is not there.

    With `unified_rw_reporting` there is one, since fio 2.99; with `unified_rw_reporting=both` there is one more.
    """
    plain = ("read", "write") if form == 3 else ("read", "write", "trim")
    for names in (("mixed",), plain, (*plain, "mixed")):
        start = head + len(names) * size
        is_whole = len(fields) >= start + len(_TAIL)
        if is_whole and all(_SHARE.fullmatch(one) or _NAN.fullmatch(one) for one in fields[start : start + 2]):
            return names
    return None


def _take(field: Field, text: str, place: str, number: int, job: str) -> Iterator[Figure]:
    """Yield the figure of a field.

    Raises:
        OutputError: It is not what that field holds.
    """
    if _NAN.fullmatch(text) and field.form is not _WHOLE:
        return
    match = field.form.fullmatch(text)
    if match is None:
        message = f"job {job}: {place}{field.name} cannot be {escape_line(text, 40)}"
        raise OutputError(number, message, HINT)
    if field.form is _PERCENTILE:
        if match[1] != "0":
            yield Figure(f"{place}{field.name}.{match[1]}", match[2], field.unit)
        return
    yield Figure(f"{place}{field.name}", text.removesuffix("%"), field.unit)


def _end(fields: Sequence[str]) -> tuple[list[Figure], tuple[int, int] | None]:
    """Return the figures of disks and errors; what follows is the description."""
    figures: list[Figure] = []
    position, disk = 0, ""
    while len(fields) >= position + 9 and _is_disk(fields[position : position + 9]):
        name, *numbers = fields[position : position + 9]
        disk = f"{disk}.slaves" if name == "slaves" and disk else f"disk.{escape_line(name, MAX_NAME)}"
        for key, text in zip(_DISK, numbers, strict=True):
            unit = {"ticks": "ms", "queue": "ms", "util": "%"}.get(key.rpartition("_")[2], "")
            figures.append(Figure(f"{disk}.{key}", text.removesuffix("%"), unit))
        position += 9
    rest = fields[position:]
    if len(rest) < 2 or not all(_WHOLE.fullmatch(one) and len(one) < 19 for one in rest[:2]):
        return figures, None
    figures += [Figure("total_err", rest[0]), Figure("first_error", rest[1])]
    return figures, (int(rest[0]), int(rest[1]))


def _is_disk(fields: Sequence[str]) -> bool:
    return bool(_SHARE.fullmatch(fields[8])) and all(_WHOLE.fullmatch(one) for one in fields[1:8])


def _direction(job: TerseJob, name: str, part: dict[str, Any]) -> Direction:
    """Return what was done in a direction.

    KiB, KiB/s and IOPS are rounded down: the rate is that of the two whose last digit counts less, and the operations
    are the fewest that give these IOPS.
    """
    size, rate, iops, runtime = (
        part[one].value if part else Decimal(0) for one in ("io_kbytes", "bw", "iops", "runtime")
    )
    if not runtime:
        return Direction(name)
    if (
        max(size, rate, iops) > _MAX
        or runtime > MAX_RUNTIME_MS
        or not size * 1000 // runtime <= rate <= (size + 1) * 1000 // runtime
    ):
        message = f"job {job.name}: {name}.bw cannot be {rate} KiB/s, with {size} KiB in {runtime} ms"
        raise OutputError(job.line, message, HINT)
    ops = -(-int(iops) * int(runtime) // 1000)
    # A mean or deviation may be `nan`, which is no figure.
    times: dict[str, dict[str, Any]] = {
        key: {one: part[f"{key}.{one}"] for one in _SUMMARY if f"{key}.{one}" in part}
        for key in ("clat", "lat")
        if f"{key}.mean" in part
    }
    if "clat" in times and (percentiles := part.get(_PERCENTILE_NAME)):
        times["clat"]["percentile"] = percentiles
    return Direction(
        name=name,
        ops=ops,
        bytes=int(size) * 1024,
        bytes_per_s=size * 1024 * 1000 / runtime if runtime > 1000 else rate * 1024,
        iops=iops,
        runtime_ms=runtime,
        latency=latency_of(times, job.line) if ops else Latency(),
        has_counts=iops >= _MIN_IOPS or runtime <= 1000,
    )


def without_snapshots(jobs: Sequence[TerseJob], is_whole: bool = True) -> list[TerseJob]:
    """Return lines without those that later ones count again (--status-interval), but for the first of each job.

    Lines of one job do not say whether they are of several processes or of one at several times. They are of one time
    after another if all that fio adds up grows from line to line, over more than any interval that can be set.

    Args:
        jobs: The lines.
        is_whole: There are no more of them.

    Raises:
        OutputError: Lines that have been passed over as parts of later ones were none.
    """
    lines: dict[tuple[str, int], list[TerseJob]] = defaultdict(list)
    for job in jobs:
        lines[job.name, job.group].append(job)
    changed: dict[int, TerseJob | None] = {}
    for same in lines.values():
        step = next((step for step in _steps(len(same), is_whole) if _is_step(same, step)), 0)
        if not step and is_whole and same[0].later:
            message = f"job {same[0].name}: its lines do not go on as --status-interval prints them"
            raise OutputError(same[-1].line, message, "give one file for each run of fio")
        for start in range(step):
            first, *middle, _ = same[start : len(same) // step * step : step]
            changed |= {job.line: None for job in middle}
            changed[first.line] = first._replace(later=first.later + len(middle) + (0 if first.later else 1))
    found = (changed.get(job.line, job) for job in jobs)
    return [job for job in found if job is not None]


def _steps(count: int, is_whole: bool) -> Iterator[int]:
    """Yield how many lines a report may have."""
    if is_whole:
        yield from (step for step in range(1, count // 2 + 1) if count % step == 0)
    else:
        yield from range(1, count // _MIN_REPORTS + 1)


def _is_step(jobs: Sequence[TerseJob], step: int) -> bool:
    whole = len(jobs) // step * step
    return all(_grows(jobs[start:whole:step]) for start in range(step))


def _grows(jobs: Sequence[TerseJob]) -> bool:
    """Whether each line counts all that the one before it counts."""
    return _runtime(jobs[-1]) - _runtime(jobs[0]) >= _MIN_INTERVAL_MS and all(
        len(before) == len(after) and all(one <= other for one, other in zip(before, after, strict=True))
        for before, after in pairwise(map(_sums, jobs))
    )


def _runtime(job: TerseJob) -> Decimal:
    return max((part["runtime"].value for part in job.parts.values()), default=Decimal(0))


def _sums(job: TerseJob) -> list[Decimal]:
    """Return what can only grow while a job runs: bytes, times, greatest latencies, and least ones below zero.

    Of no operations there is no least one.
    """
    own = [Decimal(figure.text) for figure in job.figures if figure.name in ("ctx", "majf", "minf")]
    for part in job.parts.values():
        own += [part[name].value for name in ("io_kbytes", "runtime")]
        if part["iops"].value:
            own += [part[f"{time}.max"].value for time in ("slat", "clat", "lat")]
            own += [-part[f"{time}.min"].value for time in ("slat", "clat", "lat")]
        else:
            # It has not begun yet: any least latency that follows is less.
            own += [Decimal(0)] * 3 + [Decimal(-_MAX)] * 3
    return own
