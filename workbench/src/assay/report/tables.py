"""Results as flat tables, which all exporters write.

Units are in the column names: bytes, nanoseconds (`_ns`), bytes per second. A missing value is None.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from assay.model.partial import MISSING_TEXT
from assay.model.result.ceiling import Ceiling
from assay.model.result.percentile import MIN_OPS
from assay.model.result.result import Estimate, Percentile, ResultRow, RunAnalysis
from assay.model.result.run import RunInfo
from assay.model.result.sample import Sample
from assay.model.study.axis import ColumnKind as Kind
from assay.model.study.parameter import Parameter
from assay.model.study.parameters import DEFINITIONS

Value = str | int | float | bool | None
Record = dict[str, Value]

LATENCIES = ("min", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max")
START_DELAYS = ("p50", "p99", "p99.9", "max")


@dataclass(frozen=True)
class FlatColumn:
    """A column of a flat table.

    Attributes:
        name: Heading, with the unit.
        kind: Type of the values that are not None.
        title: Description for people.
    """

    name: str
    kind: Kind
    title: str


@dataclass(frozen=True)
class FlatTable:
    """Columns and the records under them; each record has exactly those columns."""

    name: str
    columns: tuple[FlatColumn, ...]
    records: tuple[Record, ...]


_Getter = Callable[[Any], Value]
_Spec = tuple[str, Kind, str, _Getter]


def _estimate(prefix: str, suffix: str, what: str, get: Callable[[ResultRow], Estimate | None]) -> list[_Spec]:
    def part(name: str) -> _Getter:
        def value(row: ResultRow) -> Value:
            estimate = get(row)
            return None if estimate is None else getattr(estimate, name)

        return value

    return [
        (f"{prefix}_median_{suffix}", "number", f"{what}: median over repeats", part("median")),
        (f"{prefix}_low_{suffix}", "number", f"{what}: lower end of the 95 % interval", part("low")),
        (f"{prefix}_high_{suffix}", "number", f"{what}: upper end of the 95 % interval", part("high")),
        (f"{prefix}_spread", "number", f"{what}: standard deviation / mean over repeats", part("spread")),
    ]


def _latencies(of: str, field: str, delays: str) -> list[_Spec]:
    """Latencies by name; empty where the operations are too few for the percentile.

    Args:
        of: The repeats that the latencies are of, in words.
        field: Name of the attribute with the latencies.
        delays: Name of the attribute with the delays of starts, which only open-loop phases have.
    """

    def value(field: str, name: str) -> _Getter:
        return lambda item: getattr(item, field).get(name)

    def spec(prefix: str, field: str, title: str, name: str) -> _Spec:
        least = f", from {MIN_OPS[name]:,} operations on" if name in MIN_OPS else ""
        heading = f"{prefix}_{name.replace('.', '_')}_ns"
        return heading, "number", f"{title}: {name}, {of}{least}", value(field, name)

    late = "Open loop: delay of starts"
    return [
        *(spec("latency", field, "Latency", name) for name in LATENCIES),
        *(spec("start_delay", delays, late, name) for name in START_DELAYS),
    ]


def _percentiles() -> list[_Spec]:
    """Percentiles over the repeats, and the number of operations behind them."""

    def value(name: str, get: Callable[[Percentile], Value], missing: Value = None) -> _Getter:
        return lambda row: missing if (found := row.percentile(name)) is None else get(found)

    def specs(name: str) -> list[_Spec]:
        heading, title = f"latency_{name.replace('.', '_')}", f"Latency: {name} over repeats"
        middle = value(name, lambda item: None if item.estimate is None else item.estimate.median)
        return [
            (f"{heading}_median_ns", "number", f"{title}, median of each repeat's own", middle),
            (f"{heading}_low_ns", "number", f"{title}, lower end of the 95 % interval", value(name, _low)),
            (f"{heading}_high_ns", "number", f"{title}, upper end of the 95 % interval", value(name, _high)),
            (
                f"{heading}_quality",
                "text",
                f"{title}: quality of the estimate, or why there is none",
                value(name, lambda item: str(item.quality), ""),
            ),
        ]

    return [
        ("latency_ops", "integer", "Latencies of all repeats", value("p50", lambda item: item.ops)),
        (
            "latency_ops_min",
            "integer",
            "Latencies of the repeat with fewest",
            value("p50", lambda item: item.fewest_ops),
        ),
        *(item for name in MIN_OPS for item in specs(name)),
    ]


def _low(item: Percentile) -> float | None:
    return item.interval[0]


def _high(item: Percentile) -> float | None:
    return item.interval[1]


def _parameters() -> list[_Spec]:
    """Parameters of the case; empty where a parameter does not affect the case's operations."""

    def value(name: str, item: Parameter) -> _Getter:
        text = item.kind.column == "text"
        missing, unknown = ("", MISSING_TEXT) if text else (None, None)
        is_used = cache(item.affects)

        def get(row: ResultRow) -> Value:
            case, parameters = row.case, row.case.parameters
            found = parameters.get_value(name, unknown)
            if found is None or not is_used(case.operations):
                return missing
            if item.requires_value_of and parameters.get_value(item.requires_value_of, MISSING_TEXT) is None:
                return missing
            if item.sets_only and case.group == "data" and not parameters.is_on_set:
                return missing
            return item.kind.display(found) if text else found

        return get

    return [
        (item.column or name, item.kind.column, item.heading, value(name, item)) for name, item in DEFINITIONS.items()
    ]


