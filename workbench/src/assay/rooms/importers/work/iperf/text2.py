"""iperf 2's text, as versions 2.0.5 to 2.2 print it, on the side of the client and of the server.

A client of TCP prints what it wrote, a server what it read. With UDP, a client also prints the server's report. Which
way a connection goes follows from its ports: one end is the port on which a server listens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.iperf.results import Transfer
from assay.rooms.importers.work.iperf.rows import (
    MAX_ROWS,
    NAME,
    OUT_OF_ORDER,
    IntervalRow,
    IntervalRows,
    read_row,
    total_of,
)
from assay.rooms.importers.work.results import Figure, OutputError

CLIENT = re.compile(
    r"Client connecting to (?P<host>\S{1,255}), (?P<protocol>TCP|UDP) port (?P<port>[0-9]{1,5})(?: .*)?"
)
SERVER = re.compile(r"Server listening on (?P<protocol>TCP|UDP) port (?P<port>[0-9]{1,5})(?: .*)?")
CONNECTION = re.compile(
    rf"{NAME} local (?P<local>\S{{1,255}}) port (?P<local_port>[0-9]{{1,5}}) connected with (?P<peer>\S{{1,255}}) "
    r"port (?P<port>[0-9]{1,5})(?P<more>.*)"
)
_REPORT = re.compile(rf"{NAME} Server Report: *")
_SENT = re.compile(rf"{NAME} Sent (?P<count>[0-9]{{1,19}}) datagrams")
_WINDOW = re.compile(r"((?:TCP window|UDP buffer) size): +(\S.{0,80})")
_DATAGRAM = re.compile(r"(?:Sending|Receiving) ([0-9]{1,6}) byte datagrams.*")
_FLOWS = re.compile(r"\(([1-9][0-9]{0,5}) flows\)")
_WRITES = re.compile(r"Write buffer size: +([0-9]{1,10}) Byte *")
_HEAD = re.compile(r"\[ ID\] Interval.*")
_TOTAL = re.compile(r"SUM(?:-[0-9]+)?|FD[0-9]+")
_WAYS = {"send": "receive", "receive": "send", "": ""}


@dataclass
class _Connection:
    """One connection, with its rows.

    Attributes:
        line: Line of the file, from 1.
        peer: Address of the other end; empty if the output does not say.
        ports: Ports of this end and of the other; empty likewise.
        is_reverse: The side that connected receives.
        has_star: Its id has a star: the server made it.
        rows: Rows of the stream.
        starred: Rows with a star before the id of another connection: of its other way.
        report: The server's report.
        figures: Figures outside of rows.
    """

    line: int
    peer: str = ""
    ports: tuple[str, str] = ("", "")
    is_reverse: bool = False
    has_star: bool = False
    rows: IntervalRows = field(default_factory=IntervalRows)
    starred: IntervalRows = field(default_factory=IntervalRows)
    report: IntervalRow | None = None
    figures: list[Figure] = field(default_factory=list)

    def way(self, server_port: str, connect: str) -> str:
        """Return `send` or `receive` as seen from here; empty if the ports do not say it.

        Args:
            server_port: Port on which this side listens; empty if it does not.
            connect: Port to which it connects; empty likewise.
        """
        ours, theirs = self.ports
        way = "send" if theirs and theirs == (connect or server_port) else ""
        way = way or ("receive" if ours and ours == (server_port or connect) else "")
        return _WAYS[way] if self.is_reverse and not self.has_star else way


@dataclass
class _Test:
    """Connections that began together, and rows of all of them.

    Attributes:
        protocol: `tcp` or `udp`; empty if the output does not say.
        options: What the heads say.
        record_size: Bytes of a write or a datagram; None if it is not printed.
        host: Host to which the client connects, as typed; empty if this is a server.
        server_port: Port on which this side listens; empty if it does not.
        connect: Port to which it connects; empty likewise.
        flows: How many connections the client was to make; 0 if the output does not say.
        connections: Id as printed -> the connection.
        sums: Rows of all connections together.
        figures: Figures of all together outside of rows.
        has_rows: There are rows.
        count: How many there are, also of those that are not kept.
    """

    protocol: str = ""
    options: dict[str, str] = field(default_factory=dict)
    record_size: int | None = None
    host: str = ""
    server_port: str = ""
    connect: str = ""
    flows: int = 0
    connections: dict[str, _Connection] = field(default_factory=dict)
    sums: IntervalRows = field(default_factory=IntervalRows)
    figures: list[Figure] = field(default_factory=list)
    has_rows: bool = False
    count: int = 0

    def shorten(self) -> None:
        """Keep only rows of the whole time, since there are too many of all streams together."""
        for rows in (self.sums, *(rows for one in self.connections.values() for rows in (one.rows, one.starred))):
            if not rows.is_long:
                rows.shorten()

    def peer_of(self, connection: _Connection) -> str:
        """Return the other host: as typed, if the client connects to it, else its address."""
        is_typed = self.host and self.connect and connection.ports[1] == self.connect
        return escape_line(self.host, 80) if is_typed or not connection.peer else connection.peer


class _Reader:
    """Reads the lines of a text."""

    def __init__(self) -> None:
        self.tests: list[_Test] = []
        self._heads = _Test()
        self._is_behind_head = False
        self._report_of = ""

    def read(self, line: str, number: int) -> None:
        """Read a line.

        Raises:
            OutputError: It begins like a row of iperf and is none, or two clients wrote at the same time.
        """
        if self._head(line):
            self._is_behind_head = True
            return
        if match := CONNECTION.fullmatch(line):
            self._connection(match, number)
        elif match := _REPORT.fullmatch(line):
            self._report_of = match["id"]
        elif match := _SENT.fullmatch(line):
            self._figures(match["id"]).append(Figure("sent datagrams", match["count"]))
        elif match := OUT_OF_ORDER.fullmatch(line):
            self._figures(match["id"]).append(Figure("out of order", match["count"]))
        elif row := read_row(line, number):
            self._row(row)

    def _head(self, line: str) -> bool:
        """Read a line of the heads that stand above the connections; return whether it is one."""
        heads = self._heads
        if match := CLIENT.fullmatch(line):
            heads.connect, heads.host, heads.protocol = match["port"], match["host"], match["protocol"].lower()
            heads.flows = int(flows[1]) if (flows := _FLOWS.search(line)) else 0
        elif match := SERVER.fullmatch(line):
            heads.server_port, heads.protocol = match["port"], match["protocol"].lower()
        elif match := _WINDOW.fullmatch(line):
            heads.options[match[1]] = escape_line(match[2].strip(), 80)
        elif match := _DATAGRAM.fullmatch(line) or _WRITES.fullmatch(line):
            heads.record_size = int(match[1]) or None
        else:
            return False
        if self.tests and not self.tests[-1].has_rows:
            # Version 2.1 prints connections of UDP above the head.
            self._complete(self.tests[-1])
        return True

    def _complete(self, test: _Test) -> None:
        heads = self._heads
        test.protocol = test.protocol or heads.protocol
        test.record_size = test.record_size or heads.record_size
        test.host, test.server_port, test.connect = heads.host, heads.server_port, heads.connect
        test.options |= heads.options
        test.flows = heads.flows

    def _test(self, begins: bool = False) -> _Test:
        """Return the test at hand; a new one if there is none, or one begins after rows of another."""
        if not self.tests or (begins and self.tests[-1].has_rows):
            self.tests.append(_Test())
            self._complete(self.tests[-1])
        return self.tests[-1]

    def _connection(self, match: re.Match[str], number: int) -> None:
        test = self._test(begins=True)
        if match["id"] in test.connections and test.connect and not test.server_port:
            message = f"connection {match['id']} begins twice: two clients wrote into this text at the same time"
            raise OutputError(number, message, "give what each client printed as a file of its own")
        test.connections[match["id"]] = _Connection(
            line=number,
            peer=escape_line(match["peer"], 80),
            ports=(match["local_port"], match["port"]),
            is_reverse="(reverse)" in match["more"],
            has_star=match["id"].startswith("*"),
        )

    def _of(self, name: str, number: int) -> tuple[_Connection, bool]:
        """Return the connection of a row, and whether the row is of its other way."""
        for test in (*reversed(self.tests[-2:]),):
            for key, other in ((name, False), (name.removeprefix("*"), name.startswith("*"))):
                if key in test.connections:
                    return test.connections[key], other
        test = self._test()
        made = test.connections[name] = _Connection(number)
        return made, False

    def _figures(self, name: str) -> list[Figure]:
        test = self._test()
        return test.figures if _TOTAL.fullmatch(name) else self._of(name, 1)[0].figures

    def _row(self, row: IntervalRow) -> None:
        # With --sum-only no connection stands between the head and the rows.
        test = self._test(begins=self._is_behind_head)
        test.has_rows, self._is_behind_head = True, False
        test.count += 1
        if test.count == MAX_ROWS:
            test.shorten()
        if _TOTAL.fullmatch(row.id):
            test.sums.add(row)
            return
        connection, is_other = self._of(row.id, row.line)
        if self._report_of == row.id:
            connection.report, self._report_of = row, ""
            return
        (connection.starred if is_other else connection.rows).add(row)


def text_transfers(lines: Iterable[str], first: int) -> Iterator[Transfer]:
    """Yield the transfers of one text, in order.

    Args:
        lines: The lines.
        first: Number of the first of them in the file, from 1.

    Raises:
        OutputError: A line begins like a row of iperf and is none, or two clients wrote at the same time.
    """
    reader = _Reader()
    for number, line in enumerate(lines, start=first):
        reader.read(line.strip(), number)
    for test in reader.tests:
        yield from _transfers(test)


@dataclass
class _Stream:
    """What one connection moved one way."""

    name: str
    connection: _Connection
    rows: list[IntervalRow]

    @property
    def total(self) -> IntervalRow:
        """The row of the whole time: the last of those that begin with the first and end last."""
        return total_of(self.rows)


def _transfers(test: _Test) -> Iterator[Transfer]:
    if not test.connections and test.connect and test.sums:
        yield _sums_alone(test)
    groups: dict[tuple[str, str], list[_Stream]] = {}
    for name, connection in test.connections.items():
        for rows, is_other in ((connection.rows, False), (connection.starred, True)):
            if rows:
                # Both ways with --full-duplex; with --reverse all rows are of the way that the connection says.
                both = bool(connection.rows and connection.starred)
                way = connection.way(test.server_port, test.connect)
                way = _WAYS[way] if is_other and both else way
                stream = _Stream(f"*{name}" if is_other else name, connection, rows)
                groups.setdefault((way, test.peer_of(connection)), []).append(stream)
    for number, ((way, peer), streams) in enumerate(groups.items()):
        yield _transfer(test, way, peer, streams, test.sums if len(groups) == 1 else [], is_first=not number)


def _sums_alone(test: _Test) -> Transfer:
    """Return the transfer of a client that prints rows of all its streams together only (`--sum-only`)."""
    whole = total_of(test.sums)
    way = "send" if "writes" in whole.names else "receive" if {"reads", "lost"} & whole.names.keys() else ""
    # The number in `[SUM-4]` is not that of the connections: version 2.1.8 prints 2 and 4 of the same two.
    found = Transfer(test.sums[0].line, escape_line(test.host, 80), test.protocol, way, test.flows)
    found.rate, found.seconds = whole.rate, whole.seconds
    found.counted_by = {"send": "sent", "receive": "received"}.get(way, "")
    found.record_size, found.options = test.record_size, test.options
    found.figures = _figures(test, (), test.sums, is_first=True)
    return found


def _transfer(
    test: _Test, way: str, peer: str, streams: Sequence[_Stream], sums: Sequence[IntervalRow], is_first: bool
) -> Transfer:
    """Return a transfer; `sums` are rows of all its streams together, empty where they would add both ways."""
    reports = [stream.connection.report for stream in streams if stream.connection.report]
    totals = [stream.total for stream in streams]
    has_reports = len(reports) == len(streams)
    if has_reports:
        rate, whole = sum((one.rate for one in reports), Decimal(0)), max(reports, key=lambda row: row.seconds)
    elif sums and len(streams) > 1:
        whole = total_of(sums)
        rate = whole.rate
    else:
        rate, whole = sum((row.rate for row in totals), Decimal(0)), max(totals, key=lambda row: row.seconds)
    found = Transfer(min(stream.connection.line for stream in streams), peer, test.protocol, way, len(streams))
    found.rate, found.seconds = rate, whole.seconds
    found.counted_by = "received" if has_reports or way == "receive" else "sent" if way else ""
    if (trips := totals[0].number("round trips")) is not None:
        names = {"mean": "round trip avg", "min": "round trip min", "max": "round trip max"}
        found.latency = {key: float(totals[0].names[name].text) * 1e6 for key, name in names.items()}
        found.round_trips, found.rate = int(trips), totals[0].number("round trips/s")
    found.record_size, found.options = test.record_size, test.options
    found.datagrams = _received(reports if has_reports else totals)
    found.figures = _figures(test, streams, sums if len(streams) > 1 else [], is_first)
    return found


def _received(rows: Sequence[IntervalRow]) -> int | None:
    """Return how many datagrams were received; None if a row does not say it."""
    pairs = [(row.number("datagrams"), row.number("lost")) for row in rows]
    known = [sent - lost for sent, lost in pairs if sent is not None and lost is not None]
    return max(int(sum(known)), 0) if len(known) == len(rows) else None


def _figures(test: _Test, streams: Sequence[_Stream], sums: Sequence[IntervalRow], is_first: bool) -> list[Figure]:
    """Return all figures: totals first, then each stream's, then those of intervals."""
    whole: list[Figure] = []
    parts: list[Figure] = []
    whole_sum = total_of(sums) if sums else None
    for row in sums or (test.sums if is_first else ()):
        is_total = row is whole_sum
        (whole if is_total else parts).extend(_named(row, "sum" if is_total else row.id))
    whole += test.figures if is_first else []
    for stream in streams:
        single = len(streams) == 1 and not sums
        name = "" if single else f"stream {stream.name}"
        total = stream.total
        whole += _named(total, name)
        whole += [
            figure._replace(name=f"{name}: {figure.name}" if name else figure.name)
            for figure in stream.connection.figures
        ]
        if stream.connection.report and stream.rows is stream.connection.rows:
            whole += _named(stream.connection.report, f"{name}, received" if name else "received")
        parts += [
            figure for row in stream.rows if row is not total for figure in _named(row, f"stream {stream.name}", True)
        ]
    return whole + parts


def _named(row: IntervalRow, name: str, is_part: bool = False) -> list[Figure]:
    """Return the figures of a row with names that say of what; rows of intervals have their interval in it."""
    place = f"{name}, {row.start}-{row.end} s" if is_part or row.id == name else name
    figures = row.figures if is_part or row.id == name else [Figure("seconds", row.end, "s"), *row.figures]
    return [figure._replace(name=f"{place}: {figure.name}" if place else figure.name) for figure in figures]
