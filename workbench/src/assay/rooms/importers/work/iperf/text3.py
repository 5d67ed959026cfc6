"""iperf 3's text, as versions 3.0 to 3.21 print it, on the side of the client and of the server.

The last table has a row of the sender and one of the receiver for each stream, and their sums; src/iperf_api.c,
iperf_print_results. A server prints one of the two only, or zeros as the other one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.iperf.results import Transfer
from assay.rooms.importers.work.iperf.rows import NAME, ROW, IntervalRow, IntervalRows, read_row
from assay.rooms.importers.work.results import Figure

CLIENT = re.compile(r"Connecting to host (?P<host>\S{1,255}), port (?P<port>[0-9]{1,5})")
SERVER = re.compile(r"Server listening on (?:[0-9]{1,5})(?: \(test #[0-9]{1,9}\))?")
_ACCEPTED = re.compile(r"Accepted connection from (?P<host>\S{1,255}), port [0-9]{1,5}")
CONNECTION = re.compile(
    rf"{NAME} local (?P<local>\S{{1,255}}) port [0-9]{{1,5}} connected to (?P<peer>\S{{1,255}}) port [0-9]{{1,5}}"
)
TYPED = re.compile(
    r"(?:.{0,120}[$#>] *)?(?:sudo +)?(?:\S{0,80}/)?iperf3 (?:.{0,200} )?(?:-c|--client)(?: +|=)"
    r"(?P<host>\S{1,255})(?: .*)?"
)
_STREAMS = re.compile(r"(?:-P|--parallel)[ =]?([0-9]{1,4})\b")
_REVERSE = re.compile(r"Reverse mode, remote host \S{1,255} is sending")
_HEAD = re.compile(r"\[ ID\](?:\[Role\])? Interval +Transfer +(?:Bitrate|Bandwidth)(?P<columns>.*)")
_STARTING = re.compile(
    r"Starting Test: protocol: (?P<protocol>[A-Za-z]{1,8}), (?P<streams>[0-9]{1,6}) streams, "
    r"(?P<size>[0-9]{1,10}) byte blocks(?P<more>,.{0,120})?"
)
_CPU = re.compile(r"CPU Utilization: (?P<text>.{1,160})")
_CPU_PART = re.compile(r"(local|remote)/(?:sender|receiver) ([0-9.]{1,9})% \(([0-9.]{1,9})%u/([0-9.]{1,9})%s\)")
VERSION = re.compile(r"iperf (3\.[0-9A-Za-z.+-]{1,20})")
TIME = re.compile(r"Time: (.{10,40})")
_SENT = re.compile(rf"{NAME} Sent (?P<count>[0-9]{{1,19}}) datagrams")
_FAILED = re.compile(r"iperf3: error - (.{1,200})")
_SEPARATOR = re.compile(r"(?:- ){8,}-?")


@dataclass
class _Test:
    """One test.

    Attributes:
        line: Line of the file on which it begins, from 1.
        is_server: A server printed it.
        peer: The other host.
        rows: Rows of intervals.
        totals: Rows of the last table.
        figures: Figures outside of rows.
        failed: Why iperf says that it failed; empty if it does not.
        is_cut: Its first lines are missing, and the command line, too, so that the way is not known.
    """

    line: int
    is_server: bool
    peer: str
    protocol: str = ""
    streams: int = 0
    record_size: int | None = None
    is_reverse: bool = False
    options: dict[str, str] = field(default_factory=dict)
    rows: IntervalRows = field(default_factory=IntervalRows)
    totals: IntervalRows = field(default_factory=IntervalRows)
    figures: list[Figure] = field(default_factory=list)
    failed: str = ""
    is_cut: bool = False


class _Reader:
    """Reads the lines of a text."""

    def __init__(self) -> None:
        self.tests: list[_Test] = []
        self._alone = ""
        self._is_last = self._after_line = False
        self._typed: re.Match[str] | None = None

    def read(self, line: str, number: int) -> None:
        """Read a line.

        Raises:
            OutputError: It begins like a row of iperf and is none.
        """
        if match := CLIENT.fullmatch(line) or _ACCEPTED.fullmatch(line):
            is_server = line.startswith("Accepted")
            self.tests.append(_Test(number, is_server, escape_line(match["host"], 80)))
            self._is_last, self._typed = False, None
        elif match := _HEAD.fullmatch(line):
            self._head(match["columns"])
        elif _SEPARATOR.fullmatch(line):
            self._after_line = True
        elif "iperf3" in line and (typed := TYPED.fullmatch(line)):
            self._typed = typed
        elif (self._typed or not self.tests) and is_total(line):
            self._begin_cut(line, number)
        elif self.tests:
            self._part(self.tests[-1], line, number)

    def _begin_cut(self, line: str, number: int) -> None:
        """Begin a test of which only the last rows were kept (`iperf3 ... | tail`)."""
        typed, self._typed = self._typed, None
        test = _Test(number, False, escape_line(typed["host"], 80) if typed else "", is_cut=typed is None)
        if typed is not None:
            words = f"{typed.group().partition('iperf3 ')[2]} "
            test.is_reverse = any(word in words.split() for word in ("-R", "--reverse"))
            test.streams = int(streams[1]) if (streams := _STREAMS.search(words)) else 1
        self.tests.append(test)
        self._is_last, self._alone = True, ""
        self._part(test, line, number)

    def _head(self, columns: str) -> None:
        is_udp = "Datagrams" in columns or "Jitter" in columns
        self._alone = "datagrams" if is_udp else "retries" if "Retr" in columns else ""
        self._is_last, self._after_line = self._after_line, False
        if self.tests:
            self.tests[-1].protocol = self.tests[-1].protocol or ("udp" if is_udp else "")

    def _part(self, test: _Test, line: str, number: int) -> None:
        if row := read_row(line, number, self._alone):
            self._after_line = False
            (test.totals if self._is_last or row.end_of else test.rows).add(row)
        elif match := _STARTING.fullmatch(line):
            test.protocol, test.streams = match["protocol"].lower(), int(match["streams"])
            test.record_size = int(match["size"]) or None
            test.options["test"] = escape_line((match["more"] or "").strip(", "), 120)
        elif _REVERSE.fullmatch(line):
            test.is_reverse = True
        elif match := _SENT.fullmatch(line):
            test.figures.append(Figure(f"stream {match['id']}: sent datagrams", match["count"]))
        elif match := _CPU.fullmatch(line):
            for side, *texts in _CPU_PART.findall(match["text"]):
                named = zip(("total", "user", "system"), texts, strict=True)
                test.figures += [Figure(f"CPU, {side}: {name}", text, "%") for name, text in named]
        elif match := _FAILED.fullmatch(line):
            test.failed = escape_line(match[1], 120)


def is_total(line: str) -> bool:
    """Whether a line is a row of the last table, which says of which end it is."""
    return line.startswith("[") and line.endswith(("sender", "receiver")) and bool(ROW.fullmatch(line))


def text_transfers(lines: Iterable[str]) -> Iterator[Transfer]:
    """Yield the transfers of a text, in order.

    Raises:
        OutputError: A line begins like a row of iperf and is none.
    """
    reader = _Reader()
    for number, line in enumerate(lines, start=1):
        reader.read(line, number)
    for test in reader.tests:
        yield from _transfers(test)


def _transfers(test: _Test) -> Iterator[Transfer]:
    rows = test.totals or test.rows
    if not rows:
        reason = f"iperf3 failed: {test.failed}" if test.failed else "the output ends before its last table"
        yield Transfer(test.line, test.peer, test.protocol, left_out=reason)
        return
    roles = list(dict.fromkeys(row.role for row in rows))
    for number, role in enumerate(roles):
        yield _transfer(test, role, is_first=not number)


def _transfer(test: _Test, role: str, is_first: bool) -> Transfer:
    found = Transfer(test.line, test.peer, test.protocol or "tcp")
    found.record_size, found.options = test.record_size, test.options
    totals, parts = ([row for row in rows if row.role == role] for rows in (test.totals, test.rows))
    streams = {row.id for row in totals if row.id != "SUM"}
    found.streams = test.streams or max(len(streams), 0 if test.is_cut else 1)
    whole = [row for row in totals if row.id == "SUM"] or totals
    ends = {end: next((row for row in whole if row.end_of == end), None) for end in ("sender", "receiver", "")}
    received, sent = ends["receiver"], ends["sender"]
    is_reverse = role.startswith(("RX-C", "TX-S")) or test.is_reverse
    if test.is_server and not role:
        # A server prints zeros as the figures of the other side, or no row of it.
        is_reverse = bool(sent and sent.rate and not (received and received.rate))
    if not test.is_cut or role:
        found.way = "receive" if test.is_server != is_reverse else "send"
    _rate(found, received, sent, ends[""])
    if not totals:
        reason = f": {test.failed}" if test.failed else ""
        found.left_out = f"the output ends before its last table{reason}"
    found.figures = [
        *_named(totals, is_whole=True),
        *(test.figures if is_first else []),
        *_named(parts, is_whole=False),
    ]
    return found


def _rate(found: Transfer, received: IntervalRow | None, sent: IntervalRow | None, both: IntervalRow | None) -> None:
    """Fill in the rate: that of what was received, else of what was sent."""
    if received and received.rate:
        _fill(found, received, "received", Decimal(1))
    elif sent and sent.rate:
        _fill(found, sent, "sent", Decimal(1))
    elif both:
        # Before 3.2 there is one row of UDP: what was sent, and how many datagrams of it were lost.
        sent_count, lost = both.number("datagrams"), both.number("lost")
        known = sent_count is not None and lost is not None and sent_count > 0 and lost <= sent_count
        share = (sent_count - lost) / sent_count if known and sent_count and lost is not None else Decimal(1)
        _fill(found, both, "received" if known else "sent", share)


def _fill(found: Transfer, row: IntervalRow, counted_by: str, share: Decimal) -> None:
    found.counted_by, found.seconds = counted_by, row.seconds
    found.rate = convert(row.names["rate"].text, row.names["rate"].unit) * share
    datagrams, lost = row.number("datagrams"), row.number("lost")
    if counted_by == "received" and datagrams is not None and lost is not None:
        found.datagrams = max(int(datagrams - lost), 0)


def _named(rows: Sequence[IntervalRow], is_whole: bool) -> list[Figure]:
    """Return the figures of rows, with names that say of what; those of sums first."""
    found = []
    is_single = is_whole and len({row.id for row in rows}) == 1
    for row in sorted(rows, key=lambda row: row.id != "SUM"):
        name = "sum" if row.id == "SUM" else "" if is_single else f"stream {row.id}"
        end = {"sender": "sent", "receiver": "received", "": ""}[row.end_of]
        parts = [part for part in (name, end) if part]
        if not is_whole:
            omitted = ", omitted" if "(omitted)" in row.rest else ""
            parts.append(f"{row.start}-{row.end} s{omitted}")
        figures = [Figure("seconds", row.end, "s"), *row.figures] if is_whole else row.figures
        place = ", ".join(parts)
        found += [figure._replace(name=f"{place}: {figure.name}" if place else figure.name) for figure in figures]
    return found
