"""ioping's statistics: the text of 0.6 to 1.3, its raw line (`-B`) and its JSON (`-J`, since 1.3).

Sizes are powers of 1024, also those that versions before 1.0 print as kb and mb; times are those of single requests
(ioping.c, print_size, print_time and print_statistics). Offsets are random, and with -L in order.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.secret import redact_line, redact_word
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.disks.printed import (
    amount,
    finer,
    lines_in,
    lines_of,
    measurement,
    nanoseconds,
    per_second,
)
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.json_pieces import JsonPieces
from assay.rooms.importers.work.long_text import Text, pieces_of
from assay.rooms.importers.work.results import (
    NO_ORDER,
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    Measurement,
    OutputError,
    ToolOutput,
)

NAME = "ioping"
HINT = "give the output of ioping as it printed it, with the command line before it"
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_REQUEST = re.compile(rf"({_NUMBER} ?[KMG]?i?[Bb]|[0-9]+ bytes) (<<<|>>>|from|to) .{{1,300}}: request=[0-9]+ time=.*")
_BEGIN = re.compile(r"--- (.{1,300}?)(?: \((.{1,200})\))? ioping statistics ---")
_COMPLETED = re.compile(
    rf"({_NUMBER}) ?([kMG]?) requests completed in ({_NUMBER}) (ns|us|ms|s|min)(?:, ({_NUMBER}) ?([KMGTP]?i?[Bb])"
    rf"( read| written|))?, ({_NUMBER}) ?([kMG]?) iops, ({_NUMBER}) ?([kmgtKMGT]?i?[Bb])(?:ytes)?/s"
)
_GENERATED = re.compile(
    rf"generated ({_NUMBER}) ?([kMG]?) requests in ({_NUMBER}) (ns|us|ms|s|min), ({_NUMBER}) ?([KMGTP]?i?B),"
    rf" ({_NUMBER}) ?([kMG]?) iops, ({_NUMBER}) ?([KMGT]?i?B)/s"
)
_TIMES = re.compile(
    rf"min/avg/max/mdev = ({_NUMBER}) ?(\w*) ?/ ?({_NUMBER}) ?(\w*) ?/ ?({_NUMBER}) ?(\w*) ?/ ?({_NUMBER}) (\w+)"
)
_RAW = re.compile(r"[0-9]+(?: [0-9]+){9}")
_COMMAND = re.compile(r"(?:.*[\s/$#])?ioping ((?:-|\S+ ).*)")
_RAW_NAMES = ("count", "time", "iops", "rate", "min", "mean", "max", "mdev", "total.count", "total.time")
_RAW_UNITS = ("", "ns", "1/s", "B/s", "ns", "ns", "ns", "ns", "", "ns")
_JSON_UNITS = {
    "size": "bytes",
    "time": "ns",
    "iops": "1/s",
    "bps": "B/s",
    "min": "ns",
    "avg": "ns",
    "max": "ns",
    "mdev": "ns",
}
_THOUSANDS = {"": "", "k": "kIOPS", "M": "MIOPS", "G": "GIOPS"}
_WITH_VALUE = "abceiloprsStTwP"
_TIME_FORMAT = "I"
"""Its value, which it may lack, stands in the same word."""
_LONG = {
    "async": "A",
    "cached": "C",
    "direct": "D",
    "read-write": "G",
    "linear": "L",
    "nowait": "N",
    "hipri": "H",
    "write": "W",
    "sync": "Y",
    "dsync": "y",
    "rapid": "R",
    "keep": "k",
    "batch": "B",
    "json": "J",
    "quiet": "q",
    "warmup": "a",
    "burst": "b",
    "count": "c",
    "entropy": "e",
    "interval": "i",
    "size": "s",
    "work-size": "S",
    "work-offset": "o",
    "work-time": "w",
    "speed-limit": "l",
    "rate-limit": "r",
    "min-time": "t",
    "max-time": "T",
    "print-count": "p",
    "print-interval": "P",
    "time": _TIME_FORMAT,
}
_MAX_LINE = 2000
_LIST = re.compile(r"\[\{")
_PAUSES = 2
_LINEAR_SIZE = 256 << 10
"""Size of a request with -L and without -s (ioping.c, parse_options)."""
_LATENCIES: tuple[str, ...] = ("min", "mean", "max")
_ROUNDED = Decimal("0.02")
"""By how much bytes and a number of three digits each may be off together."""


@dataclass
class _IopingRun:
    """One block of statistics.

    Attributes:
        line: Line of the file, from 1.
        form: What kind of output it is.
        target: What was read or written.
        figures: As printed, by name.
        way: `read`, `write` or `mix`; empty if it is not known.
        size: Bytes of each request; None if it is not known.
        command: The command line; empty if it is not there.
    """

    line: int
    form: str
    target: str
    figures: dict[str, Figure]
    way: str = ""
    size: int | None = None
    command: str = ""


def recognise(text: str) -> bool:
    """Whether a text has statistics of ioping."""
    lines = [line.strip() if len(line) < _MAX_LINE else "" for line in lines_of(text)]
    if any(_BEGIN.fullmatch(line) for line in lines):
        return True
    if '"stat"' in text and '"mdev"' in text and '"bps"' in text:
        return True
    rows = [line for line in lines if _RAW.fullmatch(line)]
    others = [line for line in lines if line and not _RAW.fullmatch(line)]
    return bool(rows) and all(_is_raw(row) for row in rows) and all("ioping" in line for line in others)


def _is_raw(line: str) -> bool:
    """Whether ten numbers agree with each other as those of `-B` do."""
    words = line.split()
    if any(len(word) > 19 for word in words):
        return False
    count, time, iops, _, least, mean, most, _, total, whole = map(int, words)
    return (
        least <= mean <= most and count <= total and time <= whole * 2 and abs(count * 1e9 - iops * time) <= time + 1e9
    )


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return every block of statistics in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: The order of offsets, where the text does not say it.

    Raises:
        OutputError: It is not what ioping writes.
    """
    runs = list(_json_runs(text) if _has_json(text) else _text_runs(lines_in(text)))
    if not runs:
        raise OutputError(1, "no statistics of ioping", HINT)
    return [_output(run, file, stated) for run in runs]


