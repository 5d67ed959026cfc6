"""What hosts report about themselves: whether two names are one machine, and the interfaces between them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.launch.shell import Shell
from assay.model.base import AssayError
from assay.wires.remote_command import RemoteCommands

SECONDS = 20.0

_IDENTITY = (
    "echo boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null); "
    "echo net=$(readlink /proc/self/ns/net 2>/dev/null); "
    "for t in iperf3 ping; do command -v $t >/dev/null 2>&1 && echo tool=$t; done; true"
)
_WAY = (
    'a=$1; case $a in *:*) ;; *[!0-9.]*) a=$(getent ahosts "$1" 2>/dev/null | '
    'while read -r x y; do echo $x; break; done);; esac; echo address=$a; [ -n "$a" ] || exit 0; '
    "r=$(ip -o route get $a 2>/dev/null); echo route=$r; d=${r#* dev }; d=${d%% *}; "
    "echo link=$(ip -o link show dev $d 2>/dev/null); n=/sys/class/net/$d; "
    "echo mac=$(cat $n/address 2>/dev/null); echo speed=$(cat $n/speed 2>/dev/null); "
    "[ -e $n/device ] && echo real=1; echo type=$(cat $n/uevent 2>/dev/null); true"
)
"""The scripts are single lines, because any login shell may have to pass them on."""


@dataclass(frozen=True)
class Machine:
    """A host as it sees itself.

    Attributes:
        identity: Boot id and network namespace: equal for two names of one machine; empty if unknown.
        tools: Which of iperf3 and ping it has.
    """

    identity: str
    tools: frozenset[str]


@dataclass(frozen=True)
class Route:
    """The route of packets from a host to an address.

    Attributes:
        address: The IP address; empty if the name is unknown there.
        interface: Name of the interface; empty if unknown.
        source: The host's own address on that route; empty if unknown.
        mtu: MTU of the interface in bytes; None if unknown.
        bits_per_s: Speed of the interface; None if it reports none, or one that is made up.
        why_unknown: Why there is no rate; empty if there is one.
        is_own_address: The address is the host's own, so packets do not leave it.
    """

    address: str
    interface: str = ""
    source: str = ""
    mtu: int | None = None
    bits_per_s: float | None = None
    why_unknown: str = ""
    is_own_address: bool = False


def read_machine(commands: RemoteCommands, shell: Shell) -> Machine:
    """Find the identity and the tools of a host.

    Raises:
        AssayError: It cannot be reached, or does not answer.
    """
    answer = commands.run(shell, ["sh", "-c", _IDENTITY], SECONDS)
    if answer.code != 0:
        raise AssayError(f"host {shell.host.name}: cannot execute sh: {answer.last_line}")
    facts = _parse_pairs(answer.out)
    boot, net = facts.get("boot", [""])[0], facts.get("net", [""])[0]
    return Machine(f"{boot} {net}".strip() if boot and net else "", frozenset(facts.get("tool", ())))


def find_route(commands: RemoteCommands, shell: Shell, address: str) -> Route:
    """Find the route from a host to `address`, a name or an IP address.

    Raises:
        AssayError: It cannot be reached, or does not answer.
    """
    answer = commands.run(shell, ["sh", "-c", _WAY, "sh", address], SECONDS)
    if answer.code != 0:
        raise AssayError(f"host {shell.host.name}: cannot execute sh: {answer.last_line}")
    return parse_route({key: values[0] for key, values in _parse_pairs(answer.out).items()})


def parse_route(facts: Mapping[str, str]) -> Route:
    """Parse the output of the route script; `ip route get` as iproute2 prints it on one line."""
    route = facts.get("route", "")
    interface, source = re.search(r"\bdev (\S+)", route), re.search(r"\bsrc (\S+)", route)
    mtu = re.search(r"\bmtu (\d+)", facts.get("link", ""))
    bits, why = _rate(facts)
    return Route(
        address=facts.get("address", ""),
        interface=interface[1] if interface else "",
        source=source[1] if source else "",
        mtu=int(mtu[1]) if mtu else None,
        bits_per_s=bits if interface else None,
        why_unknown=why if interface else "the route is unknown",
        is_own_address=route.startswith("local ") or (interface is not None and interface[1] == "lo"),
    )


def _rate(facts: Mapping[str, str]) -> tuple[float | None, str]:
    """Return the rate of the interface in bits/s, or why it is unknown.

    Virtual interfaces make up a rate (veth reports 10 Gb/s always); bonds and VLANs pass on a real one.
    """
    speed, mac = facts.get("speed", ""), facts.get("mac", "")
    # A container may see the /sys of its host, where this name is another interface.
    if not mac or mac not in facts.get("link", "").split():
        return None, "the interface is not visible in /sys"
    is_real = "real" in facts or re.search(r"DEVTYPE=(bond|vlan|team)", facts.get("type", ""))
    if not is_real:
        return None, "the interface is virtual"
    if not speed.isdigit() or int(speed) in (0, 2**32 - 1):
        return None, "the driver does not report a speed"
    return int(speed) * 1e6, ""


def _parse_pairs(text: str) -> dict[str, list[str]]:
    pairs: dict[str, list[str]] = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            pairs.setdefault(key, []).append(value.strip())
    return pairs
