"""What was seen of a phase besides its operations: by block devices, and by services."""

from collections.abc import Sequence

from assay.model.frozen import Frozen


class BlockDeviceUse(Frozen):
    """Requests that a block device completed during a phase, of all its users (iostats of the kernel).

    Attributes:
        read_ns: Time the read requests spent in the device and its queue, added up; likewise `write_ns`.
        busy_ns: Time with at least one request there.
        flushes: Flushes of its cache; None if the kernel does not count them.
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
    def together(cls, uses: Sequence["BlockDeviceUse"]) -> "BlockDeviceUse":
        """What several devices did; busy is as long as the busiest was."""
        sums = {name: sum(getattr(use, name) for use in uses) for name in cls.model_fields if name != "flushes"}
        counts = [use.flushes for use in uses]
        flushes = None if None in counts else sum(count or 0 for count in counts)
        return cls(**{**sums, "busy_ns": max(use.busy_ns for use in uses)}, flushes=flushes)


class ServiceSeen(Frozen):
    """What a service has told of a phase.

    Attributes:
        objects: Objects that operations on several at once have stored, fetched, found or removed.
        unprocessed: Of the objects of such operations those that the service left undone while it took others.
        read_units: Read capacity units consumed; likewise `write_units`.
        frames: Of disks behind frames of the engine's own (AoE): frames sent, those that were sent again among them.
        frames_again: Frames sent again: they, or their answers, were lost or late.
        frames_stray: Answers to nothing that was under way.
        sessions_lost: Sessions that were lost with their connections (SMB).
        looks: Times that another client asked for an object that had just been put.
        stale_looks: Of these the ones that were not shown what had been put.
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


class AtLimit(Frozen):
    """How far the lanes were at the time limit of a phase after which they wore out.

    Attributes:
        elapsed_ns: From the barrier until the last lane had ended what it had begun before the limit.
        ops: Operations until then; `bytes` likewise.
        least_ops: Of the lane that had done least, and `most_ops` of the one that had done most.
    """

    elapsed_ns: int
    ops: int
    bytes: int
    least_ops: int
    most_ops: int
