"""Rule about other users of the device.

As in `assay.judge.rules`, a rule returns a finding, None (all is well) or `NotEvaluated`.
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
"""File systems that rewrite metadata with all data, some of it twice."""
BLOCK_FACTOR, COPY_FACTOR = 1.1, 2.5
"""Bytes at the device for each byte of ours: with whole blocks; on copy-on-write file systems."""
JOURNAL, TREE = 64 << 10, 512 << 10
"""Bytes of metadata that one flushed write, or one change of a name, causes: of a journal, of copied trees."""
PIECES = 8
"""Additional requests that one such write causes."""
LARGEST_PIECE = 64 << 10
"""Devices take requests of at least this size, so our requests are at most our bytes in pieces of this size."""
LARGEST_REQUEST = 1 << 20
"""Requests are merged up to about this size (max_sectors_kb)."""
PAGE = 4 << 10
OTHERS_SHARE = 0.25
"""Least bytes of others, as a share of ours."""
OTHERS_REQUESTS = 0.5
"""Least requests of others, as a share of what may have been ours."""
MIN_IDLE, FOREIGN_CPU_SHARE = 0.1, 0.25
"""Shares of the host's CPU time: idle time below which the machine is busy, and the least use by others then."""
MIN_BYTES, MIN_REQUESTS = 4 << 20, 250
"""Below this, it is normal background activity: logs, access times."""


class OtherUse(NamedTuple):
    """Activity of a device in a repeat that the engine cannot have caused.

    Attributes:
        own_bytes: Bytes that the engine moved there, without what the file system adds.
        other_bytes: Bytes read and written beyond all that the engine can have caused.
        other_requests: Requests beyond these; 0 where our own number cannot be bounded well.
        is_significant: They are so many that the device was not the engine's alone.
        below: Names of the devices, if they are not the uppermost ones.
    """

    own_bytes: int
    other_bytes: int
    other_requests: int
    is_significant: bool
    below: str = ""


