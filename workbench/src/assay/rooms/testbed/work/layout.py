"""Interfaces and switches of a box, and the commands that make them, as text; nothing is run here.

The hosts of a site share a switch: the kernel's bridge, or assay-switch if frames are to be delayed or lost, which
the bridge cannot do. Another switch joins the sites; each site has one shaped link to it.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.model.site.box import Box, BoxHost, Disk
from assay.model.site.box_servers import BoxMount
from assay.model.site.box_state import RunningServer

HOST_INTERFACE = "eth0"
HTB_QUANTUM_BYTES = 60_000
"""Bytes that HTB sends from a class per turn. With one class any value works, but HTB warns about its default."""
BURST_SECONDS = 0.002
"""HTB reaches its rate even if timers are this late, as on a busy machine."""
MIN_BURST_BYTES = 128 * 1024
"""Bytes: two of the largest segments that the kernel sends as one."""


@dataclass(frozen=True)
class Port:
    """A port of a switch.

    Attributes:
        interface: Name of its interface in the switch's namespace.
        delay: Nanoseconds of delay, each way.
        loss: Lost frames per million, each way.
    """

    interface: str
    delay: int = 0
    loss: int = 0


@dataclass(frozen=True)
class Segment:
    """A switch and its ports."""

    name: str
    ports: tuple[Port, ...]

    @property
    def needs_assay_switch(self) -> bool:
        """Whether it must delay or lose frames, which needs assay-switch instead of the kernel's bridge."""
        return any(port.delay or port.loss for port in self.ports)


def host_ports(member: BoxHost) -> dict[str, str]:
    """Return network interface of a host -> interface of its port in the switch's namespace."""
    further = range(1, member.spec.interfaces)
    return {HOST_INTERFACE: f"p{member.number}", **{f"eth{card}": f"p{member.number}c{card}" for card in further}}


def sites(box: Box) -> tuple[str, ...]:
    """Return the names of the sites in the order of the file; one empty name if the box has no sites."""
    return tuple(dict.fromkeys(member.spec.site for member in box.all_hosts()))


def segments(box: Box) -> tuple[Segment, ...]:
    """Return all switches. A path crosses two ports of a switch, so that each has half of its delay and loss."""
    found = []
    site_names = sites(box)
    delay, loss = box.network.one_way // 2, box.network.loss // 2
    for number, site in enumerate(site_names, start=1):
        ports = [
            Port(port, member.spec.delay + delay, min(10**6, member.spec.loss + loss))
            for member in box.all_hosts()
            if member.spec.site == site
            for port in host_ports(member).values()
        ]
        trunk = [Port(f"t{number}", delay, loss)] if box.wan else []
        found.append(Segment(f"site{number}", (*ports, *trunk)))
    if box.wan:
        half_delay, half_loss = box.wan.one_way // 2, box.wan.loss // 2
        ends = tuple(Port(f"w{number}", half_delay, half_loss) for number in range(1, len(site_names) + 1))
        found.append(Segment("wan", ends))
    return tuple(found)


def loses_frames(box: Box) -> bool:
    """Return whether any port loses frames."""
    return any(port.loss for segment in segments(box) for port in segment.ports)


def shaper(interface: str, speed: int) -> list[str]:
    """Return lines for `tc -batch` that limit what leaves an interface to `speed` bits per second."""
    burst = max(MIN_BURST_BYTES, int(speed / 8 * BURST_SECONDS))
    rate = f"rate {speed}bit ceil {speed}bit burst {burst} cburst {burst} quantum {HTB_QUANTUM_BYTES}"
    return [
        f"qdisc add dev {interface} root handle 1: htb default 1",
        f"class add dev {interface} parent 1: classid 1:1 htb {rate}",
    ]


def switch_links(box: Box, pids: dict[str, int]) -> list[str]:
    """Return lines for `ip -batch` that make the links of the box, for the switch's namespace.

    Args:
        box: The box.
        pids: Host -> process id of its init, whose namespace gets the other end of the link.
    """
    mtu = box.network.mtu
    lines = ["link set lo up"]
    for member in box.all_hosts():
        for card, port in host_ports(member).items():
            peer = f"peer name {card} mtu {mtu} netns {pids[member.name]}"
            lines.append(f"link add {port} mtu {mtu} type veth {peer}")
    if box.wan:
        numbers = range(1, len(sites(box)) + 1)
        lines += [f"link add t{number} mtu {mtu} type veth peer name w{number} mtu {mtu}" for number in numbers]
    for segment in segments(box):
        if not segment.needs_assay_switch:
            lines.append(f"link add {segment.name} mtu {mtu} type bridge mcast_snooping 0")
            lines += [f"link set {port.interface} master {segment.name}" for port in segment.ports]
            lines.append(f"link set {segment.name} up")
        lines += [f"link set {port.interface} up" for port in segment.ports]
    return lines


