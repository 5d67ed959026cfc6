"""What a box becomes: interfaces, switches and the commands that make them. Text only; nothing is run here.

The hosts of a site meet at a switch: the kernel's bridge, or assay-switch if something is to be delayed or lost, which
the kernel here cannot do. Sites are joined by a further switch, to which each has one shaped link.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.model.site.box import Box, Disk, Member
from assay.model.site.box_state import RunningServer
from assay.model.site.serving import Mount

HOST_INTERFACE = "eth0"
QUANTUM = 60_000
"""Bytes that HTB sends from a class in turn; with one class any will do, but it warns of its own default."""
BURST_SECONDS = 0.002
"""HTB may be this late and still reach the rate: on a busy machine timers are."""
LEAST_BURST = 128 * 1024
"""Bytes; two of the largest segments that the kernel sends as one."""


@dataclass(frozen=True)
class Port:
    """Where something is plugged into a switch.

    Attributes:
        interface: Its name in the switch's namespace.
        delay: Nanoseconds added to what passes, each way.
        loss: Frames of a million lost, each way.
    """

    interface: str
    delay: int = 0
    loss: int = 0


@dataclass(frozen=True)
class Segment:
    """A switch with its ports."""

    name: str
    ports: tuple[Port, ...]

    @property
    def user_space(self) -> bool:
        """Whether it must delay or lose anything, which the kernel's bridge cannot."""
        return any(port.delay or port.loss for port in self.ports)


def host_ports(member: Member) -> dict[str, str]:
    """The cards of a host -> interfaces of its ports in the switch's namespace."""
    further = range(1, member.spec.interfaces)
    return {HOST_INTERFACE: f"p{member.number}", **{f"eth{card}": f"p{member.number}c{card}" for card in further}}


def sites(box: Box) -> tuple[str, ...]:
    """The sites in the order of the file; one without a name if there are none."""
    return tuple(dict.fromkeys(member.spec.site for member in box.members()))


def segments(box: Box) -> tuple[Segment, ...]:
    """All switches. A path crosses two ports of each, so that a port has half of the path's delay and loss."""
    found = []
    places = sites(box)
    delay, loss = box.network.one_way // 2, box.network.loss // 2
    for number, site in enumerate(places, start=1):
        ports = [
            Port(port, member.spec.delay + delay, min(10**6, member.spec.loss + loss))
            for member in box.members()
            if member.spec.site == site
            for port in host_ports(member).values()
        ]
        trunk = [Port(f"t{number}", delay, loss)] if box.wan else []
        found.append(Segment(f"site{number}", (*ports, *trunk)))
    if box.wan:
        half, lost = box.wan.one_way // 2, box.wan.loss // 2
        ends = tuple(Port(f"w{number}", half, lost) for number in range(1, len(places) + 1))
        found.append(Segment("wan", ends))
    return tuple(found)


def lossy(box: Box) -> bool:
    """Whether frames are lost anywhere."""
    return any(port.loss for segment in segments(box) for port in segment.ports)


def shaper(interface: str, speed: int) -> list[str]:
    """Lines for `tc -batch` that hold what leaves an interface to `speed` bits per second."""
    burst = max(LEAST_BURST, int(speed / 8 * BURST_SECONDS))
    rate = f"rate {speed}bit ceil {speed}bit burst {burst} cburst {burst} quantum {QUANTUM}"
    return [
        f"qdisc add dev {interface} root handle 1: htb default 1",
        f"class add dev {interface} parent 1: classid 1:1 htb {rate}",
    ]


def switch_links(box: Box, pids: dict[str, int]) -> list[str]:
    """Lines for `ip -batch` in the switch's namespace.

    Args:
        box: The box.
        pids: Host -> process id of its init, whose namespace gets the other end.
    """
    mtu = box.network.mtu
    lines = ["link set lo up"]
    for member in box.members():
        for card, port in host_ports(member).items():
            there = f"peer name {card} mtu {mtu} netns {pids[member.name]}"
            lines.append(f"link add {port} mtu {mtu} type veth {there}")
    if box.wan:
        numbers = range(1, len(sites(box)) + 1)
        lines += [f"link add t{number} mtu {mtu} type veth peer name w{number} mtu {mtu}" for number in numbers]
    for segment in segments(box):
        if not segment.user_space:
            lines.append(f"link add {segment.name} mtu {mtu} type bridge mcast_snooping 0")
            lines += [f"link set {port.interface} master {segment.name}" for port in segment.ports]
            lines.append(f"link set {segment.name} up")
        lines += [f"link set {port.interface} up" for port in segment.ports]
    return lines


def switch_shapers(box: Box) -> list[str]:
    """Lines for `tc -batch` in the switch's namespace: what goes towards hosts and sites."""
    lines = []
    for member in box.members():
        if member.spec.link:
            lines += [line for port in host_ports(member).values() for line in shaper(port, member.spec.link)]
    if box.wan and box.wan.link:
        for number in range(1, len(sites(box)) + 1):
            lines += shaper(f"t{number}", box.wan.link) + shaper(f"w{number}", box.wan.link)
    return lines


