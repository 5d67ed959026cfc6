"""The link between the two hosts: its counters, its speed, and how it is cut in a box."""

from __future__ import annotations

import json
import os
import socket

from .processes import DriverError, run

BOX_MARKER = "/run/assay-host"
"""File that only hosts of a cluster in a box have."""
BOX_INTERFACE = "eth0"
"""Their network interface."""


def box_folder() -> str:
    """Return the folder of the box that this host belongs to; empty if it is a host of its own."""
    if not os.path.exists(BOX_MARKER):
        return ""
    with open("/proc/1/cmdline", "rb") as file:
        words = file.read().decode().split("\0")
    return words[words.index("--folder") + 1]


def queue_bytes(interface: str) -> int | None:
    """Return the bytes that the shaper of a box's interface has sent; None if there is none.

    Where segments leave the kernel as one packet (GSO), only a queue counts the headers of each; a network card does so
    on hosts that are no namespaces.
    """
    if not box_folder():
        return None
    queues = json.loads(run(["tc", "-s", "-j", "qdisc", "show", "dev", interface]))
    return next((queue["bytes"] for queue in queues if queue.get("root") and queue["kind"] == "htb"), None)


def ssh_words(timeout_s: float) -> list[str]:
    """Return the ssh client with its options, without the host.

    Args:
        timeout_s: Seconds after which a connection without an answer counts as lost.
    """
    folder = box_folder()
    words = ["ssh", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={max(1, round(timeout_s))}"]
    words += ["-o", f"ServerAliveInterval={max(1, round(timeout_s / 2))}", "-o", "ServerAliveCountMax=2"]
    return [*words, "-F", f"{folder}/ssh_config"] if folder else words


class Link:
    """The link of this host towards another one."""

    def __init__(self, address: str, mbit_s: float | None, here: str, there: str) -> None:
        """Find the network interface.

        Args:
            address: Address of the other host.
            mbit_s: Its speed as the study states it, in Mbit/s; None: that of the box.
            here: Name of this host.
            there: Name of the other host.
        """
        found = run(["ip", "route", "get", socket.gethostbyname(address)]).split()
        self.interface = found[found.index("dev") + 1]
        self.mbit_s = mbit_s if mbit_s is not None else _box_speed(here, there)

    def counters(self) -> tuple[int, int]:
        """Return the bytes that the interface has received and sent, with all headers from Ethernet's on."""
        with open("/proc/net/dev") as file:
            for line in file:
                name, colon, rest = line.partition(":")
                if colon and name.strip() == self.interface:
                    numbers = rest.split()
                    return int(numbers[0]), int(numbers[8])
        raise DriverError(f"/proc/net/dev has no interface {self.interface}")

    def cut(self) -> None:
        """Cut the link of this host."""
        if not box_folder():
            raise DriverError("a link is cut only in a box; add `testbed`")
        run(["ip", "link", "set", self.interface, "down"])

    def mend(self) -> None:
        """Let the link carry again what it is sent."""
        run(["ip", "link", "set", self.interface, "up"])


def _box_speed(here: str, there: str) -> float | None:
    """Return the speed in Mbit/s of the slowest part of a box between two hosts; None if nothing limits it."""
    folder = box_folder()
    if not folder:
        return None
    with open(f"{folder}/box.json") as file:
        hosts = {host["name"]: host for host in json.load(file)["hosts"] if host["name"] in (here, there)}
    speeds = [host.get("link") for host in hosts.values()]
    if len({host.get("site") for host in hosts.values()}) > 1:
        speeds += [host.get("line") for host in hosts.values()]
    return min((speed / 1e6 for speed in speeds if speed), default=None)
