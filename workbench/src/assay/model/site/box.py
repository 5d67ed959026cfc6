"""The file format of a cluster in a box."""

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from assay.model import units
from assay.model.frozen import Frozen
from assay.model.site.box_servers import NAME_PATTERN, BoxMount, BoxServer, Device, Directory, Name, Options, User
from assay.model.site.nodes import expand_nodes
from assay.model.study import axis
from assay.model.study.axis import SingleField, ValueKind, fault
from assay.model.study.target import Text
from assay.model.units import display_value

MAX_HOSTS = 200
MIN_BTRFS_BYTES = 128 << 20
FOREIGN_OPTIONS = ("device", "journal_dev", "journal_path", "logdev", "rtdev", "usrjquota", "grpjquota", "degraded")
"""Mount options that make a file system use other devices or files than its own disk."""
MKFS_LETTERS = {"ext3": "bCEgiIjmNO", "ext4": "bCEgiIjmNO", "xfs": "bdilmns", "btrfs": "nsO"}
"""File system -> option letters of its mkfs that only concern the layout; for XFS, without those that name files."""
MKFS_HINT = "write options for the layout, such as -i size=512 -l version=2"
MAX_NAMED = 3
"""Most alternatives named in a hint."""


def _subnet(written: object) -> str:
    hint = "write a private IPv4 network such as 10.77.0.0/24"
    try:
        net = ipaddress.IPv4Network(written if isinstance(written, str) else "")
    except ValueError:
        raise fault(f"{display_value(written)} is not a network", hint) from None
    if not net.is_private or not 16 <= net.prefixlen <= 29:
        raise fault(f"{net} is not a private network of /16 to /29", hint)
    return str(net)


_LINK = {"type": "string", "pattern": units.LINK_PATTERN, "description": "Bits per second, such as 1 Gbit/s."}
_LOSS = {"type": "string", "pattern": units.LOSS_PATTERN, "description": "Share of lost frames, such as 0.01%."}


def _make_options(written: object) -> str:
    """Check mkfs options: letters with a plain value or none. Paths are refused: mkfs must read and write no files."""
    option = "-[A-Za-z]( [a-z0-9_^][A-Za-z0-9_=,^.]{0,99})?"
    if isinstance(written, str) and re.fullmatch(f"{option}( {option}){{0,15}}", written):
        return written
    raise fault(f"{display_value(written)} is not a list of options of mkfs", MKFS_HINT)


def refused_mkfs_option(filesystem: str, make: str) -> str | None:
    """Return the first mkfs option that a box does not allow; None if all are allowed."""
    words = make.split()
    for word in words:
        if word.startswith("-") and word[1] not in MKFS_LETTERS[filesystem]:
            return word
        if filesystem == "xfs" and (named_file := re.search(r"(?:^|,)(file|name|logdev|rtdev)\b", word)):
            return named_file[1]
    return None


MkfsOptions = Annotated[str, BeforeValidator(_make_options)]
Subnet = Annotated[str, BeforeValidator(_subnet)]
Size = Annotated[int, SingleField(axis.size(16 * 2**20, 2**50))]
Iops = Annotated[int | None, SingleField(axis.whole(1, 10**9, optional=True))]
Limit = Annotated[float | None, SingleField(axis.throughput())]
Link = Annotated[
    int | None, SingleField(ValueKind(units.parse_link, units.format_link, _LINK, 10**5, 10**12, optional=True))
]
Loss = Annotated[int, SingleField(ValueKind(units.parse_loss, units.format_loss, _LOSS, 0, 500_000))]
Time = Annotated[int, SingleField(axis.duration(0, 10 * 10**9))]
Mtu = Annotated[int, SingleField(axis.whole(576, 65_000))]


class Raid(Frozen):
    """Several disks as one, by btrfs: its data is striped (0), kept twice (1), or both (10)."""

    level: Literal[0, 1, 10] = Field(description="How data lies on the disks.")
    disks: Annotated[int, SingleField(axis.whole(1, 16))] = Field(description="Number of disks, all alike.")

    @model_validator(mode="after")
    def _enough(self) -> "Raid":
        least = {0: 1, 1: 2, 10: 4}[self.level]
        if self.disks < least:
            raise fault(f"level {self.level} needs {least} disks at least", f"write disks: {least} or more", "disks")
        return self


