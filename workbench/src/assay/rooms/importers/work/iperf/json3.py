"""iperf 3's JSON (`-J`), and its stream of events (`--json-stream`), of versions 3.0 to 3.21.

Sums of what was sent and what was received stand in `end`; src/iperf_api.c, iperf_print_results. Those of UDP stand in
one `sum` before 3.10, with the packets that were lost. Rates are bits a second.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from assay.model.escape import escape_line
from assay.rooms.importers.work.iperf.results import MAX_FIGURES, Transfer
from assay.rooms.importers.work.json_pieces import JsonPieces
from assay.rooms.importers.work.json_text import Number, decode_json
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import Figure, OutputError

HINT = "give the file as iperf3 printed it"
MAX_STREAMS = 1 << 20
_MAX_INTERVALS = 4 << 20
"""Most characters of the intervals of one output that are kept."""
_UNITS = {
    "bits_per_second": "bit/s",
    "bytes": "bytes",
    "start": "s",
    "end": "s",
    "seconds": "s",
    "jitter_ms": "ms",
    "lost_percent": "%",
    "rtt": "us",
    "rttvar": "us",
    "max_rtt": "us",
    "min_rtt": "us",
    "mean_rtt": "us",
    "snd_cwnd": "bytes",
    "snd_wnd": "bytes",
    "max_snd_cwnd": "bytes",
    "max_snd_wnd": "bytes",
    "pmtu": "bytes",
}
"""Key -> unit of the number; those of `cpu_utilization_percent` are percents, all others counts."""
_SUMS = ("sum_sent", "sum_received", "sum")
_BACK = "_bidir_reverse"
"""Ends the names of the sums of the way from the server to the client with `--bidir`; before 3.10 they have the names
of the other way, too, so that these stand twice in one object."""
_MAX = Decimal(10) ** 18


class Iperf3Json:
    """One output.

    Attributes:
        line: Line on which it begins, from 1.
        parts: Its JSON: `start`, `intervals`, `end`; intervals as texts, which take less memory.
    """

    def __init__(self, line: int, parts: Mapping[str, Any]) -> None:
        self.line = line
        self.start, self.end = (_part(parts.get(name), name, line) for name in ("start", "end"))
        self.intervals: Sequence[str] = parts.get("intervals", ())
        self.error = str(parts.get("error", "") or "")
        self.server_output = parts.get("server_output_text")

    @property
    def version(self) -> str:
        """The version of iperf: `3.12`."""
        return escape_line(str(self.start.get("version", "")).removeprefix("iperf").strip(), 40)

    @property
    def date(self) -> str:
        """When it began, as printed."""
        stamp = self.start.get("timestamp", {})
        return escape_line(str(stamp.get("time", "")), 40) if isinstance(stamp, dict) else ""

    @property
    def seconds_since_1970(self) -> float | None:
        """When it began."""
        stamp = self.start.get("timestamp", {})
        value = stamp.get("timesecs") if isinstance(stamp, dict) else None
        return float(value) if isinstance(value, Number) and re.fullmatch("[0-9]{1,11}", value) else None

    @property
    def local_host(self) -> str:
        """Address of the side that printed."""
        return self._connected("local_host")

    @property
    def peer(self) -> str:
        """The other host: as typed, where a client prints."""
        to = self.start.get("connecting_to", {})
        typed = str(to.get("host", "")) if isinstance(to, dict) else ""
        return escape_line(typed, 80) or self._connected("remote_host")

    def _connected(self, name: str) -> str:
        connected = self.start.get("connected")
        first = connected[0] if isinstance(connected, list) and connected else {}
        return escape_line(str(first.get(name, "")), 80) if isinstance(first, dict) else ""

    def transfers(self) -> Iterator[Transfer]:
        """Yield what went each way, or why nothing did.

        Raises:
            OutputError: A number is none.
        """
        if not any(name in self.end for name in _SUMS):
            reason = escape_line(self.error, 120) or "it has no sums"
            yield Transfer(self.line, self.peer, left_out=f"iperf3 failed: {reason.removeprefix('error - ')}")
            return
        test = _part(self.start.get("test_start", {}), "test_start", self.line)
        is_server = "accepted_connection" in self.start
        is_reverse = str(test.get("reverse", "0")) not in ("0", "False")
        way = "receive" if is_server != is_reverse else "send"
        ways = [("", way)]
        if any(f"{name}{_BACK}" in self.end for name in _SUMS):
            forward = "receive" if is_server else "send"
            ways = [("", forward), (_BACK, "send" if is_server else "receive")]
        for ending, each in ways:
            yield self._transfer(test, ending, each, is_only=len(ways) == 1)

    def _transfer(self, test: Mapping[str, Any], ending: str, way: str, is_only: bool) -> Transfer:
        sums = {name: _part(self.end.get(name + ending), name, self.line) for name in _SUMS}
        found = Transfer(self.line, self.peer, str(test.get("protocol", "")).lower()[:8], way)
        found.streams = min(int(self._number(test, "num_streams") or 1), MAX_STREAMS)
        found.record_size = int(self._number(test, "blksize") or 0) or None
        found.options = {
            escape_line(name, 40): escape_line(str(value), 80)
            for name, value in test.items()
            if not isinstance(value, dict | list) and str(value) not in ("", "0")
        }
        self._rate(found, sums)
        found.figures = self._figures(ending, way, is_only)
        return found

    def _rate(self, found: Transfer, sums: Mapping[str, Mapping[str, Any]]) -> None:
        """Fill in the rate: that of what was received, else of what was sent."""
        received, sent = sums["sum_received"], sums["sum_sent"] or sums["sum"]
        packets, lost = (self._number(received or sums["sum"], name) for name in ("packets", "lost_packets"))
        if self._number(received, "bytes"):
            chosen, found.counted_by, share = received, "received", Decimal(1)
        else:
            chosen, found.counted_by, share = sent, "sent", Decimal(1)
            if not sums["sum_sent"] and packets and lost is not None and lost <= packets:
                found.counted_by, share = "received", (packets - lost) / packets
        if packets is not None and lost is not None and found.counted_by == "received":
            found.datagrams = max(int(packets - lost), 0)
        moved, rate = self._number(chosen, "bytes"), self._number(chosen, "bits_per_second")
        found.moved = None if moved is None else int(moved * share)
        found.rate = None if rate is None else rate / 8 * share
        found.seconds = self._number(chosen, "seconds") or Decimal(0)
        if not sums["sum_sent"] and moved and rate:
            # `seconds` of this sum are the receiver's from 3.2 to 3.9, but the rate is over the sender's.
            found.seconds = moved * 8 / rate

    def _number(self, part: Mapping[str, Any], name: str) -> Decimal | None:
        """Return a number of the output; None if it is missing.

        Raises:
            OutputError: It is none, or far too large.
        """
        value = part.get(name)
        if value is None:
            return None
        try:
            number = Decimal(value) if isinstance(value, Number) else None
        except InvalidOperation:
            number = None
        if number is None or not 0 <= number < _MAX:
            raise OutputError(self.line, f"{name} cannot be {escape_line(str(value), 40)}", HINT)
        return number

    def _figures(self, ending: str, way: str, is_only: bool) -> list[Figure]:
        """Return all numbers of the way; those of both together stand with the way from the client."""
        found: list[Figure] = []
        names = [name for name in self.end if name.endswith(_BACK) == bool(ending) or is_only]
        for name in sorted(names, key=lambda name: not name.startswith("sum")):
            part = self.end[name]
            if name == "streams":
                part = [one for one in part if is_only or self._is_of(one, way)] if isinstance(part, list) else part
            self._add(found, name.removesuffix(_BACK), part)
        if ending and isinstance(streams := self.end.get("streams"), list):
            self._add(found, "streams", [one for one in streams if self._is_of(one, way)])
        for number, text in enumerate(self.intervals):
            interval = _interval(text)
            for name, part in interval.items() if isinstance(interval, dict) else ():
                if name == "streams" and not is_only and isinstance(part, list):
                    part = [one for one in part if self._is_of({"sender": one}, way)]
                elif not is_only and name.endswith(_BACK) != bool(ending):
                    continue
                self._add(found, f"intervals.{number}.{name.removesuffix(_BACK)}", part)
        return found

    def _is_of(self, stream: Any, way: str) -> bool:
        """Return whether a stream went this way, by the mark that tells whether this side sends."""
        parts = [one for one in stream.values() if isinstance(one, dict)] if isinstance(stream, dict) else []
        return any(one.get("sender") is (way == "send") for one in parts)

    def _add(self, found: list[Figure], name: str, part: Any, depth: int = 0) -> None:
        if len(found) > MAX_FIGURES or depth > 8:
            message = f"more than {MAX_FIGURES:,} figures, or nested too deeply"
            raise OutputError(self.line, message, "measure with a longer interval (-i)")
        key = name.rpartition(".")[2]
        if isinstance(part, Number):
            unit = "%" if name.startswith("cpu_utilization_percent") else _UNITS.get(key, "")
            found.append(Figure(name, str(part), unit))
            return
        entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
        for inner, value in entries:
            self._add(found, f"{name}.{escape_line(str(inner), 60)}", value, depth + 1)


def _part(value: Any, name: str, line: int) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise OutputError(line, f"`{name}` is no object, as iperf3 prints it", HINT)
    return value


_BEGIN = re.compile(r'^[ \t]*\{\s*"start":\s*\{\s*"connected":', re.M)
_EVENT = re.compile(r'^[ \t]*\{"event":\s*"(start|interval|end|error|server_output_text|server_output_json)",', re.M)


def has_json(text: str) -> bool:
    """Whether a text has JSON of iperf 3."""
    return _BEGIN.search(text) is not None or _EVENT.search(text) is not None


def _interval(text: str) -> Any:
    """Return an interval, which is the data of an event, or stands alone."""
    value, _ = decode_json(text, 0, _BACK)
    return value.get("data", value) if isinstance(value, dict) else value


class _Intervals:
    """Intervals of one output; of more than `_MAX_INTERVALS` none is kept: some of them would be taken for all."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        """Add an interval, or its event."""
        self._size += len(text)
        self.found.append(text)
        if self._size > _MAX_INTERVALS:
            self.found.clear()


def documents(text: Text) -> Iterator[Iperf3Json]:
    """Yield every output of JSON in a text.

    Raises:
        OutputError: It is not JSON, or not that of iperf 3.
    """
    reader, count = JsonPieces(text, _BACK), 0
    while reader.find(_BEGIN):
        count += 1
        line, parts = reader.line, dict[str, Any]()
        for name in reader.members():
            if name != "intervals":
                parts[name] = reader.value()
                continue
            intervals = _Intervals()
            for _ in reader.elements():
                intervals.add(reader.text)
            parts[name] = intervals.found
        yield Iperf3Json(line, parts)
    if not count:
        yield from _streamed(text)


def _streamed(text: Text) -> list[Iperf3Json]:
    """Return the outputs that a stream of events holds; an event is a line."""
    found: list[Iperf3Json] = []
    parts: dict[str, Any] = {}
    first, intervals = 1, _Intervals()
    for number, line in enumerate(each_line(text), start=1):
        if (match := _EVENT.match(line)) is None:
            continue
        event, _ = decode_json(line, line.index("{"))
        data = event.get("data")
        if match[1] == "start" or not parts:
            intervals = _Intervals()
            parts, first = {"intervals": intervals.found}, number
        if match[1] == "interval":
            intervals.add(line[line.index("{") :])
        else:
            parts[match[1]] = data
        if match[1] in ("end", "error"):
            if match[1] == "error":
                found = [one for one in found if one.line != first]
            found.append(Iperf3Json(first, parts))
    if not found and parts:
        raise OutputError(first, "the stream has no event `end`: iperf3 was stopped before it", HINT)
    return found
