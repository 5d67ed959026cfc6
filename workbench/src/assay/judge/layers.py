"""Rules about what lies below a target: memory, caches that nothing counts, compression, or no storage at all.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`. These rules find nothing for
a run whose layers were not captured.
"""

from collections.abc import Sequence
from statistics import median

from assay.judge.answer import Answer, percent
from assay.judge.servers import answered_by_servers, crossed_network
from assay.model.result.evidence import Evidence
from assay.model.result.layers import BLOCK_KINDS, OPAQUE_KINDS, Layer, counted_layers, layer_chain, lowest_layers
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import MIXES, READS, WRITES, is_counted
from assay.model.units import about_number, about_size

SEEN_SHARE = 0.9
"""At or above this share of the bytes, the device has answered."""
MIN_BYTES = 1 << 20
"""With less data, metadata and rounding hide what was compressed."""
TIMES_MEMORY = 2
"""The data must be at least this many times the memory that could hold it (docs/method.md, Caches)."""

UNSEEN_REASONS = {
    "program": "how much that program caches is not counted",
    "shared": "how much that host caches is not counted here",
    "cache": "whether the cache or the storage behind it answered is not counted",
    "unknown": "the kernel does not report what it is",
}
"""Kind of layer that cannot be seen through -> what remains unknown."""


def no_storage(evidence: Evidence) -> Answer:
    """Find targets that store nothing and limit nothing: the null target without a script, null_blk, dm-zero.

    The result measures the engine. A null target with a scripted latency is accepted as what it claims to be.
    Source: docs/method.md, Ceilings.
    """
    found = next((layer for layer in evidence.layers if layer.kind == "nothing"), None)
    if found is None or not evidence.usable:
        return None
    return Finding(
        verdict=Verdict.CLIENT_BOUND,
        rule="no_storage",
        text=f"nothing is stored: below is {layer_chain(evidence.layers)}; the rate is that of the engine",
        remedy="Use the number as the most that the engine can do; give the null target a latency to make it act"
        " like storage.",
        numbers=_rate(evidence),
    )


def memory_below(evidence: Evidence) -> Answer:
    """Find storage whose data is in memory: a zram device, a loop device whose file is in tmpfs.

    The memory may be at any depth. A directory of tmpfs itself is accepted as memory. Where only a part of the data is
    in memory, how much that part answered is unknown.
    Source: the kernel's Documentation/ABI (sysfs-block-loop, sysfs-block-zram), proc_pid_mountinfo(5).
    """
    memory = [layer for layer in lowest_layers(evidence.layers) if layer.kind == "memory"]
    if not memory or not evidence.usable or (evidence.place is not None and evidence.place.is_memory):
        return None
    whole, way = evidence.is_in_memory, layer_chain(evidence.layers)
    return Finding(
        verdict=Verdict.CACHED if whole else Verdict.UNVERIFIED,
        rule="memory_below",
        text=f"this measures memory, not storage: below is {way}"
        if whole
        else f"a part of the data is in memory, and how much that part served is not counted: below is {way}",
        remedy=f"Put {_part_in_memory(evidence.layers)} on a disk. To measure memory, name a directory in tmpfs.",
        numbers={**_rate(evidence), "layers_in_memory": len(memory)},
    )


def _part_in_memory(layers: Sequence[Layer]) -> str:
    """Return what to move to a disk, so that no data is in memory."""
    kinds = {layer.kind for layer in layers}
    return "the file of the loop device" if "loop" in kinds else "the directory" if "overlay" in kinds else "it"


