"""Rules about caches: rates that a device cannot reach, repeated passes over the data, flushes without effect.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from collections.abc import Callable, Sequence
from statistics import median

from assay.judge.answer import MEMORY_ITSELF, Answer, NotApplicable, NotEvaluated, percent
from assay.judge.tenant import disturbance
from assay.model.result.evidence import Evidence
from assay.model.result.layers import layer_chain
from assay.model.result.result import CEILING_TOLERANCE, COMPRESSING_FILESYSTEMS
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import MIXES, READS, WRITES
from assay.model.units import about_number, about_size

MAX_LATER_RATIO = 1.5
"""Later passes over the same data are at most this many times as fast as the first."""
WINDOWS = 5
"""Number of windows of a phase, one of which may be the first pass."""
REACHED_SHARE = 0.9
"""At least this share of the bytes written must have gone to the device."""
FLUSHED_SHARE = 0.5
"""A flush that works has brought at least this share of the data to the device."""
SCATTERED = ("random_read", "stride_read", "backward_read", "random_mix")
"""Reads whose next place nothing would prefetch on purpose."""
AHEAD_SHARE = 0.5
"""Least requests for each such read; with fewer the median read needed none."""
QUICK_RATIO = 5
FETCHED_MORE = 1.2
"""Least ratio of fetched bytes to read bytes that is reported."""
MIN_BYTES = 1 << 20
"""With less data, metadata and rounding hide what was flushed."""
COMPRESSIBLE = NotEvaluated(
    "the device may get less than is written: the data is compressible, or the file system may compress it"
)


def above_device(evidence: Evidence) -> Answer:
    """Find reads faster than the measured device, where the kernel does not count what the device delivered.

    Where it counts, that decides (`cached_read`, `direct_read`). 1.25 times is allowed: ceilings are measured in a
    short time.
    Source: docs/method.md, Caches and Ceilings.
    """
    if evidence.operation not in READS or evidence.operation in MIXES or not evidence.usable or evidence.has_no_storage:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if evidence.counts_reads:
        return None
    if evidence.may_compress:
        return COMPRESSIBLE
    devices = [item for item in evidence.all_ceilings if item.name in ("device read", "device random read")]
    if not devices:
        return NotEvaluated("the device's own rate is not known")
    worst = max(devices, key=lambda item: item.share)
    if worst.share <= CEILING_TOLERANCE:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="above_device",
        text=f"{about_number(worst.share)} times the measured rate of the device (`{worst.name}`: {worst.how})",
        remedy="Use cache: direct, drop or limit, or a data set of at least twice the memory.",
        numbers={"share": worst.share},
    )


def read_ahead(evidence: Evidence) -> Answer:
    """Find scattered reads that found their data in memory, because the kernel had read ahead.

    Each read that memory does not answer takes at least one request. With fewer requests than operations, the rest was
    served by data fetched for others. With less than half as many requests, the median latency is that of memory,
    though all bytes came from the device. The same holds where, in most repeats, the median read took less than a fifth
    of the device's time for a request (large records are several requests each). Random reads that cover all records
    reach this in part, as more and more neighbours are in memory already: that is accepted. Requests of other users
    hide the effect, so the repeat with the fewest requests decides. Sequential reads are read ahead on purpose.
    Source: the device's count of requests (iostats of the kernel); readahead(2), mm/readahead.c of the kernel.
    """
    if evidence.operation not in SCATTERED or evidence.has_no_storage or evidence.bypasses_cache or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    record = evidence.case.parameters.record_size or 0
    counted = [sample for sample in evidence.usable if sample.block is not None and sample.read_bytes >= record > 0]
    if not counted:
        return NotEvaluated("no block device below that counts its requests")
    # Where less was fetched than read, the data was in memory already, which `cached_read` reports.
    fetched = [sample for sample in counted if _fetched(sample) >= REACHED_SHARE * sample.read_bytes]
    if 2 * len(fetched) <= len(counted):
        return None
    shares = [sample.block.reads * record / sample.read_bytes for sample in fetched if sample.block is not None]
    share, times = min(shares), median(_fetched(sample) / sample.read_bytes for sample in fetched)
    quick = [sample for sample in fetched if _quicker_than_device(sample, evidence)]
    if share >= AHEAD_SHARE and (share >= REACHED_SHARE or 2 * len(quick) <= len(fetched)):
        return None
    extra = f", and fetched {about_number(times)} times the bytes read" if times >= FETCHED_MORE else ""
    return Finding(
        verdict=Verdict.CACHED,
        rule="read_ahead",
        text=f"at least {percent(1 - share)} of the operations found their data in memory, where read-ahead had put it:"
        f" the device had {about_number(share, 2)} requests for each operation{extra}",
        remedy="Use cache: direct, or turn read-ahead off below the target (blockdev --setra 0).",
        numbers={"requests_per_operation": share, "fetched_to_read": times},
    )


def _quicker_than_device(sample: Sample, evidence: Evidence) -> bool:
    """Whether the median read took less than a fifth of a request's mean time; False where others used the device."""
    if sample.block is None or not sample.block.reads or "p50" not in sample.latency or disturbance(sample, evidence):
        return False
    return QUICK_RATIO * sample.latency["p50"] < sample.block.read_ns / sample.block.reads


