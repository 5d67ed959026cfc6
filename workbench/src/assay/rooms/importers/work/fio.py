"""fio's JSON (`--output-format=json` and `json+`), of fio 2.2 and later.

Names, units and nesting are those of fio's stat.c, `add_ddir_status_json` and `show_thread_status_json`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.result.sample import ErrorTally
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.report.formats.fio import EXPORTED
from assay.rooms.importers.work import fio_options
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.fio_latency import Latency, latency_of
from assay.rooms.importers.work.fio_measured import (
    HINT,
    MAX_FIGURES,
    MAX_JOBS,
    MAX_NAME,
    NAME,
    Direction,
    JobOutcome,
    directions_of,
    error_tallies,
    measurement_of,
)
from assay.rooms.importers.work.fio_snapshots import LastOutputs
from assay.rooms.importers.work.json_pieces import JsonPieces
from assay.rooms.importers.work.json_text import Number
from assay.rooms.importers.work.long_text import Text
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    Order,
    OutputError,
    ToolOutput,
)

_MAX_OPTIONS, _MAX_OPTION, _MAX_FILES = 300, 300, 10_000
"""Most options of a job, and most characters of one, and of the names of all its files."""
_MAX_DEPTH = 8
_MAX_VALUE = Decimal(2**62)
_START = re.compile(r'^[ \t]*\{\s*"fio version"\s*:', re.MULTILINE)
_JOB = re.compile(r'(?<!\\)"jobname"\s*:')
_DIRECTIONS = ("read", "write", "trim", "mixed")
_ONE_SECOND_MS = 1000
_UNITS = {
    "io_kbytes": "KiB",
    "bw_bytes": "B/s",
    "bw": "KiB/s",
    "bw_min": "KiB/s",
    "bw_max": "KiB/s",
    "bw_mean": "KiB/s",
    "bw_dev": "KiB/s",
    "bw_agg": "%",
    "iops": "1/s",
    "iops_min": "1/s",
    "iops_max": "1/s",
    "iops_mean": "1/s",
    "iops_stddev": "1/s",
    "runtime": "ms",
    "job_runtime": "ms",
    "usr_cpu": "%",
    "sys_cpu": "%",
}
"""Name of a figure -> its unit; names that are not here are counts, unless they are below a latency."""
_LATENCY_UNITS = {"slat": "us", "clat": "us", "lat": "us", "slat_ns": "ns", "clat_ns": "ns", "lat_ns": "ns"}
_COUNTS = ("N", "bins")
_COMMANDS = ("exec_prerun", "exec_postrun")
"""Options that hold a command line, which may hold a password."""
FORM = "JSON"
"""The one form of fio's outputs that has all options."""


