"""What looks odd in the results, in words. Nothing is removed because of a note."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median

from assay.analyse.usable import usable
from assay.model.result import Place, Row
from assay.model.units import about_size, format_size

MOST_PER_KIND = 5
"""More notes of a kind are only counted."""

_MAD_TO_SIGMA = 1.4826
_STDIO = ("fwrite", "re_fwrite", "fread", "re_fread")


def notes(rows: Sequence[Row], places: Mapping[str, Place]) -> tuple[str, ...]:
    """All notes, a sentence each, grouped by kind.

    Args:
        rows: All rows of the run.
        places: Target -> where it is.
    """
    found: list[str] = []
    for kind in _PER_ROW:
        found += _capped(note for row in rows for note in kind(row, places.get(row.case.target)))
    found += _capped(_faster_than_direct(rows))
    found += _capped(_drops_over_record_size(rows))
    found += _capped(_untested_tails(rows))
    return tuple(found)


def _capped(several: Iterator[str]) -> list[str]:
    every = list(several)
    rest = len(every) - MOST_PER_KIND
    return every if rest <= 0 else [*every[:MOST_PER_KIND], f"... and {rest} more results of which the same is true."]


def _name(row: Row) -> str:
    return f"{row.case.label}, {row.operation}"


def _rate(bytes_per_s: float) -> str:
    return f"{about_size(bytes_per_s)}/s"


def _outliers(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    """More than twice or less than half the median; with 5 repeats or more also beyond 3 scaled MAD and 5 %.

    The median absolute deviation is scaled by 1.4826, which makes it the standard deviation of a normal distribution.
    """
    if row.throughput is None or row.throughput.n < 3:
        return
    middle = row.throughput.median
    samples = usable(row.samples)
    reach = _MAD_TO_SIGMA * median(abs(sample.throughput - middle) for sample in samples)
    for sample in samples:
        distance = abs(sample.throughput - middle)
        far = sample.throughput > 2 * middle or 2 * sample.throughput < middle
        if far or (len(samples) >= 5 and distance > 3 * reach and distance > 0.05 * middle):
            yield (
                f"{_name(row)}: repeat {sample.repeat} ({_rate(sample.throughput)}) is an outlier "
                f"against the median of {_rate(middle)}; it is counted."
            )


def _slow_first_repeat(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    if row.throughput is None or row.throughput.n < 3:
        return
    first, *others = usable(row.samples)
    least = min(sample.throughput for sample in others)
    if first.throughput < 0.8 * least:
        yield (
            f"{_name(row)}: the first repeat ({_rate(first.throughput)}) is slower than all others "
            f"({_rate(least)} or more), as if something had to warm up."
        )


def _uneven_lanes(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    if row.case.parameters.lanes < 2:
        return
    pairs = [(sample.first_finisher, sample.throughput) for sample in usable(row.samples)]
    ratios = [first / last for first, last in pairs if first and last]
    if ratios and abs(median(ratios) - 1) > 0.1:
        yield (
            f"{_name(row)}: up to the first lane's end the rate is {median(ratios):.2f} times "
            "that up to the last lane's; the lanes did not share evenly."
        )


def _other_method(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    parameters = row.case.parameters
    if "sync" not in {sample.method for sample in row.samples} or row.operation.split(" ", 1)[0] in _STDIO:
        return
    if parameters.method == "io_uring":
        yield f"{_name(row)}: io_uring was asked for, but pread and pwrite were used."
    elif parameters.queue_depth > 1 and parameters.method == "auto":
        yield (
            f"{_name(row)}: io_uring was not to be had; pread and pwrite keep one operation in flight, "
            f"not the {parameters.queue_depth} asked for."
        )


def _cache_untouched(row: Row, place: Place | None) -> Iterator[str]:
    if place is not None and (place.memory_backed or place.kind == "null"):
        return
    asked = row.case.parameters.cache
    if asked in ("drop", "evict") and any(not sample.cache_done for sample in usable(row.samples)):
        yield f"{_name(row)}: the cache should have been emptied before ({asked}), but that was not done."


def _unstarted(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    most = max((sample.unstarted_ops for sample in row.samples), default=0)
    if most:
        yield f"{_name(row)}: up to {most:,} operations were due but never started; their latency is in no percentile."


def _cut_short(row: Row, place: Place | None) -> Iterator[str]:  # noqa: ARG001
    cut = [sample for sample in row.samples if sample.status == "time_limit"]
    if cut:
        counts = f"{len(cut)} of {len(row.samples)} repeats"
        yield f"{_name(row)}: {counts} ended at the time limit; they cover part of the data."


_PER_ROW: tuple[Callable[[Row, Place | None], Iterator[str]], ...] = (
    _outliers,
    _slow_first_repeat,
    _uneven_lanes,
    _other_method,
    _cache_untouched,
    _unstarted,
    _cut_short,
)


def _faster_than_direct(rows: Sequence[Row]) -> Iterator[str]:
    """Through the cache more than twice as fast as the fastest direct result of that operation on that target."""
    fastest: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.case.parameters.cache == "direct" and row.throughput is not None:
            key = row.case.target, row.operation
            fastest[key] = max(fastest.get(key, 0.0), row.throughput.median)
    for row in rows:
        direct = fastest.get((row.case.target, row.operation), 0.0)
        if row.case.parameters.cache == "direct" or row.throughput is None or not direct:
            continue
        times = row.throughput.median / direct
        if times > 2:
            yield (
                f"{_name(row)}: {_rate(row.throughput.median)} is {times:.3g} times the fastest direct result "
                f"of this target ({_rate(direct)})."
            )


def _drops_over_record_size(rows: Sequence[Row]) -> Iterator[str]:
    """A larger record, all else equal, with less than half the throughput of the next smaller one."""
    series: dict[object, list[tuple[int, Row]]] = defaultdict(list)
    for row in rows:
        record = row.case.axes.get("record_size")
        if isinstance(record, int) and row.throughput is not None:
            rest = tuple(item for item in row.case.axes.items() if item[0] != "record_size")
            series[row.case.target, row.case.workload, row.operation, rest].append((record, row))
    for points in series.values():
        ordered = sorted(points, key=lambda point: point[0])
        for (small, before), (large, after) in pairwise(ordered):
            assert before.throughput is not None and after.throughput is not None
            if 2 * after.throughput.median < before.throughput.median:
                yield (
                    f"{_name(after)}: throughput falls from {_rate(before.throughput.median)} at records of "
                    f"{format_size(small)} to {_rate(after.throughput.median)} at {format_size(large)}."
                )


def _untested_tails(rows: Sequence[Row]) -> Iterator[str]:
    """Files that are no whole number of records, once a case: only whole records are written and read."""
    for case in {row.case.id: row.case for row in rows}.values():
        record = case.parameters.record_size
        tail = case.parameters.file_size % record
        if tail:
            yield (
                f"{case.label}: the last {format_size(tail)} of each file of {format_size(case.parameters.file_size)} "
                f"are not tested, because they are less than a record of {format_size(record)}."
            )
