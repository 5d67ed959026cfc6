"""What a transfer over a network becomes in a run, for all forms of iperf's outputs."""

from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.results import Figure, ImportedResult, Measurement, OutputError

MAX_FIGURES = 200_000
"""Most figures of one result."""


@dataclass
class Transfer:
    """What went one way between two hosts, over one connection or over several at once.

    Attributes:
        line: Line of the file on which it begins, from 1.
        peer: The other host, as printed; empty if it is not.
        protocol: `tcp`, `udp` or `sctp`; empty if the output does not say.
        way: `send` or `receive`, as seen from the side that printed; empty if the output does not say.
        streams: Number of connections; 0 if the output does not say.
        rate: Bytes per second; None without one.
        counted_by: `received` if the rate is that of what the receiver received, `sent` if of what was sent; empty if
            the output does not say.
        seconds: How long it took.
        moved: Bytes, if the output has them exactly.
        datagrams: Datagrams that were received, if the output says so.
        record_size: Bytes of each write or datagram; None if the output does not say.
        latency: Times of round trips in ns, if it is a test of these (`--bounceback`).
        round_trips: How many there were; None likewise.
        options: What iperf was asked for, as printed.
        figures: As printed.
        left_out: Why it is no result; empty if it is one.
    """

    line: int
    peer: str = ""
    protocol: str = ""
    way: str = ""
    streams: int = 1
    rate: Decimal | None = None
    counted_by: str = ""
    seconds: Decimal = Decimal(0)
    moved: int | None = None
    datagrams: int | None = None
    record_size: int | None = None
    latency: dict[str, float] = field(default_factory=dict)
    round_trips: int | None = None
    options: dict[str, str] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    left_out: str = ""


def transfer_result(one: Transfer, tool: str) -> ImportedResult:
    """Return the result of a transfer.

    Args:
        one: The transfer.
        tool: Name of the tool, which stands for a host that is not known.

    Raises:
        OutputError: It has more figures than a result can.
    """
    if len(one.figures) > MAX_FIGURES:
        message = f"more than the {MAX_FIGURES:,} figures of one result"
        raise OutputError(one.line, message, "leave out rows of intervals, or measure with a longer -i")
    reason = one.left_out or ("" if one.rate else "nothing was moved: its rate is 0")
    many = f" of {one.streams} streams" if one.streams > 1 else ""
    if one.round_trips is not None and not reason:
        return _round_trips(one, tool)
    what = " ".join(word for word in (one.protocol, one.way) if word) or "transfer"
    return ImportedResult(
        name=f"{what}{many}{', as ' if one.counted_by else ''}{one.counted_by}",
        line=one.line,
        target=one.peer or tool,
        workload=what,
        operation=None if reason else "transfer",
        parameters={} if reason else _parameters(one),
        options=one.options,
        figures=tuple(one.figures),
        measured=None if reason else _measurement(one),
        left_out=reason,
    )


def _round_trips(one: Transfer, tool: str) -> ImportedResult:
    """Return the result of a test of round trips, whose rate is per second."""
    assert one.rate is not None
    measured = Measurement(
        status="done",
        ops=one.round_trips,
        bytes=0,
        read_bytes=0,
        write_bytes=0,
        throughput=0.0,
        iops=float(one.rate),
        latency=one.latency,
    )
    return ImportedResult(
        name=f"{one.protocol} bounceback",
        line=one.line,
        target=one.peer or tool,
        workload=f"{one.protocol} bounceback",
        operation="round_trip",
        parameters=_parameters(one),
        options=one.options,
        figures=tuple(one.figures),
        latency_of="BB avg/min/max",
        measured=measured,
    )


def _parameters(one: Transfer) -> dict[str, AxisValue]:
    known: dict[str, AxisValue] = {"streams": one.streams} if one.streams else {}
    if one.record_size and one.record_size <= 1 << 30:
        known["record_size"] = one.record_size
    return known


def _measurement(one: Transfer) -> Measurement:
    assert one.rate is not None
    return Measurement(
        status="done",
        has_counts=one.moved is not None,
        ops=one.datagrams,
        bytes=one.moved or 0,
        read_bytes=0,
        write_bytes=0,
        throughput=float(one.rate),
        iops=None,
        elapsed_ns=int(one.seconds * 10**9) or None,
    )
