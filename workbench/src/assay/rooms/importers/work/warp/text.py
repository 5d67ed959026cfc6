"""warp's text: what a benchmark prints at its end, and `warp analyze`, of versions 0.3.8 to 1.6.

MiB/s are 2^20 bytes (pkg/aggregate/throughput.go). Averages leave out the beginning and the end, when not all threads
work. Since 1.1 times of requests are means over stretches of 10 s (live.go), so that percentiles are figures only.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.results import Figure, OutputError
from assay.rooms.importers.work.warp.measured import HINT, Requests

_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,12}[A-Za-z]")
_OLD = re.compile(r"Operation: ([A-Z][A-Z0-9_]{1,30})((?:[.,:] | \(| - ).{0,400})?")
_NEW = re.compile(r"Report: ([A-Z][A-Za-z0-9_]{1,30})(?:\. | \()(.{1,400})")
_SKIPPED = re.compile(r"Skipping ([A-Z][A-Z0-9_]{1,30}) too few samples\..*")
_CLUSTER = re.compile(r"Cluster Total: (.{1,400})")
_AVERAGE = re.compile(r" ?\* (Average|Throughput): +(.{1,200})")
_ITEM = re.compile(r"(?:[ \t]*[*-] )?(https?://\S{1,200}|[^:]{1,60}): +(.{1,400})")
_SPEED = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,4})?) ?((?:[KMGT]i)?B/s|obj/s|ops/s)")
_ERRORS = re.compile(r"(?: \* )?(?:Total )?Errors: ?([0-9]{1,15})\.?")
_ERROR_COUNT = re.compile(r"\b([0-9]{1,15}) errors\b")
_CONCURRENCY = re.compile(r"\bConcurrency: ([0-9]{1,9})\b")
_CLIENTS = re.compile(r"\bWarp Instances: ([0-9]{1,9})\b")
_SIZE = re.compile(r"\bSize: ([0-9]{1,18}) bytes")
_REQUESTS = re.compile(r"\(([0-9]{1,15})(?: reqs)?\)|\btotal: ([0-9]{1,15}),")
_TIME_WORD = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?([0-9]{1,9}(?:\.[0-9]{1,9})?)(s|ms|µs|us|ns)|0s")
_TIMES = ("Avg", "50%", "90%", "99%", "Fastest", "Slowest", "StdDev")
_PERCENTILES = {"50%": "p50", "90%": "p90", "99%": "p99"}
_FIRST_BYTE = {
    "Avg": "mean",
    "Average": "mean",
    "Best": "min",
    "Median": "p50",
    "90th": "p90",
    "99th": "p99",
    "Worst": "max",
}
_MAX_LINE = 2000


@dataclass
class _Block:
    """The text about one kind of requests."""

    requests: Requests
    is_new: bool
    section: str = ""


@dataclass
class Report:
    """What one benchmark prints.

    Attributes:
        line: Line of the file on which it begins, from 1.
        kinds: Requests of each type.
        whole: All requests together, in a mix; else None.
    """

    line: int
    kinds: list[Requests] = field(default_factory=list)
    whole: Requests | None = None


def clean_lines(text: str) -> list[str]:
    """Return the lines as a terminal shows them."""
    return [_ESCAPE.sub("", line.rstrip("\r").rpartition("\r")[2])[:_MAX_LINE] for line in text.split("\n")]


def is_report(lines: Sequence[str]) -> bool:
    """Whether lines are of warp: an operation, with its average soon after."""
    for number, line in enumerate(lines):
        if not (line.startswith(("Operation: ", "Report: ", "Skipping "))):
            continue
        if _SKIPPED.fullmatch(line.strip()):
            return True
        found = _OLD.fullmatch(line.strip()) or _NEW.fullmatch(line.strip())
        if found and any(
            _AVERAGE.fullmatch(after) and _SPEED.search(after) for after in lines[number + 1 : number + 15]
        ):
            return True
    return False


def reports_of(lines: Sequence[str]) -> Iterator[Report]:
    """Yield what each benchmark prints, in order.

    A benchmark begins where a kind of requests comes again.

    Raises:
        OutputError: It is not what warp prints.
    """
    report: Report | None = None
    block: _Block | None = None
    for number, line in enumerate(lines, start=1):
        found = _begin(line.strip(), number)
        if found is not None and block is not None and _ends(block, found):
            found = None
        if found is None:
            if block is not None:
                _take(block, line, number)
            continue
        if block is not None:
            _finish(block)
        name = found.requests.name
        known = [one.name for one in report.kinds] if report else []
        if report is None or name in known or (not name and report.whole):
            if report is not None:
                yield report
            report = Report(number)
        if name:
            report.kinds.append(found.requests)
        else:
            report.whole = found.requests
        block = found
    if report is not None and block is not None:
        _finish(block)
        yield report


def _ends(block: _Block, found: _Block) -> bool:
    """Whether what begins only says that the operation before it has too few samples."""
    return bool(found.requests.left_out) and found.requests.name == block.requests.name


def _begin(line: str, number: int) -> _Block | None:
    """Return the block that begins with a line; None if none does."""
    if match := _SKIPPED.fullmatch(line):
        found = Requests(match[1], number, left_out="too few samples, as warp says")
        return _Block(found, True)
    if match := _CLUSTER.fullmatch(line):
        block = _Block(Requests("", number), False)
        _take_speed(block, "Cluster Total", match[1])
        return block
    match = _OLD.fullmatch(line) or _NEW.fullmatch(line)
    if match is None:
        return None
    name = "" if match[1] == "Total" else match[1]
    block = _Block(Requests(name, number), line.startswith("Report"))
    _take_head(block.requests, match[2] or "")
    return block


def _take_head(found: Requests, text: str) -> None:
    """Take the numbers that stand beside the name of an operation."""
    if match := _CONCURRENCY.search(text):
        found.streams = int(match[1]) or None
        found.figures.append(Figure("Concurrency", match[1]))
    if match := _CLIENTS.search(text):
        found.clients = int(match[1]) or None
        found.figures.append(Figure("Warp Instances", match[1]))
    if match := _SIZE.search(text):
        found.figures.append(Figure("Size", match[1], "bytes"))
    if match := _REQUESTS.search(text):
        found.figures.append(Figure("requests", match[1] or match[2]))


def _take(block: _Block, line: str, number: int) -> None:
    """Read a line behind the beginning of a block."""
    text, found = line.strip(), block.requests
    if "too few samples" in text and text.startswith("Skipping "):
        found.left_out = "too few samples, as warp says"
    elif match := _AVERAGE.fullmatch(line.rstrip()):
        if found.object_rate is not None and match[1] == "Average":
            raise OutputError(number, f"{found.name or 'Total'} has two averages", HINT)
        _take_speed(block, match[1], match[2])
    elif match := _ERRORS.fullmatch(text):
        found.errors = max(found.errors, int(match[1]))
        found.figures.append(Figure("Errors", match[1]))
    elif text.startswith("* Objects per request:"):
        _take_head(found, text)
    elif text.startswith(
        ("Throughput, split into", "Throughput by", "Requests by", "Request size", "Requests considered")
    ):
        block.section = text.split(",")[0].rstrip(": ") if not text.startswith("Request size") else text.split(". ")[0]
        if text.startswith("Requests considered"):
            block.section = "Requests"
    elif match := _ITEM.fullmatch(line.rstrip()):
        _take_item(block, match[1].strip(), match[2])


def _take_speed(block: _Block, name: str, text: str) -> None:
    found = block.requests
    rates = _speeds(name, text)
    found.figures += rates
    for figure in rates:
        if figure.unit == "1/s":
            found.object_rate = float(convert(figure.text, figure.unit))
        else:
            found.bytes_rate = float(convert(figure.text, figure.unit))
    if match := _ERROR_COUNT.search(text):
        found.errors = max(found.errors, int(match[1]))


def _speeds(name: str, text: str) -> list[Figure]:
    """Return rates such as `38.22GiB/s, 9784.09 obj/s`."""
    return [
        Figure(
            f"{name}.objects" if unit in ("obj/s", "ops/s") else name,
            number,
            "1/s" if unit in ("obj/s", "ops/s") else unit,
        )
        for number, unit in _SPEED.findall(text)
        if unit in ("obj/s", "ops/s") or unit in UNITS
    ]


def _take_item(block: _Block, label: str, text: str) -> None:
    """Read a line with a name and times or rates."""
    found = block.requests
    name = f"{block.section}.{escape_line(label, 60)}" if block.section else escape_line(label, 60)
    if label in ("Avg", "Reqs") and not _SPEED.search(text.split(", ")[0]):
        pairs = [one.partition(": ") for one in (text if label == "Reqs" else f"{label}: {text}").split(", ")]
        _take_times(found, {key.strip(): value for key, _, value in pairs}, block.is_new)
    elif label == "TTFB" or label.endswith("First Byte"):
        words = text.replace(" StdDev:", ", StdDev:").split(", ")
        _take_first_byte(found, {key: value for key, _, value in (one.partition(": ") for one in words)}, block.is_new)
    elif block.section.startswith("Request size"):
        for part in text.split(", "):
            key, _, value = part.partition(": ")
            found.figures += _speeds(f"{name}.{key.strip()}", value)
    else:
        found.figures += _speeds(name, text)


def _take_times(found: Requests, words: dict[str, str], is_new: bool) -> None:
    for key in _TIMES:
        known = _time(words.get(key, ""))
        if known is None:
            continue
        text, unit = known
        found.figures.append(Figure(f"requests.{key}", text, unit))
        name = {"Avg": "mean", "Fastest": "min", "Slowest": "max"}.get(key, "" if is_new else _PERCENTILES.get(key, ""))
        if name:
            found.latency[name] = float(convert(text, unit))


def _take_first_byte(found: Requests, words: dict[str, str], is_new: bool) -> None:
    for key, value in words.items():
        known = _time(value.strip())
        if known is None or len(key) > 30:
            continue
        text, unit = known
        found.figures.append(Figure(f"first byte.{escape_line(key.strip(), 30)}", text, unit))
        name = _FIRST_BYTE.get(key.strip(), "")
        if name and not (is_new and name.startswith("p")):
            found.first_byte[name] = float(convert(text, unit))


def _time(word: str) -> tuple[str, str] | None:
    """Return a time as Go prints it, such as `1m2.5s`, as a number and its unit; None if it is none."""
    match = _TIME_WORD.fullmatch(word)
    if match is None:
        return None
    if match[3] is None:
        return "0", "s"
    if match[4] != "s" or not (match[1] or match[2]):
        return match[3], "us" if match[4] == "µs" else match[4]
    whole, _, decimals = match[3].partition(".")
    seconds = int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + int(whole)
    return f"{seconds}.{decimals}" if decimals else str(seconds), "s"


def _finish(block: _Block) -> None:
    """Leave out requests without an average: of several hosts, older versions print those of each alone."""
    found = block.requests
    if found.object_rate is None and found.bytes_rate is None and not found.left_out:
        found.left_out = "warp prints no average of it"