def _findings(row: ResultRow) -> str:
    return " | ".join(f"{finding.verdict}: {finding.text}" for finding in row.findings)


def _machine_findings(row: ResultRow) -> str:
    return " | ".join(f"{finding.verdict}: {finding.text}" for finding in row.machine)


def _binding(row: ResultRow, name: str, missing: Value = None) -> Value:
    return missing if row.limiting_ceiling is None else getattr(row.limiting_ceiling, name)


def _ceilings(row: ResultRow) -> str:
    return " | ".join(f"{item.name}: {item.share:.4g}" for item in row.ceilings)


_RESULTS: tuple[_Spec, ...] = (
    ("case", "text", "Case", lambda row: row.case.id),
    ("target", "text", "Target", lambda row: row.case.target),
    ("workload", "text", "Workload", lambda row: row.case.workload),
    ("operation", "text", "Operation", lambda row: row.operation),
    ("verdict", "text", "Verdict", lambda row: str(row.verdict)),
    ("is_partly_checked", "boolean", "ok, but rules lacked evidence", lambda row: row.is_partly_checked),
    ("n", "integer", "Repeats that count", lambda row: row.rate.n if row.rate else 0),
    *_estimate("throughput", "bytes_per_s", "Throughput", lambda row: row.throughput),
    *_estimate("iops", "per_s", "Operations per second", lambda row: row.iops),
    *_latencies("all repeats pooled", "latency", "start_delay"),
    *_percentiles(),
    *_parameters(),
    ("binding_ceiling", "text", "Nearest ceiling", lambda row: _binding(row, "name", "")),
    ("binding_unit", "text", "Unit of the nearest ceiling", lambda row: _binding(row, "unit", "")),
    ("binding_value", "number", "Nearest ceiling, in binding_unit", lambda row: _binding(row, "value")),
    ("binding_share", "number", "Measured / nearest ceiling", lambda row: _binding(row, "share")),
    ("ceiling_shares", "text", "Measured / ceiling, for each that applies", _ceilings),
    ("findings", "text", "Why the verdict is not ok", _findings),
    ("machine_findings", "text", "Findings about the machine", _machine_findings),
    (
        "not_evaluated",
        "text",
        "Rules that were not evaluated, and why",
        lambda row: " | ".join(map(str, row.not_evaluated)),
    ),
    ("label", "text", "Case in words", lambda row: row.case.label),
    (
        "not_reported",
        "text",
        "Parameters whose values are not known",
        lambda row: " ".join(row.case.parameters.missing_names),
    ),
)


def _errors(sample: Sample) -> str:
    return " | ".join(tally.words for tally in sample.errors)


def _field(name: str, kind: Kind, title: str, field: str = "") -> _Spec:
    field, unknown = field or name, MISSING_TEXT if kind == "text" else None
    return (name, kind, title, lambda sample: unknown if field in sample.missing_names else getattr(sample, field))


def _throughput(name: str, title: str, field: str) -> _Spec:
    """A throughput column; empty for operations that move no data."""
    return (name, "number", title, lambda sample: getattr(sample, field) if sample.moves_data else None)


def _block() -> list[_Spec]:
    """Counters of the block device below the target, which include all its users."""

    def spec(name: str, title: str) -> _Spec:
        return (
            f"block_{name}",
            "integer",
            f"Block device below, all its users: {title}",
            lambda sample: getattr(sample.block, name, None),
        )

    return [
        spec("read_bytes", "bytes read"),
        spec("write_bytes", "bytes written"),
        spec("reads", "read requests"),
        spec("writes", "write requests"),
        spec("busy_ns", "time with at least one request"),
    ]


