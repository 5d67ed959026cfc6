"""The list of all rules, and the rules about completeness, reads, writes, rates and precision.

A rule takes evidence and returns a finding, None (all is well) or `NotEvaluated`. A rule about the data path looks at
usable repeats only; problems of the others are for `incomplete` to report.
"""

import math
from collections.abc import Callable

from assay.judge import cache, course, lanes, layers, limits, metadata, open_loop, replays, tenant
from assay.judge.answer import MEMORY_ITSELF, Answer, NotApplicable, NotEvaluated, percent
from assay.judge.servers import answered_by_servers, crossed_network
from assay.model.result.evidence import Evidence
from assay.model.result.result import Estimate
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import CREATES, OBJECT_READS, READS, WRITES, is_counted
from assay.model.units import about_count, about_size, format_size

DEVICE_SHARE = 0.9
"""At least this share of the bytes must have come from, or gone to, the device."""
DIRECT_SHARE = 0.5
"""The same with O_DIRECT; lower, because a kernel may charge an operation to another process."""
MAX_UNCERTAINTY = 0.25
"""Greatest distance of an end of the interval from the median, as a share of the median. Two such results can be
distinguished if they differ by a factor of 1.7; smaller differences are for the comparison to decide."""
MEANINGLESS_UNCERTAINTY = 1.0
"""At or above this distance, a share of the median is meaningless, and so is a forecast of repeats."""
SUSTAINED = 0.99
"""Least share of the requested rate (docs/method.md, Latency)."""
MIN_REPEATS = 3
LARGE_WRITE = 1 << 20
"""Writes of this length leave pages in the largest folios that file systems make for writes."""
COMPRESSED = NotApplicable("data that is compressed below is for the rule `compressed` to judge")


def incomplete(evidence: Evidence) -> Answer:
    """Find repeats that are missing, did not end, did nothing, had a failed operation, or read unwritten data.

    Source: docs/method.md, Failures: a failure is a result; nothing is dropped, retried away or averaged over.
    """
    counted = {id(sample) for sample in evidence.usable}
    bad = [sample for sample in evidence.samples if id(sample) not in counted]
    missing = max(0, evidence.planned - len(evidence.samples))
    if not bad and not missing:
        return None
    parts = [_failure(sample) for sample in bad[:2]]
    if len(bad) > 2:
        parts.append(f"{len(bad) - 2} more with failures")
    if missing:
        why = f" ({'; '.join(evidence.reasons[:2])})" if evidence.reasons else ""
        parts.append(f"{missing} of {evidence.planned} repeats missing{why}")
    return Finding(
        verdict=Verdict.INCOMPLETE,
        rule="incomplete",
        text="; ".join(parts),
        remedy=_incomplete_remedy(bad, evidence.case.group == "objects"),
        numbers={
            "repeats_planned": evidence.planned,
            "repeats_usable": len(evidence.usable),
            "failed_operations": sum(sample.failed_operations for sample in bad),
            "failed_writes_before": sum(sample.failed_writes for sample in bad),
        },
    )


def _failure(sample: Sample) -> str:
    # A repeat with failures may have come to its end all the same.
    status = "" if sample.errors and sample.status == "done" else f" {sample.status}"
    text = f"repeat {sample.repeat}{status}"
    details = [tally.words for tally in sample.errors]
    if sample.failed_writes:
        count = sample.failed_writes
        details.append(f"{count} {'write' if count == 1 else 'writes'} of the data it reads had failed before")
    if sample.is_idle:
        details.append("no operation was done")
    return f"{text}: {'; '.join(details)}" if details else text


_FULL = {"ENOSPC", "EDQUOT", "NFS3ERR_NOSPC", "NFS3ERR_DQUOT", "STATUS_DISK_FULL", "STATUS_QUOTA_EXCEEDED"}
"""Names of the failures of full storage."""
_LIMITED = "Raise the target's limit (max_requests, max_capacity_units) and start a new run: a run keeps its limits."


