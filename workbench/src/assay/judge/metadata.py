"""Rules about metadata operations.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
"""

from assay.judge.answer import MEMORY_ITSELF, Answer, NotEvaluated, percent
from assay.model.result.evidence import Evidence
from assay.model.result.layers import self_answering_layer
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import LOOKUPS, is_metadata
from assay.model.units import about_size

MEMORY_SHARE = 0.1
"""Least share of operations proven to be answered from memory that makes a result cached."""
INODE_BYTES = 64
"""Less than the size of a file's attributes on any common file system."""
ENTRY_BYTES = 8
"""Less than the size of a name in a directory."""
CACHED_NAME_BYTES = 2048
"""More than the kernel keeps in memory for a file: name, attributes and place (slabinfo(5))."""


def cached_names(evidence: Evidence) -> Answer:
    """Find names and attributes that came from the kernel's own caches, not from the device.

    The kernel counts the bytes it fetched from storage, not the names: one block holds many. But the fetched bytes
    cannot hold more names than fit into them, and the other operations were answered from memory, such as those of a
    second round over the same names. If less than 10 % are proven, there is no finding.
    Source: read_bytes of proc_pid_io(5), which counts the blocks of directories and inodes too; an inode takes 128
    bytes or more on ext4 (e2fsprogs, mke2fs(8), -I), 256 or more on XFS (mkfs.xfs(8), -i size).
    """
    if evidence.operation not in LOOKUPS or evidence.has_no_storage or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    fetched = sum(sample.device_read_bytes or 0 for sample in evidence.usable)
    emptied = all(sample.cache_done for sample in evidence.usable)
    counted = evidence.counts_reads and evidence.place is not None and evidence.place.device is not None
    if not counted or (emptied and not fetched):
        return _repeated_lookups(evidence) or NotEvaluated(
            "the kernel does not report how many names and attributes were fetched from storage"
        )
    share = max(_memory_share(sample, evidence) for sample in evidence.usable)
    if share < MEMORY_SHARE:
        after = ", after they were emptied" if emptied else ""
        return _repeated_lookups(evidence) or NotEvaluated(
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
        remedy="Use the number for cached names only. For others use cache: drop, without a runtime, so that each"
        " name is looked up once.",
        numbers={"min_memory_share": share, "device_read_bytes": fetched},
    )


def _repeated_lookups(evidence: Evidence) -> Finding | None:
    """Find more operations than names: from the second lookup on, a name of a local file system is in memory.

    This holds only while memory holds all names; servers, programs and unknown layers may be queried again.
    """
    parameters, place = evidence.case.parameters, evidence.place
    trees = parameters.all_lanes if parameters.layout == "separate" else 1
    names = parameters.directory_count * trees if evidence.operation == "readdir" else parameters.all_files
    here = place is not None and place.device is not None and not self_answering_layer(evidence.layers)
    fits = evidence.memory_bytes is not None and names * CACHED_NAME_BYTES < evidence.memory_bytes
    rounds = max(sample.ops for sample in evidence.usable) / names if names else 0.0
    if not here or not fits or rounds * (1 - MEMORY_SHARE) <= 1:
        return None
    share = 1 - 1 / rounds
    return Finding(
        verdict=Verdict.CACHED,
        rule="cached_names",
        text=f"{percent(share)} of the operations looked up a name again, when it was in the kernel's caches:"
        f" {names:,} names, each {rounds:,.3g} times (worst repeat)",
        remedy="Use the number for cached names only. For others use cache: drop, without a runtime, so that each"
        " name is looked up once.",
        numbers={"min_memory_share": share, "rounds": rounds},
    )


def _memory_share(sample: Sample, evidence: Evidence) -> float:
    """Return the least share of a repeat's operations that the fetched bytes cannot have answered."""
    parameters = evidence.case.parameters
    listed = -(-(parameters.files or 1) // parameters.directory_count)
    each = ENTRY_BYTES * listed if evidence.operation == "readdir" else INODE_BYTES
    most = (sample.device_read_bytes or 0) / each
    return max(0.0, 1 - most / sample.ops) if sample.ops else 0.0


def unflushed_names(evidence: Evidence) -> Answer:
    """Find changes of names whose time does not include a flush (`sync: none`): they may still be in volatile memory.

    Source: docs/method.md, Flush.
    """
    operation = evidence.operation
    if not is_metadata(operation) or operation in LOOKUPS or evidence.has_no_storage or not evidence.usable:
        return None
    sync = evidence.case.parameters.sync
    if sync in ("fsync", "fdatasync"):
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    if sync != "none":
        return NotEvaluated(f"{sync} makes contents stable as they are written, but not names")
    operations = min(sample.ops for sample in evidence.usable)
    return Finding(
        verdict=Verdict.CACHED,
        rule="unflushed_names",
        text=f"the {operations:,} changes may still be in memory: they were made without a flush",
        remedy="Measure with a flush in the time (sync: fsync).",
        numbers={"operations": operations},
    )
