"""Describes what looks odd in the results. No result is removed because of a note."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import median

from assay.analyse.anomalies.falling import fall_notes
from assay.analyse.anomalies.trend import trend_notes
from assay.analyse.usable import usable
from assay.model.partial import MissingValue
from assay.model.result.host_use import HostUse
from assay.model.result.result import ResultRow
from assay.model.result.run import TargetPlace
from assay.model.result.verdict import Verdict
from assay.model.units import about_count, about_number, about_size, format_size

MAX_PER_KIND = 5
"""Further notes of a kind are only counted."""

LARGE_RECORD = 512 << 10
MIN_SPLIT = 1.5
"""Least requests for each operation that are worth a note."""

SCATTERED = ("random_read", "stride_read", "backward_read")
FETCHED_MORE = 1.5
"""Least ratio of fetched bytes to read bytes that is worth a note."""

LOST_FRAMES = 1e-4
"""Least share of frames sent again that is worth a note."""
SMALL_FRAME = 1024
"""Bytes of data in a frame with an MTU of 1500: two sectors."""

BUSY_SHARE = 0.9
"""Least share of the time at which something counts as full."""
RESENT_SHARE = 1e-3
"""Least share of retransmitted TCP segments that is worth a note."""

LATE_START_NS = 1_000_000
"""A delay of starts below this is not worth a note."""

_MAD_TO_SIGMA = 1.4826
_STDIO = ("fwrite", "re_fwrite", "fread", "re_fread")


def notes(rows: Sequence[ResultRow], places: Mapping[str, TargetPlace]) -> tuple[str, ...]:
    """Return all notes except those of `falling`, one sentence each, grouped by kind.

    Args:
        rows: All rows of the run.
        places: Target -> where it is.
    """
    found: list[str] = []
    for kind in _PER_ROW:
        considered = (row for row in rows if not (row.machine and kind in _DISTURBED))
        found += _capped(note for row in considered for note in _until_missing(kind(row, places.get(row.case.target))))
    found += trend_notes(rows)
    found += _capped(_faster_than_direct(rows))
    found += _capped(_untested_tails(rows))
    return tuple(found)


def falling(rows: Sequence[ResultRow]) -> tuple[str, ...]:
    """Return a sentence for each axis along which a higher value does much less, the worst first."""
    return tuple(_capped(iter(fall_notes(rows))))


def _until_missing(several: Iterator[str]) -> Iterator[str]:
    """Yield the notes up to the first that needs a missing value."""
    with suppress(MissingValue):
        yield from several


def _capped(several: Iterator[str]) -> list[str]:
    every = list(several)
    rest = len(every) - MAX_PER_KIND
    more = f"... and {rest} more {'result' if rest == 1 else 'results'} with the same note."
    return every if rest <= 0 else [*every[:MAX_PER_KIND], more]


def _name(row: ResultRow) -> str:
    return f"{row.case.label}, {row.operation}"


def _rate(per_second: float, row: ResultRow) -> str:
    return f"{about_count(per_second)} operations/s" if row.is_counted else f"{about_size(per_second)}/s"


def _outliers(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note repeats above twice or below half the median; with 5 repeats or more also beyond 3 scaled MAD and 5 %.

    The median absolute deviation is scaled by 1.4826, which makes it the standard deviation of a normal distribution.
    """
    if row.rate is None or row.rate.n < 3:
        return
    middle = row.rate.median
    samples = usable(row.samples)
    reach = _MAD_TO_SIGMA * median(abs(sample.rate - middle) for sample in samples)
    for sample in samples:
        distance = abs(sample.rate - middle)
        far = sample.rate > 2 * middle or 2 * sample.rate < middle
        if far or (len(samples) >= 5 and distance > 3 * reach and distance > 0.05 * middle):
            yield (
                f"{_name(row)}: repeat {sample.repeat} ({_rate(sample.rate, row)}) is an outlier "
                f"against the median of {_rate(middle, row)}; it is counted."
            )


