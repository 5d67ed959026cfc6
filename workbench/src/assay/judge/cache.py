"""Further rules about caches: rates a device cannot have, second passes, flushes without effect.

As in `assay.judge.rules`: evidence in; a finding, nothing (all is well) or `NotEvaluated` out.
"""

from statistics import median

from assay.judge.evidence import MEMORY_ITSELF, Answer, Evidence, NotApplicable, NotEvaluated, percent
from assay.judge.tenant import disturbed
from assay.model.names import MIXES, READS, WRITES
from assay.model.result import COMPRESSING, EXCEEDED, Sample
from assay.model.units import about_size
from assay.model.verdict import Finding, Verdict

FASTER = 1.5
"""Later passes over the same data are at most this much faster than the first."""
WINDOWS = 5
"""Of a phase, one of which may be the first pass."""
REACHED_SHARE = 0.9
"""At least this share of the bytes written must have gone to the device."""
FLUSHED_SHARE = 0.5
"""A flush that works has brought at least this share of the data to the device."""
SCATTERED = ("random_read", "stride_read", "backward_read", "random_mix")
"""Reads whose next place no reader would fetch beforehand on purpose."""
AHEAD_SHARE = 0.5
"""Requests for each such read; with fewer the median read had none."""
QUICKER = 5
FETCHED_MORE = 1.2
"""From so many times the bytes read on it is worth saying."""
LEAST_BYTES = 1 << 20
"""With less written, metadata and rounding hide what was flushed."""
COMPRESSIBLE = NotEvaluated("the device may be given less than is written: data or file system are compressible")


def above_device(evidence: Evidence) -> Answer:
    """Reads faster than the device was found to be, where the kernel does not count what the device delivered.

    Where it counts, that decides (`cached_read`, `direct_read`). 1.25 times is allowed: ceilings are measured in a
    short time.
    Source: DESIGN, section 4, items 1 and 5.
    """
    if evidence.operation not in READS or evidence.operation in MIXES or not evidence.usable or evidence.no_storage:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    if evidence.counts_reads:
        return None
    if evidence.may_compress:
        return COMPRESSIBLE
    devices = [item for item in evidence.ceilings if item.name in ("device read", "device random read")]
    if not devices:
        return NotEvaluated("the device's own rate is not known")
    worst = max(devices, key=lambda item: item.share)
    if worst.share <= EXCEEDED:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="above_device",
        text=f"{worst.share:.3g} times as fast as the device was found to be (`{worst.name}`: {worst.how})",
        remedy="Use cache: direct, drop or limit, or a data set of at least twice the memory.",
        numbers={"share": worst.share},
    )


def read_ahead(evidence: Evidence) -> Answer:
    """Reads at scattered places that found their data in memory, because the kernel had read ahead.

    Each such read that memory does not answer takes at least one request, so that of fewer requests than operations
    the rest was served by what was fetched for others. With less than half as many the median latency is memory's,
    though all bytes came from the device; likewise where the median read took less than a fifth of what the device
    needs for a request, in most repeats (large records are several requests each). Random reads that leave no record
    out get there in part, as more and more lies beside what is in memory already: that is left alone. Requests of other
    users hide it, so that the repeat with the fewest decides. Sequential reads are read ahead on purpose, by whoever
    reads through the page cache.
    Source: the device's count of requests (iostats of the kernel); readahead(2), mm/readahead.c of the kernel.
    """
    if evidence.operation not in SCATTERED or evidence.no_storage or evidence.bypasses_cache or not evidence.usable:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    record = evidence.case.parameters.record_size or 0
    counted = [sample for sample in evidence.usable if sample.block is not None and sample.read_bytes >= record > 0]
    if not counted:
        return NotEvaluated("no block device below that counts its requests")
    # Where less was fetched than read, the data was in memory already, which is for `cached_read` to say.
    fetched = [sample for sample in counted if _fetched(sample) >= REACHED_SHARE * sample.read_bytes]
    if 2 * len(fetched) <= len(counted):
        return None
    shares = [sample.block.reads * record / sample.read_bytes for sample in fetched if sample.block is not None]
    share, times = min(shares), median(_fetched(sample) / sample.read_bytes for sample in fetched)
    quick = [sample for sample in fetched if _quicker_than_device(sample, evidence)]
    if share >= AHEAD_SHARE and (share >= REACHED_SHARE or 2 * len(quick) <= len(fetched)):
        return None
    beside = f", and fetched {times:.3g} times the bytes read" if times >= FETCHED_MORE else ""
    return Finding(
        verdict=Verdict.CACHED,
        rule="read_ahead",
        text=f"at least {percent(1 - share)} of the operations found their data in memory, where read-ahead had put it:"
        f" the device had {share:.2g} requests for each operation{beside}",
        remedy="Use cache: direct, or turn read-ahead off below the target (blockdev --setra 0).",
        numbers={"requests_per_operation": share, "fetched_to_read": times},
    )


def _quicker_than_device(sample: Sample, evidence: Evidence) -> bool:
    """The median read took less than a fifth of a request's mean time; unknown where others' requests count in that."""
    if sample.block is None or not sample.block.reads or "p50" not in sample.latency or disturbed(sample, evidence):
        return False
    return QUICKER * sample.latency["p50"] < sample.block.read_ns / sample.block.reads


def _fetched(sample: Sample) -> int:
    if sample.device_read_bytes is not None:
        return sample.device_read_bytes
    return sample.block.read_bytes if sample.block is not None else 0