class Disk(Frozen):
    """A disk of a host: a sparse file, mounted with a file system, or a bare device; or several of them as one."""

    size: Size = Field(description="Its size; with several disks as one, the size of each.")
    mount: Directory | None = Field(None, description="Directory at which the host mounts it; or `device`.")
    device: Device | None = Field(None, description="Name of a device without a file system, instead of `mount`.")
    raid: Raid | None = Field(None, description="Several disks as one, with btrfs on them.")
    filesystem: Literal["ext3", "ext4", "xfs", "btrfs"] = Field(
        "ext4", description="Its file system, if it is mounted."
    )
    make: MkfsOptions | None = Field(None, description="Options of mkfs, such as -i size=512.")
    options: Options | None = Field(None, description="Options of mount, with commas between, such as noatime.")
    read_limit: Limit = Field(None, description="Most bytes read per second by processes of the host.")
    write_limit: Limit = Field(None, description="Most bytes written per second by processes of the host.")
    read_iops: Iops = Field(None, description="Most read operations per second by processes of the host.")
    write_iops: Iops = Field(None, description="Most write operations per second by processes of the host.")

    @model_validator(mode="after")
    def _either(self) -> "Disk":
        if (self.mount is None) == (self.device is None):
            raise fault("a disk has either `mount` or `device`", "write mount: /export, or device: data for a bare one")
        if self.raid is not None and self.mount is None:
            raise fault("several disks as one need `mount`", "write mount: /data instead of `device`", "raid")
        for key in ("make", "options"):
            if getattr(self, key) is not None and (self.mount is None or self.raid is not None):
                raise fault("only a single disk with a file system has such options", f"leave out `{key}`", key)
        for option in (self.options or "").split(","):
            if option.partition("=")[0] in FOREIGN_OPTIONS:
                raise fault(f"{option} uses something other than this disk", "leave it out", "options")
        if (letter := refused_mkfs_option(self.filesystem, self.make or "")) is not None:
            raise fault(f"{letter} is not allowed as an option of mkfs.{self.filesystem} in a box", MKFS_HINT, "make")
        if self.filesystem_type == "btrfs" and self.size < MIN_BTRFS_BYTES:
            raise fault("btrfs needs 128MiB on each disk", "write size: 128MiB or more", "size")
        return self

    @property
    def filesystem_type(self) -> str:
        """Type of its file system; several disks are always btrfs."""
        return "btrfs" if self.raid is not None else self.filesystem

    @property
    def count(self) -> int:
        """Number of disks that it consists of."""
        return self.raid.disks if self.raid is not None else 1

    @property
    def is_limited(self) -> bool:
        """Whether its rates are limited."""
        return any((self.read_limit, self.write_limit, self.read_iops, self.write_iops))


