"""The rule about others who use the device.

As in `assay.judge.rules`: evidence in; a finding, nothing (all is well) or `NotEvaluated` out.
"""

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import NamedTuple

from assay.judge.answer import MEMORY_ITSELF, Answer, NotEvaluated
from assay.model.result.evidence import Evidence, LevelUse
from assay.model.result.machine import WAIT_SHARE
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding, Verdict
from assay.model.study.names import WRITES
from assay.model.units import about_size

COPYING = ("btrfs", "zfs", "f2fs", "bcachefs")
"""File systems that write metadata anew with all data, some of it twice."""
LOOSE, COPIED = 1.1, 2.5
"""Bytes at the device for each byte of ours: with whole blocks; on file systems that copy on write."""
JOURNAL, TREE = 64 << 10, 512 << 10
"""Bytes beside the data that one flushed write, or one change of a name, causes: of a journal, of copied trees."""
PIECES = 8
"""Requests beside the data that one such write causes."""
LARGEST_PIECE = 64 << 10
"""Devices take requests of at least this size, so that no more of them are ours than our bytes in such pieces."""
LARGEST_REQUEST = 1 << 20
"""Requests are merged up to about this size (max_sectors_kb)."""
PAGE = 4 << 10
OTHERS_SHARE = 0.25
"""Of what was ours, the others' bytes."""
OTHERS_REQUESTS = 0.5
"""Of what may have been ours, the others' requests."""
LEAST_IDLE, FOREIGN = 0.1, 0.25
"""Of the host's CPU time: what is idle unless the machine is busy, and what others then have."""
LEAST_BYTES, LEAST_REQUESTS = 4 << 20, 250
"""Less is what any machine does now and then: logs, times of access."""


class Others(NamedTuple):
    """What a device did in a repeat, as far as it cannot have been for the engine.

    Attributes:
        ours: Bytes that the engine moved there, without what the file system adds.
        bytes: Read and written beyond all that the engine can have caused.
        requests: Likewise; 0 where our own number cannot be bounded well.
        matter: They are so many that the device was not the engine's alone.
        below: Names of the devices, if they are not the uppermost ones.
    """

    ours: int
    bytes: int
    requests: int
    matter: bool
    below: str = ""


def contended(evidence: Evidence) -> Answer:
    """Somebody else used the device: it moved much more than the engine asked for, in most repeats.

    What the engine can have caused is taken as much as it can be: the bytes that the kernel counted for it (read-ahead
    among them) or those that it asked for, whichever is more; the journal of each flushed write or changed name;
    metadata that copy-on-write file systems write anew; what an earlier phase left to be written back. The rest is
    somebody else's if it is a quarter of ours and 4 MiB or more; or, as requests, half of ours and 250 or more.
    Each level of devices is looked at, unless a loop device above it keeps data in memory and writes it back later.
    Source: the device's own counts (iostats of the kernel), read_bytes and write_bytes of proc_pid_io(5).
    """
    if evidence.no_storage or not evidence.usable:
        return None
    if evidence.in_memory:
        return MEMORY_ITSELF
    found = [(sample, item) for sample in evidence.usable if (item := others(sample, evidence)) is not None]
    if not found:
        return NotEvaluated("no block device below that counts its requests, so that other users of it cannot be seen")
    many = [(sample, item) for sample, item in found if item.matter]
    if 2 * len(many) <= len(found):
        return None
    count = median(item.bytes for _, item in many)
    ours = median(item.ours for _, item in many)
    requests = median(item.requests for _, item in many)
    rate = median(item.bytes / sample.elapsed_ns for sample, item in many) * 1e9
    below = many[0][1].below
    text = (
        f"the device below ({below}) served somebody else too: " if below else "the device served somebody else too: "
    )
    if count >= LEAST_BYTES:
        text += f"beside the {about_size(ours)} of this measurement it moved {about_size(count)} more"
        text += f" ({about_size(rate)}/s)"
    else:
        text += f"it had at least {requests:,.0f} requests more than this measurement can have made"
    if len(many) < len(found):
        text += f", in {len(many)} of {len(found)} repeats"
    return Finding(
        verdict=Verdict.CONTENDED,
        rule="contended",
        text=text,
        remedy="Find who else uses the device (iotop, a backup, a scrub, data that is still being written back), wait"
        " until it is alone, and run the study again: rate and latencies are those of a shared device.",
        numbers={
            "own_bytes": ours,
            "other_bytes": count,
            "other_bytes_per_s": rate,
            "other_requests": requests,
            "further_down": float(bool(below)),
            **_slowed([sample for sample, _ in found], evidence),
        },
    )


def _slowed(samples: Sequence[Sample], evidence: Evidence) -> dict[str, float]:
    """How many times as fast the result can have been alone, as its mean logarithm; nothing if that is not known."""
    factors = [_most_slowed(sample, evidence) for sample in samples]
    return {"most_slowed": math.exp(fmean(map(math.log, factors)))} if math.inf not in factors else {}