def _fetched(sample: Sample) -> int:
    if sample.device_read_bytes is not None:
        return sample.device_read_bytes
    return sample.block.read_bytes if sample.block is not None else 0


def later_passes(evidence: Evidence) -> Answer:
    """Find reads that went over the same data several times, and were much faster from the second time on.

    In most repeats they were more than 1.5 times as fast, and more than if all time without a CPU fell into the first
    fifth. Repeats in which others used the device, or lanes had too little CPU, show nothing. The kernel's counts may
    not show the effect where a cache is below the kernel.
    Source: docs/method.md, Caches.
    """
    if evidence.operation not in READS or evidence.operation in MIXES or evidence.has_no_storage:
        return None
    pairs = [
        (sample, sample.course.later_passes / sample.course.first_pass)
        for sample in evidence.usable
        if sample.course and sample.course.first_pass and sample.course.later_passes
    ]
    if not pairs and all(sample.read_bytes <= evidence.data_set_bytes for sample in evidence.usable):
        return NotApplicable("no byte was read twice")
    if not pairs:
        return NotEvaluated("no repeat read its data twice, with intervals short enough to show it")
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if max(gain for _, gain in pairs) <= MAX_LATER_RATIO:
        # Then the median of any of them is not above it either.
        return None
    calm = [(sample, gain) for sample, gain in pairs if not disturbance(sample, evidence)]
    gain = median(gain for _, gain in calm or pairs)
    if gain <= MAX_LATER_RATIO:
        return None
    if 2 * len(calm) <= len(pairs):
        return NotEvaluated("later passes were faster, but the machine was busy at that time and may be the cause")
    if gain * (1 - WINDOWS * median(evidence.no_cpu_share(sample) for sample, _ in calm)) <= MAX_LATER_RATIO:
        return NotEvaluated("later passes were faster, but in the first pass threads may have lacked CPU")
    return Finding(
        verdict=Verdict.CACHED,
        rule="later_passes",
        text=f"from the second pass over the data on, reads were {about_number(gain)} times as fast as in the first",
        remedy="Use a larger data set or leave runtime out, so that each byte is read once.",
        numbers={"later_to_first": gain},
    )