def _incomplete_remedy(bad: list[Sample], objects: bool) -> str:
    symbols = {tally.name for sample in bad for tally in sample.errors}
    if symbols & _FULL:
        return "Free space (or inodes) on the target or use smaller or fewer files, then measure again."
    if any(tally.kind == "corrupt" for sample in bad for tally in sample.errors):
        return "Do not trust this storage with data before the cause is found: what was read is not what was written."
    if symbols & {"NFS3ERR_IO", "NFS3ERR_SERVERFAULT"}:
        return "Look for the cause in the NFS server's log, then measure again."
    if symbols & {"STATUS_UNEXPECTED_IO_ERROR", "STATUS_IO_DEVICE_ERROR", "STATUS_UNSUCCESSFUL"}:
        return "Look for the cause in the SMB server's log, then measure again."
    if symbols & {"EIO"}:
        return "Look for device errors in the kernel log (dmesg), then measure again."
    if symbols & {"RequestLimit", "CapacityLimit"}:
        return _LIMITED
    if symbols:
        return "Fix what the error names, then measure again."
    again = "Run again with --resume: repeats that crashed or were stopped are executed again."
    return f"{again} If a limit of the target is used up: {_LIMITED[0].lower()}{_LIMITED[1:]}" if objects else again


def cached_read(evidence: Evidence) -> Answer:
    """Find reads that memory answered instead of the device.

    The kernel counts the bytes that it fetched from storage for a process; the repeat with the lowest share of the
    bytes read decides. Where O_DIRECT bypasses the cache, `direct_read` checks instead. Where the kernel does not
    count, the size of the data decides: at least twice every memory that could hold it, or the cache emptied before. A
    cache that was kept on purpose gets the verdict too: the number is not that of the device.
    Source: read_bytes of proc_pid_io(5); docs/method.md, Caches.
    """
    if evidence.operation not in READS | OBJECT_READS or evidence.has_no_storage or not evidence.usable:
        return None
    if evidence.is_across_network:
        dropped = evidence.case.parameters.get_value("server_cache", "keep") == "drop"
        before = "the servers' page caches were dropped before; " if dropped else ""
        again = (
            "how much came from their other caches, or from these for data read twice, "
            if dropped
            else "how much the servers answer from memory "
        )
        return answered_by_servers(evidence, f"this host does not cache the data; {before}{again}is not known")
    if evidence.bypasses_cache:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if not evidence.counts_reads:
        return answered_by_servers(evidence) if crossed_network(evidence) else _cached_by_size(evidence)
    if evidence.may_compress:
        return COMPRESSED
    shares = _device_read_shares(evidence)
    if not shares or min(shares) >= DEVICE_SHARE:
        return None
    read = sum(sample.read_bytes for sample in evidence.usable)
    fetched = sum(sample.device_read_bytes or 0 for sample in evidence.usable)
    memory = max(0.0, 1 - fetched / read)
    return Finding(
        verdict=Verdict.CACHED,
        rule="cached_read",
        text=f"{percent(memory)} of the bytes read came from memory, not from the device"
        f" ({about_size(fetched)} fetched for {about_size(read)} read;"
        f" {percent(1 - min(shares))} in the worst repeat){_page_remark(evidence)}",
        remedy=_cache_remedy(evidence),
        numbers={
            "memory_share": memory,
            "worst_memory_share": 1 - min(shares),
            "bytes_read": read,
            "device_read_bytes": fetched,
        },
    )


def _device_read_shares(evidence: Evidence) -> list[float]:
    return [
        min(1.0, (sample.device_read_bytes or 0) / sample.read_bytes)
        for sample in evidence.usable
        if sample.read_bytes > 0
    ]


def _cached_by_size(evidence: Evidence) -> Answer:
    memory, data = evidence.cache_bytes, evidence.data_set_bytes
    unknown = "the kernel does not report how much was fetched from storage"
    if evidence.stacked_on is not None:
        unknown += f": below is {evidence.stacked_on}, which reads through the host's memory"
    if memory is None:
        return NotEvaluated(f"{unknown}, and the memory that could hold the data is unknown")
    if data >= 2 * memory:
        return None
    # Evicting the case's own files does not empty the caches below.
    empties = ("drop",) if evidence.stacked_on is not None else ("drop", "evict", "remount")
    if evidence.case.parameters.cache in empties and all(sample.cache_done for sample in evidence.usable):
        return NotEvaluated(f"{unknown}; the cache was emptied before the operation")
    return Finding(
        verdict=Verdict.CACHED,
        rule="cached_read",
        text=f"the data set ({about_size(data)}) is less than twice the memory that could hold it"
        f" ({about_size(memory)}), and {unknown}{_page_remark(evidence)}",
        remedy=_cache_remedy(evidence),
        numbers={"data_set_bytes": data, "memory_bytes": memory},
    )


