"""iperf 2's CSV (`-y C`): rows without a head of versions 2.0 and 2.1, and with a head of 2.2 with `-e`.

Rows are exact: bytes and bits a second. They do not say which side printed them, so that it is not known which way the
bytes went, nor whether they were sent or received, unless there are figures that only a receiver has. Source:
src/ReportCSV.c of 2.0, src/ReportOutputs.c of 2.1 and later.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.iperf.results import Transfer
from assay.rooms.importers.work.iperf.rows import HINT, MAX_ROWS
from assay.rooms.importers.work.results import Figure, OutputError

_INT, _REAL = r"-?[0-9]{1,19}", r"-?[0-9]{1,19}(?:\.[0-9]{1,9})?"
_ADDRESS = r"[0-9A-Za-z.:%_-]{0,80}"
PLAIN = re.compile(
    rf"(?P<time>[0-9]{{14}}(?:\.[0-9]{{3}})?),(?P<source>{_ADDRESS}),(?P<source_port>[0-9]{{0,5}}),"
    rf"(?P<peer>{_ADDRESS}),(?P<port>[0-9]{{0,5}}),(?P<id>{_INT}),(?P<start>{_REAL})-(?P<end>{_REAL}),"
    rf"(?P<bytes>{_INT}),(?P<rate>{_INT})(?:,(?P<jitter>{_REAL}|-?nan),(?P<lost>{_INT}),(?P<datagrams>{_INT}),"
    rf"(?P<loss>{_REAL}|-?nan),(?P<disorder>{_INT}))?"
)
_LIKE = re.compile(rf"[0-9]{{14}}(?:\.[0-9]{{3}})?,{_ADDRESS},[0-9]{{0,5}},{_ADDRESS},[0-9]{{0,5}},")
HEAD = re.compile(r"time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed,[a-z0-9,]{1,300}")
_UNITS = {
    "bytes": "bytes",
    "rate": "bit/s",
    "speed": "bit/s",
    "jitter": "ms",
    "loss": "%",
    "errpercent": "%",
    "bbavg": "ms",
    "bbmin": "ms",
    "bbmax": "ms",
    "bbstdev": "ms",
    "tcprtt": "us",
    "tcprttvar": "us",
    "pps": "1/s",
    "rps": "1/s",
}
"""Column -> unit of it; other columns are counts or have none that iperf's source states."""
_PLACE = ("time", "source", "source_port", "peer", "port", "id", "start", "end")
_OLD_EPOCH = "1970"
"""Version 2.1.8 prints the beginning of 1970 as the time of some rows."""


@dataclass
class _Row:
    """One row: what it is of, and its numbers by the names of the columns.

    Attributes:
        line: Line of the file, from 1.
        place: Time, ends, id and interval, as printed.
        numbers: Column -> number as printed.
        is_report: It is the server's report in the output of a client; its ends are turned to those of the client.
    """

    line: int
    place: dict[str, str]
    numbers: dict[str, str]
    is_report: bool = False

    @property
    def stream(self) -> tuple[str, ...]:
        """What no other stream of the output has."""
        return tuple(self.place[name] for name in ("source", "source_port", "peer", "port", "id"))

    @property
    def way(self) -> tuple[str, str]:
        """From where to where its bytes went."""
        return self.place["source"], self.place["peer"]

    @property
    def is_sum(self) -> bool:
        """It is of all streams together: version 2.0 prints -1 as the id."""
        return self.place["id"].startswith("-") or self.place["source_port"] == "0"

    @property
    def seconds(self) -> Decimal:
        """How long the interval is."""
        return Decimal(self.place["end"]) - Decimal(self.place["start"])

    @property
    def rate(self) -> Decimal:
        """Bytes per second."""
        return Decimal(self.numbers.get("rate") or self.numbers["speed"]) / 8

    @property
    def received(self) -> int | None:
        """How many datagrams were received; None if the row does not say it."""
        sent, lost = self.numbers.get("datagrams", ""), self.numbers.get("lost") or self.numbers.get("errors", "")
        return int(sent) - int(lost) if sent.isdigit() and lost.isdigit() and int(sent) >= int(lost) else None


def csv_transfers(lines: Iterable[str]) -> Iterator[Transfer]:
    """Yield the transfers of all rows of CSV in a text.

    Raises:
        OutputError: A line begins like a row and is none.
    """
    tests = _CsvTests()
    known_streams: set[tuple[str, ...]] = set()
    for row in _rows(lines):
        _turn(row, known_streams)
        known_streams.add(row.stream)
        tests.add(row)
    for test in tests.found:
        ways: dict[tuple[str, str], list[_Row]] = {}
        for row in test.rows:
            ways.setdefault(row.way, []).append(row)
        for members in ways.values():
            yield _transfer(members, test.is_long)


def _turn(row: _Row, known_streams: set[tuple[str, ...]]) -> None:
    """Turn the ends of a server's report, which are those of the server, to those of the client's own row."""
    source, source_port, peer, port, name = row.stream
    if "jitter" in row.numbers and not row.is_sum and (peer, port, source, source_port, name) in known_streams:
        row.place |= {"source": peer, "source_port": port, "peer": source, "port": source_port}
        row.is_report = True


def _rows(lines: Iterable[str]) -> Iterator[_Row]:
    columns: list[str] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if HEAD.fullmatch(text):
            columns = text.split(",")
        elif match := PLAIN.fullmatch(text):
            named = match.groupdict()
            place = {name: named.pop(name) or "" for name in _PLACE}
            row = _Row(number, place, {name: word for name, word in named.items() if word and "nan" not in word})
        elif _LIKE.match(text):
            row = _with_head(text, columns, number)
        else:
            continue
        if row.seconds < 0 or row.rate < 0:
            raise OutputError(number, f"a row whose time or rate is below 0: {escape_line(text, 80)}", HINT)
        yield row