def switch_shapers(box: Box) -> list[str]:
    """Return lines for `tc -batch` in the switch's namespace that shape traffic towards hosts and sites."""
    lines = []
    for member in box.all_hosts():
        if member.spec.link:
            lines += [line for port in host_ports(member).values() for line in shaper(port, member.spec.link)]
    if box.wan and box.wan.link:
        for number in range(1, len(sites(box)) + 1):
            lines += shaper(f"t{number}", box.wan.link) + shaper(f"w{number}", box.wan.link)
    return lines


def switch_commands(box: Box, program: str) -> list[list[str]]:
    """Return the commands that start assay-switch for each switch that needs it."""
    return [
        [program, "switch", *(word for port in segment.ports for word in ("--port", _port_word(port)))]
        for segment in segments(box)
        if segment.needs_assay_switch
    ]


def _port_word(port: Port) -> str:
    return f"{port.interface}:{port.delay}:{port.loss}"


def host_script(member: BoxHost, box: Box) -> str:
    """Return a shell script, to be run inside a host, that brings up its network."""
    prefix = box.network.subnet.rpartition("/")[2]
    # A lost frame must be one packet, not forty that are split up only later.
    cards = host_ports(member)
    no_gso = [f"link set {card} gso_max_segs 1" for card in cards] if loses_frames(box) else []
    address = [f"addr add {member.address}/{prefix} dev {HOST_INTERFACE}"]
    # An interface without an address would answer ARP requests for the address of another one.
    no_arp = [f"link set {card} arp off" for card in cards if card != HOST_INTERFACE]
    text = batch_script(
        "ip", ["link set lo up", *address, *no_gso, *no_arp, *(f"link set {card} up" for card in cards)]
    )
    if member.spec.link:
        text += batch_script("tc", [line for card in cards for line in shaper(card, member.spec.link)])
    return text


def disk_script(disk: Disk, devices: Sequence[str], group: str, version: int) -> str:
    """Return a shell script, to be run inside a host, that mounts and limits a disk.

    The loop device of a mounted disk then detaches by itself with its last mount, when the host ends. An unmounted
    device stays until the image files are removed.

    Args:
        disk: The disk.
        devices: Its loop device; of a RAID, those of all its disks.
        group: Control group of the host for the limits; empty for none.
        version: Version of control groups, 1 or 2.
    """
    # Without noinit_itable a kernel thread writes in the background during measurements.
    options = {"ext4": "noinit_itable", "btrfs": ",".join(f"device={device}" for device in devices)}
    text = "".join(f"losetup --direct-io=on {device} 2>/dev/null || true\n" for device in devices)
    if disk.raid is not None:
        metadata_profile = "raid1" if disk.count > 1 else "single"
        data_profile = f"raid{disk.raid.level}" if disk.count > 1 else "single"
        text += f"mkfs.btrfs -q -f -d {data_profile} -m {metadata_profile} {' '.join(devices)}\n"
    if disk.mount is not None:
        mount_options = (
            ",".join(one for one in (options.get(disk.filesystem_type, ""), disk.options) if one) or "defaults"
        )
        text += (
            f"mkdir -p '{disk.mount}'\n"
            f"mount -t {disk.filesystem_type} -o {shlex.quote(mount_options)} {devices[0]} '{disk.mount}'\n"
            f"losetup --detach {' '.join(devices)}\n"
        )
    for device in devices if group and disk.is_limited else ():
        text += f"number=$(mountpoint -x {device})\n"
        for file, value in limit_lines(disk, version):
            text += f"echo \"$number {value}\" > '{group}/{file}'\n"
    return text


MEMORY_FILESYSTEMS = ("tmpfs",)
"""Types of file systems that lose their data when they are unmounted."""


def login_of(mount: BoxMount, servers: Mapping[str, Sequence[RunningServer]]) -> str:
    """Return the path of the file with name and password of a mount's user; empty if it has no user.

    Args:
        mount: The mount.
        servers: Host -> its servers.
    """
    user, _, host = (mount.user or "").partition("@")
    files = (server.credentials[user] for server in servers.get(host, ()) if user in server.credentials)
    return next(files, "")


def mount_command(mount: BoxMount, credentials: str) -> list[str]:
    """Return the command that mounts a file system on a host.

    Args:
        mount: What is mounted, and where.
        credentials: File with name and password of its user; empty for none.
    """
    options = [mount.options or "", f"credentials={credentials}" if credentials else ""]
    written = ",".join(option for option in options if option)
    return ["mount", "-t", mount.type, *(["-o", written] if written else []), mount.source, mount.at]


def limit_lines(disk: Disk, version: int) -> list[tuple[str, str]]:
    """Return the limits of a disk: file of the control group, and the text to write there after the device number."""
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


def batch_script(program: str, lines: list[str]) -> str:
    """Return shell text that runs `ip` or `tc` once with all lines."""
    return "\n".join((f"{program} -batch - <<'END'", *lines, "END", "")) if lines else ""


def hosts_file(box: Box) -> str:
    """Return the text of /etc/hosts, the same for all hosts."""
    lines = ["127.0.0.1 localhost", *(f"{member.address} {member.name}" for member in box.all_hosts())]
    return "\n".join(lines) + "\n"
