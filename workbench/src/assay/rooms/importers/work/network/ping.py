"""ping's text: iputils on Linux, BusyBox, inetutils, macOS and the BSDs with ping6, and Windows in seven languages.

Sources: ping/ping_common.c of iputils, networking/ping.c of BusyBox, ping/ping.c of inetutils, sbin/ping/ping.c and
sbin/ping6/ping6.c of FreeBSD, from which macOS has its own. Windows prints whole milliseconds, and `time<1ms` below
one; in other languages the words differ, and the numbers and their order do not. Letters with accents may be any
character: a console writes them in its own code page.

ping waits between its requests, so that the rate in which it sends them says nothing of the network. The rate of its
results is 1 / mean time: as many round trips as fit into a second one after the other, as iperf 2 has it in its
bounceback test (`RPS`).
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "ping"
HINT = "give the file as ping printed it"
MAX_FIGURES = 20_000
_NUMBER = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"
BEGIN = re.compile(
    r"PING (?P<host>\S{1,255}?) ?\((?P<address>[^()\s]{1,255})\)(?:,? from .{1,120}?)?:? "
    r"(?P<size>[0-9]{1,6})(?:\((?P<whole>[0-9]{1,6})\))? (?:data bytes|bytes of data\.)(?:, id 0x[0-9a-f]{1,8}.*)?"
)
BEGIN_6 = re.compile(
    r"PING6?\([0-9]{1,6}=40\+8\+(?P<size>[0-9]{1,6}) bytes\) \S{1,80} --> (?P<host>(?P<address>\S{1,80}))"
)
WINDOWS = re.compile(
    r"(?:Pinging|Envoi d.une requ.te '[Pp]ing'(?: sur)?|Ping wird ausgef.hrt f.r|Haciendo ping a|Disparando(?: contra)?"
    r"|Esecuzione di Ping|Обмен пакетами с) {1,2}(?P<host>\S{1,255})(?: \[(?P<address>[^\]\s]{1,80})\])?"
    r"(?: (?:from|de|von|desde|da|от) \S{1,80})? (?:with|avec|mit|con|com|по с|с|по) (?P<size>[0-9]{1,6}) "
    r"(?:bytes of data|octets de donn.es|Bytes Daten|bytes de datos|bytes de dados|byte di dati|байтами данных|байт) ?:"
)
_STARTS = ("PING", "Pinging ", "Ping wird", "Envoi d", "Haciendo ping", "Disparando", "Esecuzione di Ping", "Обмен ")
_REPLY = re.compile(
    r"(?:\[[0-9.]{1,30}\] )?[0-9]{1,6} bytes from .{1,300}?:? (?:icmp_)?seq=(?P<seq>[0-9]{1,9})(?:,? .*?)?"
    rf"time(?P<sign>[=<])(?P<time>{_NUMBER}) ?ms(?P<more>.*)"
)
_WINDOWS_REPLY = re.compile(
    r"[^=<:]{4,30}\S{1,255} ?: (?:[^=<:]{1,20}=[0-9]{1,6} )?[^=<: ]{1,20}(?P<sign>[=<])(?P<time>[0-9]{1,9}) ?"
    r"(?:ms|m|мс|мсек)(?: TTL=.*)?"
)
_STATISTICS = re.compile(r"--- (?P<host>\S{1,255}) ping6? statistics ---")
_COUNTS = re.compile(
    r"(?P<sent>[0-9]{1,12}) packets transmitted, (?P<received>[0-9]{1,12})(?: packets)? received(?P<more>.*)"
)
_MORE = re.compile(
    rf"\+?(?P<count>{_NUMBER}(?:e[+-]?[0-9]{{1,3}})?)(?P<name> duplicates| corrupted| errors|% packet loss)"
    rf"|time (?P<time>[0-9]{{1,15}})ms"
)
_TIMES = re.compile(
    rf"(?:rtt|round-trip) min/avg/max(?P<deviation>/mdev|/stddev|/std-dev)? = "
    rf"(?P<min>{_NUMBER})/(?P<avg>{_NUMBER})/(?P<max>{_NUMBER})(?:/(?P<dev>{_NUMBER}|nan))? ms"
    rf"(?:, pipe (?P<pipe>[0-9]{{1,9}}))?(?:, ipg/ewma (?P<ipg>{_NUMBER})/(?P<ewma>{_NUMBER}) ms)?"
)
_WINDOWS_COUNTS = re.compile(
    r"[^=,:]{4,20}: [^=,:]{2,20} = (?P<sent>[0-9]{1,12}), [^=,:]{2,20} = (?P<received>[0-9]{1,12}), "
    r"[^=,:]{2,20} = (?P<lost>[0-9]{1,12})(?: \([^(),=:]{0,20}?(?P<loss>[0-9]{1,3})% ?[^(),=:]{0,20}\)?)?,?"
)
_WINDOWS_LOSS = re.compile(r"\((?P<loss>[0-9]{1,3})% ?[^(),=:]{1,20}\),?")
_MS = "(?:ms| ?мсек)"
_WINDOWS_TIMES = re.compile(
    rf"[MМ][^=,:]{{2,14}} = (?P<min>[0-9]{{1,9}}){_MS}, [^=,:]{{5,14}} = (?P<max>[0-9]{{1,9}}){_MS}, "
    rf"[^=,:]{{5,14}} = (?P<avg>[0-9]{{1,9}}){_MS}"
)
_LIKE = re.compile(r"(?:rtt|round-trip) min/avg/max|Minimum = |[0-9]+ packets transmitted")


@dataclass
class _Times:
    """Times of replies in ms, also of those that are not kept.

    Attributes:
        count: How many there are.
        sum: Their sum.
        least: The least.
        greatest: The greatest.
        has_bounds: Some are only known to be below a time.
    """

    count: int = 0
    sum: Decimal = Decimal(0)
    least: Decimal = Decimal(0)
    greatest: Decimal = Decimal(0)
    has_bounds: bool = False

    def add(self, text: str, is_bound: bool) -> None:
        """Add a time as printed."""
        time = Decimal(text)
        self.least = min(self.least, time) if self.count else time
        self.greatest = max(self.greatest, time)
        self.count, self.sum, self.has_bounds = self.count + 1, self.sum + time, self.has_bounds or is_bound


@dataclass
class _Ping:
    """What one run of ping printed."""

    line: int
    host: str
    options: dict[str, str]
    size: int
    is_windows: bool = False
    replies: list[Figure] = field(default_factory=list)
    all_times: _Times = field(default_factory=_Times)
    counts: dict[str, Figure] = field(default_factory=dict)
    times: dict[str, Figure] = field(default_factory=dict)

    def number(self, name: str) -> Decimal | None:
        """Return a number of the statistics; None if it is not printed."""
        return Decimal(self.counts[name].text) if name in self.counts else None


def recognise(text: str) -> bool:
    """Whether a text has output of ping."""
    return any(_first_line(line.strip()) for line in text.split("\n") if line.lstrip().startswith(_STARTS))


def _first_line(line: str) -> re.Match[str] | None:
    return BEGIN.fullmatch(line) or BEGIN_6.fullmatch(line) or WINDOWS.fullmatch(line)


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return the output in a text, with a result for each run of ping.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: there are no offsets.

    Raises:
        OutputError: It is not what ping writes.
    """
    pings: list[_Ping] = []
    for number, raw in enumerate(each_line(text), start=1):
        line = raw.strip()
        if line.startswith(_STARTS) and (match := _first_line(line)):
            pings.append(_begin(match, number, match.re is WINDOWS))
        elif pings:
            _read_line(pings[-1], line, number)
    if not pings:
        raise OutputError(1, "no line `PING` in this output of ping", HINT)
    results = tuple(_result(one) for one in pings)
    known = {"tool": NAME, "form": "text", "line": pings[0].line}
    return [ToolOutput(file=file.model_copy(update=known), results=results)]