def absorbed_writes(evidence: Evidence) -> Answer:
    """Find repeated writes over the same data, most of which stayed in memory while the flush wrote only the last.

    The rule applies where more was written than the data set has, through the page cache. All that the device got,
    from any source, is then an upper bound of what was written to it. Below 90 % of the bytes written, the rate is that
    of memory. The same holds if a device further down got so little: a layer between, such as a loop device without
    direct I/O, kept the data in memory. With 1 MiB or less a device may get as much again for the file system's
    journal: then only a share that is too small is conclusive.
    Source: the device's own count of sectors written (iostats of the kernel); docs/method.md, Flush.
    """
    if evidence.operation not in WRITES or evidence.has_no_storage:
        return None
    if evidence.case.parameters.sync not in ("fsync", "fdatasync") or evidence.bypasses_cache:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    distinct = _distinct(evidence)
    again = [sample for sample in evidence.usable if sample.write_bytes > distinct]
    if not again:
        return None
    if _compressible(evidence):
        return COMPRESSIBLE
    found = min_device_share(again, evidence, lambda sample: sample.write_bytes)
    if found is None:
        return NotEvaluated("data was overwritten before the flush, and no block device below counts what reached it")
    share, below = found
    if share >= REACHED_SHARE:
        # Other writes of the file system can only add to what the device got.
        few = median(sample.write_bytes for sample in again) <= MIN_BYTES
        return (
            NotEvaluated("so little was written that all of it may be blocks of the file system's journal")
            if few
            else None
        )
    return Finding(
        verdict=Verdict.CACHED,
        rule="absorbed_writes",
        text=f"the same {about_size(distinct)} were written again and again in memory; {below or 'the device'} got"
        f" {percent(share)} of the bytes written",
        remedy="Use cache: direct or sync: o_dsync, or leave runtime out, so that each byte is written once."
        if not below or evidence.stacked_on is None
        else "Give the loop device direct I/O (losetup --direct-io=on), or leave runtime out, so that each byte is"
        " written once.",
        numbers={"device_share": share, "distinct_bytes": distinct},
    )


def _distinct(evidence: Evidence) -> int:
    """Return the bytes of distinct data to write; iozone's record rewrite writes only one record for each lane."""
    parameters = evidence.case.parameters
    if evidence.operation == "record_rewrite" and not evidence.bypasses_cache:
        return (parameters.record_size or 0) * parameters.all_lanes
    return evidence.data_set_bytes


def flush_without_effect(evidence: Evidence) -> Answer:
    """Find writes whose time includes a flush, though the device got much less than was written.

    A flush that does nothing (a library that replaces fsync, a file system or hypervisor set to ignore it) makes all
    write rates those of memory. Data written several times before the flush counts once. The rule does not apply where
    a layer may compress the data. The least that a device on the way down got decides. A loop device without direct I/O
    must have received a flush, or one for each write if each must be stable: otherwise the data is in this host's
    memory.
    Source: the device's own count of sectors written (iostats of the kernel); docs/method.md, Flush.
    """
    parameters = evidence.case.parameters
    if evidence.operation not in WRITES or evidence.has_no_storage or not evidence.usable or parameters.sync == "none":
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if (unflushed := _unflushed_loop(evidence)) is not None:
        return unflushed
    if _compressible(evidence):
        return COMPRESSIBLE
    distinct = _distinct(evidence)
    # Data written to the same place counts once.
    enough = [sample for sample in evidence.usable if min(sample.write_bytes, distinct) >= MIN_BYTES]
    found = min_device_share(enough, evidence, lambda sample: min(sample.write_bytes, distinct))
    if found is None:
        return NotEvaluated("no block device below that counts what is written, or less than 1 MiB written")
    share, below = found
    if share >= FLUSHED_SHARE:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="flush_without_effect",
        text=f"only {percent(share)} of the data had reached {below or 'the device'} after the flush"
        f" ({parameters.sync}; {about_size(evidence.usable[0].write_bytes)} written per repeat)",
        remedy="Find out what ignores flushes (mount options, LD_PRELOAD, the hypervisor's cache mode), and stop that.",
        numbers={"device_share": share},
    )


def _compressible(evidence: Evidence) -> bool:
    """Whether a device may legitimately get less than is written."""
    parameters, place = evidence.case.parameters, evidence.place
    if evidence.layers:
        return evidence.may_compress
    known = place is not None and place.filesystem in COMPRESSING_FILESYSTEMS
    return bool(parameters.compressible or parameters.duplicate or known)