def switch_commands(box: Box, program: str) -> list[list[str]]:
    """The commands that start assay-switch where it is needed."""
    return [
        [program, "switch", *(word for port in segment.ports for word in ("--port", _port_word(port)))]
        for segment in segments(box)
        if segment.user_space
    ]


def _port_word(port: Port) -> str:
    return f"{port.interface}:{port.delay}:{port.loss}"


def host_script(member: Member, box: Box) -> str:
    """A shell script that brings up the network of a host, run inside it."""
    prefix = box.network.subnet.rpartition("/")[2]
    # A frame that is lost is to be one packet, not a train of forty that is cut up later.
    cards = host_ports(member)
    whole = [f"link set {card} gso_max_segs 1" for card in cards] if lossy(box) else []
    address = [f"addr add {member.address}/{prefix} dev {HOST_INTERFACE}"]
    # A card without an address would answer questions for that of another one.
    silent = [f"link set {card} arp off" for card in cards if card != HOST_INTERFACE]
    text = batch("ip", ["link set lo up", *address, *whole, *silent, *(f"link set {card} up" for card in cards)])
    if member.spec.link:
        text += batch("tc", [line for card in cards for line in shaper(card, member.spec.link)])
    return text


def disk_script(disk: Disk, devices: Sequence[str], group: str, version: int) -> str:
    """A shell script that mounts a disk, run inside the host.

    From then on the loop device goes by itself when the last mount of it does: with the host. A bare device is left
    as it is: it goes when the files of disks do.

    Args:
        disk: The disk.
        devices: Its loop device; of several disks as one those of all.
        group: Control group of the host that takes limits; empty for none.
        version: Of the control groups, 1 or 2.
    """
    # Without noinit_itable a thread of the kernel would write in the background while something is measured.
    options = {"ext4": "noinit_itable", "btrfs": ",".join(f"device={device}" for device in devices)}
    text = "".join(f"losetup --direct-io=on {device} 2>/dev/null || true\n" for device in devices)
    if disk.raid is not None:
        kept_twice = "raid1" if disk.count > 1 else "single"
        data = f"raid{disk.raid.level}" if disk.count > 1 else "single"
        text += f"mkfs.btrfs -q -f -d {data} -m {kept_twice} {' '.join(devices)}\n"
    if disk.mount is not None:
        stated = ",".join(one for one in (options.get(disk.kept_as, ""), disk.options) if one) or "defaults"
        text += (
            f"mkdir -p '{disk.mount}'\n"
            f"mount -t {disk.kept_as} -o {shlex.quote(stated)} {devices[0]} '{disk.mount}'\n"
            f"losetup --detach {' '.join(devices)}\n"
        )
    for device in devices if group and disk.limited else ():
        text += f"number=$(mountpoint -x {device})\n"
        for file, value in limit_lines(disk, version):
            text += f"echo \"$number {value}\" > '{group}/{file}'\n"
    return text


IN_MEMORY = ("tmpfs",)
"""Types of file systems that lose what they hold when they are unmounted."""


def login_of(mount: Mount, servers: Mapping[str, Sequence[RunningServer]]) -> str:
    """File with the name and password of the user of a mount; empty without one.

    Args:
        mount: What is mounted.
        servers: Host -> its servers.
    """
    user, _, host = (mount.user or "").partition("@")
    files = (server.credentials[user] for server in servers.get(host, ()) if user in server.credentials)
    return next(files, "")


def mount_command(mount: Mount, credentials: str) -> list[str]:
    """The command that mounts something on a host.

    Args:
        mount: What, and where.
        credentials: File with the name and password of its user; empty without one.
    """
    options = [mount.options or "", f"credentials={credentials}" if credentials else ""]
    written = ",".join(option for option in options if option)
    return ["mount", "-t", mount.type, *(["-o", written] if written else []), mount.source, mount.at]


def limit_lines(disk: Disk, version: int) -> list[tuple[str, str]]:
    """(file of the control group, what to write after the device's number)."""
    limits = [
        ("read_bps", "rbps", disk.read_limit),
        ("write_bps", "wbps", disk.write_limit),
        ("read_iops", "riops", disk.read_iops),
        ("write_iops", "wiops", disk.write_iops),
    ]
    stated = [(name, key, round(limit)) for name, key, limit in limits if limit]
    if version == 2:
        return [("io.max", f"{key}={limit}") for _, key, limit in stated]
    return [(f"blkio.throttle.{name}_device", str(limit)) for name, _, limit in stated]


def batch(program: str, lines: list[str]) -> str:
    """Shell text that gives lines to `ip` or `tc` at once."""
    return "\n".join((f"{program} -batch - <<'END'", *lines, "END", "")) if lines else ""


def hosts_file(box: Box) -> str:
    """/etc/hosts of every host."""
    lines = ["127.0.0.1 localhost", *(f"{member.address} {member.name}" for member in box.members())]
    return "\n".join(lines) + "\n"