def _has_json(text: Text) -> bool:
    return any('"stat"' in piece for piece in pieces_of(text))


def _text_runs(lines: Iterable[str]) -> Iterator[_IopingRun]:
    run, command, way, size = None, "", "", None
    for number, each in enumerate(lines, 1):
        line = each.strip() if len(each) < _MAX_LINE else ""
        if match := _REQUEST.fullmatch(line):
            way = "read" if match[2] in ("<<<", "from") else "write"
            size = _bytes_of(match[1])
        elif match := _BEGIN.fullmatch(line):
            run = _IopingRun(number, "text", match[1], {}, way, size, command)
        elif match := _COMMAND.fullmatch(line):
            command, way, size = match[1], "", None
        elif _RAW.fullmatch(line) and _is_raw(line):
            figures = {
                name: Figure(name, amount(word, name, number, HINT), unit)
                for name, word, unit in zip(_RAW_NAMES, line.split(), _RAW_UNITS, strict=True)
            }
            yield _IopingRun(number, "raw statistics", "", figures, "", None, command)
        elif run is not None and (match := _COMPLETED.fullmatch(line)):
            _read_completed(run, match, number)
        elif run is not None and (match := _GENERATED.fullmatch(line)):
            _read_generated(run, match, number)
        elif run is not None and (match := _TIMES.fullmatch(line)):
            _read_times(run, match, number)
            yield run
            run, way, size = None, "", None
        elif run is not None and line.startswith(("min/avg", "generated")):
            raise OutputError(number, f"not what ioping prints here: {escape_line(line, 60)}", HINT)
    if run is not None:
        raise OutputError(run.line, "the statistics have no line with min/avg/max/mdev", HINT)


def _bytes_of(text: str) -> int | None:
    match = re.fullmatch(r"([0-9]{1,12})(?:\.0)? ?([KMG]?)i?(?:[Bb]|bytes)", text, re.IGNORECASE)
    return int(match[1]) << (10 * "_KMG".index(match[2].upper() or "_")) if match else None


def _read_completed(run: _IopingRun, match: re.Match[str], number: int) -> None:
    words = [("count", match[1], _THOUSANDS[match[2]].replace("IOPS", "")), ("time", match[3], match[4])]
    if match[5]:
        words.append(("size", match[5], _size_unit(match[6])))
        run.way = {" read": "read", " written": "write", "": "mix"}[match[7]]
    words += [("iops", match[8], _THOUSANDS[match[9]] or "1/s"), ("rate", match[10], f"{_size_unit(match[11])}/s")]
    _add(run, words, number)


