"""What is known of a cluster in a box that runs."""

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.site.serving import Server


class RunningServer(Server):
    """A server of a running box, as its file has it, and what came of it.

    Attributes:
        version: Of its package, or what the program says of itself.
        configuration: Path of its configuration.
        sha256: Of the configuration, in hex.
        paths: Device that it serves -> its path, on this machine.
        peers: Host -> address of all servers of this kind in the box, in its order.
        upstream_address: Address of the host whose servers it passes on; empty if it does not.
        credentials: User -> path of the file with name and password, which only root may read.
    """

    version: str
    configuration: str
    sha256: str
    paths: dict[str, str] = Field(default_factory=dict)
    peers: dict[str, str] = Field(default_factory=dict)
    upstream_address: str = ""
    credentials: dict[str, str] = Field(default_factory=dict)


class RunningHost(Frozen):
    """A host of a running box.

    Attributes:
        pid: Process id of its init, seen from outside.
        start: When that process was started, in clock ticks since the machine was: field 22 of /proc/PID/stat.
        link: Bits per second each way; None if unshaped.
        delay: Nanoseconds that its own link adds each way.
        loss: Frames of a million that its own link loses each way.
        line: Bits per second each way of the line that its site shares to the others; None if unshaped or not there.
        group: Control group that limits its disks; empty without limits.
        mounts: Directories at which it has mounted something of other hosts.
    """

    name: str
    address: str
    pid: int
    start: int
    link: int | None = None
    delay: int = 0
    loss: int = 0
    site: str = ""
    line: int | None = None
    roles: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    servers: tuple[RunningServer, ...] = ()
    group: str = ""
    mounts: tuple[str, ...] = ()


class BoxState(Frozen):
    """What is stored of a box when it is up.

    Attributes:
        name: What it runs as.
        box: The box's own name.
        boot: Id of the machine's boot in which it was made.
        switch_pid: Process id of the init of the namespace that joins the hosts.
        switch_start: As RunningHost.start.
        owner_pid: Process that the box belongs to and is removed after; 0 if it stays until somebody takes it down.
        owner_start: As RunningHost.start.
        shared: Directory that all hosts have in common; empty without one.
        users: Who may log in besides root.
    """

    name: str
    box: str
    boot: str
    switch_pid: int
    switch_start: int
    owner_pid: int = 0
    owner_start: int = 0
    shared: str = ""
    users: tuple[str, ...] = ()
    hosts: tuple[RunningHost, ...]
