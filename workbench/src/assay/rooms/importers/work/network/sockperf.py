"""sockperf's text: ping-pong, under load, and throughput, of versions 2.7 to 3.10; also the head of a full log.

sockperf's latency is half of a round trip, unless `--full-rtt` was given; src/client.cpp, client_statistics. `MBps` are
2^20 bytes a second, `Mbps` 2^20 bits, and `GBps` 1000 `MBps`; stream_statistics there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.result.percentile import PERCENTILES
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.long_text import Text, each_line
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
    rate_alone,
)

NAME = "sockperf"
HINT = "give the file as sockperf printed it"
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,9})?"
_COLOUR = re.compile(r"\x1b?\[[0-9;]{1,9}m")
_VERSION = re.compile(r"sockperf: *== version #(\S{1,40}) ==")
_TO = re.compile(r"\[ *[0-9]{1,5}\] IP = (?P<host>\S{1,80}) +PORT = +(?P<port>[0-9]{1,5}) # (?P<protocol>TCP|UDP)")
_PARAMETERS = re.compile(r"test was performed using the following parameters: (.{1,300})")
_TOTAL = re.compile(
    rf"sockperf: \[(?P<part>Total Run|Valid Duration)\] RunTime=(?P<time>{_NUMBER}) sec;"
    r"(?: Warm up (?:time|packets)=(?P<warm>[0-9]{1,12})(?P<warm_unit> msec)?;)? SentMessages=(?P<sent>[0-9]{1,15}); "
    r"ReceivedMessages=(?P<received>[0-9]{1,15})(?:; SkippedMessages=(?P<skipped>[0-9]{1,15}))?"
)
_MEAN = re.compile(rf"sockperf: ====> avg-(?P<what>lat|latency|rtt)= *(?P<mean>{_NUMBER}) \((?P<more>.{{1,300}})\)")
_SUMMARY = re.compile(rf"sockperf: Summary: (?P<what>Latency|Round trip) is (?P<mean>{_NUMBER}) usec")
_DEVIATION = re.compile(rf"(std-dev|mean-ad|median-ad|siqr|cv|std-error)=({_NUMBER})")
_INTERVAL = re.compile(rf"({_NUMBER})% ci=\[(-?{_NUMBER}), ({_NUMBER})\]")
_LOST = re.compile(
    r"sockperf: # dropped messages = (?P<dropped>[0-9]{1,15}); # duplicated messages = (?P<duplicated>[0-9]{1,15}); "
    r"# out-of-order messages = (?P<disordered>[0-9]{1,15})"
)
_OBSERVATION = re.compile(
    rf"sockperf: ---> (?:<(?P<end>MAX|MIN)> observation|percentile +(?P<percent>{_NUMBER})) = +(?P<time>{_NUMBER})"
)
_COUNT = re.compile(r"sockperf: Total (?P<count>[0-9]{1,15}) observations(?:; .{1,80})?")
_STREAM = re.compile(rf"sockperf: Total of (?P<count>[0-9]{{1,15}}) messages sent in (?P<time>{_NUMBER}) sec.{{0,80}}")
_RATE = re.compile(r"sockperf: Summary: Message Rate is (?P<rate>[0-9]{1,15}) \[msg/sec\].{0,120}")
_WIDTH = re.compile(
    rf"sockperf: Summary: BandWidth is (?P<bytes>{_NUMBER}) (?P<unit>[MG]Bps) "
    rf"\((?P<bits>{_NUMBER}) (?P<bit_unit>[MG]bps)\)"
)
_SIZE = re.compile(r"sockperf: NOTE: test was performed, using msg-size=(?P<size>[0-9]{1,9})[,.].{0,200}")
_LIKE = re.compile(r"sockperf: (?:\[(?:Total Run|Valid Duration)\]|====> |---> |Summary: BandWidth)")
_FAILED = re.compile(r"sockperf: ERROR: (.{1,200})")


@dataclass
class _Test:
    """What one run of sockperf printed.

    Attributes:
        line: Line of the file on which it begins, from 1.
        version: As printed; empty if it is not.
        host: Address of the server.
        protocol: `tcp` or `udp`.
        options: What was asked for, where it is printed.
        is_full: Times are whole round trips; None before it is known.
        figures: As printed.
        failed: What sockperf says went wrong; empty if nothing did.
    """

    line: int
    version: str = ""
    host: str = ""
    protocol: str = ""
    options: dict[str, str] = field(default_factory=dict)
    is_full: bool | None = None
    figures: list[Figure] = field(default_factory=list)
    failed: str = ""

    def number(self, name: str) -> Decimal | None:
        """Return a printed number; None if it is not printed."""
        return next((Decimal(figure.text) for figure in self.figures if figure.name == name), None)


def _clean(text: Text) -> Iterator[str]:
    """Yield the lines without colours."""
    return (_COLOUR.sub("", line).strip() for line in each_line(text))


def recognise(text: str) -> bool:
    """Whether a text has output of sockperf."""
    return any(
        any(pattern.fullmatch(line) for pattern in (_VERSION, _TOTAL, _STREAM, _SUMMARY))
        for line in _clean(text)
        if line.startswith("sockperf: ")
    )


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: there are no offsets.

    Raises:
        OutputError: It is not what sockperf writes.
    """
    tests: list[_Test] = []
    stated_options, has_warmed_up = "", False
    for number, line in enumerate(_clean(text), start=1):
        if line[:1].isdigit():
            # A full log has a line for each message.
            continue
        if match := _PARAMETERS.fullmatch(line):
            stated_options = match[1]
            continue
        is_first = _VERSION.fullmatch(line)
        starts_again = line == _WARM_UP and bool(tests) and (has_warmed_up or tests[-1].number("total seconds"))
        has_warmed_up = line == _WARM_UP or (has_warmed_up and not is_first)
        if is_first or (not tests and line.startswith("sockperf: ")) or starts_again or _is_second(tests, line):
            tests.append(_Test(number, version=escape_line(is_first[1], 40) if is_first else ""))
            tests[-1].options, stated_options = _options(stated_options), ""
        if tests:
            _read_line(tests[-1], line, number)
    found = [_output(test, file) for test in tests]
    if not found:
        raise OutputError(1, "no results in this output of sockperf", HINT)
    return found