def _watch() -> list[_Spec]:
    """Times at which the engine did not get to run, as its watcher thread saw them."""

    def spec(name: str, title: str) -> _Spec:
        whole = f"Watcher thread: {title}"
        return (f"watch_{name}", "integer", whole, lambda sample: getattr(sample.watch, name, None))

    return [
        spec("elapsed_ns", "time watched"),
        spec("stalls", "wake-ups that were late by more than a period"),
        spec("stalled_ns", "total delay of these wake-ups"),
        spec("longest_ns", "longest of these delays"),
        spec("away_ns", "part of the total delay without waiting for a CPU"),
    ]


def _service() -> list[_Spec]:
    """Counters that a service reported."""

    def spec(name: str, kind: Kind, title: str) -> _Spec:
        return (f"service_{name}", kind, title, lambda sample: getattr(sample.service, name, None))

    return [
        spec("objects", "integer", "Objects of operations on several at once: stored, fetched, found or removed"),
        spec("unprocessed", "integer", "Of these, left unprocessed by the service"),
        spec("read_units", "number", "Read capacity units consumed"),
        spec("write_units", "number", "Write capacity units consumed"),
    ]


def _course() -> list[_Spec]:
    """How the rate changed during the phase."""

    def spec(name: str, kind: Kind, title: str) -> _Spec:
        return (
            f"course_{name}",
            kind,
            f"Course of the rate: {title}",
            lambda sample: getattr(sample.course, name, None),
        )

    return [
        spec("intervals", "integer", "whole intervals"),
        spec("effective", "number", "effective number of independent intervals"),
        spec("variation", "number", "standard deviation / mean of the intervals"),
        spec("middle_range", "number", "from lower to upper quartile of the intervals / their median"),
        spec("range_share", "number", "range over five equal windows / mean"),
        spec("slope_share", "number", "gain of the least-squares line / mean"),
    ]


_SAMPLES: tuple[_Spec, ...] = (
    _field("case", "text", "Case"),
    _field("repeat", "integer", "Repeat"),
    _field("phase", "integer", "Number of the phase in the job"),
    _field("operation", "text", "Operation"),
    _field("status", "text", "Status at the end"),
    _field("started_at_unix_s", "number", "Start, seconds since 1970", "started_at"),
    _field("ops", "integer", "Operations"),
    _field("bytes", "integer", "Bytes read and written, contents of new files included"),
    _field("read_bytes", "integer", "Bytes read"),
    _field("write_bytes", "integer", "Bytes written"),
    _field("elapsed_ns", "integer", "From the barrier to the last lane's end"),
    _throughput("throughput_bytes_per_s", "Throughput up to the last lane's end", "throughput"),
    _field("iops_per_s", "number", "Operations per second", "iops"),
    _throughput("first_finisher_bytes_per_s", "Throughput up to the first lane's end", "first_finisher"),
    _throughput("steady_bytes_per_s", "Throughput while every lane was at work", "steady"),
    _field("first_finisher_per_s", "number", "Operations per second up to the first lane's end", "first_finisher_iops"),
    _field("steady_per_s", "number", "Operations per second while every lane was at work", "steady_iops"),
    *_latencies("this repeat", "reliable_latency", "reliable_start_delay"),
    ("failed_ops", "integer", "Failed operations", lambda sample: sample.failed_operations),
    ("errors", "text", "Failed operations in words", _errors),
    _field("start_skew_ns", "integer", "Greatest difference between two lanes' starts", "skew_ns"),
    _field("finish_spread_ns", "integer", "From the first lane's end to the last lane's"),
    _field("method_used", "text", "How operations reached the kernel", "method"),
    _field("method_reason", "text", "Why that method"),
    _field("cache_done", "text", "How the cache was treated before the phase"),
    _field("target_per_s", "number", "Open loop: requested operations per second"),
    _field("unstarted_ops", "integer", "Open loop: operations due but never started"),
    _field("verified_bytes", "integer", "Bytes verified"),
    _field("device_read_bytes", "integer", "Bytes fetched from storage"),
    _field("device_write_bytes", "integer", "Bytes sent to storage"),
    _field("cpu_user_ns", "integer", "CPU time in user space"),
    _field("cpu_system_ns", "integer", "CPU time in the kernel"),
    _field("cpu_wait_ns", "integer", "Time that lanes were ready to run but had no CPU, added up"),
    _field("cpus", "integer", "CPUs that the engine may use"),
    _field("host_busy_ns", "integer", "Busy time of all CPUs of the host, for all processes"),
    _field("host_idle_ns", "integer", "Idle time of all CPUs of the host"),
    _field("host_stolen_ns", "integer", "Time of all CPUs of the host taken by the hypervisor"),
    *_block(),
    _field("cached_bytes", "integer", "Bytes of the files in the page cache at the start of the phase"),
    _field("lane_balance", "number", "Operations of the slowest lane / of the median lane"),
    _field("wall_shift_ns", "integer", "How far the wall clock was set during the phase"),
    *_watch(),
    *_service(),
    *_course(),
)