def unseen_cache(evidence: Evidence) -> Answer:
    """Find a layer that may have answered from memory, or from elsewhere, without any count on this machine.

    Such layers are: a program behind FUSE, nbd or ublk; a directory shared by the host of a virtual machine; a cache of
    its own (ZFS, bcache, dm-cache); a loop device that reads through the page cache what it has read before; and layers
    that the kernel does not show. Enough evidence against a cache is: the kernel counted that this process moved the
    bytes; there is twice as much data as memory; or the network links of the clients of a program carried the bytes, so
    that servers answered. A disk is taken as a disk, also that of a virtual machine: a guest cannot see whether its
    host caches, so the rule would concern all results alike.
    Source: docs/method.md, Caches; read_bytes of proc_pid_io(5).
    """
    if not evidence.usable or not evidence.layers:
        return None
    found = next((layer for layer in evidence.layers if layer.kind in OPAQUE_KINDS), None)
    if found is None:
        network = any(layer.kind == "network" for layer in evidence.layers)
        if network and not evidence.is_across_network:
            return answered_by_servers(evidence)
        return _read_again(evidence)
    if found.kind == "program" and crossed_network(evidence):
        return answered_by_servers(evidence)
    if _counted(evidence, found) or _exceeds_memory(evidence, found):
        return None
    return Finding(
        verdict=Verdict.UNVERIFIED,
        rule="unseen_cache",
        text=f"whether storage or a cache answered is unknown: below is {layer_chain(evidence.layers)}, and"
        f" {UNSEEN_REASONS[found.kind]}",
        remedy="Measure the storage below by itself, or use a data set of at least twice the memory; state this with"
        " the number.",
        numbers={"data_set_bytes": evidence.data_set_bytes, "memory_bytes": evidence.memory_bytes or 0},
    )


def _counted(evidence: Evidence, unseen: Layer) -> bool:
    """Whether the kernel counted that this process fetched or stored the bytes, below the unseen layer.

    For reads that is proof, except that ZFS also counts data from its cache as fetched. For writes it shows that an
    unknown layer is not memory: the kernel counts nothing for tmpfs.
    """
    above = evidence.layers[: evidence.layers.index(unseen)]
    if evidence.operation in MIXES or unseen.kind == "cache" or any(layer.kind in BLOCK_KINDS for layer in above):
        return False
    if evidence.operation in WRITES and unseen.kind == "unknown":
        sent = [(sample.device_write_bytes, sample.write_bytes) for sample in evidence.usable]
        return all(device is not None and 0 < SEEN_SHARE * requested <= device for device, requested in sent)
    shares = _shares(evidence, reads=True) if evidence.operation in READS else []
    return bool(shares) and min(shares) >= SEEN_SHARE


def _exceeds_memory(evidence: Evidence, unseen: Layer) -> bool:
    """Whether the data exceeds this machine's memory, where this memory is the possible cache."""
    here = unseen.kind == "program" or unseen.name == "zfs" or unseen.name.startswith("/dev/zd")
    memory = evidence.memory_bytes
    return here and bool(memory) and evidence.data_set_bytes >= TIMES_MEMORY * (memory or 0)


def _read_again(evidence: Evidence) -> Answer:
    """Find reads through a loop device without direct I/O that went over their data more than once.

    The cache was emptied before; but data read once may since be in the page cache of the loop device's file.
    """
    if evidence.stacked_on is None or evidence.operation not in READS or evidence.is_in_memory:
        return None
    memory, size = evidence.memory_bytes, evidence.data_set_bytes
    times = max(sample.read_bytes for sample in evidence.usable) / size if size else 0.0
    if times <= 1 / SEEN_SHARE or (memory and size >= TIMES_MEMORY * memory):
        return None
    return Finding(
        verdict=Verdict.UNVERIFIED,
        rule="unseen_cache",
        text=f"the same {about_size(size)} were read {about_number(times)} times, and from the second time on the"
        " host's page"
        f" cache may have answered: below is {layer_chain(evidence.layers)}",
        remedy="Give the loop device direct I/O (losetup --direct-io=on), or leave runtime out, so that each byte is"
        " read once.",
        numbers={"times_read": times, "data_set_bytes": size},
    )


