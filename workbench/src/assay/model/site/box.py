"""A cluster in a box: what its file says, and what is known of one that runs."""

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from assay.model import units
from assay.model.base import Frozen
from assay.model.site.nodes import expand_nodes
from assay.model.study import axis
from assay.model.study.axis import Kind, Single, fault
from assay.model.study.target import Text
from assay.model.units import shown

NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
MOST_HOSTS = 200
TAKEN = frozenset(
    [
        "bin",
        "boot",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "lost+found",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
        "run",
        "sbin",
        "srv",
        "sys",
        "tmp",
        "usr",
        "var",
    ]
)
"""Top directories that a host shares with the machine, or that are the system's."""


def _name(written: object) -> str:
    if isinstance(written, str) and NAME.fullmatch(written):
        return written
    raise fault(f"{shown(written)} is not a name", "write small letters, digits and `-`, a letter first, at most 31")


def _directory(written: object) -> str:
    """An absolute path whose first directory the machine's system does not have."""
    hint = "write a directory such as /export or /export/a, which only this host will have"
    if not isinstance(written, str) or not re.fullmatch(r"(/[A-Za-z0-9._-]+)+", written):
        raise fault(f"{shown(written)} is not an absolute path of plain letters", hint)
    parts = written.split("/")[1:]
    if any(part in (".", "..") for part in parts):
        raise fault(f"`{written}` has a `.` or `..` part", hint)
    if parts[0] in TAKEN:
        raise fault(f"`{written}`: /{parts[0]} is the system's", hint)
    return written


def _subnet(written: object) -> str:
    hint = "write a private IPv4 network such as 10.77.0.0/24"
    try:
        net = ipaddress.IPv4Network(written if isinstance(written, str) else "")
    except ValueError:
        raise fault(f"{shown(written)} is not a network", hint) from None
    if not net.is_private or not 16 <= net.prefixlen <= 29:
        raise fault(f"{net} is not a private network of /16 to /29", hint)
    return str(net)


def _known(written: object) -> object:
    if isinstance(written, str) and not written:
        raise fault("the name is empty", "write a name")
    return written


_LINK = {"type": "string", "pattern": units.LINK_PATTERN, "description": "Bits per second, such as 1 Gbit/s."}
_LOSS = {"type": "string", "pattern": units.LOSS_PATTERN, "description": "Share of lost frames, such as 0.01%."}

Name = Annotated[str, BeforeValidator(_name)]
Directory = Annotated[str, BeforeValidator(_directory)]
Subnet = Annotated[str, BeforeValidator(_subnet)]
Word = Annotated[Text, AfterValidator(_known)]
Size = Annotated[int, Single(axis.size(16 * 2**20, 2**50))]
Limit = Annotated[float | None, Single(axis.throughput())]
Link = Annotated[int | None, Single(Kind(units.parse_link, units.format_link, _LINK, 10**5, 10**12, optional=True))]
Loss = Annotated[int, Single(Kind(units.parse_loss, units.format_loss, _LOSS, 0, 500_000))]
Time = Annotated[int, Single(axis.duration(0, 10 * 10**9))]
Mtu = Annotated[int, Single(axis.whole(576, 65_000))]


class Disk(Frozen):
    """A disk of a host: a sparse file with a file system."""

    size: Size = Field(description="Its size.")
    mount: Directory = Field(description="Where the host sees it.")
    filesystem: Literal["ext4", "xfs"] = Field("ext4", description="Its file system.")
    read_limit: Limit = Field(None, description="Most bytes read per second by processes of the host.")
    write_limit: Limit = Field(None, description="Most bytes written per second by processes of the host.")


class Server(Frozen):
    """A server that runs on a host."""

    kind: Word = Field(description="Which one, such as nfs-ganesha.")
    exports: tuple[Directory, ...] = Field(min_length=1, description="Directories it serves, on disks of the host.")


class HostSpec(Frozen):
    """A host, or each host of a set."""

    link: Link = Field(None, description="Speed of its link, each way; without it, what the machine can do.")
    delay: Time = Field(0, description="Time that everything to and from this host takes longer, each way.")
    loss: Loss = Field(0, description="Share of frames to and from this host that are lost.")
    site: Text = Field("", description="Where it stands, if there are several sites.")
    roles: tuple[Name, ...] = Field((), description="What it is for; `server` with servers, else `client`.")
    disks: tuple[Disk, ...] = Field((), description="Its disks.")
    servers: tuple[Server, ...] = Field((), description="What runs on it.")

    @model_validator(mode="after")
    def _fits(self) -> "HostSpec":
        mounts = [disk.mount for disk in self.disks]
        for place, mount in enumerate(mounts):
            if mount in mounts[:place]:
                raise fault(f"two disks are mounted at {mount}", "give each its own directory", "disks", place, "mount")
        for place, server in enumerate(self.servers):
            for path in server.exports:
                if not any(f"{path}/".startswith(f"{mount}/") for mount in mounts):
                    hint = f"add a disk, such as `disks: [{{size: 2GiB, mount: {path}}}]`"
                    raise fault(f"{path} is on no disk of this host", hint, "servers", place, "exports")
        return self

    @property
    def all_roles(self) -> tuple[str, ...]:
        """Its roles, the usual one if none is stated."""
        return self.roles or (("server",) if self.servers else ("client",))

    @property
    def exports(self) -> tuple[str, ...]:
        """Directories that its servers serve."""
        return tuple(dict.fromkeys(path for server in self.servers for path in server.exports))