def _slow_first_repeat(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    if row.rate is None or row.rate.n < 3:
        return
    first, *others = usable(row.samples)
    least = min(sample.rate for sample in others)
    if first.rate < 0.8 * least:
        yield (
            f"{_name(row)}: the first repeat ({_rate(first.rate, row)}) is slower than all others "
            f"({_rate(least, row)} or more), as if something had to warm up."
        )


def _uneven_lanes(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    # Tasks are counted when they end: until the first lane has ended, others have begun what is not counted.
    if row.case.parameters.all_lanes < 2 or row.case.group == "programs":
        return
    pairs = [
        (sample.first_finisher_iops if row.is_counted else sample.first_finisher, sample.rate)
        for sample in usable(row.samples)
    ]
    ratios = [first / last for first, last in pairs if first and last]
    if ratios and abs(median(ratios) - 1) > 0.1:
        yield (
            f"{_name(row)}: until the first thread ended the rate was {median(ratios):.2f} times that of the whole "
            "phase; the threads did not share the work evenly."
        )


def _other_method(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:
    """Note plain system calls where the study requests io_uring, or several operations in flight."""
    parameters = row.case.parameters
    found = next((sample for sample in row.samples if sample.method == "sync"), None)
    without_kernel = place is not None and place.has_no_storage
    if found is None or without_kernel or row.operation.split(" ", 1)[0] in _STDIO:
        return
    why = f" ({found.method_reason})" if found.method_reason else ""
    if parameters.method == "io_uring":
        yield f"{_name(row)}: io_uring was requested, but plain system calls were used{why}."
    elif parameters.queue_depth > 1 and parameters.method == "auto":
        yield (
            f"{_name(row)}: plain system calls were used{why}; they keep one operation in flight, "
            f"not the requested {parameters.queue_depth}."
        )


def _cache_untouched(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:
    if place is not None and (place.memory_backed or place.has_no_storage):
        return
    wanted = row.case.parameters.cache
    if wanted in ("drop", "evict") and any(not sample.cache_done for sample in usable(row.samples)):
        yield f"{_name(row)}: the cache should have been emptied before ({wanted}), but that was not done."


def _unstarted(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    most = max((sample.unstarted_ops for sample in row.samples), default=0)
    if most:
        yield f"{_name(row)}: up to {most:,} operations were due but never started; their latency is in no percentile."


def _split_requests(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note large direct operations that the kernel split into several requests, since their buffers are fragmented.

    Source: /sys/block/DISK/queue/max_segments; iostats counts the requests, where the device did little else.
    """
    parameters = row.case.parameters
    record = parameters.record_size or 0
    if parameters.cache != "direct" or record < LARGE_RECORD or parameters.huge_pages or parameters.hosts > 1:
        return
    counts = [
        (sample.block.reads + sample.block.writes) / sample.ops
        for sample in usable(row.samples)
        if sample.block is not None
        and sample.ops
        and 0.9 * sample.bytes <= sample.block.read_bytes + sample.block.write_bytes <= 1.1 * sample.bytes
    ]
    if counts and median(counts) >= MIN_SPLIT:
        yield (
            f"{_name(row)}: each operation of {format_size(record)} became {about_number(median(counts), 2)}"
            " requests to the device."
            " In huge pages (huge_pages: true) its buffer is in one piece, which may become one request, and be faster."
        )


def _read_ahead(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note scattered reads for which the kernel fetched much more than was read."""
    if row.operation.split(" ", 1)[0] not in SCATTERED or row.case.parameters.cache == "direct":
        return
    times = [
        sample.device_read_bytes / sample.read_bytes
        for sample in usable(row.samples)
        if sample.read_bytes and sample.device_read_bytes
    ]
    if times and median(times) >= FETCHED_MORE:
        yield (
            f"{_name(row)}: the kernel fetched {about_number(median(times))} times the bytes that were read; the"
            " rest is"
            " read-ahead of the kernel."
        )


def _late_starts(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note an open loop in which most of the latency tail is time before the operation was submitted."""
    delay, latency = row.start_delay.get("p99.9", 0.0), row.latency.get("p99.9", 0.0)
    is_reported = row.verdict in (Verdict.UNSUSTAINED, Verdict.CLIENT_BOUND)
    if delay >= LATE_START_NS and 2 * delay > latency and not is_reported:
        yield (
            f"{_name(row)}: one operation in a thousand started {about_number(delay / 1e6)} ms late or more,"
            " which is most of its"
            f" latency ({about_number(latency / 1e6)} ms): for moments every slot was taken, or the engine was late."
        )


def _cut_short(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    cut = [sample for sample in row.samples if sample.status == "time_limit"]
    if cut:
        counts = f"{len(cut)} of {len(row.samples)} repeats"
        worn = [sample.at_limit for sample in cut if sample.at_limit is not None]
        if len(worn) < len(cut):
            yield f"{_name(row)}: {counts} ended at the time limit; they cover part of the data."
            return
        moved = median(limit.bytes / limit.elapsed_ns for limit in worn if limit.elapsed_ns) * 1e9
        done = median(limit.ops / limit.elapsed_ns for limit in worn if limit.elapsed_ns) * 1e9
        reached = f"{moved / 1e6:,.3g} MB/s" if moved else f"{done:,.3g} operations/s"
        yield (
            f"{_name(row)}: {counts} came to the time limit; then each thread went on until it had done as much as the"
            f" furthest (wear-out): {reached} until the limit. They cover part of the data."
        )


def _frames_again(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note lost frames of disks behind AoE: otherwise the loss shows only in the latencies."""
    services = [
        sample.service for sample in usable(row.samples) if sample.service is not None and sample.service.frames
    ]
    sent, again = sum(one.frames for one in services), sum(one.frames_again for one in services)
    if again and again / sent >= LOST_FRAMES:
        yield (
            f"{_name(row)}: {again:,} of {sent:,} frames were sent again ({about_number(again / sent, 2)} of"
            " all): they, or their "
            "answers, were lost or late. The waits are in the latencies."
        )


def _sessions_lost(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note broken connections: operations under way waited for a new one, or failed."""
    lost = sum(sample.service.sessions_lost for sample in usable(row.samples) if sample.service is not None)
    if lost:
        yield (
            f"{_name(row)}: {lost:,} {'session was' if lost == 1 else 'sessions were'} lost with the connection, and "
            "opened again: operations in flight waited or failed, and the server may have lost data that it had not"
            " flushed."
        )


def _stale_looks(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note objects that another client could not see immediately after they were put."""
    services = [sample.service for sample in usable(row.samples) if sample.service is not None]
    looks, stale = sum(one.looks for one in services), sum(one.stale_looks for one in services)
    if stale:
        yield (
            f"{_name(row)}: {stale:,} of {looks:,} checks by another client did not see a completed put: the service "
            "shows new objects to other clients only after a while, or not always."
        )


def _busy_hosts(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note processors, disks and links of other hosts that were full, and lost segments and frames."""
    uses_by_host: dict[str, list[HostUse]] = {}
    for sample in usable(row.samples):
        for use in sample.uses:
            uses_by_host.setdefault(use.host, []).append(use)
    for host, uses in uses_by_host.items():
        full = _full(uses)
        sent = sum(use.segments or 0 for use in uses)
        again = sum(use.segments_again or 0 for use in uses)
        if sent and again / sent >= RESENT_SHARE:
            full.append(f"{again:,} of {sent:,} TCP segments were sent again")
        if thrown := sum((use.softnet_drops or 0) + sum(link.drops for link in use.links) for use in uses):
            full.append(f"{thrown:,} frames were dropped")
        if full:
            yield f"{_name(row)}: on {host} {' and '.join(full)}."


def _full(uses: Sequence[HostUse]) -> list[str]:
    """Return what was busy for almost all of the time, in the median of the repeats."""
    found = []
    cpu = [use.cpu for use in uses if use.cpu is not None and not use.shared]
    if cpu and median(cpu) >= BUSY_SHARE:
        found.append(f"the CPUs were busy {100 * median(cpu):.0f} % of the time")
    disks: dict[str, list[float]] = {}
    for use in uses:
        for disk in use.own_disks:
            disks.setdefault(disk.name, []).append(disk.busy)
    for name, shares in disks.items():
        if median(shares) >= BUSY_SHARE:
            found.append(f"disk {name} was busy {100 * median(shares):.0f} % of the time")
    return found


def _small_frames(row: ResultRow, place: TargetPlace | None) -> Iterator[str]:  # noqa: ARG001
    """Note frames of two sectors, as with an MTU of 1500, where operations are larger: the frames are then the work."""
    stats = [
        (sample.service.frames / seconds, (sample.read_bytes + sample.write_bytes) / sample.service.frames)
        for sample in usable(row.samples)
        if sample.service is not None and sample.service.frames and (seconds := sample.elapsed_ns / 1e9) > 0
    ]
    record = row.case.parameters.record_size
    if stats and record is not None and record > SMALL_FRAME and median(each for _, each in stats) <= SMALL_FRAME:
        yield (
            f"{_name(row)}: {median(one for one, _ in stats):,.0f} frames/s carry {SMALL_FRAME:,} bytes each at most, "
            "as with an MTU of 1500; with one of 9000, on the whole way, a frame carries 8,704 bytes."
        )


_PER_ROW: tuple[Callable[[ResultRow, TargetPlace | None], Iterator[str]], ...] = (
    _outliers,
    _slow_first_repeat,
    _uneven_lanes,
    _other_method,
    _cache_untouched,
    _unstarted,
    _late_starts,
    _cut_short,
    _split_requests,
    _read_ahead,
    _frames_again,
    _sessions_lost,
    _stale_looks,
    _busy_hosts,
    _small_frames,
)


_DISTURBED = (_outliers, _slow_first_repeat, _uneven_lanes, _late_starts)
"""Kinds that are left out for rows whose findings the run's verdict on the machine covers."""


def _faster_than_direct(rows: Sequence[ResultRow]) -> Iterator[str]:
    """Note cached results more than twice as fast as the fastest direct result of that operation on that target."""
    fastest: dict[tuple[str, str], float] = {}
    rows = [row for row in rows if row.case.parameters.has("cache")]
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
                f"{_name(row)}: {_rate(row.throughput.median, row)} is {about_number(times)} times the fastest"
                " direct result "
                f"of this target ({_rate(direct, row)})."
            )


def _untested_tails(rows: Sequence[ResultRow]) -> Iterator[str]:
    """Note, once for each case, files that are no whole number of records: only whole records are written and read."""
    for case in {row.case.id: row.case for row in rows}.values():
        record, size = case.parameters.get_value("record_size"), case.parameters.get_value("file_size")
        tail = size % record if record and size is not None else 0
        if record and tail and not case.parameters.is_on_set:
            yield (
                f"{case.label}: the last {format_size(tail)} of each file of {format_size(size)} "
                f"are not tested, because they are less than a record of {format_size(record)}."
            )
