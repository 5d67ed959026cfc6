"""Rows of measurements in the texts of iperf 2 and iperf 3, which both print `Transfer` and `Bandwidth` alike.

Sources: src/Locale.c and src/stdio.c of iperf 2, src/iperf_locale.c and src/units.c of iperf 3. In all versions a
`KByte` is 1024 bytes and a `Kbit` 1000 bits.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure, OutputError

HINT = "give the file as iperf printed it"
MAX_ROWS = 8_000
"""Most rows of intervals that are kept of one output."""
NAME = r"\[ {0,3}(?P<id>\*?[0-9]{1,10}|SUM(?:-[0-9]{1,6})?|FD[0-9]{1,6})\]"
_NUMBER = r"[0-9]{1,19}(?:\.[0-9]{1,9})?"
ROW = re.compile(
    rf"{NAME}(?:\[(?P<role>[RT]X-[CS])\])? *(?P<start>{_NUMBER})- *(?P<end>{_NUMBER}) +sec +"
    rf"(?P<amount>{_NUMBER}) (?P<of>[KMGTP]?Bytes) +(?P<rate>{_NUMBER}) (?P<per>[KMGTP]?(?:bits|Bytes)/sec)(?P<rest>.*)"
)
_LIKE_ROW = re.compile(rf"{NAME}(?:\[[RT]X-[CS]\])? *[0-9.]+- *[0-9.]+ +sec ")
OUT_OF_ORDER = re.compile(
    rf"{NAME} *{_NUMBER}- *{_NUMBER} +sec +(?P<count>[0-9]{{1,19}}) datagrams received out-of-order"
)
_PARTS = (
    (re.compile(rf" *({_NUMBER}) ms +([0-9]{{1,19}})/ *([0-9]{{1,19}}) \(({_NUMBER}(?:e[+-]?[0-9]{{1,3}})?|-?nan)%\)"),
     (("jitter", "ms"), ("lost", ""), ("datagrams", ""), ("loss", "%"))),
    (re.compile(rf" *({_NUMBER}) ms +Unknown/([0-9]{{1,19}})"), (("jitter", "ms"), ("datagrams", ""))),
    (re.compile(rf" *([0-9]{{1,19}})/ *([0-9]{{1,19}}) \(({_NUMBER}(?:e[+-]?[0-9]{{1,3}})?|-?nan)%\)"),
     (("lost", ""), ("datagrams", ""), ("loss", "%"))),
    (re.compile(rf" *([0-9]{{1,10}})=({_NUMBER})/({_NUMBER})/({_NUMBER})/({_NUMBER}) ms"),
     (("round trips", ""), ("round trip avg", "ms"), ("round trip min", "ms"), ("round trip max", "ms"),
      ("round trip stdev", "ms"))),
    (re.compile(rf" *({_NUMBER})/({_NUMBER})/({_NUMBER})/({_NUMBER}) ms"),
     (("latency avg", "ms"), ("latency min", "ms"), ("latency max", "ms"), ("latency stdev", "ms"))),
    (re.compile(r" *([0-9]{1,19})/([0-9]{1,19}) +([0-9]{1,19}) +([0-9]{1,19})K/([0-9]{1,19})\(([0-9]{1,19})\) us"),
     (("writes", ""), ("errors", ""), ("retries", ""), ("cwnd", "KBytes"), ("rtt", "us"), ("rtt variance", "us"))),
    (re.compile(r" *([0-9]{1,19})/([0-9]{1,19}) +([0-9]{1,19}) +([0-9]{1,19})K/([0-9]{1,19}) us"),
     (("writes", ""), ("errors", ""), ("retries", ""), ("cwnd", "KBytes"), ("rtt", "us"))),
    (re.compile(r" *([0-9]{1,19})/([0-9]{1,19}) +([0-9]{1,19}) +([0-9]{1,19})K\(([0-9]{1,19})\)/([0-9]{1,19})K"
                r"\(([0-9]{1,19})\)/([0-9]{1,19})\(([0-9]{1,19})\) us"),
     (("writes", ""), ("errors", ""), ("retries", ""), ("in flight", "KBytes"), ("packets in flight", ""),
      ("cwnd", "KBytes"), ("cwnd packets", ""), ("rtt", "us"), ("rtt variance", "us"))),
    (re.compile(r" *([0-9]{1,19})/([0-9]{1,19}) +([0-9]{1,19})(?= *$)"),
     (("writes", ""), ("errors", ""), ("retries", ""))),
    (re.compile(rf" *([0-9]{{1,19}})/([0-9]{{1,19}}) +({_NUMBER}) pps"),
     (("writes", ""), ("errors", ""), ("packets/s", "1/s"))),
    (re.compile(rf" *({_NUMBER}) pps"), (("packets/s", "1/s"),)),
    (re.compile(r" *([0-9]{1,19})=([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):"
                r"([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19})"),
     (("reads", ""), *((f"reads in bin {number}", "") for number in range(1, 9)))),
    (re.compile(r" +([0-9]{1,19}) +([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):"
                r"([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19})"),
     (("reads", ""), *((f"reads in bin {number}", "") for number in range(1, 9)))),
)  # fmt: skip
"""What may stand behind the rate: pattern -> name and unit of each number in it. The first that fits is taken."""
_ALONE = re.compile(rf" +([0-9]{{1,19}})(?: +({_NUMBER}) ([KMGT]?Bytes))? *(?:sender|receiver|\(omitted\))?")
"""iperf 3's retransmissions with the congestion window, or a number of datagrams."""
_TRIPS = re.compile(rf"(?:RPS=({_NUMBER})|({_NUMBER}) rps) *$")
_LEFT = re.compile(rf"(?<![0-9.]){_NUMBER}(?![0-9.])")


