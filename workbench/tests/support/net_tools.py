"""Hosts for tests that are network namespaces on a bridge; all are gone with the processes that hold them."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import HANG_GUARD

from assay.model.site.host import Host

NET = "10.213.77"
INTERFACE = "assay0"


def need(*programs: str) -> None:
    """Skip without root or one of the programs."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make network namespaces")
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)} not on this machine: apt-get install iproute2 iperf3 iputils-ping")


class Wires:
    """Hosts `h1`, `h2`, ... on one bridge."""

    def __init__(self, switch: int, pids: list[int]) -> None:
        """Each with the process that holds its namespace."""
        self.switch = switch
        self.pids = pids

    def host(self, number: int, link: float | None = None) -> Host:
        """How to enter a host, from 1."""
        enter = ("nsenter", "-t", str(self.pids[number - 1]), "-n", "--")
        return Host(name=f"h{number}", address=f"{NET}.{number}", kind="box", enter=enter, link=link)

    def run(self, number: int, *argv: str) -> None:
        """A command in a host; in the switch if 0."""
        pid = self.pids[number - 1] if number else self.switch
        subprocess.run(["nsenter", "-t", str(pid), "-n", "--", *argv], check=True, capture_output=True)

    def shape(self, number: int, outward: str | None, inward: str | None) -> None:
        """Limit what a host sends and gets, such as `200mbit`."""
        for rate, place, device in ((outward, number, INTERFACE), (inward, 0, f"p{number}")):
            if rate is not None:
                burst = ["burst", "64k", "cburst", "64k", "quantum", "60000"]
                self.run(place, "tc", "qdisc", "replace", "dev", device, "root", "handle", "1:", "htb", "default", "1")
                classes = ["dev", device, "parent", "1:", "classid", "1:1", "htb", "rate", rate, "ceil", rate]
                self.run(place, "tc", "class", "replace", *classes, *burst)

    def processes(self, number: int) -> list[str]:
        """Names of what runs in a host's network, besides what holds it."""
        mine = Path(f"/proc/{self.pids[number - 1]}/ns/net").readlink()
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                known = folder.name.isdigit() and int(folder.name) not in self.pids
                if known and (folder / "ns/net").readlink() == mine and "State:\tZ" not in _text(folder / "status"):
                    found.append(_text(folder / "comm").strip())
        return found


def _text(path: Path) -> str:
    return path.read_text(errors="replace")


@contextlib.contextmanager
def wires(count: int) -> Iterator[Wires]:
    """So many hosts, unshaped."""
    need("unshare", "nsenter", "ip", "tc", "iperf3", "ping")
    holders = []
    try:
        for _ in range(count + 1):
            holders.append(_hold())
        found = Wires(holders[0].pid, [holder.pid for holder in holders[1:]])
        found.run(0, "ip", "link", "add", "br0", "type", "bridge")
        found.run(0, "ip", "link", "set", "br0", "up")
        for number, pid in enumerate(found.pids, start=1):
            pair = ["ip", "link", "add", f"p{number}", "type", "veth", "peer", "name", INTERFACE, "netns", str(pid)]
            found.run(0, *pair)
            found.run(0, "ip", "link", "set", f"p{number}", "master", "br0", "up")
            found.run(number, "ip", "link", "set", "lo", "up")
            found.run(number, "ip", "address", "add", f"{NET}.{number}/24", "dev", INTERFACE)
            found.run(number, "ip", "link", "set", INTERFACE, "up")
        yield found
    finally:
        for holder in holders:
            holder.kill()
            holder.wait()


def _hold() -> subprocess.Popen[bytes]:
    """A process in a network namespace of its own."""
    process = subprocess.Popen(["unshare", "-n", "sleep", "3600"], start_new_session=True)
    ours = Path("/proc/self/ns/net").readlink()
    end = time.monotonic() + HANG_GUARD
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process.pid}/ns/net").readlink() != ours:
                return process
        if process.poll() is not None:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    pytest.skip("network namespaces cannot be made on this machine")