def min_device_share(
    samples: Sequence[Sample], evidence: Evidence, expected: Callable[[Sample], int], reads: bool = False
) -> tuple[float, str] | None:
    """Return the share of the bytes that passed the level of devices below which had the least of them.

    Args:
        samples: Repeats; their median counts.
        evidence: The result of the repeats.
        expected: Returns the bytes that must pass each level in a repeat.
        reads: Count bytes read, not bytes written.

    Returns:
        The share, and the names of the devices unless they are the uppermost ones; None if nothing is counted.
    """
    counted = [
        (due, uses) for sample in samples if (due := expected(sample)) and (uses := evidence.device_uses(sample))
    ]
    depth = min((len(levels) for _, levels in counted), default=0)
    found = []
    for level in range(depth):
        pairs = [(levels[level].use, due) for due, levels in counted]
        share = median((use.read_bytes if reads else use.write_bytes) / due for use, due in pairs)
        found.append((share, counted[0][1][level].names if level else ""))
    return min(found, key=lambda item: item[0], default=None)


def answered_below(evidence: Evidence) -> Answer:
    """Find reads that reached the device below the target, but not the devices further down.

    A loop device reads its file through this host's page cache unless it has direct I/O and the file's file system
    honours it (ext4 with data=journal does not). Less than half of the bytes at a device on the way down means that
    memory, or holes of a file, answered the rest. Reads of other users can hide this; then there is no finding.
    Source: the devices' own counts of sectors read (iostats of the kernel); loop(4), open(2).
    """
    if evidence.operation not in READS or evidence.operation in MIXES or evidence.is_in_memory or not evidence.usable:
        return None
    if evidence.may_compress:
        return None
    read = [sample for sample in evidence.usable if sample.read_bytes >= MIN_BYTES]
    found = min_device_share(read, evidence, lambda sample: sample.read_bytes, reads=True)
    place = evidence.place
    if (
        place is not None
        and read
        and len(place.device_levels) > min(len(evidence.device_uses(sample)) for sample in read)
    ):
        return NotEvaluated("the requests of the devices further down were not counted")
    if found is None or not found[1] or found[0] >= FLUSHED_SHARE:
        return None
    share, below = found
    return Finding(
        verdict=Verdict.CACHED,
        rule="answered_below",
        text=f"only {percent(share)} of the bytes read came from {below}: the rest was answered above it, from this"
        f" host's memory or from holes; below is {layer_chain(evidence.layers)}",
        remedy="Give the loop device direct I/O (losetup --direct-io=on) on a file system that honours O_DIRECT, or"
        " measure the device below.",
        numbers={"device_share": share},
    )


def _unflushed_loop(evidence: Evidence) -> Finding | None:
    """Find a loop device without direct I/O that did not get the flushes for the data in its page cache."""
    parameters = evidence.case.parameters
    name = evidence.stacked_on.partition(",")[0] if evidence.stacked_on is not None else ""
    flush_counts = [
        use.flushes for sample in evidence.usable for names, _, use in evidence.device_uses(sample) if names == name
    ]
    if not name or not flush_counts or None in flush_counts:
        return None
    each = parameters.sync in ("o_sync", "o_dsync")
    # One flush by the file system, for its journal, may serve several waiting writes.
    due = median(sample.ops for sample in evidence.usable) / (2 * parameters.queue_depth) if each else 1
    flushes = median(count or 0 for count in flush_counts)
    if flushes >= max(1, due / parameters.all_lanes):
        return None
    wanted = "for each write" if each else "at the end"
    return Finding(
        verdict=Verdict.CACHED,
        rule="flush_without_effect",
        text=f"{parameters.sync} asks for a flush {wanted}, but {evidence.stacked_on}, received a flush"
        f" {flushes:,.0f} times per repeat: the written data is in this host's memory",
        remedy="Give the loop device direct I/O (losetup --direct-io=on), let it report a write cache (write back in"
        " queue/write_cache), and mount with barriers.",
        numbers={"flushes": flushes},
    )
