"""Observations of a phase apart from its operations: by block devices, and by services."""

from collections.abc import Sequence

from assay.model.frozen import Frozen


class BlockDeviceUse(Frozen):
    """Requests that a block device completed during a phase, of all its users (iostats of the kernel).

    Attributes:
        read_ns, write_ns: Time that requests spent in the device and its queue, added up.
        busy_ns: Time with at least one request in flight.
        flushes: Flushes of the device's cache; None if the kernel does not count them.
    """

    read_bytes: int
    write_bytes: int
    reads: int
    writes: int
    read_ns: int
    write_ns: int
    busy_ns: int
    flushes: int | None = None

    @classmethod
    def combined(cls, uses: Sequence["BlockDeviceUse"]) -> "BlockDeviceUse":
        """Return what several devices did; `busy_ns` is that of the busiest device."""
        sums = {name: sum(getattr(use, name) for use in uses) for name in cls.model_fields if name != "flushes"}
        counts = [use.flushes for use in uses]
        flushes = None if None in counts else sum(count or 0 for count in counts)
        return cls(**{**sums, "busy_ns": max(use.busy_ns for use in uses)}, flushes=flushes)


class ServiceCounts(Frozen):
    """What a service reported about a phase.

    Attributes:
        objects: Objects stored, fetched, found or removed by operations on several objects at once.
        unprocessed: Objects of such operations that the service left undone while it processed others.
        read_units, write_units: Capacity units consumed.
        frames: For disks behind the engine's own frames (AoE): frames sent, including those sent again.
        frames_again: Frames sent again because they or their answers were lost or late.
        frames_stray: Answers that match no request in flight.
        sessions_lost: Sessions lost with their connections (SMB).
        looks: Requests of another client for an object that had just been put.
        stale_looks: Those of `looks` that did not return what had been put.
    """

    objects: int = 0
    unprocessed: int = 0
    read_units: float = 0.0
    write_units: float = 0.0
    frames: int = 0
    frames_again: int = 0
    frames_stray: int = 0
    sessions_lost: int = 0
    looks: int = 0
    stale_looks: int = 0


class LimitProgress(Frozen):
    """Progress of the lanes at the time limit of a phase after which they wore out.

    Attributes:
        elapsed_ns: From the barrier until the last lane had ended the operations it had started before the limit.
        ops, bytes: Operations and bytes until then.
        min_ops, max_ops: Operations of the lanes that had done least and most.
    """

    elapsed_ns: int
    ops: int
    bytes: int
    min_ops: int
    max_ops: int
