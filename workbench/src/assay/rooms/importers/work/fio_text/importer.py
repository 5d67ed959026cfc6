"""fio's normal output, as it prints it for people (`--output-format=normal`), of fio 2.2 to 3.42, and terse output.

What text rounds is taken from what it prints exactly, where that follows: the number of operations and milliseconds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.fio_latency import Latency, latency_of
from assay.rooms.importers.work.fio_measured import (
    HINT,
    MAX_RUNTIME_MS,
    NAME,
    Direction,
    JobOutcome,
    directions_of,
    error_tallies,
    measurement_of,
)
from assay.rooms.importers.work.fio_options import (
    parameters_of,
    pattern_operation,
    stated_operation,
    time_of,
    why_no_storage,
)
from assay.rooms.importers.work.fio_snapshots import snapshot_words
from assay.rooms.importers.work.fio_text import parts
from assay.rooms.importers.work.fio_text.amounts import Amount
from assay.rooms.importers.work.fio_text.job_lines import CommonOptions
from assay.rooms.importers.work.fio_text.parts import TextOutput, outputs_of
from assay.rooms.importers.work.fio_text.result_lines import TextDirection, TextJob
from assay.rooms.importers.work.fio_text.terse import TerseJob, without_snapshots
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

_ROUGH = Decimal("0.01")
"""Rounded bytes are counts of a result if the last printed digit is at most this share of them."""
_OPERATIONS = ("read", "write", "trim")
_NOT_PRINTED = "fio printed no result of it: it did nothing, or it failed"


def recognise(text: str) -> bool:
    """Whether a text has lines of fio's normal or terse output."""
    return parts.is_printed(text)


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets of jobs of which fio does not print `rw`, as in terse output.

    Raises:
        OutputError: It is not what fio prints.
    """
    return [_tool_output(output, file, stated.order) for output in outputs_of(text)]


def _tool_output(output: TextOutput, file: ImportedFile, order: Order | None) -> ToolOutput:
    forms = dict.fromkeys(job.form for job in output.terse)
    head = {
        "tool": NAME,
        "version": output.version or next((job.version for job in output.terse), ""),
        "form": "text" if output.jobs or not forms else f"terse output (version {' and '.join(map(str, forms))})",
        "line": output.line,
        "date": next((job.date for job in output.jobs), ""),
        "command": output.command.text,
    }
    results = (*_text_results(output, order), *_terse_results(output, order), *_missing(output))
    return ToolOutput(file=file.model_copy(update=head), results=results)


def _numbered(keys: Sequence[tuple[object, ...]]) -> list[str]:
    """Return what is added to names of results that have the same key: ` (1 of 4)`; empty for a single one."""
    same, numbers, found = Counter(keys), Counter[tuple[object, ...]](), []
    for key in keys:
        numbers[key] += 1
        found.append(f" ({numbers[key]} of {same[key]})" if same[key] > 1 else "")
    return found


def _text_results(output: TextOutput, order: Order | None) -> Iterator[ImportedResult]:
    """Yield the results of the normal output."""
    together = Counter((job.report, job.group) for job in output.jobs)
    suffixes = _numbered([(job.report, job.group, job.name) for job in output.jobs])
    for job in output.jobs:
        _find_thousands(job, output.headers.common_options(job.group, job.name, is_sum=job.jobs > 1))
    for job, suffix, figures in zip(output.jobs, suffixes, _all_figures(output), strict=True):
        common = output.headers.common_options(job.group, job.name, is_sum=job.jobs > 1)
        operation, left_out = _operation(job, common, order)
        if operation is not None and job.later:
            operation, left_out = None, snapshot_words(job.later)
        parameters: dict[str, AxisValue] = {}
        measured, latency_name = None, ""
        typed = output.command.options_of(job.name)
        if operation is not None:
            limit = time_of(typed.get("runtime", ""))
            measured, latency_name = _measurement(job, operation, common, limit)
            others = together[job.report, job.group] > 1 or (job.jobs == 1 and output.headers.has_several(job.group))
            printed = _parameters(job, operation, common, is_alone=not others)
            # What was printed counts, since it is what was done.
            parameters = (parameters_of(typed, operation, not others) if typed else {}) | printed
        yield ImportedResult(
            name=job.name,
            line=job.line,
            target=output.command.target_of(job.name) or NAME,
            workload=job.name + suffix,
            operation=operation,
            parameters=parameters,
            options=typed | (common.options if common else {}),
            figures=figures,
            latency_of=latency_name,
            measured=measured,
            left_out=left_out,
        )


def _all_figures(output: TextOutput) -> Iterator[tuple[Figure, ...]]:
    """Yield the figures of each result; those of its group and of the disks stand with the first one."""
    groups, disks = dict(output.groups), dict(output.disks)
    for job in output.jobs:
        yield (*job.figures, *groups.pop((job.report, job.group), ()), *disks.pop(job.report, ()))


def _operation(job: TextJob, common: CommonOptions | None, order: Order | None) -> tuple[str | None, str]:
    """Return the operation of a job, or None and why there is none."""
    if job.error == 0 and not job.directions:
        return None, "fio prints no rate of it: it took less than a millisecond"
    counts = zip(_OPERATIONS, job.counts["total_ios"], strict=False)
    used = (
        tuple(job.directions)
        if "mixed" in job.directions
        else tuple(name for name, count in counts if count or name in job.directions)
    )
    if common is None:
        return stated_operation(used, order)
    if why := why_no_storage(common.options.get("ioengine", "")):
        return None, why
    if len(common.patterns) > 1:
        return (
            None,
            f"it is the sum of several jobs, or one of several of that name: rw={' and rw='.join(common.patterns)}",
        )
    return pattern_operation(common.patterns[0], used, may_check=True)


def _parameters(job: TextJob, operation: str, common: CommonOptions | None, is_alone: bool) -> dict[str, AxisValue]:
    """Return the parameters that follow from what is printed; all others are not known."""
    found: dict[str, AxisValue] = {"hosts": 1}
    if is_alone:
        found["lanes"] = job.jobs
        if job.jobs == 1:
            found["layout"] = "separate"
    if common is None:
        return found
    size = common.size_of(_data_directions(operation))
    if size and all(_is_near(job, name, size) for name in directions_of(operation, "mixed" in job.directions)):
        found["record_size"] = size
    depth = common.options.get("iodepth", "0")
    if int(depth):
        found["queue_depth"] = int(depth)
    return found


def _data_directions(operation: str) -> tuple[str, ...]:
    """Return the directions whose records an operation has."""
    return directions_of(operation, has_mixed=False)


def _ops(job: TextJob, name: str) -> int:
    """Return how many operations a direction has; with unified_rw_reporting, that of all together."""
    return sum(_own(job.counts["total_ios"], name))


def _own(counts: Sequence[int], name: str) -> Sequence[int]:
    """Return those of the counts of reads, writes and trims that are of a direction: all of them if it is `mixed`."""
    return counts[:3] if name == "mixed" else counts[_OPERATIONS.index(name) :][:1]


def _is_near(job: TextJob, name: str, size: int) -> bool:
    """Whether what was moved is as much as records of that size have, but for short ones."""
    if (part := job.directions.get(name)) is None:
        return True
    least, most = part.io.bounds
    moved = _ops(job, name) * size
    slack = max(Decimal(size), most / 100)
    return bool(job.error) or least - slack <= moved <= most + slack


def _measurement(
    job: TextJob, operation: str, common: CommonOptions | None, limit: int | None
) -> tuple[Measurement, str]:
    """Return what a job measured, in Assay's units, and which of fio's times its latencies are.

    `limit` is its `runtime` in nanoseconds, if that is known.
    """
    names = directions_of(operation, "mixed" in job.directions)
    size = common.size_of(_data_directions(operation)) if common else None
    total, first = job.errors or (1 if job.error else 0, job.error)
    code = job.error or first
    known = JobOutcome(
        is_failed=bool(job.error),
        errors=error_tallies(code, max(total, 1 if code else 0)),
        method=common.options.get("ioengine", "") if common else "",
        limit_ns=limit,
    )
    kinds = []
    for name in names:
        own = size if name == "mixed" else common.size_of((name,)) if common else None
        kinds.append(_direction(job, name, own))
    return measurement_of(kinds, operation, known)


def _direction(job: TextJob, name: str, size: int | None) -> Direction:
    """Return what was done in a direction.

    Bytes are operations times the size of a record, if that is what fio rounds to the amount that it prints.

    Args:
        job: The result.
        name: The direction.
        size: Bytes of a record; None if unknown.

    Raises:
        OutputError: Its figures contradict each other.
    """
    part, ops = job.directions.get(name), _ops(job, name)
    if part is None:
        if ops and not job.error:
            raise OutputError(
                job.line, f"job {job.name}: {ops} operations of {name}, and no line with their rate", HINT
            )
        return Direction(name)
    runtime = Decimal(part.runtime_ms)
    _check(job, name, part, ops)
    moved = ops * size if size else 0
    rate = moved * 1000 // part.runtime_ms
    # With fdatasync, fio counts flushes as short reads of a job that only writes.
    is_whole = not any(any(_own(job.counts.get(one, ()), name)) for one in ("short_ios", "drop_ios")) and not job.error
    is_exact = bool(moved) and is_whole and part.io.fits(moved) and all(one.fits(rate) for one in part.rates)
    if not is_exact:
        moved = int(part.io.value)
    return Direction(
        name=name,
        ops=ops,
        bytes=moved,
        bytes_per_s=Decimal(rate) if is_exact else _best_rate(part),
        iops=ops * 1000 / runtime,
        runtime_ms=runtime,
        latency=latency_of(part.times, job.line) if ops else Latency(),
        has_counts=is_exact or part.io.precision <= _ROUGH,
    )


def _best_rate(part: TextDirection) -> Decimal:
    """Return the rate with the smallest last digit of those that are printed and that follow from bytes and time."""
    found = [(one.precision, one.value) for one in part.rates]
    found.append((part.io.precision, part.io.value * 1000 / part.runtime_ms))
    return min(found)[1]


def _check(job: TextJob, name: str, part: TextDirection, ops: int) -> None:
    """Refuse figures that contradict each other.

    Raises:
        OutputError: A rate does not follow from a number and the time.
    """
    if not 0 < part.runtime_ms <= MAX_RUNTIME_MS:
        raise OutputError(job.line, f"job {job.name}: {name} cannot take {part.runtime_ms} ms", HINT)
    if not part.iops.fits(ops * 1000 // part.runtime_ms):
        message = f"job {job.name}: {name} cannot have {part.iops.number} {part.iops.unit}"
        raise OutputError(job.line, f"{message}, with {ops} operations in {part.runtime_ms} ms", HINT)
    if rate := _contradiction(part.io, part.rates, part.runtime_ms):
        message = f"job {job.name}: {name} cannot have {rate.number} {rate.unit}"
        moved = f"{part.io.number} {part.io.unit}"
        raise OutputError(job.line, f"{message}, with {moved} in {part.runtime_ms} ms", HINT)


def _contradiction(io: Amount, rates: Sequence[Amount], runtime_ms: int) -> Amount | None:
    """Return the rate that does not follow from bytes and time, however they are rounded; None if all do."""
    least, most = (bound * 1000 / runtime_ms for bound in io.bounds)
    return next((rate for rate in rates if rate.bounds[1] < least - 1 or rate.bounds[0] > most + 1), None)


def _find_thousands(job: TextJob, common: CommonOptions | None) -> None:
    """Take units of old output as powers of 1000 where only these fit the rate, or the number of records.

    Before 2.17, fio writes `KB` for 1024 bytes, and with kb_base=1000 for 1000 bytes.
    """
    for name, part in job.directions.items():
        io, rates = part.io.in_thousands, [rate.in_thousands for rate in part.rates]
        if io == part.io or not part.runtime_ms:
            continue
        size = common.size_of(_OPERATIONS[:2] if name == "mixed" else (name,)) if common else None
        moved = _ops(job, name) * size if size else 0
        is_odd = _contradiction(part.io, part.rates, part.runtime_ms) or (moved and not part.io.fits(moved))
        if is_odd and not _contradiction(io, rates, part.runtime_ms) and (not moved or io.fits(moved)):
            job.read_as_thousands(name)


def _terse_results(output: TextOutput, order: Order | None) -> Iterator[ImportedResult]:
    """Yield the results of the terse output; those that stand in the normal output, too, are left out."""
    text = {(job.name, job.group) for job in output.jobs}
    lines = without_snapshots(output.terse)
    suffixes = iter(_numbered([(job.group, job.name) for job in lines if not job.later]))
    for job in lines:
        suffix = "" if job.later else next(suffixes)
        operation, left_out = None, "the normal output in this file has the same job"
        if text and (job.name, job.group) not in text:
            left_out = _NOT_PRINTED + (f", with error {job.error}" if job.error else "")
        elif not text:
            operation, left_out = _terse_operation(job, order)
            if operation is not None and job.later:
                operation, left_out = None, snapshot_words(job.later)
        measured, latency_name = _terse_measurement(job, operation) if operation is not None else (None, "")
        yield ImportedResult(
            name=job.name,
            line=job.line,
            target=NAME,
            workload=job.name + suffix,
            operation=operation,
            parameters={},
            options={},
            figures=job.figures,
            latency_of=latency_name,
            measured=measured,
            left_out=left_out,
        )


def _terse_operation(job: TerseJob, order: Order | None) -> tuple[str | None, str]:
    used = tuple(name for name in job.parts if job.direction(name).runtime_ms)
    if not used and not job.error:
        return None, "no operation was done"
    return stated_operation(used, order)


def _terse_measurement(job: TerseJob, operation: str) -> tuple[Measurement, str]:
    names = directions_of(operation, bool(job.direction("mixed").runtime_ms))
    total, first = job.total_errors or (1 if job.error else 0, job.error)
    code = job.error or first
    known = JobOutcome(is_failed=bool(job.error), errors=error_tallies(code, max(total, 1 if code else 0)))
    return measurement_of([job.direction(name) for name in names], operation, known)


def _missing(output: TextOutput) -> Iterator[ImportedResult]:
    """Yield the jobs that are announced and have no result."""
    sums = {job.group for job in output.jobs if job.jobs > 1}
    named = {(job.group, job.name) for job in output.jobs} | {(job.group, job.name) for job in output.terse}
    for header in output.headers.all:
        if header.group not in sums and (header.group, header.name) not in named:
            yield ImportedResult(
                name=header.name,
                line=header.line,
                target=NAME,
                workload=header.name,
                operation=None,
                parameters={},
                options=header.options,
                figures=(),
                left_out=_NOT_PRINTED,
            )
