"""Network interfaces that are up: speed, MTU, driver and offloads."""

import array
import contextlib
import fcntl
import socket
import struct

from assay.launch.environment.reading import Files, Section

INTERFACES = "/sys/class/net"
IFF_UP = 1
SIOCETHTOOL = 0x8946
GET_DRIVER = 0x03
GET_FLAGS = 0x25
LRO_FLAG = 1 << 15
OFFLOADS = {
    "rx_checksum": 0x14,
    "tx_checksum": 0x16,
    "scatter_gather": 0x18,
    "tcp_segmentation": 0x1E,
    "generic_segmentation": 0x23,
    "generic_receive": 0x2B,
}
"""Our name -> ethtool command that reads it, ETHTOOL_GRXCSUM ... ETHTOOL_GGRO. Source: uapi/linux/ethtool.h."""
NOT_REPORTED = "the driver does not report it"


def describe_network(files: Files) -> Section:
    """Return the names of the interfaces that are up."""
    described, ports = _find_interfaces(files)
    names = ", ".join(described) or "none but lo is up"
    if ports:
        names += f"; left out: {ports} virtual port{'s' * (ports != 1)} of bridges or bonds"
    return {"interfaces": names}


def describe_interfaces(files: Files) -> dict[str, Section]:
    """Return `network NAME` -> facts of this interface.

    Interfaces that are down, `lo`, and virtual ports of bridges and bonds are left out; a host of containers has
    hundreds of such ports.
    """
    described, _ = _find_interfaces(files)
    return {f"network {name}": _interface(name, files) for name in described}


def _find_interfaces(files: Files) -> tuple[list[str], int]:
    """Return the names of the interfaces to describe, and the number of ports that are left out."""
    up = [name for name in files.names(INTERFACES) if name != "lo" and _is_up(name, files)]
    ports = {name for name in up if files.exists(f"{INTERFACES}/{name}/master")}
    ports = {name for name in ports if not files.exists(f"{INTERFACES}/{name}/device")}
    return [name for name in up if name not in ports], len(ports)


def _is_up(name: str, files: Files) -> bool:
    flags = files.read(f"{INTERFACES}/{name}/flags")
    return flags.startswith("0x") and bool(int(flags, 16) & IFF_UP)


def _interface(name: str, files: Files) -> Section:
    folder = f"{INTERFACES}/{name}"
    section = {
        "driver": _driver(name),
        "state": files.read(f"{folder}/operstate"),
        "speed": _speed(name, files),
        "duplex": duplex
        if (duplex := files.read(f"{folder}/duplex")) in ("full", "half")
        else f"unknown: {NOT_REPORTED}",
        "mtu": files.read(f"{folder}/mtu"),
        "transmit_queue": files.read(f"{folder}/tx_queue_len"),
        "queues": _queues(name, files),
        **_offloads(name),
    }
    if files.exists(f"{folder}/bonding/mode"):
        section["bond"] = f"{files.read(f'{folder}/bonding/mode')} of {files.read(f'{folder}/bonding/slaves')}"
    return section


def _speed(name: str, files: Files) -> str:
    """Return the speed; a driver that does not know it reports -1 or an error."""
    speed = files.read(f"{INTERFACES}/{name}/speed")
    return f"{speed} Mbit/s" if speed.isdigit() else f"unknown: {NOT_REPORTED}"


def _queues(name: str, files: Files) -> str:
    names = files.names(f"{INTERFACES}/{name}/queues")
    receive = sum(queue.startswith("rx") for queue in names)
    return f"{receive} receive, {len(names) - receive} transmit"


def _query(name: str, question: bytes) -> bytes:
    """Query a driver (SIOCETHTOOL, netdevice(7)); the answer overwrites the query.

    Raises:
        OSError: It does not answer.
    """
    buffer = array.array("B", question)
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as control:
        fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP16x", name.encode()[:15], buffer.buffer_info()[0]))
    return buffer.tobytes()


def _driver(name: str) -> str:
    """Return name, version and firmware of the driver (struct ethtool_drvinfo)."""
    try:
        answer = _query(name, struct.pack("I192x", GET_DRIVER))
    except OSError as error:
        return f"unknown: {error.strerror}"
    parts = [answer[start : start + 32].split(b"\0")[0].decode(errors="replace") for start in (4, 36, 68)]
    driver, version, firmware = parts
    return f"{driver} {version}".strip() + (f", firmware {firmware}" if firmware not in ("", "N/A") else "")


def _offloads(name: str) -> Section:
    """Return each offload (work that the interface does for the kernel): `on`, `off`, or why it is unknown."""
    found = {}
    for offload, number in (*OFFLOADS.items(), ("large_receive", GET_FLAGS)):
        try:
            value = struct.unpack("II", _query(name, struct.pack("II", number, 0)))[1]
        except OSError as error:
            found[offload] = f"unknown: {error.strerror}"
            continue
        found[offload] = "on" if value & (LRO_FLAG if number == GET_FLAGS else ~0) else "off"
    return found