class _Path(Frozen):
    """A way that frames take."""

    delay: Time = Field(0, description="Time it takes one way.")
    rtt: Time = Field(0, description="Time it takes both ways, instead of `delay`.")
    loss: Loss = Field(0, description="Share of frames that are lost one way.")

    @model_validator(mode="after")
    def _once(self) -> Any:
        if self.delay and self.rtt:
            raise fault("delay and rtt are both stated", "keep one: rtt is twice the delay", "rtt")
        return self

    @property
    def one_way(self) -> int:
        """Nanoseconds it takes one way."""
        return self.delay or self.rtt // 2


class Network(_Path):
    """What joins the hosts of a site."""

    subnet: Subnet = Field("10.77.0.0/24", description="Addresses; hosts get them in the order of the file.")
    mtu: Mtu = Field(1500, description="Largest packet in bytes.")


class Wan(_Path):
    """What joins the sites; all hosts of a site share its link."""

    link: Link = Field(None, description="Speed of the link of each site, each way.")


class Member(Frozen):
    """One host of a box.

    Attributes:
        number: From 1, in the order of the file.
        address: IPv4.
    """

    name: str
    number: int
    address: str
    spec: HostSpec


class Box(Frozen):
    """A cluster in a box."""

    name: Name = Field(description="What the box is called.")
    description: Text = Field("", description="What it is for.")
    hosts: dict[str, HostSpec] = Field(min_length=1, description="Host, or set of hosts such as client[1-8].")
    network: Network = Field(Network(), description="What joins them.")
    wan: Wan | None = Field(None, description="What joins the sites, if hosts have different ones.")

    @field_validator("hosts")
    @classmethod
    def _names(cls, hosts: dict[str, HostSpec]) -> dict[str, HostSpec]:
        seen: dict[str, str] = {}
        for written in hosts:
            try:
                names = expand_nodes(written)
            except units.UnitError as error:
                raise fault(error.message, error.hint, written) from None
            for name in names:
                if not NAME.fullmatch(name) or name in ("localhost", "switch"):
                    hint = "write small letters, digits and `-`, a letter first; not localhost, not switch"
                    raise fault(f"`{name}` cannot be the name of a host", hint, written)
                if name in seen:
                    raise fault(f"host {name} is also in `{seen[name]}`", "name each host once", written)
                seen[name] = written
        return hosts

    @model_validator(mode="after")
    def _whole(self) -> "Box":
        count = sum(len(expand_nodes(written)) for written in self.hosts)
        room = min(MOST_HOSTS, ipaddress.IPv4Network(self.network.subnet).num_addresses - 2)
        if count > room:
            raise fault(f"{count} hosts, but room for {room}", "name fewer hosts, or a larger subnet", "hosts")
        sites = {spec.site for spec in self.hosts.values()}
        if self.wan is None and len(sites) > 1:
            raise fault("hosts are at different sites, but no `wan` joins them", "add `wan: {rtt: 87ms}`", "hosts")
        if self.wan is not None and (len(sites) < 2 or "" in sites):
            raise fault("`wan` needs two sites or more", "give each host a `site`", "wan")
        return self

    def members(self) -> tuple[Member, ...]:
        """All hosts, in the order of the file."""
        pairs = [(name, spec) for written, spec in self.hosts.items() for name in expand_nodes(written)]
        first = int(ipaddress.IPv4Network(self.network.subnet).network_address)
        return tuple(
            Member(name=name, number=number, address=str(ipaddress.IPv4Address(first + number)), spec=spec)
            for number, (name, spec) in enumerate(pairs, start=1)
        )


class RunningServer(Frozen):
    """A server of a running box.

    Attributes:
        version: Of its package, or what the program says of itself.
        configuration: Path of its configuration.
        sha256: Of the configuration, in hex.
    """

    kind: str
    version: str
    configuration: str
    sha256: str
    exports: tuple[str, ...]


class RunningHost(Frozen):
    """A host of a running box.

    Attributes:
        pid: Process id of its init, seen from outside.
        start: When that process was started, in clock ticks since the machine was: field 22 of /proc/PID/stat.
        link: Bits per second each way; None if unshaped.
        delay: Nanoseconds that its own link adds each way.
        loss: Frames of a million that its own link loses each way.
        group: Control group that limits its disks; empty without limits.
    """

    name: str
    address: str
    pid: int
    start: int
    link: int | None = None
    delay: int = 0
    loss: int = 0
    site: str = ""
    roles: tuple[str, ...] = ()
    exports: tuple[str, ...] = ()
    servers: tuple[RunningServer, ...] = ()
    group: str = ""


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
    """

    name: str
    box: str
    boot: str
    switch_pid: int
    switch_start: int
    owner_pid: int = 0
    owner_start: int = 0
    hosts: tuple[RunningHost, ...]
