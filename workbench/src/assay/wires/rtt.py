"""Round-trip times, by ping or, where ICMP is closed, by TCP connects; and the path MTU, by ping."""

import re
import statistics
from collections.abc import Sequence

from assay.launch.shell import NOT_FOUND, CommandResult, Shell
from assay.model.base import AssayError
from assay.model.result.network import MtuMeasurement, RttMeasurement
from assay.wires.remote_command import RemoteCommands

PING_INTERVAL_SECONDS = 0.2
"""Seconds between two pings; only root may use less."""
ANSWER_SECONDS = 2.0
"""Seconds to wait for one answer."""
MIN_MTU = 576
"""Bytes of a packet that every host must accept (RFC 791)."""
MAX_MTU = 9216
"""Bytes of the jumbo frames of common switches; used where the MTU of the interface is unknown."""
LARGEST_PACKET = 65_535

_ECHO = re.compile(r"(?:seq|req)=(\d+)\b.*?\btime[=<]([0-9.]+) ?ms")
_TOO_LONG = re.compile(r"mtu ?= ?(\d+)")
_PATH_MTU = re.compile(r"\bpmtu (\d+)")

CONNECT_PYTHON = """
import socket, sys, time
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
family, kind, proto, _, place = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0]
for _ in range(count):
    with socket.socket(family, kind, proto) as s:
        s.settimeout(2)
        start = time.perf_counter()
        try:
            s.connect(place)
        except ConnectionRefusedError:
            pass
        except OSError as error:
            print(error.strerror or error, file=sys.stderr)
            continue
        print(time.perf_counter() - start)
    time.sleep(0.02)
"""
"""A refused connection also takes one round trip, so it counts."""
CONNECT_BASH = (
    "for i in $(seq $3); do s=$EPOCHREALTIME; e=$( { exec 3<>/dev/tcp/$1/$2; } 2>&1 ); t=$EPOCHREALTIME; "
    'case "$e" in ""|*refused*) echo "$s $t";; *) echo "$e" >&2;; esac; done'
)
"""Its times include a fork, some tenths of a millisecond; needs bash 5."""


def ping(commands: RemoteCommands, shell: Shell, server: str, address: str, count: int) -> RttMeasurement:
    """Measure round trips of ICMP echoes; the first is not counted, because it may wait for ARP.

    Args:
        commands: Runs the command and ends it.
        shell: Shell of the client.
        server: Name of the server.
        address: Address of the server.
        count: Number of round trips that count.
    """
    command = [
        "ping",
        "-n",
        "-c",
        str(count + 1),
        "-i",
        str(PING_INTERVAL_SECONDS),
        "-W",
        str(round(ANSWER_SECONDS)),
        address,
    ]
    try:
        answer = commands.run(shell, command, (count + 1) * PING_INTERVAL_SECONDS + ANSWER_SECONDS + 3.0)
    except AssayError as error:
        return _summary(shell, server, "icmp", (), count, error.message)
    if answer.code == NOT_FOUND:
        return _summary(shell, server, "icmp", (), count, "ping was not found")
    times = echo_times(answer.out)
    first = min(times, default=0)
    counted = [time for number, time in times.items() if number != first] if len(times) > 1 else [*times.values()]
    reason = "" if counted else ping_fault(answer)
    return _summary(shell, server, "icmp", counted[:count], count, reason)


def echo_times(text: str) -> dict[int, float]:
    """Return sequence number -> round trip in seconds, from output of iputils or busybox; duplicates are ignored."""
    found: dict[int, float] = {}
    for line in text.splitlines():
        match = _ECHO.search(line)
        if match:
            found.setdefault(int(match[1]), float(match[2]) / 1000)
    return found


def ping_fault(answer: CommandResult) -> str:
    """Return why no echo came back."""
    for line in (*answer.err.splitlines(), *answer.out.splitlines()):
        if re.search(r"Unreachable|not permitted|ping: |prohibited|exceeded", line):
            return line.removeprefix("ping: ").strip()
    return "no answer to ping"


def connect(commands: RemoteCommands, shell: Shell, server: str, address: str, port: int, count: int) -> RttMeasurement:
    """Measure round trips of TCP handshakes, or of refusals, with Python or bash 5, whichever the client has."""
    words = [address, str(port), str(count)]
    problem = "neither python3 nor bash was found"
    for program in (["python3", "-I", "-c", CONNECT_PYTHON], ["bash", "-c", CONNECT_BASH, "bash"]):
        try:
            answer = commands.run(shell, [*program, *words], count * (ANSWER_SECONDS + 0.1) + 3.0)
        except AssayError as error:
            return _summary(shell, server, "tcp", (), count, error.message)
        if answer.code == NOT_FOUND:
            continue
        times = connect_times(answer.out)
        if times:
            return _summary(shell, server, "tcp", times, count, "")
        problem = f"port {port}: {answer.last_line}" if answer.err.strip() else f"port {port}: no answer"
    return _summary(shell, server, "tcp", (), count, problem)