def recognise(text: str) -> bool:
    """Whether a text has output of fio in JSON; lines before it, such as warnings, do not matter."""
    return _START.search(text) is not None


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets of jobs whose options fio does not print.

    Raises:
        OutputError: It is not what fio writes.
    """
    reader, kept = JsonPieces(text, joined=fio_options.FILES), LastOutputs()
    while reader.find(_START):
        kept.add(_output(reader, file, stated.order))
    return kept.outputs()


@dataclass(frozen=True)
class _Job:
    """One entry of `jobs`.

    Attributes:
        document: The entry.
        line: Line of the file on which it begins.
        options: Options that were set, the global ones included; None if fio does not print them.
    """

    document: Mapping[str, Any]
    line: int
    options: Mapping[str, str] | None

    @property
    def name(self) -> str:
        """Its name, safe to print."""
        return _text(self.document.get("jobname")) or "job"

    def amount(self, name: str, within: Mapping[str, Any] | None = None) -> Decimal | None:
        """Return a number of the entry, or of a part of it; None if it is not printed.

        Raises:
            OutputError: It is no number, negative, or larger than any that fio counts.
        """
        value = (self.document if within is None else within).get(name)
        if value is None:
            return None
        if not isinstance(value, Number) or not 0 <= value.value <= _MAX_VALUE:
            shown = escape_line(str(value), 40)
            raise OutputError(self.line, f"job {self.name}: {name} cannot be {shown}", HINT)
        return value.value


class _Entry(NamedTuple):
    """An entry of `jobs` that was read, and what others of its output tell of it.

    Attributes:
        result: What becomes of it, as if there were no other.
        group: Its group.
        has_options: fio prints its options.
    """

    result: ImportedResult
    group: str
    has_options: bool


def _output(reader: JsonPieces, file: ImportedFile, order: Order | None) -> ToolOutput:
    """Return the output of fio at the place of a reader, which reads one job after the other."""
    line = reader.line
    found: dict[str, Any] = {}
    entries: list[_Entry] = []
    is_list = False
    for key in reader.members():
        if key != "jobs":
            found[key] = reader.value()
        elif is_list := reader.is_array:
            entries = list(_entries(reader, line, found.get("global options"), order))
        else:
            reader.value()
    if not is_list:
        if "client_stats" in found:
            message = "results of `fio --client` are not read yet"
            raise OutputError(line, message, "run fio on each host, and give all files")
        raise OutputError(line, "no list `jobs` in fio's output", HINT)
    if str(found["fio version"]).startswith(EXPORTED):
        hint = "use the run itself, or what it was imported from"
        raise OutputError(line, "exported by Assay, so that fio has not measured it", hint)
    head = {
        "tool": NAME,
        "version": _text(found["fio version"]).removeprefix("fio-"),
        "form": FORM,
        "line": line,
        "date": _text(found.get("time")),
        "measured_at": _moment(found),
    }
    return ToolOutput(file=file.model_copy(update=head), results=tuple(_together(entries)))


def _moment(document: Mapping[str, Any]) -> float | None:
    """Return when the output was printed, in seconds since 1970; None if it does not say."""
    for name, per_second in (("timestamp_ms", 1000), ("timestamp", 1)):
        value = document.get(name)
        if isinstance(value, Number) and 0 < value.value < 10**13:
            return float(value.value / per_second)
    return None


def _entries(reader: JsonPieces, line: int, shared: object, order: Order | None) -> Iterator[_Entry]:
    """Yield the entries of `jobs` at the place of a reader.

    Args:
        reader: The reader.
        line: Line on which the output begins.
        shared: The global options, which fio prints before the jobs; None without them.
        order: Order of offsets of jobs without options.
    """
    for count, entry in enumerate(reader.elements()):
        if count == MAX_JOBS:
            raise OutputError(line, f"more than {MAX_JOBS:,} jobs", "give several smaller files")
        if not isinstance(entry, dict):
            raise OutputError(line, "an entry of `jobs` is not a job", HINT)
        own = entry.get("job options")
        job = _Job(
            document=entry,
            line=reader.line_in_value(_JOB) or line,
            options=None if own is None and shared is None else fio_options.together(_options(shared), _options(own)),
        )
        yield _Entry(_result(job, order), _text(entry.get("groupid")), job.options is not None)


def _together(entries: Sequence[_Entry]) -> Iterator[ImportedResult]:
    """Yield the results of one output: several of one name are numbered, and jobs of one group ran at the same time."""
    groups = Counter(one.group for one in entries)
    same = Counter((one.group, one.result.workload) for one in entries)
    numbers: Counter[tuple[str, str]] = Counter()
    for result, group, has_options in entries:
        key = (group, result.workload)
        numbers[key] += 1
        changes: dict[str, object] = {}
        if same[key] > 1:
            changes["workload"] = f"{result.workload} ({numbers[key]} of {same[key]})"
        if groups[group] > 1 and has_options and result.operation is not None and result.measured is not None:
            parameters = fio_options.parameters_of(result.options, result.operation, False)
            changes["parameters"] = _without_misfits(parameters, result.measured)
        yield result.model_copy(update=changes) if changes else result


def _text(value: object) -> str:
    """Return a text of the output, safe to print and not long; empty if it is none."""
    return escape_line(value, MAX_NAME) if isinstance(value, str) else ""


def _options(printed: object) -> dict[str, str]:
    """Return options as printed, safe to print and not many."""
    if not isinstance(printed, dict):
        return {}
    some = list(printed.items())[:_MAX_OPTIONS]
    return {escape_line(name, MAX_NAME): _value(name, value) for name, value in some if isinstance(value, str)}


def _value(name: str, value: str) -> str:
    """Return the value of an option without a password, safe to print and not long."""
    if name in _COMMANDS:
        return "(a command)"
    most = _MAX_FILES if name == fio_options.FILES else _MAX_OPTION
    return escape_line(redact_word(f"{name}={value}").removeprefix(f"{name}="), most)


def _result(job: _Job, order: Order | None) -> ImportedResult:
    options = job.options or {}
    parts = {name: part for name in _DIRECTIONS if isinstance(part := job.document.get(name), dict)}
    used = tuple(name for name, part in parts.items() if job.amount("total_ios", part) or job.amount("io_bytes", part))
    operation, left_out = _operation(job, used, order)
    parameters: dict[str, AxisValue] = {}
    if operation is not None and job.options is not None:
        parameters = fio_options.parameters_of(options, operation, not _has_more_processes(job, parts))
    measured, latency_of = None, ""
    if operation is not None:
        measured, latency_of = _measurement(job, operation, parts)
        parameters = _without_misfits(parameters, measured)
    return ImportedResult(
        name=job.name,
        line=job.line,
        target=escape_line(options.get("filename") or options.get("directory") or NAME, _MAX_OPTION),
        workload=job.name,
        operation=operation,
        parameters=parameters,
        options=dict(options),
        figures=tuple(_figures(job)),
        latency_of=latency_of,
        measured=measured,
        left_out=left_out,
    )


def _operation(job: _Job, used: tuple[str, ...], order: Order | None) -> tuple[str | None, str]:
    """Return the operation of a job, or None and why there is none."""
    if not any("total_ios" in part for name in _DIRECTIONS if isinstance(part := job.document.get(name), dict)):
        return None, "it has no count of operations (total_ios), which fio prints since version 2.2"
    if not used and not job.amount("error"):
        return None, "no operation was done"
    if job.options is None:
        return fio_options.stated_operation(used, order)
    if why := fio_options.why_no_storage(job.options.get("ioengine", "")):
        return None, why
    written = job.options.get("rw", fio_options.DEFAULTS["rw"])
    return fio_options.pattern_operation(written, used, may_check="verify" in job.options)


def _has_more_processes(job: _Job, parts: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a result counts more processes than its options ask for: it is then the sum of several jobs.

    `job_runtime` is the sum over all processes, `runtime` that of the longest (stat.c, `sum_thread_stats`).
    """
    longest = max((job.amount("runtime", part) or Decimal(0) for part in parts.values()), default=Decimal(0))
    asked = whole_number((job.options or {}).get("numjobs", "1"), 10**6)
    if longest < _ONE_SECOND_MS or asked is None:
        return False
    return (job.amount("job_runtime") or 0) > (asked + Decimal("0.5")) * longest