def compressed(evidence: Evidence) -> Answer:
    """Find data that a layer below compresses or deduplicates, so that the device moved less than was read or written.

    Then the device's counts show neither that a cache answered nor that none did. But if it moved less than the
    smallest possible size of the data, the verdict is `cached`. Incompressible data is not affected.
    Source: compress of btrfs(5), zfsprops(7), f2fs; the data's own parameters, `compressible` and `duplicate`.
    """
    layer = next((layer for layer in evidence.layers if layer.compresses), None)
    if layer is None or evidence.is_in_memory or not evidence.may_compress or not evidence.usable:
        return None
    if evidence.operation in MIXES or evidence.operation not in (*READS, *WRITES):
        return None
    shares = _counted_shares(evidence, layer)
    if shares is None:
        return _as_compressed(evidence, layer, None) if layer.compresses == "does" else None
    if not shares or min(shares) >= SEEN_SHARE:
        return None
    if evidence.operation in READS and min(shares) < SEEN_SHARE * _min_share(evidence):
        return _less_than_compressed(evidence, layer, min(shares))
    return _as_compressed(evidence, layer, median(shares))


def _counted_shares(evidence: Evidence, layer: Layer) -> list[float] | None:
    """As `_shares`; None if nothing counts what a layer passes on to the device."""
    if layer in counted_layers(evidence.layers):
        return None
    if evidence.operation in READS:
        return _shares(evidence, reads=True) if evidence.counts_reads else None
    counted = any(sample.block is not None for sample in evidence.usable)
    return _shares(evidence, reads=False) if counted else None


def _as_compressed(evidence: Evidence, layer: Layer, share: float | None) -> Finding:
    data, least = _data_words(evidence), _min_share(evidence)
    moved = "how much less is not counted" if share is None else f"the device moved {percent(share)}"
    text = f"less than the data reached the device because {layer.label} compresses it: of {data} {moved}"
    if layer.compresses == "may":
        text = f"of {data} {moved}: {layer.label} may have compressed it, or a cache may have answered"
    return Finding(
        verdict=Verdict.UNVERIFIED,
        rule="compressed",
        text=f"{text}; the rate is that of the data as the application sees it",
        remedy="State with the number how compressible the data is, or use incompressible data (compressible: 0,"
        " duplicate: 0).",
        numbers={"min_share": least, **({} if share is None else {"device_share": share})},
    )


def _less_than_compressed(evidence: Evidence, layer: Layer, share: float) -> Finding:
    least = _min_share(evidence)
    return Finding(
        verdict=Verdict.CACHED,
        rule="compressed",
        text=f"only {percent(share)} of the bytes read came from the device; {_data_words(evidence)}, compressed as"
        f" much as they can be, are {percent(least)} ({layer.label}): memory answered the rest",
        remedy="Use cache: drop or limit, or a data set of at least twice the memory.",
        numbers={"device_share": share, "min_share": least},
    )


def _data_words(evidence: Evidence) -> str:
    parameters = evidence.case.parameters
    parts = [(parameters.compressible, "compressible"), (parameters.duplicate, "duplicate")]
    return "bytes that are " + " and ".join(f"{part} % {word}" for part, word in parts if part)


def _min_share(evidence: Evidence) -> float:
    """Return the smallest possible size of the data after compression, as a share of its size."""
    parameters = evidence.case.parameters
    return (1 - parameters.compressible / 100) * (1 - parameters.duplicate / 100)


def _shares(evidence: Evidence, reads: bool) -> list[float]:
    """Return the share of the read or written bytes that the device moved, for each repeat in which it is known.

    Data written several times before it was flushed counts once.
    """
    found = [_moved(sample, reads, evidence.data_set_bytes) for sample in evidence.usable]
    return [
        min(1.0, device / requested) for device, requested in found if device is not None and requested >= MIN_BYTES
    ]


def _moved(sample: Sample, reads: bool, distinct: int) -> tuple[int | None, int]:
    if reads:
        return sample.device_read_bytes, sample.read_bytes
    # The kernel counts a process's writes when pages become dirty; the device counts what it gets.
    return (sample.block.write_bytes if sample.block is not None else None), min(sample.write_bytes, distinct)


def _rate(evidence: Evidence) -> dict[str, float]:
    estimate = evidence.estimate
    unit = "measured_per_s" if is_counted(evidence.operation) else "measured_bytes_per_s"
    return {unit: estimate.median} if estimate is not None else {"repeats": len(evidence.usable)}