def _page_remark(evidence: Evidence) -> str:
    """Return a remark if the case's own small writes determined the page sizes in memory; otherwise empty.

    Where a file system has large folios, a write makes one as large as itself, and reads find it so: in a file written
    4 KiB at a time each page is looked up separately.
    Source: `__filemap_get_folio` with `fgf_set_order` (mm/filemap.c of the kernel, 6.6 and later).
    """
    # It is only a remark: if a value is missing, the finding holds without it.
    parameters, operations = evidence.case.parameters, evidence.case.operations
    record, method = parameters.get_value("record_size"), parameters.get_value("method", "mmap")
    before = operations[: operations.index(evidence.operation)] if evidence.operation in operations else ()
    small = record is not None and record < LARGE_WRITE and method != "mmap"
    if not small or parameters.get_value("cache") != "keep" or CREATES.isdisjoint(before):
        return ""
    return (
        f"; the pages in memory are those that writes of {format_size(record or 0)} made, and where the file system"
        " has large folios, data of larger writes is cheaper to read"
    )


def _cache_remedy(evidence: Evidence) -> str:
    if evidence.operation in OBJECT_READS:
        return "Use objects of at least twice the memory together; or use the number to show what a cache does."
    if evidence.case.parameters.cache == "keep":
        return "The cache was kept on purpose: use the number to show what a cache does, not for the device."
    if evidence.stacked_on is not None:
        return (
            "Give the loop device direct I/O (losetup --direct-io=on), or use cache: drop or a data set of at least"
            " twice the memory."
        )
    return "Use cache: direct, drop or limit, or a data set of at least twice the memory."


def direct_read(evidence: Evidence) -> Answer:
    """Find O_DIRECT reads for which the device delivered less than half of the bytes.

    A direct read must fetch each byte, so the two counts agree if all is well. If they do not, the file system silently
    fell back to its cache, or answered from holes and reserved space that were never written. Both mean bytes from
    memory, hence `cached`; `impossible` is for rates above a measured ceiling. The rule applies only if a block device
    lies below or the kernel counted something.
    Source: read_bytes of proc_pid_io(5), counted where requests enter the block layer.
    """
    if evidence.operation not in READS or evidence.has_no_storage or not evidence.bypasses_cache or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if not evidence.counts_reads:
        return NotEvaluated("the kernel does not report how much was fetched from storage")
    if evidence.may_compress:
        return COMPRESSED
    shares = _device_read_shares(evidence)
    if not shares or min(shares) >= DIRECT_SHARE:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="direct_read",
        text=f"O_DIRECT was requested, but in one repeat only {percent(min(shares))} of the bytes read"
        " came from the device",
        remedy="Check that this file system honours O_DIRECT and that the files are not sparse; else use cache: drop.",
        numbers={"worst_device_share": min(shares)},
    )


def unflushed_write(evidence: Evidence) -> Answer:
    """Find writes whose time does not include a flush (`sync: none`): the data may still be in volatile memory.

    With O_DIRECT the data has left the host, but neither the device's own cache nor the file system's metadata need be
    stable (open(2), O_DIRECT).
    Source: docs/method.md, Flush. The kernel's write_bytes is no evidence here: it is counted when a page becomes
    dirty, not when it is written back (proc_pid_io(5)). But at most all of the memory can hold unwritten data, so at
    least 1 - memory / bytes written has reached the device; from 90 % on the result passes.
    """
    parameters = evidence.case.parameters
    if evidence.operation not in WRITES or parameters.sync != "none" or evidence.has_no_storage or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if evidence.bypasses_cache:
        return _unflushed_device(evidence)
    written = min(sample.write_bytes for sample in evidence.usable)
    memory = evidence.cache_bytes
    reached = max(0.0, 1 - memory / written) if memory is not None and written else 0.0
    if reached >= DEVICE_SHARE:
        return None
    numbers: dict[str, float] = {"bytes_written": written, "min_share_on_device": reached}
    return Finding(
        verdict=Verdict.CACHED,
        rule="unflushed_write",
        text=f"the data may still be in memory: {about_size(written)} were written without a flush; only "
        f"{percent(reached)} of them have certainly reached the device",
        remedy="Measure with a flush in the time (sync: fsync), or with O_DIRECT (cache: direct).",
        numbers=numbers,
    )