@dataclass
class IntervalRow:
    """One row: what a stream, or all together, moved in an interval.

    Attributes:
        line: Line of the file, from 1.
        id: Number of the stream as printed, `*2`, or `SUM`.
        role: iperf 3's `TX-C` and the like with `--bidir`; else empty.
        end_of: `sender` or `receiver`, where iperf 3 says so.
        start: Seconds as printed.
        end: Likewise.
        figures: Transfer, rate, and what stands behind them.
        rest: Text behind the rate.
        is_report: The server's report in the output of a client of iperf 2.
    """

    line: int
    id: str
    role: str
    end_of: str
    start: str
    end: str
    figures: list[Figure]
    rest: str = ""
    is_report: bool = False
    names: dict[str, Figure] = field(default_factory=dict)

    @property
    def seconds(self) -> Decimal:
        """How long the interval is."""
        return Decimal(self.end) - Decimal(self.start)

    @property
    def rate(self) -> Decimal:
        """Bytes per second."""
        return convert(self.names["rate"].text, self.names["rate"].unit)

    @property
    def moved(self) -> Decimal:
        """Bytes, as far as they are printed."""
        return convert(self.names["transfer"].text, self.names["transfer"].unit)

    def number(self, name: str) -> Decimal | None:
        """Return a printed number; None if the row has none of that name."""
        return Decimal(self.names[name].text) if name in self.names else None


class IntervalRows(list[IntervalRow]):
    """Rows of one stream, or of one test.

    Of more than `MAX_ROWS` only that of the whole time is kept: some of the others would be taken for all.
    """

    is_long = False

    def add(self, row: IntervalRow) -> None:
        """Add a row."""
        self.append(row)
        if self.is_long or len(self) > MAX_ROWS:
            self.shorten()

    def shorten(self) -> None:
        """Keep no more than the row of the whole time, now and later."""
        self.is_long = True
        self[:] = [total_of(self)] if self else []


def total_of(rows: Sequence[IntervalRow]) -> IntervalRow:
    """Return the row of the whole time: of those that begin first, the last one that is the longest."""
    start = min(Decimal(row.start) for row in rows)
    return max((row for row in reversed(rows) if Decimal(row.start) == start), key=lambda row: Decimal(row.end))


def read_row(line: str, number: int, alone: str = "") -> IntervalRow | None:
    """Return the row that a line is; None if it is none.

    Args:
        line: The line.
        number: Its number in the file, from 1.
        alone: What a count is that stands alone behind the rate, by the head of the table; empty if none does.

    Raises:
        OutputError: It begins like one, and is none.
    """
    match = ROW.fullmatch(line)
    if match is None:
        if _LIKE_ROW.match(line) and "Bytes" in line:
            raise OutputError(number, f"not a row of iperf: {escape_line(line.strip(), 80)}", HINT)
        return None
    if Decimal(match["end"]) < Decimal(match["start"]):
        raise OutputError(number, f"an interval that ends before it begins: {escape_line(line.strip(), 80)}", HINT)
    figures = [Figure("transfer", match["amount"], match["of"]), Figure("rate", match["rate"], match["per"])]
    rest = match["rest"]
    end_of = next((word for word in ("sender", "receiver") if rest.rstrip().endswith(word)), "")
    figures += _more(rest, alone)
    row = IntervalRow(number, match["id"], match["role"] or "", end_of, match["start"], match["end"], figures, rest)
    row.names = {figure.name: figure for figure in figures}
    return row


def _next_part(rest: str) -> tuple[re.Match[str], Sequence[tuple[str, str]]] | None:
    """Return the first of the known parts that a text begins with, and names and units of its numbers."""
    found = ((pattern.match(rest), names) for pattern, names in _PARTS)
    return next(((match, names) for match, names in found if match), None)


def _more(rest: str, alone: str) -> list[Figure]:
    """Return the numbers behind the rate; those of columns that have no name here are `other 1`, `other 2`."""
    found: list[Figure] = []
    if alone and (match := _ALONE.fullmatch(rest.rstrip())):
        found = [Figure(alone, match[1])]
        return [*found, Figure("cwnd", match[2], match[3])] if match[2] else found
    while (part := _next_part(rest)) is not None:
        match, names = part
        known = {figure.name for figure in found}
        texts = zip(names, match.groups(), strict=True)
        found += [Figure(name, text, unit) for (name, unit), text in texts if "nan" not in text and name not in known]
        rest = rest[match.end() :]
    if match := _TRIPS.search(rest):
        found.append(Figure("round trips/s", match[1] or match[2], "1/s"))
        rest = rest[: match.start()]
    others = _LEFT.findall(rest)[:40]
    return found + [Figure(f"other {count}", text) for count, text in enumerate(others, start=1)]