def _read_generated(run: _IopingRun, match: re.Match[str], number: int) -> None:
    words = [
        ("total.count", match[1], _THOUSANDS[match[2]].replace("IOPS", "")),
        ("total.time", match[3], match[4]),
        ("total.size", match[5], _size_unit(match[6])),
        ("total.iops", match[7], _THOUSANDS[match[8]] or "1/s"),
        ("total.rate", match[9], f"{_size_unit(match[10])}/s"),
    ]
    _add(run, words, number)


def _size_unit(word: str) -> str:
    """Return the unit of a size; kb and mb of old versions are powers of 1024, too."""
    letter = word[0].upper()
    return "B" if letter == "B" else f"{letter}iB"


def _read_times(run: _IopingRun, match: re.Match[str], number: int) -> None:
    for at, name in enumerate(("min", "mean", "max", "mdev")):
        unit = match[2 * at + 2] or match[8]
        if unit not in ("ns", "us", "ms", "s", "min"):
            raise OutputError(number, f"{name} has the unknown unit {escape_line(unit, 20)}", HINT)
        _add(run, [(name, match[2 * at + 1], unit)], number)


def _add(run: _IopingRun, words: Sequence[tuple[str, str, str]], number: int) -> None:
    for name, text, unit in words:
        if name in run.figures:
            raise OutputError(number, f"{name} is printed twice", HINT)
        run.figures[name] = Figure(name, amount(text, name, number, HINT), unit)


def _json_runs(text: Text) -> Iterator[_IopingRun]:
    """Yield the statistics in JSON, whose numbers stand as printed: a list, with an entry for each request before."""
    command = ""
    for each in lines_in(text):
        if each.lstrip().startswith("[{"):
            break
        if match := _COMMAND.fullmatch(each.strip()[:_MAX_LINE]):
            command = match[1]
    reader = JsonPieces(text)
    if not reader.find(_LIST, "["):
        raise OutputError(1, "no list of statistics of ioping in JSON", HINT)
    first, way, size = reader.line, "", None
    for one in reader.elements():
        if not isinstance(one, dict):
            raise OutputError(first, "not JSON as ioping prints it", HINT)
        target, request = one.get("target"), one.get("io")
        if isinstance(request, dict):
            way = {"read": "read", "write": "write"}.get(str(request.get("operation")), "")
            size = _bytes_of(f"{request.get('size')} bytes")
        if isinstance(one.get("stat"), dict):
            path = str(target.get("path", "")) if isinstance(target, dict) else ""
            yield _IopingRun(first, "JSON", path, _json_figures(one, first), way, size, command)


def _json_figures(one: Mapping[str, object], line: int) -> dict[str, Figure]:
    names = {"bps": "rate", "avg": "mean"}
    found = {}
    for part, before in (("stat", ""), ("load", "total.")):
        values = one.get(part)
        for key, text in values.items() if isinstance(values, dict) else ():
            name = escape_line(f"{before}{names.get(key, key)}", 40)
            found[name] = Figure(name, amount(str(text), name, line, HINT), _JSON_UNITS.get(key, ""))
    if missing := [name for name in ("count", "time", "rate") if name not in found]:
        raise OutputError(line, f"the statistics have no {missing[0]}", HINT)
    return found


def _output(run: _IopingRun, file: ImportedFile, stated: ImportOptions) -> ToolOutput:
    command = redact_line(escape_line(f"ioping {run.command}", 300)) if run.command else ""
    known = {"tool": NAME, "form": run.form, "line": run.line, "command": command}
    return ToolOutput(file=file.model_copy(update=known), results=(_result(run, stated),))


def _options(command: str) -> dict[str, str]:
    """Return the options of a command line by their letters, each with its value, or `yes`.

    Source: ioping.c 1.3, `parse_options`, by getopt_long_only: long options may have one dash.
    """
    found: dict[str, str] = {}
    words = iter(command.split())
    for word in words:
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or not name:
            continue
        letter = _LONG.get(name, "")
        if letter:
            found[letter] = (value if equals else next(words, "")) if letter in _WITH_VALUE else "yes"
        elif not word.startswith("--"):
            found |= _cluster(word[1:], words)
    return found


def _cluster(letters: str, words: Iterator[str]) -> dict[str, str]:
    """Return the options of a word such as `RLc10`; a value may be the next of the words."""
    found: dict[str, str] = {}
    for at, letter in enumerate(letters):
        if letter in _WITH_VALUE:
            return found | {letter: letters[at + 1 :] or next(words, "")}
        if letter == _TIME_FORMAT:
            return found | {letter: letters[at + 1 :] or "yes"}
        if letter.isalpha():
            found[letter] = "yes"
    return found