class HostSpec(Frozen):
    """A host, or each host of a set."""

    link: Link = Field(None, description="Speed of its link, each way. Left out: as fast as the machine allows.")
    interfaces: Annotated[int, SingleField(axis.whole(1, 8))] = Field(
        1, description="Network cards: eth0 has the address, eth1, ... have none; each has such a link."
    )
    delay: Time = Field(0, description="Delay of everything to and from this host, each way.")
    loss: Loss = Field(0, description="Share of frames to and from this host that are lost.")
    site: Text = Field("", description="Its site, if there are several.")
    roles: tuple[Name, ...] = Field((), description="Its roles. Default: `server` if it has servers, else `client`.")
    disks: tuple[Disk, ...] = Field((), description="Its disks.")
    servers: tuple[BoxServer, ...] = Field((), description="Servers that run on it.")
    mounts: tuple[BoxMount, ...] = Field(
        (), description="Its mounts, which are made when all servers of the box answer."
    )

    @model_validator(mode="after")
    def _fits(self) -> "HostSpec":
        """Check that mount points and devices are unique, and that servers offer what is on the host's disks."""
        places = [("disks", place, disk.mount) for place, disk in enumerate(self.disks) if disk.mount is not None]
        places += [("mounts", place, mount.at) for place, mount in enumerate(self.mounts)]
        places += [("servers", place, one.mount) for place, one in enumerate(self.servers) if one.mount is not None]
        for number, (what, place, path) in enumerate(places):
            if path in [other for _, _, other in places[:number]]:
                hint, key = "give each its own directory", "at" if what == "mounts" else "mount"
                raise fault(
                    f"two {'disks' if what == 'disks' else 'things'} are mounted at {path}", hint, what, place, key
                )
        devices = [disk.device for disk in self.disks if disk.device is not None]
        for place, name in enumerate(devices):
            if name in devices[:place]:
                raise fault(f"two devices are called {name}", "give each its own name", "disks")
        for place, server in enumerate(self.servers):
            self._fits_server(place, server, devices)
        return self

    def _fits_server(self, place: int, server: BoxServer, devices: list[str]) -> None:
        if server.kind in [other.kind for other in self.servers[:place]]:
            raise fault(
                f"{server.kind} runs twice on this host",
                "write one server with everything that it offers",
                "servers",
                place,
            )
        mounts = [disk.mount for disk in self.disks if disk.mount is not None]
        for key, paths in (("exports", server.exports), ("data", (server.data,) if server.data else ())):
            for path in paths:
                if not any(f"{path}/".startswith(f"{mount}/") for mount in mounts):
                    hint = f"add a disk, such as `disks: [{{size: 2GiB, mount: {path}}}]`"
                    raise fault(f"{path} is on no disk of this host", hint, "servers", place, key)
        card = server.options.get("interface", "eth0")
        if card not in [f"eth{number}" for number in range(self.interfaces)]:
            hint = "write the number of its cards, such as `interfaces: 2` for eth0 and eth1"
            raise fault(f"{card} is not a network card of this host", hint, "servers", place, "options", "interface")
        for name in server.devices:
            if name not in devices:
                hint = f"add a disk, such as `disks: [{{size: 2GiB, device: {name}}}]`"
                raise fault(f"{name} is not a device of this host", hint, "servers", place, "devices")

    @property
    def all_roles(self) -> tuple[str, ...]:
        """Its roles, or the default role if none is stated."""
        return self.roles or (("server",) if self.servers else ("client",))

    @property
    def exports(self) -> tuple[str, ...]:
        """Directories that its servers export."""
        return tuple(dict.fromkeys(path for server in self.servers for path in server.exports))

    @property
    def mount_points(self) -> tuple[str, ...]:
        """Directories where it mounts what others serve, and where its own servers mount what they offer."""
        own = (server.mount for server in self.servers if server.mount is not None)
        return (*(mount.at for mount in self.mounts), *own)

    @property
    def required_directories(self) -> tuple[str, ...]:
        """Directories on its disks that must exist before its servers start."""
        return tuple(dict.fromkeys([*self.exports, *(server.data for server in self.servers if server.data)]))


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


class BoxNetwork(_Path):
    """What joins the hosts of a site."""

    subnet: Subnet = Field("10.77.0.0/24", description="Addresses; hosts get them in the order of the file.")
    mtu: Mtu = Field(1500, description="Largest packet in bytes.")


class Wan(_Path):
    """What joins the sites; all hosts of a site share its link."""

    link: Link = Field(None, description="Speed of the link of each site, each way.")


class BoxHost(Frozen):
    """One host of a box.

    Attributes:
        number: From 1, in file order.
        address: IPv4 address.
    """

    name: str
    number: int
    address: str
    spec: HostSpec