def contended(evidence: Evidence) -> Answer:
    """Find a device with other users: it moved much more than the engine requested, in most repeats.

    What the engine may have caused is an upper bound: the bytes that the kernel counted for it (read-ahead included) or
    those that it requested, whichever is more; the journal of each flushed write or changed name; metadata that
    copy-on-write file systems rewrite; data that an earlier phase left to be written back. The rest is by others if it
    is a quarter of ours and 4 MiB or more; or, in requests, half of ours and 250 or more. The rule examines each level
    of devices, unless a loop device above it keeps data in memory and writes it back later.
    Source: the device's own counts (iostats of the kernel), read_bytes and write_bytes of proc_pid_io(5).
    """
    if evidence.has_no_storage or not evidence.usable:
        return None
    if evidence.is_in_memory:
        return MEMORY_ITSELF
    found = [(sample, item) for sample in evidence.usable if (item := other_use(sample, evidence)) is not None]
    if not found:
        return NotEvaluated("no block device below that counts its requests, so that other users of it cannot be seen")
    many = [(sample, item) for sample, item in found if item.is_significant]
    if 2 * len(many) <= len(found):
        return None
    count = median(item.other_bytes for _, item in many)
    ours = median(item.own_bytes for _, item in many)
    requests = median(item.other_requests for _, item in many)
    rate = median(item.other_bytes / sample.elapsed_ns for sample, item in many) * 1e9
    below = many[0][1].below
    text = f"the device below ({below}) also served other users: " if below else "the device also served other users: "
    if count >= MIN_BYTES:
        text += f"in addition to the {about_size(ours)} of this measurement it moved {about_size(count)}"
        text += f" ({about_size(rate)}/s)"
    else:
        text += f"it had at least {requests:,.0f} requests more than this measurement can have sent"
    if len(many) < len(found):
        text += f", in {len(many)} of {len(found)} repeats"
    return Finding(
        verdict=Verdict.CONTENDED,
        rule="contended",
        text=text,
        remedy="Find out what else uses the device (iotop, a backup, a scrub, data that is still being written back),"
        " wait until the other load ends, and run the study again: rate and latencies are those of a shared device.",
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
    """Return the greatest possible speedup of the result without others (geometric mean); empty if unknown."""
    factors = [_max_slowdown(sample, evidence) for sample in samples]
    return {"max_slowdown": math.exp(fmean(map(math.log, factors)))} if math.inf not in factors else {}


def _max_slowdown(sample: Sample, evidence: Evidence) -> float:
    """Return the greatest possible speedup of a repeat without other users.

    A device that is never idle while requests wait gives each user a part of its time. The others' time is at most
    their part of all bytes, if bytes cost the device time, or of all requests, if those do: the worse of the two
    counts. Of our own requests only those count that cannot have been merged.
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


def other_use(sample: Sample, evidence: Evidence) -> OtherUse | None:
    """Return what a device below did for others in a repeat: the uppermost one with any; None if no device counts."""
    return evidence.cached_value("others", sample, _others)


def _others(sample: Sample, evidence: Evidence) -> OtherUse | None:
    if sample.elapsed_ns <= 0:
        return None
    found = [
        _others_at(number, level, sample, evidence) for number, level in enumerate(_shared_levels(sample, evidence))
    ]
    return next((item for item in found if item.is_significant), found[0] if found else None)


def _shared_levels(sample: Sample, evidence: Evidence) -> list[LevelUse]:
    """Return the levels of devices that the engine's operations reach immediately."""
    levels = evidence.device_uses(sample)
    return levels if evidence.stacked_on is None else levels[:1]


def _others_at(number: int, level: LevelUse, sample: Sample, evidence: Evidence) -> OtherUse:
    """Return what the devices of a level did for others; several devices may each store what is written."""
    block = level.use
    read = max(sample.device_read_bytes or 0, sample.read_bytes if evidence.bypasses_cache else 0)
    written = max(sample.device_write_bytes or 0, sample.write_bytes)
    if sample.device_read_bytes is None:
        read = max(read, sample.read_bytes)
    copying = evidence.place is not None and evidence.place.filesystem in COPYING
    changes = _changes(sample, evidence, copying)
    ours = read + written
    max_read = BLOCK_FACTOR * read + (changes * JOURNAL if copying else changes * PAGE)
    max_written = (COPY_FACTOR if copying else BLOCK_FACTOR) * written + changes * (TREE if copying else JOURNAL)
    max_written = level.devices * (max_written + _left_dirty(sample, evidence))
    more = int(max(0.0, block.read_bytes - max_read) + max(0.0, block.write_bytes - max_written))
    piece = min(evidence.case.parameters.record_size or PAGE, LARGEST_PIECE) if evidence.bypasses_cache else PAGE
    most_requests = level.devices * (BLOCK_FACTOR * max(ours / max(piece, 1), sample.ops) + PIECES * changes)
    requests = int(max(0.0, block.reads + block.writes - most_requests))
    matter = more >= max(OTHERS_SHARE * ours, MIN_BYTES)
    matter |= requests >= max(OTHERS_REQUESTS * most_requests, MIN_REQUESTS)
    return OtherUse(ours, more, requests, matter, level.names if number else "")


def disturbance(sample: Sample, evidence: Evidence) -> str:
    """Return why something else may have changed the course of a repeat; empty if nothing is known to have.

    Kernel threads that work for the lanes (journals, loop devices) also wait for a CPU, and are not counted. If lanes
    lack a CPU for more than a tenth of the time, or hardly any CPU was idle while others used many, the slowdown of the
    storage is unknown.
    """
    found = other_use(sample, evidence)
    if found is not None and found.is_significant:
        return "other users were active on the device"
    if evidence.no_cpu_share(sample) > WAIT_SHARE:
        return "threads had too little CPU"
    idle, busy = sample.host_idle_ns or 0, sample.host_busy_ns or 0
    foreign = busy - sample.cpu_user_ns - sample.cpu_system_ns
    full = idle < MIN_IDLE * (idle + busy) and foreign > FOREIGN_CPU_SHARE * (idle + busy)
    return "other processes kept the CPUs busy" if full else ""


def _changes(sample: Sample, evidence: Evidence, copying: bool) -> int:
    """Return the number of operations that may each read or write metadata."""
    writes = evidence.operation in WRITES
    each = evidence.case.is_metadata or (writes and evidence.case.parameters.sync in ("o_sync", "o_dsync"))
    found = sample.ops if each or (writes and copying) else evidence.all_lanes
    if not evidence.case.parameters.is_on_set:
        return found
    # Each file of a set needs lookups by name, and a journal entry if it is written, created or removed.
    named = ("open", "create", "stat", "unlink")
    return found + sum(counts.ops for counts in sample.kinds if counts.kind in named)


def _left_dirty(sample: Sample, evidence: Evidence) -> int:
    """Return the bytes that earlier phases of the case wrote without a flush, and that may reach the device now."""
    parameters = evidence.case.parameters
    before = evidence.case.operations[: sample.phase]
    unflushed = parameters.sync == "none" and not evidence.bypasses_cache
    return evidence.data_set_bytes if unflushed and any(item in WRITES for item in before) else 0
