"""What links, processors and disks of a host did while a phase went on."""

from assay.model.frozen import Frozen


class LinkUse(Frozen):
    """A network interface.

    Attributes:
        received: Bytes per second; likewise `sent`. The peaks are of the busiest interval of about half a second.
        drops: Frames that were thrown away or damaged, either way.
        speed: Bytes per second that it can carry each way; None where nobody tells.
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
        """Of its speed, the busier way; None if that is unknown."""
        return max(self.received, self.sent) / self.speed if self.speed else None


class DiskUse(Frozen):
    """A whole disk.

    Attributes:
        busy: Share of the time with at least one request under way; `busy_peak` of the busiest interval.
        read, written: Bytes per second.
        queue: Requests under way, on average.
    """

    name: str
    busy: float
    busy_peak: float
    read: float
    written: float
    queue: float


class UsePoint(Frozen):
    """A moment of a phase.

    Attributes:
        at: Seconds since it began.
        cpu: Share of the time of all CPUs; None where nobody tells.
        received, sent: Bytes per second of all links.
        disk: Share of the time of the busiest disk.
    """

    at: float
    cpu: float | None
    received: float
    sent: float
    disk: float


class HostUse(Frozen):
    """A host during a phase.

    Attributes:
        host: Its name.
        shared: CPUs and disks are those of one machine that all hosts share, as in a cluster in a box.
        seconds: How long was counted.
        cpu: Share of the time of all CPUs at work, whoever's; None where nobody tells. `cpu_peak`: busiest interval.
        cpus: How many there are.
        links: Those that carried something.
        disks: Those that did something.
        segments, segments_again: TCP segments sent, and sent again; None where nobody tells.
        softnet_drops: Frames that the kernel threw away because it could not keep up.
        course: How it went.
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
    course: tuple[UsePoint, ...] = ()

    @property
    def own_disks(self) -> tuple[DiskUse, ...]:
        """Those of this host alone: of a host that shares a machine's disks its loop devices."""
        return tuple(disk for disk in self.disks if not self.shared or disk.name.startswith("loop"))