class Box(Frozen):
    """A cluster in a box."""

    name: Name = Field(description="Name of the box.")
    description: Text = Field("", description="Purpose of the box.")
    hosts: dict[str, HostSpec] = Field(min_length=1, description="Host, or set of hosts such as client[1-8].")
    network: BoxNetwork = Field(BoxNetwork(), description="Links between the hosts.")
    wan: Wan | None = Field(None, description="Links between the sites, if hosts are at different ones.")
    shared: Directory | None = Field(
        None, description="Directory shared by all hosts: a directory of this machine, without a network in between."
    )
    users: tuple[User, ...] = Field(
        (), description="Users who may log in on the hosts in addition to root; their homes are in `shared`."
    )

    @field_validator("hosts")
    @classmethod
    def _names(cls, hosts: dict[str, HostSpec]) -> dict[str, HostSpec]:
        patterns: dict[str, str] = {}
        for written in hosts:
            try:
                names = expand_nodes(written)
            except units.UnitError as error:
                raise fault(error.message, error.hint, written) from None
            for name in names:
                if not NAME_PATTERN.fullmatch(name) or name in ("localhost", "switch"):
                    hint = "write small letters, digits and `-`, a letter first; not localhost, not switch"
                    raise fault(f"`{name}` cannot be the name of a host", hint, written)
                if name in patterns:
                    raise fault(f"host {name} is also in `{patterns[name]}`", "name each host once", written)
                patterns[name] = written
        return hosts

    @model_validator(mode="after")
    def _whole(self) -> "Box":
        count = sum(len(expand_nodes(written)) for written in self.hosts)
        most = min(MAX_HOSTS, ipaddress.IPv4Network(self.network.subnet).num_addresses - 2)
        if count > most:
            raise fault(f"{count} hosts, but room for {most}", "name fewer hosts, or a larger subnet", "hosts")
        sites = {spec.site for spec in self.hosts.values()}
        if self.wan is None and len(sites) > 1:
            raise fault("hosts are at different sites, but no `wan` joins them", "add `wan: {rtt: 87ms}`", "hosts")
        if self.wan is not None and (len(sites) < 2 or "" in sites):
            raise fault("`wan` needs two sites or more", "give each host a `site`", "wan")
        self._check_logins()
        self._check_sources()
        self._check_shared()
        return self

    def _check_shared(self) -> None:
        """Check that the shared directory conflicts with no mount, and that it exists if there are users."""
        for member in self.all_hosts():
            used = (*(disk.mount for disk in member.spec.disks if disk.mount is not None), *member.spec.mount_points)
            if self.shared in used:
                hint = "give each its own directory"
                raise fault(f"{member.name} has something else at {self.shared}", hint, "shared")
        if self.users and self.shared is None:
            raise fault(
                "users need a directory for their homes",
                "add a directory that all hosts share: `shared: /shared`",
                "users",
            )
        if twice := next((name for place, name in enumerate(self.users) if name in self.users[:place]), None):
            raise fault(f"{twice} comes twice", "name each once", "users")

    def _check_logins(self) -> None:
        """Check that each mount logs in as a user of a server."""
        users = {
            f"{user}@{one.name}" for one in self.all_hosts() for server in one.spec.servers for user in server.users
        }
        for written, spec in self.hosts.items():
            for place, mount in enumerate(spec.mounts):
                if mount.user is not None and mount.user not in users:
                    hint = (
                        f"servers have the users {', '.join(sorted(users))}"
                        if users
                        else "add `users: [NAME]` to the server"
                    )
                    where = ("hosts", written, "mounts", place, "user")
                    raise fault(f"no server has the user {mount.user}", hint, *where)

    def _check_sources(self) -> None:
        """Check that what servers pass on is offered by a server that itself passes nothing on."""
        offered = [
            f"{one.name}:{offer.name}"
            for one in self.all_hosts()
            for server in one.spec.servers
            if server.source is None
            for offer in server.offers
        ]
        for written, spec in self.hosts.items():
            for place, server in enumerate(spec.servers):
                if server.source is not None and server.source not in offered:
                    hint = f"there is {', '.join(offered[:MAX_NAMED])}" if offered else "add a server that has it"
                    where = ("hosts", written, "servers", place, "source")
                    raise fault(f"no server has {server.source}", hint, *where)

    def all_hosts(self) -> tuple[BoxHost, ...]:
        """Return all hosts with numbers and addresses, in file order."""
        pairs = [(name, spec) for written, spec in self.hosts.items() for name in expand_nodes(written)]
        first = int(ipaddress.IPv4Network(self.network.subnet).network_address)
        return tuple(
            BoxHost(name=name, number=number, address=str(ipaddress.IPv4Address(first + number)), spec=spec)
            for number, (name, spec) in enumerate(pairs, start=1)
        )