def _with_head(text: str, columns: Sequence[str], number: int) -> _Row:
    words = text.split(",")
    values = words[10:]
    if len(words) != len(columns) or not all(re.fullmatch(_REAL, word) for word in words[6:10] + values):
        raise OutputError(number, f"not a row of iperf's CSV: {escape_line(text, 80)}", HINT)
    place = dict(zip(_PLACE, words[:8], strict=True))
    return _Row(number, place, dict(zip(columns[8:], words[8:], strict=True)))


@dataclass
class _CsvTest:
    """Rows of one test.

    Attributes:
        rows: All of them, or the first and the longest of each stream, and the last of all.
        is_long: There are more than are kept.
    """

    rows: list[_Row] = field(default_factory=list)
    is_long: bool = False

    def add(self, row: _Row) -> None:
        """Add a row."""
        self.rows.append(row)
        if len(self.rows) < MAX_ROWS:
            return
        first: dict[tuple[str, str], _Row] = {}
        longest: dict[tuple[object, ...], _Row] = {}
        for one in self.rows:
            first.setdefault(one.way, one)
            key = (one.stream, one.is_report)
            if key not in longest or one.seconds >= longest[key].seconds:
                longest[key] = one
        chosen = {id(one) for one in (*first.values(), *longest.values(), row)}
        self.rows, self.is_long = [one for one in self.rows if id(one) in chosen], True


class _CsvTests:
    """Puts rows in order into tests.

    Attributes:
        found: The tests, each with its rows.
    """

    def __init__(self) -> None:
        self.found: list[_CsvTest] = []
        self._streams: dict[str, tuple[str, ...]] = {}

    def add(self, row: _Row) -> None:
        """Add a row to the test at hand, or begin another one with it."""
        if not self.found or self._begins(row):
            self.found.append(_CsvTest())
            self._streams = {}
        self.found[-1].add(row)
        if not row.is_sum:
            self._streams[row.place["id"]] = row.stream

    def _begins(self, row: _Row) -> bool:
        """Return whether a row is of another test: its id has other ends, or all streams ended before it began."""
        if row.is_sum:
            return False
        known = self._streams.get(row.place["id"])
        if known is not None:
            return known != row.stream
        last = self.found[-1].rows[-1]
        if last.is_sum and not Decimal(last.place["start"]) and not Decimal(row.place["start"]):
            return True
        times = [one.place["time"][:14] for one in (last, row)]
        if any(time.startswith(_OLD_EPOCH) for time in times):
            return False
        return int(times[1]) - int(times[0]) >= max(row.seconds, Decimal(1))


def _total(rows: Sequence[_Row]) -> _Row:
    return max(reversed(rows), key=lambda row: row.seconds)


def _transfer(rows: Sequence[_Row], is_long: bool) -> Transfer:
    """Return the transfer of rows; of long tests it has no figures of intervals."""
    streams: dict[tuple[str, ...], list[_Row]] = {}
    for row in rows:
        streams.setdefault(row.stream, []).append(row)
    own = [members for members in streams.values() if not members[0].is_sum]
    totals = [_total([row for row in members if not row.is_report] or members) for members in own]
    reports = [row for members in own for row in members if row.is_report]
    sums = [row for row in rows if row.is_sum]
    # All that the receivers report is the rate; of a sum in a client's output of UDP it is not known what it adds.
    members = reports if reports and len(reports) == len(totals) else [_total(sums)] if sums else totals
    whole = max(members, key=lambda row: row.seconds)
    found = Transfer(rows[0].line, escape_line(whole.place["peer"], 80), streams=max(len(totals), 1))
    found.seconds, found.rate = whole.seconds, sum((row.rate for row in members), Decimal(0))
    amounts = [row.numbers["bytes"] for row in members]
    found.moved = sum(map(int, amounts)) if all(one.isdigit() for one in amounts) else None
    received = [row.received for row in (reports or totals)]
    if received and all(one is not None for one in received):
        found.protocol, found.counted_by = "udp", "received"
        found.datagrams = sum(one for one in received if one is not None)
    if found.rate < 0:
        found.left_out = "its rate is negative"
    found.options = {"from": rows[0].place["source"]} if rows[0].place["source"] else {}
    whole_rows = [*totals, *reports, *([_total(sums)] if sums else [])]
    found.figures = _figures(whole_rows if is_long else rows, whole_rows, len(totals) == 1)
    return found


def _figures(rows: Sequence[_Row], totals: Sequence[_Row], is_single: bool) -> list[Figure]:
    """Return all figures: those of totals first, then those of intervals."""
    whole: list[Figure] = []
    parts: list[Figure] = []
    chosen = {id(row) for row in totals}
    for row in rows:
        name = "sum" if row.is_sum else f"stream {row.place['id']}"
        if id(row) not in chosen:
            parts += _named(row, f"{name}, {row.place['start']}-{row.place['end']} s", is_part=True)
            continue
        name = "" if is_single and not row.is_sum else name
        name = (f"{name}, received" if name else "received") if row.is_report else name
        whole += _named(row, name)
    return whole + parts


def _named(row: _Row, name: str, is_part: bool = False) -> list[Figure]:
    figures = [] if is_part else [Figure("seconds", row.place["end"], "s")]
    figures += [Figure(column, text, _UNITS.get(column, "")) for column, text in row.numbers.items()]
    return [figure._replace(name=f"{name}: {figure.name}" if name else figure.name) for figure in figures]
