"""The state of a running cluster in a box."""

from pydantic import Field

from assay.model.frozen import Frozen
from assay.model.site.box_servers import BoxServer


class RunningServer(BoxServer):
    """A server of a running box: its description in the file, and what it became.

    Attributes:
        version: Version of its package, or as the program reports it.
        configuration: Path of its configuration file.
        sha256: Hash of the configuration, in hex.
        paths: Served device -> its path on this machine.
        peers: Host -> address, for all servers of this kind in the box, in file order.
        upstream_address: Address of the host whose server it passes on; empty if it passes nothing on.
        credentials: User -> path of the file with name and password, readable by root only.
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
        pid: Process id of its init, in this machine's namespace.
        start: Start time of that process in clock ticks since the machine's boot: field 22 of /proc/PID/stat.
        link: Bits per second, each way; None if not limited.
        delay: Delay of its own link in nanoseconds, each way.
        loss: Loss of its own link in frames per million, each way.
        line: Bits per second, each way, of the line that its site shares to other sites; None if not limited or not
            present.
        group: Control group that limits its disks; empty without limits.
        mounts: Directories where it has mounted something of other hosts.
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
    """The stored state of a running box.

    Attributes:
        name: Name under which it runs.
        box: Name in the box's file.
        boot: Boot id of the machine when the box was made.
        switch_pid: Process id of the init of the namespace that connects the hosts.
        switch_start: Start time of that process, as `RunningHost.start`.
        owner_pid: Process that owns the box, which is removed when the process ends; 0 if it stays until a user takes
            it down.
        owner_start: Start time of that process, as `RunningHost.start`.
        shared: Directory common to all hosts; empty without one.
        users: Users who may log in in addition to root.
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