def _most_slowed(sample: Sample, evidence: Evidence) -> float:
    """How many times as fast a repeat can have been alone.

    A device that is never idle while somebody waits gives each tenant a part of its time. What the others had is no
    more than their part of all bytes, where bytes are what costs it time, or of all requests, where those are: the
    worse of the two is taken. Of our own requests only those count that cannot have been merged.
    """
    parameters = evidence.case.parameters
    bytes_moved = sample.read_bytes + sample.write_bytes
    alone = evidence.bypasses_cache and parameters.queue_depth == 1
    requests = sample.ops if alone else bytes_moved / LARGEST_REQUEST
    if not bytes_moved or not requests:
        return math.inf
    uses = [item.use for item in _shared_levels(sample, evidence)]
    of_bytes = max((use.read_bytes + use.write_bytes) / bytes_moved for use in uses)
    return max(1.0, of_bytes, max((use.reads + use.writes) / requests for use in uses))


def others(sample: Sample, evidence: Evidence) -> Others | None:
    """What a device below did for others during a repeat: the uppermost one that had any; None if no device counts."""
    return evidence.once("others", sample, _others)


def _others(sample: Sample, evidence: Evidence) -> Others | None:
    if sample.elapsed_ns <= 0:
        return None
    found = [
        _others_at(number, level, sample, evidence) for number, level in enumerate(_shared_levels(sample, evidence))
    ]
    return next((item for item in found if item.matter), found[0] if found else None)


def _shared_levels(sample: Sample, evidence: Evidence) -> list[LevelUse]:
    """Levels of devices to which what the engine does comes while it does it."""
    levels = evidence.uses(sample)
    return levels if evidence.stacked_on is None else levels[:1]


def _others_at(number: int, level: LevelUse, sample: Sample, evidence: Evidence) -> Others:
    """What the devices of a level did for others; several may each store what is written."""
    block = level.use
    read = max(sample.device_read_bytes or 0, sample.read_bytes if evidence.bypasses_cache else 0)
    written = max(sample.device_write_bytes or 0, sample.write_bytes)
    if sample.device_read_bytes is None:
        read = max(read, sample.read_bytes)
    copying = evidence.place is not None and evidence.place.filesystem in COPYING
    beside = _changes(sample, evidence, copying)
    ours = read + written
    most_read = LOOSE * read + (beside * JOURNAL if copying else beside * PAGE)
    most_written = (COPIED if copying else LOOSE) * written + beside * (TREE if copying else JOURNAL)
    most_written = level.devices * (most_written + _left_dirty(sample, evidence))
    more = int(max(0.0, block.read_bytes - most_read) + max(0.0, block.write_bytes - most_written))
    piece = min(evidence.case.parameters.record_size or PAGE, LARGEST_PIECE) if evidence.bypasses_cache else PAGE
    most_requests = level.devices * (LOOSE * max(ours / max(piece, 1), sample.ops) + PIECES * beside)
    requests = int(max(0.0, block.reads + block.writes - most_requests))
    matter = more >= max(OTHERS_SHARE * ours, LEAST_BYTES)
    matter |= requests >= max(OTHERS_REQUESTS * most_requests, LEAST_REQUESTS)
    return Others(ours, more, requests, matter, level.names if number else "")


def disturbed(sample: Sample, evidence: Evidence) -> str:
    """Why what a repeat shows of the store's course may be another's doing; empty if nothing is known of such a thing.

    Kernel threads that work for the lanes (journals, loop devices) wait for a CPU like them, and are not counted: where
    lanes lack one for more than a tenth of the time, or hardly any CPU was idle and others had much of them, how much
    it slowed the store down is unknown.
    """
    found = others(sample, evidence)
    if found is not None and found.matter:
        return "others used the device meanwhile"
    if evidence.without_cpu(sample) > WAIT_SHARE:
        return "threads had too little CPU"
    idle, busy = sample.host_idle_ns or 0, sample.host_busy_ns or 0
    foreign = busy - sample.cpu_user_ns - sample.cpu_system_ns
    full = idle < LEAST_IDLE * (idle + busy) and foreign > FOREIGN * (idle + busy)
    return "others kept the CPUs busy meanwhile" if full else ""


def _changes(sample: Sample, evidence: Evidence, copying: bool) -> int:
    """Operations each of which may read or write metadata of its own."""
    writes = evidence.operation in WRITES
    each = evidence.case.metadata or (writes and evidence.case.parameters.sync in ("o_sync", "o_dsync"))
    found = sample.ops if each or (writes and copying) else evidence.all_lanes
    if not evidence.case.parameters.on_set:
        return found
    # Each file of a set is found by its names, and has a journal's entry of its own if it is written, made or removed.
    named = ("open", "create", "stat", "unlink")
    return found + sum(counts.ops for counts in sample.kinds if counts.kind in named)


def _left_dirty(sample: Sample, evidence: Evidence) -> int:
    """Bytes that earlier phases of the case wrote without a flush, and that may reach the device now."""
    parameters = evidence.case.parameters
    before = evidence.case.operations[: sample.phase]
    unflushed = parameters.sync == "none" and not evidence.bypasses_cache
    return evidence.data_set_bytes if unflushed and any(item in WRITES for item in before) else 0
