"""The rules about metadata operations, and about operations that started late.

As in `assay.judge.rules`: evidence in; a finding, nothing (all is well) or `NotEvaluated` out.
"""

from assay.judge.evidence import MEMORY_ITSELF, Answer, Evidence, NotEvaluated, percent
from assay.model.result.layers import answering
from assay.model.result.result import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.case import Case
from assay.model.study.names import LOOKUPS, is_metadata
from assay.model.units import about_duration, about_size

MEMORY_SHARE = 0.1
"""So many operations answered from memory for sure make a result one of a cache, as with data."""
INODE_BYTES = 64
"""Less than the attributes of a file take on any common file system."""
ENTRY_BYTES = 8
"""Less than a name takes in a directory."""
KEPT_BYTES = 2048
"""More than the kernel keeps of a file in memory: name, attributes and place (slabinfo(5))."""
LATE_NS = 1_000_000
"""Operations that start this much late, in one case of a thousand, spoil the percentiles."""
STILL_NS = 100_000_000
"""A machine that is merely busy lets nobody wait so long."""
HISTOGRAM_ERROR = 0.001
"""Relative error of a mean from a histogram of three significant digits."""


def cached_names(evidence: Evidence) -> Answer:
    """Names and attributes that the kernel's own caches gave, not the device.

    The kernel counts the bytes it fetched from storage, not the names: one block holds many. But what was fetched
    cannot have held more names than fit into it, and the other operations were answered from memory, as those of a
    second round over the same names are. Below 10 % of them for sure, nothing is concluded.
    Source: read_bytes of proc_pid_io(5), which counts the blocks of directories and inodes too; an inode takes 128
    bytes or more on ext4 (e2fsprogs, mke2fs(8), -I), 256 or more on XFS (mkfs.xfs(8), -i size).
    """
    if evidence.operation not in LOOKUPS or evidence.no_storage or not evidence.usable:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    fetched = sum(sample.device_read_bytes or 0 for sample in evidence.usable)
    emptied = all(sample.cache_done for sample in evidence.usable)
    counted = evidence.counts_reads and evidence.place is not None and evidence.place.device is not None
    if not counted or (emptied and not fetched):
        return _looked_at_again(evidence) or NotEvaluated(
            "the kernel does not tell what of names and attributes was fetched from storage"
        )
    share = max(_memory_share(sample, evidence) for sample in evidence.usable)
    if share < MEMORY_SHARE:
        after = ", after they were emptied" if emptied else ""
        return _looked_at_again(evidence) or NotEvaluated(
            f"how many names came from the kernel's caches{after} is unknown: {about_size(fetched)} were fetched from"
            " the device, which may hold them all"
        )
    least = "all" if share == 1 else f"at least {percent(share)}"
    return Finding(
        verdict=Verdict.CACHED,
        rule="cached_names",
        text=f"{least} of the operations found their names in the kernel's caches, not on the device"
        f" (worst repeat; {about_size(fetched)} fetched for {sum(sample.ops for sample in evidence.usable):,}"
        " operations in all)",
        remedy="Use the number for names that are at hand. For others use cache: drop, without a runtime, so that each"
        " name is looked at once.",
        numbers={"least_memory_share": share, "device_read_bytes": fetched},
    )


def _looked_at_again(evidence: Evidence) -> Finding | None:
    """More operations than there are names: from the second on a name of this host's file systems is in its memory.

    Only as long as memory holds all of them; servers, programs and what the kernel does not know may be asked again.
    """
    parameters, place = evidence.case.parameters, evidence.place
    trees = parameters.all_lanes if parameters.layout == "separate" else 1
    names = parameters.leaves * trees if evidence.operation == "readdir" else parameters.all_files
    here = place is not None and place.device is not None and not answering(evidence.layers)
    fits = evidence.memory_bytes is not None and names * KEPT_BYTES < evidence.memory_bytes
    rounds = max(sample.ops for sample in evidence.usable) / names if names else 0.0
    if not here or not fits or rounds * (1 - MEMORY_SHARE) <= 1:
        return None
    share = 1 - 1 / rounds
    return Finding(
        verdict=Verdict.CACHED,
        rule="cached_names",
        text=f"{percent(share)} of the operations looked at a name again, which was in the kernel's caches by then:"
        f" {names:,} names, each {rounds:,.3g} times (worst repeat)",
        remedy="Use the number for names that are at hand. For others use cache: drop, without a runtime, so that each"
        " name is looked at once.",
        numbers={"least_memory_share": share, "rounds": rounds},
    )