def _begin(match: re.Match[str], number: int, is_windows: bool) -> _Ping:
    options = {"size": match["size"]}
    if match["address"] and match["address"] != match["host"]:
        options["address"] = escape_line(match["address"], 80)
    return _Ping(number, escape_line(match["host"], 80), options, int(match["size"]), is_windows)


def _read_line(ping: _Ping, line: str, number: int) -> None:
    """Read a line behind the first one.

    Raises:
        OutputError: It begins like a line of the statistics and is none.
    """
    if match := (_WINDOWS_REPLY if ping.is_windows else _REPLY).fullmatch(line):
        _take_reply(ping, match)
    elif match := _STATISTICS.fullmatch(line):
        # ping6 of the BSDs has the name here only.
        if (host := escape_line(match["host"], 80)) != ping.host:
            ping.options.setdefault("address", ping.host)
            ping.host = host
    elif match := (_WINDOWS_COUNTS if ping.is_windows else _COUNTS).fullmatch(line):
        _take_counts(ping, match)
    elif ping.is_windows and (match := _WINDOWS_LOSS.fullmatch(line)):
        ping.counts["loss"] = Figure("loss", match["loss"], "%")
    elif match := _TIMES.fullmatch(line):
        names = (("min", "min"), ("avg", "avg"), ("max", "max"), ("dev", (match["deviation"] or "/")[1:] or "mdev"))
        ping.times |= {
            name: Figure(name, match[key], "ms") for key, name in names if match[key] and match[key] != "nan"
        }
        if match["pipe"]:
            ping.counts["pipe"] = Figure("pipe", match["pipe"])
        for name in ("ipg", "ewma"):
            if match[name]:
                ping.times[name] = Figure(name, match[name], "ms")
    elif ping.is_windows and (match := _WINDOWS_TIMES.fullmatch(line)):
        windows = (("min", "Minimum"), ("max", "Maximum"), ("avg", "Average"))
        ping.times |= {key: Figure(name, match[key], "ms") for key, name in windows}
    elif _LIKE.match(line):
        raise OutputError(number, f"not the statistics of ping: {escape_line(line, 80)}", HINT)


