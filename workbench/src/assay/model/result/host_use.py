"""Use of a host's links, CPUs and disks during a phase."""

from assay.model.frozen import Frozen

LOOPBACK = "lo"
"""The interface through which programs of one host reach each other."""


class LinkUse(Frozen):
    """The use of a network interface.

    Attributes:
        received, sent: Bytes per second. `received_peak` and `sent_peak` are those of the busiest interval between two
            lines of counters.
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


class MountUse(Frozen):
    """The traffic of a mounted NFS file system with its server.

    Attributes:
        name: Mount point.
        read, written: Bytes per second.
    """

    name: str
    read: float
    written: float


class HostUsePoint(Frozen):
    """The use at one moment of a phase.

    Attributes:
        at: Seconds since the start of the phase.
        cpu: Busy share of all CPUs; None if unknown.
        received, sent: Bytes per second of all links but the loopback.
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
        mounts: NFS file systems that moved bytes.
        io_some, io_full: Share of the time in which one thread, or all that were not idle, waited for I/O, on the whole
            machine by the kernel's count (PSI); None if it does not count.
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
    mounts: tuple[MountUse, ...] = ()
    io_some: float | None = None
    io_full: float | None = None
    segments: int | None = None
    segments_again: int | None = None
    softnet_drops: int | None = None
    course: tuple[HostUsePoint, ...] = ()

    @property
    def outer_links(self) -> tuple[LinkUse, ...]:
        """The links to other hosts."""
        return tuple(link for link in self.links if link.name != LOOPBACK)

    @property
    def own_disks(self) -> tuple[DiskUse, ...]:
        """The disks of this host alone: its loop devices if hosts share a machine's disks."""
        return tuple(disk for disk in self.disks if not self.shared or disk.name.startswith("loop"))