def _memory_share(sample: Sample, evidence: Evidence) -> float:
    """At least this share of a repeat's operations was not answered by what was fetched meanwhile."""
    parameters = evidence.case.parameters
    listed = -(-(parameters.files or 1) // parameters.leaves)
    each = ENTRY_BYTES * listed if evidence.operation == "readdir" else INODE_BYTES
    most = (sample.device_read_bytes or 0) / each
    return max(0.0, 1 - most / sample.ops) if sample.ops else 0.0


def unflushed_names(evidence: Evidence) -> Answer:
    """Changes of names whose time does not include a flush (`sync: none`): they may still be in volatile memory.

    Source: DESIGN, section 4, item 2.
    """
    operation = evidence.operation
    if not is_metadata(operation) or operation in LOOKUPS or evidence.no_storage or not evidence.usable:
        return None
    sync = evidence.case.parameters.sync
    if sync in ("fsync", "fdatasync"):
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    if sync != "none":
        return NotEvaluated(f"{sync} makes contents stable as they are written; of names it promises nothing")
    operations = min(sample.ops for sample in evidence.usable)
    return Finding(
        verdict=Verdict.CACHED,
        rule="unflushed_names",
        text=f"the {operations:,} changes may still be in memory: they were made without a flush",
        remedy="Use sync: fsync, so that the time includes the flush.",
        numbers={"operations": operations},
    )


def late_engine(evidence: Evidence) -> Answer:
    """Open loop: operations that started late although the storage was free to take them.

    An operation waits for the storage only while every slot of its lane is taken. Then all operations together spent at
    least queue_depth times that delay with the storage, so that a delay of more than their whole time with it, divided
    by queue_depth, was the engine's own or its machine's. That time is the sum of latencies less the sum of delays;
    it is taken as long as the histograms' error allows. Most repeats show it at p99.9, from a millisecond on; or one
    stood still for 100 ms or more, which spoils the percentiles of all.
    Source: DESIGN, section 3 (latency counts from the intended start, hence includes the delay).
    """
    samples = [sample for sample in evidence.usable if sample.start_delay and sample.latency and sample.ops]
    late = [sample for sample in samples if _unexplained(sample, evidence.case, "p99.9", LATE_NS)]
    if 2 * len(late) <= len(samples):
        return _stood_still(evidence, samples)
    worst = max(late, key=lambda sample: sample.start_delay["p99.9"])
    delay, busy = worst.start_delay["p99.9"], _storage_ns(worst)
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="late_engine",
        text=f"one operation in a thousand started {_time(delay)} late or more (p99.9), longer than all operations"
        f" together were with the storage ({_time(busy)} at most): the engine or its machine was late",
        remedy="Give the engine a free CPU (cpus, fewer lanes, no other load) or ask for a lower rate.",
        numbers={"start_delay_p999_ns": delay, "storage_ns": busy},
    )


def _stood_still(evidence: Evidence, samples: list[Sample]) -> Finding | None:
    """The engine did nothing for a while in a repeat: it was stopped, or its machine was."""
    still = [sample for sample in samples if _unexplained(sample, evidence.case, "max", STILL_NS)]
    if not still:
        return None
    worst = max(still, key=lambda sample: sample.start_delay["max"])
    delay, busy = worst.start_delay["max"], _storage_ns(worst)
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="late_engine",
        text=f"in {len(still)} of {len(samples)} repeats the engine or its machine stood still: operations started up"
        f" to {_time(delay)} late, longer than all operations together were with the storage ({_time(busy)} at most)",
        remedy="Find out what stops the engine (a debugger, a frozen cgroup, a virtual machine that is paused), and"
        " run the study again.",
        numbers={"start_delay_max_ns": delay, "storage_ns": busy},
    )


def _unexplained(sample: Sample, case: Case, name: str, least: float) -> bool:
    """Whether this delay of starts is longer than storage can have caused."""
    # Other methods may keep fewer operations in flight than were asked for.
    slots = case.parameters.queue_depth if sample.method in ("io_uring", "threads") else 1
    delay = sample.start_delay.get(name, 0.0)
    return delay >= least and slots * delay > _storage_ns(sample)


def _storage_ns(sample: Sample) -> float:
    """Upper bound of the time that a repeat's operations spent between submission and completion, all added up."""
    latency, delay = sample.latency["mean"] * (1 + HISTOGRAM_ERROR), sample.start_delay["mean"] * (1 - HISTOGRAM_ERROR)
    return sample.ops * max(0.0, latency - delay)


def _time(nanoseconds: float) -> str:
    return about_duration(nanoseconds / 1e9) if nanoseconds >= 1e9 else f"{nanoseconds / 1e6:.3g} ms"
