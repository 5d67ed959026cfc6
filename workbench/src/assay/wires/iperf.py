"""Bandwidth by iperf3: its server started over there for each test, or one that somebody keeps running."""

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.launch.shell import NOT_FOUND, Answer, Shell
from assay.model.base import AssayError
from assay.model.result.network import Direction
from assay.wires.leash import Leashes

FIRST_PORT = 5201
"""iperf3's own default."""
PORTS = 512
"""Ports tried from the first on."""
READY_SECONDS = 8.0
SPARE_SECONDS = 8.0
"""For connecting, and for the exchange of results at the end."""
INTERVAL = 0.5
"""Length in seconds of the intervals that iperf3 reports."""
TRIES = 5

Span = tuple[float, float, float]
"""Begin and end in seconds, and bits in between."""

_LINE = re.compile(
    r"\[ *(SUM|\d+)\] +([\d.]+)-([\d.]+) +sec +[\d.]+ [KMGT]?Bytes +([\d.]+) ([KMGT]?)bits/sec.*?(receiver|sender)?\s*$"
)
_ports = itertools.count()


@dataclass(frozen=True)
class Rate:
    """What a test found.

    Attributes:
        bits_per_s: Payload; None if it failed.
        seconds: Of the part that counts.
        error: Why it failed.
    """

    bits_per_s: float | None
    retransmits: int | None = None
    seconds: float = 0.0
    error: str = ""


@contextlib.contextmanager
def server_at(leashes: Leashes, shell: Shell, address: str, first_port: int, seconds: float) -> Iterator[int]:
    """An iperf3 server for one test, gone at the end of the `with` block; gives its port.

    Args:
        leashes: Who ends it.
        shell: Where.
        address: To listen at, so that nobody else is served.
        first_port: The first port to try.
        seconds: After which it ends in any case.

    Raises:
        AssayError: It does not start.
    """
    bind: tuple[str, ...] = ("-B", address)
    complaint = ""
    for _ in range(TRIES):
        port = first_port + next(_ports) % PORTS
        # -1: it takes one client, and ends.
        command = ["iperf3", "-s", "-1", "-i", str(INTERVAL), "-f", "k", "--forceflush", "-p", str(port), *bind]
        with leashes.hold(shell, command, seconds) as leash:
            if leash.hear(b"listening", READY_SECONDS):
                yield port
                return
            leash.end_input()
            answer = leash.answer()
        complaint = answer.last_line
        if answer.code == NOT_FOUND:
            raise AssayError(f"host {shell.host.name}: iperf3 was not found", "install iperf3 there")
        if "assign" in complaint:
            # Behind address translation the host does not have the address under which clients see it.
            bind = ()
        elif "in use" not in complaint:
            break
    raise AssayError(f"host {shell.host.name}: iperf3 -s does not start: {complaint}")


def measure(
    leashes: Leashes,
    shell: Shell,
    address: str,
    port: int,
    direction: Direction,
    streams: int,
    seconds: int,
    trim: tuple[float, float],
) -> Rate:
    """Run an iperf3 client; what fails is in the result.

    Args:
        leashes: Who ends it.
        shell: The client.
        address: Of the server.
        port: Of the server.
        direction: `read`: the server sends (iperf3 -R).
        streams: TCP connections.
        seconds: To send for.
        trim: Seconds at the beginning and at the end that do not count.
    """
    command = ["iperf3", "-J", "-c", address, "-p", str(port), "-t", str(seconds), "-P", str(streams)]
    command += ["-i", str(INTERVAL), "--connect-timeout", "3000"]
    command += ["-R"] if direction == "read" else ["--get-server-output"]
    try:
        answer = leashes.run(shell, command, seconds + SPARE_SECONDS)
    except AssayError as error:
        return Rate(None, error=error.message)
    return parse(answer, trim)


def parse(answer: Answer, trim: tuple[float, float] = (0.0, 0.0)) -> Rate:
    """The rate in what iperf3 -J printed.

    The intervals between the trimmed ends count, where there are such: in the first fraction of a second TCP finds its
    speed and fills buffers, and tests that run at the same time do not begin and end at the very same moment. They are
    the receiver's where it told: what a sender has sent is partly still in buffers, one or two percent in a second.
    Source of the format: iperf_api.c, iperf_print_results.
    """
    if answer.code == NOT_FOUND:
        return Rate(None, error="iperf3 was not found")
    document = _document(answer.out)
    if document is None:
        return Rate(None, error=f"iperf3: {answer.last_line.removeprefix('iperf3: ')}")
    if "error" in document:
        return Rate(None, error=f"iperf3: {str(document['error']).removeprefix('error - ')}")
    end = document.get("end")
    if not isinstance(end, dict):
        return Rate(None, error="iperf3: its result has no end")
    retransmits = _number(end, "sum_sent", "retransmits")
    sent_again = int(retransmits) if retransmits is not None else None
    text = document.get("server_output_text")
    received = _middle(_told_spans(text), trim) if isinstance(text, str) else None
    middle = received or _middle(_own_spans(document.get("intervals")), trim)
    if middle is not None:
        bits, length = middle
        return Rate(bits / length, sent_again, length)
    rate, whole = _number(end, "sum_received", "bits_per_second"), _number(end, "sum_received", "seconds")
    if not rate or not whole:
        return Rate(None, sent_again, error="iperf3: nothing arrived")
    return Rate(rate, sent_again, whole)


def _document(text: str) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        return found if isinstance(found, dict) else None
    return None


def _own_spans(intervals: object) -> list[Span]:
    """What the client says of each interval."""
    sums = [item.get("sum") for item in intervals if isinstance(item, dict)] if isinstance(intervals, list) else []
    spans = []
    for item in sums:
        start, end, count = (_number({"sum": item}, "sum", key) for key in ("start", "end", "bytes"))
        if start is None or end is None or count is None:
            return []
        spans.append((start, end, 8 * count))
    return spans


def _told_spans(text: str) -> list[Span]:
    """What the server says of each interval: the sum of the streams, or the only one."""
    spans = []
    found = [match.groups() for match in map(_LINE.match, text.splitlines()) if match]
    several = any(name == "SUM" for name, *_ in found)
    for name, start, end, rate, unit, role in found:
        if role is None and (name == "SUM") == several:
            length = float(end) - float(start)
            spans.append((float(start), float(end), float(rate) * 1000 ** " KMGT".index(unit or " ") * length))
    return spans


def _middle(spans: list[Span], trim: tuple[float, float]) -> tuple[float, float] | None:
    """Bits and seconds of the whole intervals that are left when both ends are trimmed; None if there is no such."""
    if not spans:
        return None
    # Rounded by the timer to within some hundredths of an interval.
    slack = INTERVAL / 10
    first, last = trim[0] - slack, max(end for _, end, _ in spans) - trim[1] + slack
    kept = [span for span in spans if span[0] >= first and span[1] <= last and span[1] - span[0] >= INTERVAL / 2]
    length = sum(end - start for start, end, _ in kept)
    bits = sum(bits for _, _, bits in kept)
    return (bits, length) if length and bits else None


def _number(document: Mapping[str, Any], part: str, key: str) -> float | None:
    found = document.get(part)
    value = found.get(key) if isinstance(found, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