def _unflushed_device(evidence: Evidence) -> Finding:
    written = min(sample.write_bytes for sample in evidence.usable)
    where = (
        "may still be in the servers' memory"
        if evidence.is_across_network
        else ("with O_DIRECT may still be in the device's volatile cache")
    )
    return Finding(
        verdict=Verdict.CACHED,
        rule="unflushed_write",
        text=f"not flushed: the {about_size(written)} written {where}",
        remedy="Measure with a flush in the time (sync: fsync, fdatasync, o_sync or o_dsync).",
        numbers={"bytes_written": written},
    )


def unsustained(evidence: Evidence) -> Answer:
    """Find an open loop that did not keep up the requested rate.

    The elapsed time includes the flush at the end, during which no operation is due.
    Source: docs/method.md, Latency: achieved / target below 0.99. Poisson arrivals are themselves uncertain by
    1/sqrt(operations), of which three times are allowed.
    """
    timed = [sample for sample in evidence.usable if sample.target_per_s]
    if not timed:
        return None
    unstarted = max(sample.unstarted_ops for sample in timed)
    shares = [_achieved(sample) / sample.target_per_s for sample in timed if sample.target_per_s]
    least = min(shares)
    if unstarted == 0 and all(
        share >= SUSTAINED - _chance(evidence, sample) for share, sample in zip(shares, timed, strict=True)
    ):
        return None
    target = timed[0].target_per_s or 0.0
    return Finding(
        verdict=Verdict.UNSUSTAINED,
        rule="unsustained",
        text=f"{percent(least)} of the requested {target:,.6g} operations/s were achieved"
        f" (worst repeat); {unstarted:,} due operations never started",
        remedy="Set a lower rate, more lanes or a greater queue depth; the latencies include the wait in a queue.",
        numbers={"achieved_share": least, "target_per_s": target, "unstarted_ops": unstarted},
    )


def _achieved(sample: Sample) -> float:
    rate = sample.iops
    if sample.operation == "file_mix" and sample.steady_iops:
        # Lanes take equally many turns but do different numbers of operations: some lanes end earlier.
        rate = max(rate, sample.steady_iops)
    # In a set of files, opens and closes count as started operations besides records.
    rate = rate * sample.started_ops / sample.ops if sample.ops else rate
    working = sample.elapsed_ns - sample.flush_ns
    return rate * sample.elapsed_ns / working if working > 0 else rate


def _chance(evidence: Evidence, sample: Sample) -> float:
    if evidence.case.parameters.arrivals != "poisson" or not sample.ops:
        return 0.0
    return 3 / math.sqrt(sample.ops)


MAX_REPEATS = 200
"""With more repeats needed, none are advised."""


