"""Writes a run in the format of `fio --output-format=json`, for programs that read fio's results.

Names, units and nesting are those of fio 3.33 (`man fio`, "JSON OUTPUT"). Each repeat of an operation that moves data
is one fio job. Reads and gets are `read`; writes and puts are `write`; flushes are `sync`.

Fields that Assay does not measure are left out: `slat_ns`, the statistics over fio's own intervals (`bw_mean`,
`iops_stddev`, ...), `ctx`, `majf`, `minf`, shares of latencies and depths, and `disk_util`. Assay measures one latency,
from submission to completion, or in open loop from the intended start; it is both `clat_ns` and `lat_ns`. A percentile
is left out if the operations are too few for it, as everywhere in Assay.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

from assay import __version__
from assay.analyse.histograms import Histogram, decode, merge, moments, percentiles
from assay.model.base import AssayError
from assay.model.escape import escape_json, escape_line
from assay.model.result.percentile import MIN_BEYOND
from assay.model.result.result import ResultRow, RunAnalysis
from assay.model.result.sample import KindCounts, Sample
from assay.model.study.names import OP_KINDS, group_of

PERCENTS = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""Percentiles that fio prints by default."""
DIRECTIONS = {"read": "in", "write": "out"}
"""fio's name of a direction -> the direction in `OP_KINDS`."""
_PATTERNS = {
    "random_read": "randread",
    "random_write": "randwrite",
    "random_mix": "randrw",
    "sequential_mix": "rw",
}
EXPORTED = "assay-"
"""Beginning of the version, by which such a document is known not to be fio's own."""
_EIO = 5
_NONE = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
"""What fio writes if there are no latencies."""


def fio_document(analysis: RunAnalysis) -> dict[str, Any]:
    """Return a run as fio's JSON.

    Raises:
        AssayError: No operation of the run moves data.
    """
    jobs = [_job(row, sample) for row in analysis.rows for sample in row.samples if _moves(row)]
    if not jobs:
        hint = "fio's format knows reads and writes only; --format json holds everything"
        raise AssayError(f"run {analysis.run.id} has no operation that moves data", hint)
    moment = analysis.run.finished_at or analysis.run.created_at
    return {
        "fio version": ", ".join(filter(None, (f"{EXPORTED}{__version__}", analysis.run.import_words))),
        "timestamp": int(moment),
        "timestamp_ms": int(moment * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(moment)),
        "jobs": jobs,
    }