def _result(run: _IopingRun, stated: ImportOptions) -> ImportedResult:
    chosen = _options(run.command)
    way = run.way or (("mix" if "G" in chosen else "write" if "W" in chosen else "read") if run.command else "")
    order = "sequential" if "L" in chosen else "random" if run.command else stated.order
    size = _request_size(run)
    if order is None and size and size != _LINEAR_SIZE:
        order = "random"
    prefix = "random_" if order == "random" else "sequential_" if way == "mix" else ""
    left_out = _why_left_out(run, way, order)
    operation = None if left_out else prefix + way
    latency: dict[str, float] = {name: _ns(run.figures[name]) for name in _LATENCIES if name in run.figures}
    return ImportedResult(
        name="requests",
        line=run.line,
        target=redact_word(escape_line(run.target, 80)) or NAME,
        workload=(operation or "requests") + (", with pauses" if operation and _has_pauses(run) else ""),
        operation=operation,
        parameters=_parameters(run, operation, chosen) if operation else {},
        options={f"-{letter}": redact_word(escape_line(value, 80)) for letter, value in sorted(chosen.items())},
        figures=tuple(run.figures.values()),
        latency_of="time of a request" if operation else "",
        measured=_measured(run, operation, latency) if operation else None,
        left_out=left_out,
    )


def _has_pauses(run: _IopingRun) -> bool:
    """Whether most of the time no request was in flight, as without -R."""
    time, whole = run.figures.get("time"), run.figures.get("total.time")
    return time is not None and whole is not None and _ns(whole) > _PAUSES * _ns(time)


def _ns(figure: Figure) -> float:
    return float(convert(figure.text, figure.unit))


def _why_left_out(run: _IopingRun, way: str, order: str | None) -> str:
    rate = run.figures.get("rate")
    if rate is None or not float(rate.text) or "time" not in run.figures:
        return "nothing was measured"
    if not way:
        return "whether it read or wrote is not known: write its command line above it, such as `ioping -W DIRECTORY`"
    return "" if order else NO_ORDER


def _measured(run: _IopingRun, operation: str, latency: Mapping[str, float]) -> Measurement:
    figures = run.figures
    count, time = figures["count"], figures["time"]
    elapsed = nanoseconds(time.text, time.unit)
    ops = None if count.unit else whole_number(count.text)
    rate = _ns(figures["rate"])
    iops = _ns(figures["iops"]) if "iops" in figures else None
    size = _request_size(run)
    if ops and elapsed and iops:
        iops = finer(figures["iops"].text, figures["iops"].unit, per_second(ops, elapsed))
    if size and iops:
        rate = finer(figures["rate"].text, figures["rate"].unit, iops * size)
    moved = ops * size if ops and size else None
    return measurement(operation, throughput=rate, iops=iops, ops=ops, moved=moved, elapsed_ns=elapsed, latency=latency)


def _request_size(run: _IopingRun) -> int | None:
    """Return the bytes of each request: as printed, as asked for, or from the bytes and the number of requests."""
    if run.size:
        return run.size
    chosen = _options(run.command)
    if "s" in chosen:
        match = re.match(r"([0-9]{1,9})([kmg]?)", chosen["s"].lower())
        return _bytes_of(f"{match[1]}{match[2]}B") if match else None
    if run.command:
        return _LINEAR_SIZE if "L" in chosen else 4096
    size, count = run.figures.get("size"), run.figures.get("count")
    if size is None or count is None or not float(count.text):
        return None
    each = convert(size.text, size.unit) / (convert(count.text, count.unit) if count.unit else Decimal(count.text))
    power = 1 << max(0, round(math.log2(each))) if each >= 1 else 0
    return power if power and abs(each - power) <= _ROUNDED * power else None


def _parameters(run: _IopingRun, operation: str, chosen: Mapping[str, str]) -> dict[str, AxisValue]:
    found: dict[str, AxisValue] = {"queue_depth": 1, "lanes": 1, "hosts": 1, "layout": "separate"}
    if size := _request_size(run):
        found["record_size"] = size
    if "mix" in operation:
        found["read_percent"] = 50
    if run.command:
        if "D" in chosen:
            found["cache"] = "direct"
        if "read" not in operation:
            found["sync"] = "o_sync" if "Y" in chosen else "o_dsync" if "y" in chosen else "none"
    return found
