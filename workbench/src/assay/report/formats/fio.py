"""A run as `fio --output-format=json` writes one, for programs that read fio's results.

Names, units and nesting are those of fio 3.33 (`man fio`, "JSON OUTPUT"). Each repeat of an operation that moves data
is one job of fio's. Reads and gets are `read`; writes and puts are `write`; flushes are `sync`.

What Assay does not measure is left out and not made up: `slat_ns` (Assay has one clock, from the hand-over to the
kernel to the completion, or in open loop from the intended start, which is both `clat_ns` and `lat_ns`), the statistics
over fio's own intervals (`bw_mean`, `iops_stddev`, ...), `ctx`, `majf`, `minf`, shares of latencies and depths, and
`disk_util`. A percentile is left out if the operations are too few for it, as everywhere in Assay.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from assay import __version__
from assay.analyse.histograms import Histogram, decode, merge, moments, percentiles
from assay.model.base import AssayError
from assay.model.foreign import in_json, plain
from assay.model.result.percentile import LEAST_BEYOND
from assay.model.result.result import Row, RunAnalysis
from assay.model.result.sample import KindCounts, Sample
from assay.model.study.names import OP_KINDS

PERCENTS = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Percentiles that fio prints unless told otherwise."""
DIRECTIONS = {"read": "in", "write": "out"}
"""fio's name -> what `OP_KINDS` says of the operations that count as it."""
_PATTERNS = {
    "random_read": "randread",
    "random_write": "randwrite",
    "random_mix": "randrw",
    "sequential_mix": "rw",
}
_EIO = 5
_NONE = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
"""What fio writes of latencies that there are none of."""


def fio_document(analysis: RunAnalysis) -> dict[str, Any]:
    """The run as fio's JSON.

    Raises:
        AssayError: No operation of it moves data.
    """
    jobs = [_job(row, sample) for row in analysis.rows for sample in row.samples if _moves(row)]
    if not jobs:
        hint = "fio's format knows reads and writes only; --format json holds everything"
        raise AssayError(f"run {analysis.run.id} has no operation that moves data", hint)
    moment = analysis.run.finished_at or analysis.run.created_at
    return {
        "fio version": f"assay-{__version__}",
        "timestamp": int(moment),
        "timestamp_ms": int(moment * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(moment)),
        "jobs": jobs,
    }