_WARM_UP = "sockperf: Warmup stage (sending a few dummy messages)..."


def _is_second(tests: Sequence[_Test], line: str) -> bool:
    """Return whether a line is the first figure of another test."""
    if not tests:
        return False
    if _SUMMARY.fullmatch(line):
        return tests[-1].number("observations") is not None
    return "[Total Run]" in line and tests[-1].number("total seconds") is not None


def _options(words: str) -> dict[str, str]:
    """Return the options that the head of a full log states: `--mps=5000 --msg-size=1024`."""
    pairs = (word.removeprefix("--").partition("=") for word in words.split()[:20])
    return {escape_line(name, 40): escape_line(value, 40) for name, _, value in pairs}


def _read_line(test: _Test, line: str, number: int) -> None:
    """Read a line of a test.

    Raises:
        OutputError: It begins like a line with figures and is none.
    """
    if match := _TO.fullmatch(line):
        test.host, test.protocol = test.host or escape_line(match["host"], 80), match["protocol"].lower()
    elif match := _TOTAL.fullmatch(line):
        part = "total" if match["part"] == "Total Run" else "valid"
        names = (
            ("seconds", "time", "s"),
            ("warm up", "warm", "ms" if match["warm_unit"] else ""),
            ("sent", "sent", ""),
            ("received", "received", ""),
            ("skipped", "skipped", ""),
        )
        test.figures += [Figure(f"{part} {name}", match[key], unit) for name, key, unit in names if match[key]]
    elif match := _MEAN.fullmatch(line):
        test.is_full = match["what"] == "rtt"
        test.figures.append(Figure(f"avg-{match['what']}", match["mean"], "us"))
        test.figures += [
            Figure(name, text, "" if name == "cv" else "us") for name, text in _DEVIATION.findall(match["more"])
        ]
        if interval := _INTERVAL.search(match["more"]):
            name = f"{interval[1]}% ci"
            test.figures += [Figure(f"{name} low", interval[2], "us"), Figure(f"{name} high", interval[3], "us")]
    elif (match := _SUMMARY.fullmatch(line)) and test.is_full is None:
        # In an excerpt, only this line has the mean.
        test.is_full = match["what"] == "Round trip"
        test.figures.append(Figure(f"avg-{'rtt' if test.is_full else 'latency'}", match["mean"], "us"))
    elif match := _LOST.fullmatch(line):
        test.figures += [Figure(name, text) for name, text in match.groupdict().items()]
    elif match := _OBSERVATION.fullmatch(line):
        name = match["end"].lower() if match["end"] else f"percentile {match['percent']}"
        test.figures.append(Figure(name, match["time"], "us"))
    elif match := _COUNT.fullmatch(line):
        test.figures.append(Figure("observations", match["count"]))
    else:
        _read_throughput(test, line, number)


