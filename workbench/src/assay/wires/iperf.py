"""Bandwidth with iperf3: we start a server on the host for each test, or use one that is already running."""

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.launch.shell import NOT_FOUND, CommandResult, Shell
from assay.model.base import AssayError
from assay.model.result.network import Direction
from assay.wires.remote_command import RemoteCommands

FIRST_PORT = 5201
"""iperf3's own default."""
PORTS = 512
"""Number of ports to choose from, starting at the first."""
READY_SECONDS = 8.0
SPARE_SECONDS = 8.0
"""Seconds added to a test for connecting and for the exchange of results at the end."""
INTERVAL_SECONDS = 0.5
"""Length in seconds of the intervals that iperf3 reports."""
ATTEMPTS = 5

Span = tuple[float, float, float]
"""Begin and end of an interval in seconds, and the bits sent or received in it."""

_LINE = re.compile(
    r"\[ *(SUM|\d+)\] +([\d.]+)-([\d.]+) +sec +[\d.]+ [KMGT]?Bytes +([\d.]+) ([KMGT]?)bits/sec.*?(receiver|sender)?\s*$"
)
_ports = itertools.count()


@dataclass(frozen=True)
class LinkRate:
    """Result of one bandwidth test.

    Attributes:
        bits_per_s: Payload rate; None if the test failed.
        retransmits: TCP segments sent again; None if unknown.
        seconds: Length of the part that counts.
        error: Why the test failed; empty if it did not.
    """

    bits_per_s: float | None
    retransmits: int | None = None
    seconds: float = 0.0
    error: str = ""


@contextlib.contextmanager
def run_server(commands: RemoteCommands, shell: Shell, address: str, first_port: int, seconds: float) -> Iterator[int]:
    """Run an iperf3 server for one test and yield its port; it is ended with the `with` block.

    Args:
        commands: Runs the command and ends it.
        shell: Shell of the server's host.
        address: Address to listen at, so that only our clients are served.
        first_port: The first port to try.
        seconds: Time limit, after which it is ended in any case.

    Raises:
        AssayError: It does not start.
    """
    bind: tuple[str, ...] = ("-B", address)
    problem = ""
    for _ in range(ATTEMPTS):
        port = first_port + next(_ports) % PORTS
        # -1: serve one client, then end.
        command = ["iperf3", "-s", "-1", "-i", str(INTERVAL_SECONDS), "-f", "k", "--forceflush", "-p", str(port), *bind]
        with commands.start(shell, command, seconds) as leash:
            if leash.wait_for(b"listening", READY_SECONDS):
                yield port
                return
            leash.end_input()
            answer = leash.answer()
        problem = answer.last_line
        if answer.code == NOT_FOUND:
            raise AssayError(f"host {shell.host.name}: iperf3 was not found", "install iperf3 there")
        if "assign" in problem:
            # Behind address translation the host does not have the address under which clients see it.
            bind = ()
        elif "in use" not in problem:
            break
    raise AssayError(f"host {shell.host.name}: iperf3 -s does not start: {problem}")


def measure(
    commands: RemoteCommands,
    shell: Shell,
    address: str,
    port: int,
    direction: Direction,
    streams: int,
    seconds: int,
    trim: tuple[float, float],
) -> LinkRate:
    """Run an iperf3 client; a failure is part of the result.

    Args:
        commands: Runs the command and ends it.
        shell: Shell of the client.
        address: Address of the server.
        port: Port of the server.
        direction: `read`: the server sends (iperf3 -R).
        streams: Number of TCP connections.
        seconds: Time to send for.
        trim: Seconds at the beginning and at the end that do not count.
    """
    command = ["iperf3", "-J", "-c", address, "-p", str(port), "-t", str(seconds), "-P", str(streams)]
    command += ["-i", str(INTERVAL_SECONDS), "--connect-timeout", "3000"]
    command += ["-R"] if direction == "read" else ["--get-server-output"]
    try:
        answer = commands.run(shell, command, seconds + SPARE_SECONDS)
    except AssayError as error:
        return LinkRate(None, error=error.message)
    return parse(answer, trim)


def parse(answer: CommandResult, trim: tuple[float, float] = (0.0, 0.0)) -> LinkRate:
    """Return the rate in the output of `iperf3 -J`.

    Only whole intervals between the trimmed ends count, if there are any: in the first fraction of a second TCP finds
    its speed and fills buffers, and simultaneous tests do not begin and end at the very same moment. The receiver's
    intervals are preferred: of what a sender sent in a second, one or two percent are still in buffers.
    Source of the format: iperf_api.c, iperf_print_results.
    """
    if answer.code == NOT_FOUND:
        return LinkRate(None, error="iperf3 was not found")
    document = _document(answer.out)
    if document is None:
        return LinkRate(None, error=f"iperf3: {answer.last_line.removeprefix('iperf3: ')}")
    if "error" in document:
        return LinkRate(None, error=f"iperf3: {str(document['error']).removeprefix('error - ')}")
    end = document.get("end")
    if not isinstance(end, dict):
        return LinkRate(None, error="iperf3: its result has no `end` section")
    retransmits = _number(end, "sum_sent", "retransmits")
    retransmitted = int(retransmits) if retransmits is not None else None
    text = document.get("server_output_text")
    received = _middle(_server_spans(text), trim) if isinstance(text, str) else None
    inner = received or _middle(_client_spans(document.get("intervals")), trim)
    if inner is not None:
        bits, length = inner
        return LinkRate(bits / length, retransmitted, length)
    rate, duration = _number(end, "sum_received", "bits_per_second"), _number(end, "sum_received", "seconds")
    if not rate or not duration:
        return LinkRate(None, retransmitted, error="iperf3: no data arrived")
    return LinkRate(rate, retransmitted, duration)


def _document(text: str) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        return found if isinstance(found, dict) else None
    return None


def _client_spans(intervals: object) -> list[Span]:
    """Return the intervals that the client reports."""
    sums = [item.get("sum") for item in intervals if isinstance(item, dict)] if isinstance(intervals, list) else []
    spans = []
    for item in sums:
        start, end, count = (_number({"sum": item}, "sum", key) for key in ("start", "end", "bytes"))
        if start is None or end is None or count is None:
            return []
        spans.append((start, end, 8 * count))
    return spans


def _server_spans(text: str) -> list[Span]:
    """Return the intervals in the server's output: the sum of the streams, or the only stream."""
    spans = []
    found = [match.groups() for match in map(_LINE.match, text.splitlines()) if match]
    several = any(name == "SUM" for name, *_ in found)
    for name, start, end, rate, unit, role in found:
        if role is None and (name == "SUM") == several:
            length = float(end) - float(start)
            spans.append((float(start), float(end), float(rate) * 1000 ** " KMGT".index(unit or " ") * length))
    return spans


def _middle(spans: list[Span], trim: tuple[float, float]) -> tuple[float, float] | None:
    """Return bits and seconds of the whole intervals between the trimmed ends; None if there are none."""
    if not spans:
        return None
    # The timer is off by some hundredths of an interval.
    slack = INTERVAL_SECONDS / 10
    first, last = trim[0] - slack, max(end for _, end, _ in spans) - trim[1] + slack
    inner = [
        span for span in spans if span[0] >= first and span[1] <= last and span[1] - span[0] >= INTERVAL_SECONDS / 2
    ]
    length = sum(end - start for start, end, _ in inner)
    bits = sum(bits for _, _, bits in inner)
    return (bits, length) if length and bits else None


def _number(document: Mapping[str, Any], part: str, key: str) -> float | None:
    found = document.get(part)
    value = found.get(key) if isinstance(found, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