def fio_text(analysis: RunAnalysis) -> str:
    """The document as text, indented as fio does."""
    return in_json(json.dumps(fio_document(analysis), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def left_out(analysis: RunAnalysis) -> int:
    """Results that fio's format has no place for: their operations move no data."""
    return sum(not _moves(row) for row in analysis.rows)


def _moves(row: Row) -> bool:
    return not row.case.metadata and any(sample.moves_data for sample in row.samples)


def _job(row: Row, sample: Sample) -> dict[str, Any]:
    """One repeat. Its name tells target, workload, case, operation and repeat."""
    case, milliseconds = row.case, round(sample.elapsed_ns / 1e6)
    name = plain(f"{case.target}.{case.workload}.{case.id}.{row.operation}.{sample.repeat}")
    job: dict[str, Any] = {"jobname": name, "groupid": 0, "error": _error(sample), "eta": 0}
    job |= {"elapsed": round(sample.elapsed_ns / 1e9), "job options": _options(row, name)}
    for direction in DIRECTIONS:
        job[direction] = _direction(sample, direction)
    syncs = [counts for counts in sample.kinds if counts.kind == "sync"]
    job["sync"] = {"total_ios": sum(counts.ops for counts in syncs), "lat_ns": _latencies(sample, syncs)}
    job["job_runtime"] = milliseconds
    if "elapsed_ns" not in sample.not_told and sample.elapsed_ns:
        for key, field in (("usr_cpu", "cpu_user_ns"), ("sys_cpu", "cpu_system_ns")):
            if field not in sample.not_told:
                job[key] = 100 * getattr(sample, field) / sample.elapsed_ns
    return job


def _error(sample: Sample) -> int:
    """The number of the kernel's that fio calls `error`; EIO where whatever failed has another code, or none."""
    for tally in sample.errors:
        return tally.code if tally.domain == "os" and tally.code is not None else _EIO
    return 0 if sample.status in ("done", "time_limit") else _EIO


def _options(row: Row, name: str) -> dict[str, str]:
    """Of the case what fio has an option for, in bytes, as text as fio writes them."""
    parameters = row.case.parameters
    pattern = _PATTERNS.get(row.operation) or ("read" if "read" in row.operation else "write")
    options: dict[str, Any] = {"name": name, "rw": pattern if _is_pattern(row) else None}
    for option, field in (
        ("bs", "record_size"),
        ("size", "file_size"),
        ("iodepth", "queue_depth"),
        ("numjobs", "lanes"),
    ):
        options[option] = parameters.known(field, None)
    return {option: str(value) for option, value in options.items() if value is not None}


def _is_pattern(row: Row) -> bool:
    """Whether fio has a word for the order of its offsets."""
    return row.operation in (
        *_PATTERNS,
        "read",
        "reread",
        "write",
        "rewrite",
        "fread",
        "fwrite",
        "re_fread",
        "re_fwrite",
    )


def _direction(sample: Sample, direction: str) -> dict[str, Any]:
    """What went one way, per second of the whole phase, as fio counts it."""
    kinds = [counts for counts in sample.kinds if OP_KINDS.get(counts.kind, ("", ""))[1] == DIRECTIONS[direction]]
    if sample.kinds:
        moved, ops = sum(counts.bytes for counts in kinds), sum(counts.ops for counts in kinds)
    else:
        moved = sample.read_bytes if direction == "read" else sample.write_bytes
        # Of a run that does not tell kinds, a mix cannot be taken apart.
        ops = sample.ops if moved and moved == sample.bytes else 0
    seconds = sample.elapsed_ns / 1e9
    per_second = moved / seconds if seconds else 0.0
    value = {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": int(per_second),
        "bw": int(per_second / 1024),
        "iops": ops / seconds if seconds else 0.0,
        "runtime": round(sample.elapsed_ns / 1e6) if ops else 0,
        "total_ios": ops,
        "short_ios": sum(tally.count for tally in sample.errors if tally.kind == f"short_{direction}"),
    }
    alone = not sample.kinds and ops == sample.ops
    latencies = _latencies(sample, kinds, alone)
    told = _histogram(sample, kinds, alone)
    percentile = {} if told is None or not told.total else {"percentile": _percentiles(told)}
    return {**value, "clat_ns": {**latencies, **percentile}, "lat_ns": latencies}


def _latencies(sample: Sample, kinds: list[KindCounts], alone: bool = False) -> dict[str, Any]:
    """Least, greatest, mean and standard deviation in nanoseconds, and of how many; `alone`: all of the sample."""
    histogram = _histogram(sample, kinds, alone)
    if histogram is None or not histogram.total:
        return dict(_NONE)
    least, greatest = percentiles(histogram, (0, 100)).tolist()
    mean, deviation = moments(histogram)
    return {"min": least, "max": greatest, "mean": mean, "stddev": deviation, "N": histogram.total}


def _histogram(sample: Sample, kinds: list[KindCounts], alone: bool = False) -> Histogram | None:
    """All latencies of some kinds together; a kind without a histogram of its own has that of the sample."""
    used = [counts for counts in kinds if counts.ops]
    texts = [sample.histogram] if alone else [counts.histogram or sample.histogram for counts in used]
    found = [decode(text) for text in texts if text]
    return merge(found) if found else None


def _percentiles(histogram: Histogram) -> dict[str, int]:
    """Percent as fio writes it -> nanoseconds; only those that so many operations can tell."""
    said = list(_told(histogram.total))
    values = percentiles(histogram, said).tolist() if said else []
    return {f"{percent:.6f}": value for percent, value in zip(said, values, strict=True)}


def _told(ops: int) -> Iterator[float]:
    for percent in PERCENTS:
        if ops >= round(100 * LEAST_BEYOND / min(percent, 100 - percent)):
            yield percent