def _fits(parameters: Mapping[str, AxisValue], measured: Measurement) -> bool:
    """Whether the bytes are as many as records of that size have, but for a last part."""
    record = parameters.get("record_size")
    if not isinstance(record, int) or not measured.ops or measured.errors:
        return True
    return abs(measured.bytes - measured.ops * record) <= max(record, measured.bytes // 100)


def _without_misfits(parameters: dict[str, AxisValue], measured: Measurement) -> dict[str, AxisValue]:
    """Return parameters without those that others belie, which are counted with the job whose options these are."""
    if _fits(parameters, measured):
        return parameters
    wrong = ("record_size", "file_size", "lanes", "layout", "queue_depth")
    return {name: value for name, value in parameters.items() if name not in wrong}


def _measurement(job: _Job, operation: str, parts: Mapping[str, Mapping[str, Any]]) -> tuple[Measurement, str]:
    """Return what a job measured, in Assay's units, and which of fio's times its latencies are."""
    names = directions_of(operation, bool(_count(job, parts.get("mixed"), "total_ios")))
    options, started = job.options or {}, job.amount("job_start")
    known = JobOutcome(
        is_failed=bool(job.amount("error")),
        errors=_errors(job),
        method=options.get("ioengine", ""),
        started_at=float(started / 1000) if started else None,
        limit_ns=fio_options.time_of(options.get("runtime", "")),
    )
    return measurement_of([_direction(job, name, parts.get(name, {})) for name in names], operation, known)


def _count(job: _Job, part: Mapping[str, Any] | None, name: str) -> int:
    return int(job.amount(name, part) or 0) if part else 0


def _direction(job: _Job, name: str, part: Mapping[str, Any]) -> Direction:
    """Return the part of a job that is about reads, writes, or both together."""
    ops, exact = _count(job, part, "total_ios"), job.amount("bw_bytes", part)
    return Direction(
        name=name,
        ops=ops,
        bytes=int(convert(str(job.amount("io_bytes", part) or 0), _bytes_unit(part))),
        bytes_per_s=convert(str(job.amount("bw", part) or 0), "KiB/s") if exact is None else exact,
        iops=job.amount("iops", part) or Decimal(0),
        runtime_ms=job.amount("runtime", part) or Decimal(0),
        latency=latency_of(part, job.line) if ops else Latency(),
    )


def _bytes_unit(part: Mapping[str, Any]) -> str:
    """Return the unit of `io_bytes`: before fio 2.21, which prints `io_kbytes`, too, it is KiB in spite of its name."""
    return "bytes" if "io_kbytes" in part else "KiB"


def _errors(job: _Job) -> tuple[ErrorTally, ...]:
    """Return the failures of a job; `total_err` and `first_error` are printed with `continue_on_error` only."""
    code = int(job.amount("error") or job.amount("first_error") or 0)
    return error_tallies(code, int(job.amount("total_err") or (1 if code else 0)))


def _figures(job: _Job) -> Iterator[Figure]:
    """Yield every number of a job as printed, in order, without bins."""
    for count, (name, value) in enumerate(_numbers(job.document, "", 0, job.line)):
        if count == MAX_FIGURES:
            raise OutputError(job.line, f"job {job.name} has more than {MAX_FIGURES:,} figures", HINT)
        yield Figure(name=name, text=value, unit=_unit(name, job.document))


def _numbers(part: Mapping[str, Any], before: str, depth: int, line: int) -> Iterator[tuple[str, str]]:
    if depth > _MAX_DEPTH:
        raise OutputError(line, "a job is nested too deeply", HINT)
    for key, value in part.items():
        name = before + escape_line(key, MAX_NAME)
        if isinstance(value, Number):
            yield name, str(value)
        elif isinstance(value, dict) and key not in ("bins", "job options"):
            yield from _numbers(value, f"{name}.", depth + 1, line)


def _unit(name: str, document: Mapping[str, Any]) -> str:
    """Return the unit of a figure by its name, such as `read.clat_ns.mean`."""
    words = name.split(".")
    if unit := next((_LATENCY_UNITS[word] for word in words[:-1] if word in _LATENCY_UNITS), ""):
        return "" if words[-1] in _COUNTS else unit
    if words[-1] == "io_bytes":
        part = document.get(words[0])
        return _bytes_unit(part) if isinstance(part, dict) else ""
    if words[0] in ("iodepth_level", "iodepth_submit", "iodepth_complete", "latency_ns", "latency_us", "latency_ms"):
        return "%"
    return _UNITS.get(words[-1], "")
