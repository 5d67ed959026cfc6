"""Use of a host's links, CPUs and disks during a phase."""

from assay.model.frozen import Frozen


class LinkUse(Frozen):
    """The use of a network interface.

    Attributes:
        received, sent: Bytes per second. `received_peak` and `sent_peak` are those of the busiest interval of about
            half a second.
        drops: Frames dropped or damaged, in both directions.
        speed: Capacity in bytes per second, each way; None if unknown.
    """

    name: str
    received: float
    sent: float
    received_peak: float
    sent_peak: float
    drops: int
    speed: float | None = None

    @property
    def share(self) -> float | None:
        """The busier direction / capacity; None if the capacity is unknown."""
        return max(self.received, self.sent) / self.speed if self.speed else None


class DiskUse(Frozen):
    """The use of a whole disk.

    Attributes:
        busy: Share of the time with at least one request in flight; `busy_peak`: in the busiest interval.
        read, written: Bytes per second.
        queue: Average requests in flight.
    """

    name: str
    busy: float
    busy_peak: float
    read: float
    written: float
    queue: float


class HostUsePoint(Frozen):
    """The use at one moment of a phase.

    Attributes:
        at: Seconds since the start of the phase.
        cpu: Busy share of all CPUs; None if unknown.
        received, sent: Bytes per second of all links.
        disk: Busy share of the busiest disk.
    """

    at: float
    cpu: float | None
    received: float
    sent: float
    disk: float


class HostUse(Frozen):
    """The use of a host during a phase.

    Attributes:
        host: Name of the host.
        shared: CPUs and disks are those of one machine that all hosts share, as in a cluster in a box.
        seconds: Length of the observation.
        cpu: Busy share of all CPUs, for any process; None if unknown. `cpu_peak`: in the busiest interval.
        cpus: Number of CPUs.
        links: Interfaces that carried traffic.
        disks: Disks that had requests.
        segments, segments_again: TCP segments sent, and sent again; None if unknown.
        softnet_drops: Frames that the kernel dropped because it could not keep up.
        course: The use over time.
    """

    host: str
    shared: bool
    seconds: float
    cpu: float | None
    cpu_peak: float | None
    cpus: int
    links: tuple[LinkUse, ...] = ()
    disks: tuple[DiskUse, ...] = ()
    segments: int | None = None
    segments_again: int | None = None
    softnet_drops: int | None = None
    course: tuple[HostUsePoint, ...] = ()

    @property
    def own_disks(self) -> tuple[DiskUse, ...]:
        """The disks of this host alone: its loop devices if hosts share a machine's disks."""
        return tuple(disk for disk in self.disks if not self.shared or disk.name.startswith("loop"))