def _read_throughput(test: _Test, line: str, number: int) -> None:
    if match := _STREAM.fullmatch(line):
        test.figures += [Figure("sent messages", match["count"]), Figure("seconds", match["time"], "s")]
    elif match := _RATE.fullmatch(line):
        test.figures.append(Figure("message rate", match["rate"], "1/s"))
    elif match := _WIDTH.fullmatch(line):
        test.figures += [
            Figure("bandwidth", match["bytes"], match["unit"]),
            Figure("bandwidth in bits", match["bits"], match["bit_unit"]),
        ]
    elif match := _SIZE.fullmatch(line):
        test.options["msg-size"] = match["size"]
    elif match := _FAILED.fullmatch(line):
        test.failed = escape_line(match[1], 120)
    elif _LIKE.match(line):
        raise OutputError(number, f"not a line of sockperf: {escape_line(line, 80)}", HINT)


def _output(test: _Test, file: ImportedFile) -> ToolOutput:
    bandwidth = next((figure for figure in test.figures if figure.name == "bandwidth"), None)
    kind = "throughput" if bandwidth else "round trips under load" if _is_under_load(test) else "round trips"
    reason = "" if bandwidth or test.is_full is not None else "nothing was measured"
    if reason and test.failed:
        reason = f"sockperf failed: {test.failed}"
    elif bandwidth and not Decimal(bandwidth.text):
        reason = "its rate is 0"
    elif not bandwidth and not reason and not _latency(test):
        reason = "its times are 0"
    elif not bandwidth and not reason and test.number("valid seconds") is None:
        reason = "how long it took is missing, so that its rate is not known"
    measured = None if reason else _stream(test, bandwidth) if bandwidth else _round_trips(test)
    words = " ".join(word for word in (test.protocol, kind) if word)
    size = None if reason else whole_number(test.options.get("msg-size"), 1 << 30)
    result = ImportedResult(
        name=f"{words}{', as sent' if bandwidth else ''}",
        line=test.line,
        target=test.host or NAME,
        workload=words,
        operation=None if reason else "transfer" if bandwidth else "round_trip",
        parameters={"record_size": size} if size else {},
        options=test.options,
        figures=tuple(test.figures),
        latency_of="" if reason or bandwidth else "rtt" if test.is_full else "latency x 2",
        measured=measured,
        left_out=reason,
    )
    known = {"tool": NAME, "form": "text", "line": test.line, "version": test.version}
    return ToolOutput(file=file.model_copy(update=known), results=(result,))


def _is_under_load(test: _Test) -> bool:
    """Return whether few of the messages had an answer (`under-load`): ping-pong waits for each answer."""
    sent, received = test.number("total sent"), test.number("total received")
    return sent is not None and received is not None and 2 * received < sent


def _latency(test: _Test) -> dict[str, float]:
    """Return times of round trips in ns: as printed, or twice the latencies, which are halves of them."""
    factor = Decimal(1000 if test.is_full else 2000)
    named = {figure.name: Decimal(figure.text) * factor for figure in test.figures if figure.unit == "us"}
    found = {"mean": next((value for name, value in named.items() if name.startswith("avg-")), Decimal(0))}
    found |= {name: named[name] for name in ("min", "max") if name in named}
    for name, value in named.items():
        percent = float(name.removeprefix("percentile ")) if name.startswith("percentile ") else None
        found |= {known: value for known, exact in PERCENTILES.items() if exact == percent}
    return {name: float(value) for name, value in found.items()} if found["mean"] else {}


def _round_trips(test: _Test) -> Measurement:
    seconds, received = test.number("valid seconds"), test.number("valid received")
    known = seconds is not None and received is not None and seconds > 0
    elapsed = int(seconds * 10**9) if known and seconds is not None else None
    return Measurement(
        status="done",
        has_counts=received is not None,
        ops=int(received) if received is not None else 0,
        bytes=0,
        read_bytes=0,
        write_bytes=0,
        throughput=0.0,
        iops=float(received / seconds) if known and seconds and received is not None else None,
        elapsed_ns=elapsed,
        latency=_latency(test),
    )


def _stream(test: _Test, bandwidth: Figure) -> Measurement:
    seconds = test.number("seconds")
    elapsed = int(seconds * 10**9) or None if seconds else None
    return rate_alone(convert(bandwidth.text, bandwidth.unit), None, elapsed_ns=elapsed)