def unstable(evidence: Evidence) -> Answer:
    """Find rates that are not precise enough, or that have two levels.

    Not precise enough: an end of the 95 % interval is further from the median than 25 %, or than the study's `within`.
    More repeats bring the ends nearer; the remedy says how many. Two levels are not noise about one level: repeats do
    not help there, and the median is one of them by chance.
    Source: `assay.analyse.estimate` has the interval. A limit on the scatter itself could not be satisfied by repeats.
    """
    estimate = evidence.estimate
    if estimate is None:
        return None
    if estimate.levels:
        return _two_valued(estimate, evidence)
    whole = evidence.within is not None and len(evidence.samples) >= evidence.planned
    limit, reach = (
        min(MAX_UNCERTAINTY, evidence.within or MAX_UNCERTAINTY) if whole else MAX_UNCERTAINTY,
        estimate.relative_reach,
    )
    if estimate.n < MIN_REPEATS and (reach is None or reach <= MEANINGLESS_UNCERTAINTY):
        return NotEvaluated(f"needs {MIN_REPEATS} repeats, has {estimate.n}")
    if reach is None:
        return NotEvaluated("no interval can be computed: one of the rates is 0")
    if reach <= limit:
        return None
    low, high = (_rate(value, evidence) for value in (estimate.low, estimate.high))
    far = f"uncertain by {percent(reach)}" if reach < MEANINGLESS_UNCERTAINTY else "very uncertain"
    text = f"{far}: the 95 % interval of {estimate.n} repeats is {low} to {high}"
    if limit != MAX_UNCERTAINTY:
        text += f"; {percent(limit)} was requested"
    needs = math.ceil(estimate.n * (reach / limit) ** 2)
    if needs > MAX_REPEATS:
        remedy = "Find out what else runs on the machine: more repeats would hardly help."
    else:
        more = (
            f"About {needs:,} repeats would be enough, if they vary as these do"
            if reach < MEANINGLESS_UNCERTAINTY
            else "Repeat more often"
        )
        remedy = f"{more}; or find out what else runs on the machine."
    return Finding(
        verdict=Verdict.UNSTABLE,
        rule="unstable",
        text=text,
        remedy=remedy,
        numbers={"interval_reach": reach, "repeats": estimate.n, "repeats_needed": needs},
    )


def _two_valued(estimate: Estimate, evidence: Evidence) -> Finding:
    values = " and ".join(f"{level.count} of about {_rate(level.rate, evidence)}" for level in estimate.levels)
    return Finding(
        verdict=Verdict.UNSTABLE,
        rule="unstable",
        text=f"the repeats have two levels: {values}; the median is one of them by chance",
        remedy="Find out what switches between the two: CPU frequency, the place of the data, a cache, another user."
        " More repeats do not help.",
        numbers={
            "lower_level": estimate.levels[0].rate,
            "higher_level": estimate.levels[1].rate,
            "repeats_lower": estimate.levels[0].count,
            "repeats_higher": estimate.levels[1].count,
        },
    )


def _rate(value: float | None, evidence: Evidence) -> str:
    return (
        f"{about_count(value or 0.0)} operations/s"
        if is_counted(evidence.operation)
        else f"{about_size(value or 0.0)}/s"
    )


Rule = Callable[[Evidence], Answer]
RULES: tuple[Rule, ...] = (
    limits.impossible,
    incomplete,
    cached_read,
    cache.above_device,
    cache.read_ahead,
    cache.later_passes,
    direct_read,
    cache.answered_below,
    metadata.cached_names,
    unflushed_write,
    cache.absorbed_writes,
    cache.flush_without_effect,
    metadata.unflushed_names,
    unsustained,
    course.no_steady_state,
    course.throttled,
    course.bursting,
    open_loop.late_engine,
    replays.late_replay,
    unstable,
    lanes.skewed,
    lanes.uneven_lanes,
    lanes.clock_set,
    tenant.contended,
    limits.engine_bound,
    limits.busy_client,
    limits.few_in_flight,
    limits.starved_client,
    limits.stopped_engine,
    limits.network_bound,
    layers.memory_below,
    layers.compressed,
    layers.unseen_cache,
    layers.no_storage,
)
"""All rules, in the order of evaluation."""
OF_OWN_RUNS: frozenset[Rule] = frozenset(
    (
        limits.impossible,
        cache.above_device,
        cache.read_ahead,
        direct_read,
        cache.answered_below,
        metadata.cached_names,
        cache.absorbed_writes,
        cache.flush_without_effect,
        course.no_steady_state,
        course.throttled,
        course.bursting,
        open_loop.late_engine,
        replays.late_replay,
        lanes.skewed,
        lanes.uneven_lanes,
        lanes.clock_set,
        tenant.contended,
        limits.engine_bound,
        limits.busy_client,
        limits.starved_client,
        limits.stopped_engine,
        limits.network_bound,
    )
)
"""Rules that take what only a run of Assay records, and no output of another tool says."""
OF_PROGRAMS: frozenset[Rule] = frozenset(
    (
        incomplete,
        unstable,
        replays.late_replay,
        lanes.skewed,
        lanes.clock_set,
        limits.stopped_engine,
        limits.network_bound,
        layers.memory_below,
        layers.compressed,
        layers.unseen_cache,
    )
)
"""Rules that apply to programs, too."""