def _measured(item: Ceiling) -> float | None:
    return item.exceeded.measured if item.exceeded is not None else None


def _exceeding(item: Ceiling) -> str:
    found = item.exceeded
    return f"{found.label}: {found.operation}, repeat {found.repeat}" if found is not None else ""


_CEILINGS: tuple[_Spec, ...] = (
    ("target", "text", "Target of the ceiling; empty: this machine", lambda item: item.target),
    ("ceiling", "text", "Name of the ceiling", lambda item: item.name),
    ("kind_of_job", "text", "For ceilings of the engine: the kind of job", lambda item: item.kind),
    ("unit", "text", "Unit", lambda item: item.unit),
    ("value", "number", "Highest rate measured, reached by a result, or stated; in unit", lambda item: item.value),
    ("lowest", "number", "Worst pass, in unit", lambda item: item.lowest),
    ("low", "number", "Lower end of the 95 % interval of the median over the passes, in unit", lambda item: item.low),
    ("high", "number", "Upper end of this interval, in unit", lambda item: item.high),
    ("passes", "integer", "Measurements before, between and after the cases", lambda item: len(item.passes)),
    (
        "measured",
        "number",
        "If a result exceeded the ceiling: the best pass, in unit",
        lambda item: item.exceeded and item.exceeded.measured,
    ),
    ("exceeded_by", "text", "The result that exceeded it: case, operation and repeat", _exceeding),
    ("how", "text", "How it was measured, or where it was stated", lambda item: item.how),
    ("reason", "text", "Why there is no value", lambda item: item.reason),
)


def _columns(specs: tuple[_Spec, ...]) -> tuple[FlatColumn, ...]:
    return tuple(FlatColumn(name, kind, title) for name, kind, title, _ in specs)


RESULT_COLUMNS = _columns(_RESULTS)
"""Columns of `results_table`."""
SAMPLE_COLUMNS = _columns(_SAMPLES)
"""Columns of `samples_table`."""
CEILING_COLUMNS = _columns(_CEILINGS)
"""Columns of `ceilings_table`."""


def _records(specs: tuple[_Spec, ...], items: Iterable[Any]) -> Iterator[Record]:
    return ({name: get(item) for name, _, _, get in specs} for item in items)


def result_records(rows: Iterable[ResultRow]) -> Iterator[Record]:
    """Return a record for each operation of each case."""
    return _records(_RESULTS, rows)


def sample_records(samples: Iterable[Sample]) -> Iterator[Record]:
    """Return a record for each repeat of each operation of each case, failed ones included."""
    return _records(_SAMPLES, samples)


def results_table(analysis: RunAnalysis) -> FlatTable:
    """Return the table of all `result_records` of a run."""
    return FlatTable("results", RESULT_COLUMNS, tuple(result_records(analysis.rows)))


def samples_table(analysis: RunAnalysis) -> FlatTable:
    """Return the table of all `sample_records` of a run."""
    return FlatTable(
        "samples", SAMPLE_COLUMNS, tuple(sample_records(sample for row in analysis.rows for sample in row.samples))
    )


ORIGIN = FlatColumn("imported", "text", "Tool, version and file from which the run was imported")


def records_with_origin(
    columns: tuple[FlatColumn, ...], records: Iterable[Record], run: RunInfo
) -> tuple[tuple[FlatColumn, ...], Iterable[Record]]:
    """Return columns and records with `ORIGIN` as the last one; unchanged for a run that Assay measured."""
    if not run.imports:
        return columns, records
    words = run.import_words
    return (*columns, ORIGIN), ({**record, ORIGIN.name: words} for record in records)


def with_origin(table: FlatTable, run: RunInfo) -> FlatTable:
    """Return a table with `ORIGIN` as the last column; unchanged for a run that Assay measured."""
    columns, records = records_with_origin(table.columns, table.records, run)
    return FlatTable(table.name, columns, tuple(records))


def ceilings_table(analysis: RunAnalysis) -> FlatTable:
    """Return a record for each ceiling that was measured or stated, also for those that could not be measured."""
    return FlatTable("ceilings", CEILING_COLUMNS, tuple(_records(_CEILINGS, analysis.run.ceilings)))