def _take_reply(ping: _Ping, match: re.Match[str]) -> None:
    """Take a reply. Of more than `MAX_FIGURES` none is kept: some of them would be taken for all."""
    sequence = match.groupdict().get("seq") or str(ping.all_times.count + 1)
    below = ", below" if match["sign"] == "<" else ""
    again = ", again" if "DUP" in (match.groupdict().get("more") or "") else ""
    ping.all_times.add(match["time"], is_bound=bool(below))
    if ping.all_times.count <= MAX_FIGURES:
        ping.replies.append(Figure(f"reply {sequence}{again}: time{below}", match["time"], "ms"))
    else:
        ping.replies.clear()


def _take_counts(ping: _Ping, match: re.Match[str]) -> None:
    found = match.groupdict()
    for key, name in (("sent", "transmitted"), ("received", "received"), ("lost", "lost")):
        if found.get(key):
            ping.counts[name] = Figure(name, found[key])
    if found.get("loss"):
        ping.counts["loss"] = Figure("loss", found["loss"], "%")
    for part in _MORE.finditer(found.get("more") or ""):
        if part["time"]:
            ping.counts["time"] = Figure("time", part["time"], "ms")
        else:
            name = part["name"].strip()
            is_loss = name == "% packet loss"
            ping.counts["loss" if is_loss else name] = Figure(
                "loss" if is_loss else name, part["count"], "%" if is_loss else ""
            )


def _latency(ping: _Ping) -> dict[str, float]:
    """Return least, mean and greatest time in ns, by the statistics; without these, by the replies that are printed."""
    names = {"min": "min", "avg": "mean", "max": "max"}
    if all(name in ping.times for name in names):
        return {key: float(Decimal(ping.times[name].text) * 10**6) for name, key in names.items()}
    seen = ping.all_times
    if not seen.count or seen.has_bounds:
        return {}
    values = {"min": seen.least, "mean": seen.sum / seen.count, "max": seen.greatest}
    return {name: float(value * 10**6) for name, value in values.items()}


def _result(ping: _Ping) -> ImportedResult:
    received, latency = ping.number("received"), _latency(ping)
    reason = ""
    if received is not None and not received:
        reason = "no answer came"
    elif received is None and not ping.all_times.count:
        reason = "the output ends before its statistics"
    elif not latency:
        reason = "no times are printed, as with -s below 16, or only that they are below a millisecond"
    elif not latency["mean"]:
        reason = "its mean time is 0: below what this ping can tell"
    counts = tuple(ping.counts.values())
    figures = (*counts, *ping.times.values(), *ping.replies)
    return ImportedResult(
        name=f"ping {ping.host}",
        line=ping.line,
        target=ping.host,
        # iputils prints `ipg` if it did not wait between its requests (ping_common.c, finish).
        workload="ping without pauses" if "ipg" in ping.times else "ping",
        operation=None if reason else "round_trip",
        parameters={"record_size": ping.size} if ping.size and not reason else {},
        options=ping.options,
        figures=figures,
        latency_of="" if reason else "rtt" if ping.counts else "time of the replies that are printed",
        measured=None if reason else _measurement(ping, received, latency),
        left_out=reason,
    )


def _measurement(ping: _Ping, received: Decimal | None, latency: dict[str, float]) -> Measurement:
    return Measurement(
        status="done",
        has_counts=True,
        ops=int(received) if received is not None else ping.all_times.count,
        bytes=0,
        read_bytes=0,
        write_bytes=0,
        throughput=0.0,
        iops=1e9 / latency["mean"],
        latency=latency,
    )