def connect_times(text: str) -> list[float]:
    """Return seconds, from lines that hold a duration, or a start and an end."""
    times = []
    for line in text.splitlines():
        try:
            numbers = [float(word.replace(",", ".")) for word in line.split()]
        except ValueError:
            continue
        if len(numbers) in (1, 2):
            times.append(numbers[-1] - (numbers[0] if len(numbers) == 2 else 0.0))
    return times


def _summary(shell: Shell, server: str, method: str, times: Sequence[float], sent: int, error: str) -> RttMeasurement:
    return RttMeasurement(
        client=shell.host.name,
        server=server,
        method="tcp" if method == "tcp" else "icmp",
        min=min(times, default=None),
        median=statistics.median(times) if times else None,
        max=max(times, default=None),
        sent=sent,
        received=len(times),
        error=error,
    )


def path_mtu(
    commands: RemoteCommands, shell: Shell, server: str, address: str, interface_mtu: int | None
) -> MtuMeasurement:
    """Find the largest packet that reaches the server unfragmented, by ping or else by tracepath.

    One ping is enough where the whole path takes what the interface takes.
    """
    search = _Search(commands, shell, address)
    error = ""
    # The MTU of the loopback interface is larger than any IP packet.
    interface_mtu = min(interface_mtu, LARGEST_PACKET) if interface_mtu is not None else None
    try:
        mtu = search.largest(MIN_MTU, interface_mtu or MAX_MTU)
        if mtu is None:
            mtu, error = _tracepath_mtu(commands, shell, address), search.fault
    except AssayError as problem:
        mtu, error = None, problem.message
    if mtu is None:
        return unknown_mtu(shell, server, interface_mtu, error or "neither ping nor tracepath finds the MTU")
    return MtuMeasurement(client=shell.host.name, server=server, mtu=mtu, interface_mtu=interface_mtu)


def unknown_mtu(shell: Shell, server: str, interface_mtu: int | None, error: str) -> MtuMeasurement:
    """Return a measurement without a result, with the reason in `error`."""
    return MtuMeasurement(client=shell.host.name, server=server, mtu=None, interface_mtu=interface_mtu, error=error)


class _Search:
    """Searches the path MTU by pings of chosen sizes."""

    def __init__(self, commands: RemoteCommands, shell: Shell, address: str) -> None:
        self._commands, self._shell, self._address = commands, shell, address
        self._headers = 48 if ":" in address else 28
        self.hint: int | None = None
        self.fault = ""

    def largest(self, low: int, high: int) -> int | None:
        """Return the largest size from `low` to `high` that gets through; None if not even `low` does."""
        if self._passes(high):
            return high
        if self.fault or not self._passes(low):
            return None
        while high - low > 1:
            # The size that a router or the interface reported is nearly always right; one more ping confirms it.
            hinted = self.hint if self.hint is not None and low < self.hint < high else None
            middle = hinted or (low + high) // 2
            if self._passes(middle):
                low = middle
                if middle == hinted and not self._passes(middle + 1):
                    return middle
            else:
                high = middle
        return low

    def _passes(self, size: int) -> bool:
        command = ["ping", "-n", "-M", "do", "-c", "2", "-i", str(PING_INTERVAL_SECONDS), "-W", "1"]
        answer = self._commands.run(self._shell, [*command, "-s", str(size - self._headers), self._address], 5.0)
        text = answer.out + answer.err
        if answer.code == NOT_FOUND:
            self.fault = "ping was not found"
        elif re.search(r"invalid option|unrecognized option|Usage:", text):
            self.fault = "this ping cannot forbid fragmentation (-M do)"
        too_long = _TOO_LONG.search(text)
        if too_long:
            self.hint = int(too_long[1])
        return bool(echo_times(answer.out))


def _tracepath_mtu(commands: RemoteCommands, shell: Shell, address: str) -> int | None:
    answer = commands.run(shell, ["tracepath", "-n", "-m", "12", address], 15.0)
    found = _PATH_MTU.findall(answer.out)
    # Without an answer from the other end, tracepath only knows its own interface.
    return int(found[-1]) if found and "reached" in answer.out else None