def later_passes(evidence: Evidence) -> Answer:
    """Reads that went over the same data several times, and were much faster from the second time on.

    In most repeats, more than 1.5 times, and more than if all time without a CPU fell into the first fifth. Repeats in
    which others used the device, or lanes had too little CPU, tell nothing. The kernel's counts may not show it where a
    cache is below the kernel.
    Source: DESIGN, section 4, item 1.
    """
    if evidence.operation not in READS or evidence.operation in MIXES or evidence.no_storage:
        return None
    pairs = [
        (sample, sample.course.later_passes / sample.course.first_pass)
        for sample in evidence.usable
        if sample.course and sample.course.first_pass and sample.course.later_passes
    ]
    if not pairs and all(sample.read_bytes <= evidence.data_set_bytes for sample in evidence.usable):
        return NotApplicable("no byte was read twice")
    if not pairs:
        return NotEvaluated("no repeat went over its data twice, with intervals short enough to see it")
    if evidence.in_memory:
        return MEMORY_ITSELF
    calm = [(sample, gain) for sample, gain in pairs if not disturbed(sample, evidence)]
    gain = median(gain for _, gain in calm or pairs)
    if gain <= FASTER:
        return None
    if 2 * len(calm) <= len(pairs):
        return NotEvaluated("later passes were faster, which may be the machine's doing: it was busy meanwhile")
    if gain * (1 - WINDOWS * median(evidence.without_cpu(sample) for sample, _ in calm)) <= FASTER:
        return NotEvaluated("later passes were faster, which may be for want of a CPU in the first")
    return Finding(
        verdict=Verdict.CACHED,
        rule="later_passes",
        text=f"from the second pass over the data on, reads were {gain:.3g} times as fast as in the first",
        remedy="Use a larger data set or leave runtime out, so that each byte is read once.",
        numbers={"later_to_first": gain},
    )


def absorbed_writes(evidence: Evidence) -> Answer:
    """Writes over the same data again and again, of which memory took most and the flush at the end only the last.

    Judged where more was written than there is data, through the page cache: what the device got, whoever sent it, is
    then the most that was written to it. Below 90 % of the bytes written the rate is one of memory.
    Source: the device's own count of sectors written (iostats of the kernel); DESIGN, section 4, item 2.
    """
    parameters = evidence.case.parameters
    flushed = parameters.sync in ("fsync", "fdatasync")
    if evidence.operation not in WRITES or not flushed or evidence.no_storage or evidence.bypasses_cache:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    distinct = _distinct(evidence)
    again = [sample for sample in evidence.usable if sample.write_bytes > distinct and sample.write_bytes > LEAST_BYTES]
    if not again:
        return None
    if parameters.compressible or parameters.duplicate or (evidence.place and evidence.place.filesystem in COMPRESSING):
        return COMPRESSIBLE
    shares = [sample.block.write_bytes / sample.write_bytes for sample in again if sample.block is not None]
    if not shares:
        return NotEvaluated("data was written over before the flush, and no block device below counts what it got")
    share = median(shares)
    if share >= REACHED_SHARE:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="absorbed_writes",
        text=f"the same {about_size(distinct)} were written again and again in memory; the device got"
        f" {percent(share)} of the bytes written",
        remedy="Use cache: direct or sync: o_dsync, or leave runtime out, so that each byte is written once.",
        numbers={"device_share": share, "distinct_bytes": distinct},
    )


def _distinct(evidence: Evidence) -> int:
    """Bytes that there are to be written; iozone's record rewrite writes one record of each lane only."""
    parameters = evidence.case.parameters
    if evidence.operation == "record_rewrite" and not evidence.bypasses_cache:
        return (parameters.record_size or 0) * parameters.all_lanes
    return evidence.data_set_bytes


def flush_without_effect(evidence: Evidence) -> Answer:
    """Writes whose time includes a flush, though the device got much less than was written.

    A flush that does nothing (a library put before fsync, a file system or hypervisor told to ignore it) makes all
    write rates those of memory. Data written several times before the flush counts once. Not judged where the data
    or the file system may be compressed.
    Source: the device's own count of sectors written (iostats of the kernel); DESIGN, section 4, item 2.
    """
    parameters = evidence.case.parameters
    flushed = parameters.sync != "none"
    if evidence.operation not in WRITES or not flushed or evidence.no_storage or not evidence.usable:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    place = evidence.place
    if parameters.compressible or parameters.duplicate or (place and place.filesystem in COMPRESSING):
        return COMPRESSIBLE
    shares = [share for sample in evidence.usable if (share := _device_share(sample, evidence)) is not None]
    if not shares:
        return NotEvaluated("no block device below that counts what is written, or less than 1 MiB written")
    share = median(shares)
    if share >= FLUSHED_SHARE:
        return None
    return Finding(
        verdict=Verdict.CACHED,
        rule="flush_without_effect",
        text=f"only {percent(share)} of the data had reached the device after the flush"
        f" ({parameters.sync}; {about_size(evidence.usable[0].write_bytes)} written a repeat)",
        remedy="Find out who ignores flushes (mount options, LD_PRELOAD, the hypervisor's cache mode), and stop that.",
        numbers={"device_share": share},
    )


def _device_share(sample: Sample, evidence: Evidence) -> float | None:
    written = min(sample.write_bytes, _distinct(evidence))
    if sample.block is None or written < LEAST_BYTES:
        return None
    return sample.block.write_bytes / written