def fio_text(analysis: RunAnalysis) -> str:
    """Return the document as text, indented as by fio."""
    return escape_json(json.dumps(fio_document(analysis), indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def left_out_count(analysis: RunAnalysis) -> int:
    """Return the number of results that fio's format cannot hold, since their operations move no data."""
    return sum(not _moves(row) for row in analysis.rows)


def _moves(row: ResultRow) -> bool:
    moves_data = any(sample.moves_data for sample in row.samples)
    return moves_data and not row.case.is_metadata and group_of(row.operation) != "other"


def _job(row: ResultRow, sample: Sample) -> dict[str, Any]:
    """Return one repeat as a fio job, named by target, workload, case, operation and repeat."""
    case, elapsed_ns = row.case, sample.get_value("elapsed_ns", 0)
    name = escape_line(f"{case.target}.{case.workload}.{case.id}.{row.operation}.{sample.repeat}")
    job: dict[str, Any] = {"jobname": name, "groupid": 0, "error": _error(sample), "eta": 0}
    job |= {"elapsed": round(elapsed_ns / 1e9), "job options": _options(row, name)}
    for direction in DIRECTIONS:
        job[direction] = _direction(sample, direction)
    syncs = [counts for counts in sample.kinds if counts.kind == "sync"]
    job["sync"] = {"total_ios": sum(counts.ops for counts in syncs), "lat_ns": _latencies(sample, syncs)}
    job["job_runtime"] = round(elapsed_ns / 1e6)
    if elapsed_ns:
        for key, field in (("usr_cpu", "cpu_user_ns"), ("sys_cpu", "cpu_system_ns")):
            if field not in sample.missing_names:
                job[key] = 100 * getattr(sample, field) / elapsed_ns
    return job


def _error(sample: Sample) -> int:
    """Return fio's `error`: the kernel's error number of the first failure; EIO if it has none, 0 without a failure."""
    for tally in sample.errors:
        return tally.code if tally.domain == "os" and tally.code is not None else _EIO
    return 0 if sample.status in ("done", "time_limit") else _EIO


def _options(row: ResultRow, name: str) -> dict[str, str]:
    """Return the parameters that fio has options for as text, sizes in bytes."""
    parameters = row.case.parameters
    pattern = _PATTERNS.get(row.operation) or ("read" if "read" in row.operation else "write")
    options: dict[str, Any] = {"name": name, "rw": pattern if _is_pattern(row) else None}
    for option, field in (
        ("bs", "record_size"),
        ("size", "file_size"),
        ("iodepth", "queue_depth"),
        ("numjobs", "lanes"),
    ):
        options[option] = parameters.get_value(field, None)
    return {option: str(value) for option, value in options.items() if value is not None}


def _is_pattern(row: ResultRow) -> bool:
    """Return whether fio has a name for the operation's order of offsets."""
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
    """Return the counts, rates and latencies of one direction, over the whole phase as in fio."""
    kinds = [counts for counts in sample.kinds if OP_KINDS.get(counts.kind, ("", ""))[1] == DIRECTIONS[direction]]
    if sample.kinds:
        moved, ops = sum(counts.bytes for counts in kinds), sum(counts.ops for counts in kinds)
    else:
        moved = sample.get_value(f"{direction}_bytes", 0)
        # Without counts per kind of operation, a mix cannot be divided into reads and writes.
        ops = sample.get_value("ops", 0) if moved and moved == sample.get_value("bytes") else 0
    elapsed_ns = sample.get_value("elapsed_ns", 0)
    seconds = elapsed_ns / 1e9
    per_second = moved / seconds if seconds else 0.0
    value = {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": int(per_second),
        "bw": int(per_second / 1024),
        "iops": ops / seconds if seconds else 0.0,
        "runtime": round(elapsed_ns / 1e6) if ops else 0,
        "total_ios": ops,
        "short_ios": sum(tally.count for tally in sample.errors if tally.kind == f"short_{direction}"),
    }
    alone = not sample.kinds and ops == sample.get_value("ops")
    latencies = _latencies(sample, kinds, alone)
    histogram = _histogram(sample, kinds, alone)
    percentile = {} if histogram is None or not histogram.total else {"percentile": _percentiles(histogram)}
    return {**value, "clat_ns": {**latencies, **percentile}, "lat_ns": latencies}


def _latencies(sample: Sample, kinds: list[KindCounts], alone: bool = False) -> dict[str, Any]:
    """Return least, greatest, mean, standard deviation (ns) and number of latencies; `alone`: of the whole sample."""
    histogram = _histogram(sample, kinds, alone)
    if histogram is None or not histogram.total:
        return dict(_NONE)
    least, greatest = percentiles(histogram, (0, 100)).tolist()
    mean, deviation = moments(histogram)
    return {"min": least, "max": greatest, "mean": mean, "stddev": deviation, "N": histogram.total}


def _histogram(sample: Sample, kinds: list[KindCounts], alone: bool = False) -> Histogram | None:
    """Merge the latencies of some kinds of operation; a kind without its own histogram has that of the sample."""
    used = [counts for counts in kinds if counts.ops]
    texts = [sample.histogram] if alone else [counts.histogram or sample.histogram for counts in used]
    found = [decode(text) for text in texts if text]
    return merge(found) if found else None


def _percentiles(histogram: Histogram) -> dict[str, int]:
    """Return percentile in fio's notation -> nanoseconds, for percentiles that have enough operations."""
    percents = list(_known_percents(histogram.total))
    values = percentiles(histogram, percents).tolist() if percents else []
    return {f"{percent:.6f}": value for percent, value in zip(percents, values, strict=True)}


def _known_percents(ops: int) -> Iterator[float]:
    for percent in PERCENTS:
        if ops >= round(100 * MIN_BEYOND / min(percent, 100 - percent)):
            yield percent
