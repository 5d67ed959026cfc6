"""YCSB's output, in text and JSON: versions 0.1.4 to 0.17.

Names are those of its measurements package (OneMeasurement*.java, exporter/*.java) and of Client.java.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.result.sample import ErrorTally
from assay.model.secret import redact_line
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.databases.transactions import MAX_SECONDS, failures, is_amount, transactions
from assay.rooms.importers.work.databases.ycsb_command import YcsbCommand, command_of
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.json_text import Number, decode_json
from assay.rooms.importers.work.long_text import Text, each_line, windows_of
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)
from assay.rooms.importers.work.text_source import whole_text

NAME = "YCSB"
HINT = "give the file as YCSB wrote it"
MAX_ENTRIES = 100_000
"""Most numbers of one file; each client has about 60, a histogram a thousand for each operation."""
_OVERALL = "OVERALL"
_FIRST = re.compile(r"\[OVERALL\], RunTime\(ms\), [0-9].*")
_ENTRY = re.compile(r"\[([^\]\n]{1,80})\], ([^,\n]{1,80}|Below is a summary of latency in microseconds:), (\S{1,60})")
_JSON_FIRST = re.compile(r'^\[? ?\{\s*"metric" : "OVERALL",\s*"measurement" : "RunTime\(ms\)",', re.MULTILINE)
_ANY_PERCENTILE = re.compile(r"[0-9.]{1,8}(?:st|nd|rd|th)?PercentileLatency\((?:us|ms)\)|p[0-9.]{1,8}")
_PERCENTILE = re.compile(r"([0-9.]{1,8})(?:st|nd|rd|th)?PercentileLatency\(us\)|p([0-9.]{1,8})")
_BAR = re.compile(r">?[0-9]{1,12}")
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_OF_NOTHING = ("9223372036854775807", "9.223372036854776E18", "-1", "-1.0")
"""Least and greatest latency of no operations."""
_SIGNED = ("Load", "LatencyVariance(us)")
_UNITS = {"us": "us", "ms": "ms", "ops/sec": "ops/sec", "%": "%"}
_PLACES = {"Average": "mean", "Min": "min", "Max": "max", "AverageLatency(us)": "mean"}
_PLACES |= {"MinLatency(us)": "min", "MaxLatency(us)": "max"}
_KNOWN = {"50": "p50", "90": "p90", "99": "p99", "99.9": "p99.9", "99.99": "p99.99"}
_OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE", "BATCH-INSERT", "BATCH-READ")
"""What DBWrapper.java and the workloads measure of a database; all else is about the client."""
_GOOD = ("OK", "BATCHED_OK", "0")
"""Names of success in Status.java; 0 before version 0.4."""
_RAW_HEAD = "Below is a summary of latency in microseconds:"


class _Entry(NamedTuple):
    """One number: its line, what it is of, its name, and its text."""

    line: int
    metric: str
    name: str
    text: str


def recognise(text: str) -> bool:
    """Whether a text has output of YCSB."""
    if _JSON_FIRST.search(text):
        return True
    return "[OVERALL], RunTime(ms), " in text and any(_FIRST.fullmatch(line.rstrip()) for line in text.split("\n"))


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order: each begins with `OVERALL`, behind the messages of its client.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: a database has no order of offsets.

    Raises:
        OutputError: It is not what YCSB writes.
    """
    is_json = any(_JSON_FIRST.search(window) for window in windows_of(text))
    form = "JSON" if is_json else "text"
    entries = _json_entries(whole_text(file.file, text, HINT)) if is_json else _text_entries(each_line(text))
    messages, seen, last = enumerate(each_line(text), start=1), 0, 0
    parts: list[tuple[YcsbCommand, list[_Entry]]] = []
    for entry in entries:
        if entry.metric == _OVERALL and entry.name == "RunTime(ms)":
            above = islice(messages, entry.line - seen)
            parts.append((command_of(line for number, line in above if number > last), []))
            seen = entry.line
        if parts:
            parts[-1][1].append(entry)
            last = entry.line
    return [_output(part, command, file, form) for command, part in parts]


def _text_entries(lines: Iterable[str]) -> Iterator[_Entry]:
    """Yield what the text exporter writes; status lines and messages are none of it."""
    count = 0
    is_within = False
    for number, line in enumerate(lines, start=1):
        if not line.startswith("["):
            continue
        is_within |= bool(_FIRST.fullmatch(line.rstrip()))
        match = _ENTRY.fullmatch(line.rstrip())
        if match is None or not is_within:
            if is_within and line.startswith(tuple(f"[{name}]," for name in (_OVERALL, *_OPERATIONS))):
                raise OutputError(number, f"no number of YCSB: {escape_line(line, 80)}", HINT)
            continue
        if match[2] == _RAW_HEAD:
            continue
        count += 1
        if count > MAX_ENTRIES:
            raise OutputError(number, f"more than {MAX_ENTRIES:,} numbers", "give the outputs one by one")
        yield _Entry(number, match[1], match[2], _checked(match[3], match[2], number))


def _json_entries(text: str) -> Iterator[_Entry]:
    """Yield what both JSON exporters write: one list, or objects one behind the other."""
    match, count = _JSON_FIRST.search(text), 0
    position = match.start() if match else len(text)
    line, counted = 1, 0
    while position < len(text):
        line, counted = line + text.count("\n", counted, position), position
        value, end = decode_json(text, position)
        for entry in value if isinstance(value, list) else [value]:
            count += 1
            if count > MAX_ENTRIES:
                raise OutputError(line, f"more than {MAX_ENTRIES:,} numbers", "give the outputs one by one")
            found = _json_entry(entry, line)
            if found.name != _RAW_HEAD:
                yield found
        following = re.compile(r"\s*(?=\{)").match(text, end)
        again = None if following else _JSON_FIRST.search(text, end)
        position = following.end() if following else again.start() if again else len(text)


def _json_entry(entry: object, line: int) -> _Entry:
    words = [entry.get(name) for name in ("metric", "measurement", "value")] if isinstance(entry, dict) else []
    if [type(one) for one in words[:2]] != [str, str] or not isinstance(words[2], str):
        raise OutputError(line, "an entry without metric, measurement and value", HINT)
    metric, name, number = (str(word) for word in words)
    if name == _RAW_HEAD:
        return _Entry(line, metric, name, "")
    is_number = isinstance(words[2], Number) or number in _NOT_FINITE
    return _Entry(line, metric[:80], name[:80], _checked(number if is_number else "?", name, line))


def _checked(text: str, name: str, line: int) -> str:
    """Return a number as printed; empty if it is not finite, or is a least value of nothing."""
    if text in _NOT_FINITE or text in _OF_NOTHING:
        return ""
    if name in _SIGNED and is_amount(text.removeprefix("-")):
        return text
    if not is_amount(text):
        raise OutputError(line, f"{escape_line(name, 60)} is no number: {escape_line(text, 40)}", HINT)
    return text


def _output(entries: Sequence[_Entry], command: YcsbCommand, file: ImportedFile, form: str) -> ToolOutput:
    metrics: dict[str, dict[str, _Entry]] = {}
    for entry in entries:
        found = metrics.setdefault(entry.metric, {})
        if entry.name in found and not _BAR.fullmatch(entry.name):
            raise OutputError(entry.line, f"[{escape_line(entry.metric, 40)}], {entry.name} is printed twice", HINT)
        found[entry.name] = entry
    overall = metrics[_OVERALL]
    line = entries[0].line
    time = overall["RunTime(ms)"].text
    if not time or Decimal(time) > MAX_SECONDS * 1000:
        raise OutputError(line, "RunTime(ms) cannot be the time of a run", HINT)
    run = _Run(metrics, Decimal(time) / 1000, command, line)
    known = {"tool": NAME, "version": command.version, "form": form, "line": line, "command": redact_line(command.text)}
    return ToolOutput(file=file.model_copy(update=known), results=tuple(run.results()))


class _Run:
    """One output.

    Attributes:
        metrics: Metric -> name -> number.
        seconds: Time of the whole run.
        command: What the command line says.
        line: First line of the numbers.
    """

    def __init__(
        self, metrics: Mapping[str, Mapping[str, _Entry]], seconds: Decimal, command: YcsbCommand, line: int
    ) -> None:
        self.metrics, self.seconds, self.command, self.line = metrics, seconds, command, line
        self.names = [name for name in metrics if name in _OPERATIONS and self._ops(name)]
        self.name = command.workload or "+".join(self.names) or NAME

    def results(self) -> Iterator[ImportedResult]:
        """Yield the whole run, then each operation of a mix, then what is about neither."""
        yield self._overall()
        for name in self.metrics:
            if name in _OPERATIONS and (len(self.names) != 1 or name not in self.names):
                yield self._operation(name)
            elif name.startswith("Intended-"):
                reason = "its latencies count from when each operation was due; those from its start are in the run"
                yield self._left_out(name, reason)

    def _overall(self) -> ImportedResult:
        apart = (*_OPERATIONS,) if len(self.names) != 1 else [name for name in _OPERATIONS if name not in self.names]
        figures = [
            figure
            for name in self.metrics
            if name not in apart and not name.startswith("Intended-")
            for figure in self._figures(name, "" if name in (_OVERALL, *self.names) else f"{name}.")
        ]
        rate = self.metrics[_OVERALL].get("Throughput(ops/sec)")
        if rate is None or not rate.text or not Decimal(rate.text):
            return self._left_out(_OVERALL, "no finite rate above 0 is printed", figures)
        count = Decimal(rate.text) * self.seconds
        whole = int(count.to_integral_value())
        tallies = tuple(tally for name in self.metrics for tally in self._failures(name))
        only = self.names[0] if len(self.names) == 1 else ""
        measured = transactions(
            Decimal(rate.text),
            ops=whole if abs(count - whole) < Decimal("0.001") else None,
            seconds=self.seconds,
            latency=self._latency(only) if only else {},
            errors=tallies,
        )
        return self._result(_OVERALL, self.name, figures).model_copy(
            update={"operation": "transaction", "measured": measured, "latency_of": self._latency_of(only)}
        )

    def _operation(self, name: str) -> ImportedResult:
        figures = self._figures(name)
        ops = self._ops(name)
        if not ops or not self.seconds:
            return self._left_out(name, "none of these operations succeeded", figures)
        measured = transactions(
            ops / self.seconds, ops=ops, seconds=self.seconds, latency=self._latency(name), errors=self._failures(name)
        )
        return self._result(name, f"{self.name}: {name}", figures).model_copy(
            update={"operation": "transaction", "measured": measured, "latency_of": self._latency_of(name)}
        )

    def _ops(self, name: str) -> int:
        """Return how many operations succeeded; before version 0.4, `Operations` has those that failed, too."""
        numbers = self.metrics[name]
        total = next((numbers[one].text for one in ("Operations", "Total Operations") if one in numbers), "0")
        returned = self._returned(name)
        good = sum(count for code, count in returned.items() if code in _GOOD)
        whole = int(Decimal(total or "0"))
        return good if sum(returned.values()) == whole and returned else whole

    def _returned(self, name: str) -> dict[str, int]:
        """Return how an operation ended -> how often; without ends that have no name, as YCSB's heirs in C++ print."""
        numbers = self.metrics[name]
        return {
            key.removeprefix("Return="): int(Decimal(one.text or "0"))
            for key, one in numbers.items()
            if key.startswith("Return=") and key != "Return="
        }

    def _failures(self, name: str) -> tuple[ErrorTally, ...]:
        if name not in _OPERATIONS:
            return ()
        bad = {code: count for code, count in self._returned(name).items() if code not in _GOOD and count}
        words = ", ".join(f"{count} of {name} ended with {escape_line(code, 40)}" for code, count in bad.items())
        return failures(sum(bad.values()), f"YCSB: {words}")

    def _latency(self, name: str) -> dict[str, Decimal]:
        """Return latencies in ns. Percentiles of 1 ms bars (OneMeasurementHistogram) are only figures."""
        found = {}
        numbers = self.metrics[name]
        is_coarse = self._has_bars(name)
        for key, one in numbers.items():
            match = _PERCENTILE.fullmatch(key)
            place = _PLACES.get(key) or (_KNOWN.get((match[1] or match[2]).removesuffix(".0")) if match else None)
            if place and one.text and not (match and is_coarse):
                found[place] = convert(one.text, "us")
        return found

    def _has_bars(self, name: str) -> bool:
        numbers = self.metrics[name]
        if "LatencyVariance(us)" in numbers or any(key.startswith(">") or key.endswith("(ms)") for key in numbers):
            return True
        texts = [one.text for key, one in numbers.items() if _PERCENTILE.fullmatch(key) and one.text]
        return bool(texts) and all(Decimal(text) % 1000 == 0 for text in texts)

    def _latency_of(self, name: str) -> str:
        return f"latency of {name}" if name else ""

    def _figures(self, name: str, before: str = "") -> list[Figure]:
        """Return all numbers of a metric as printed; bars of 0 are left out."""
        numbers = self.metrics[name]
        has_counts = any(key.startswith(">") for key in numbers) or any(
            _ANY_PERCENTILE.fullmatch(key) for key in numbers
        )
        found = []
        for key, one in numbers.items():
            unit = _UNITS.get(key.rpartition("(")[2].removesuffix(")"), "") if key.endswith(")") else ""
            unit = "us" if key in _PLACES or _PERCENTILE.fullmatch(key) else unit
            label = key
            if _BAR.fullmatch(key):
                # Bars are counts; a series has mean latencies of intervals (OneMeasurementTimeSeries).
                if has_counts and one.text and not Decimal(one.text):
                    continue
                label, unit = f"{'bar' if has_counts else 'from ms'}.{key}", "" if has_counts else "us"
            if key == "LatencyVariance(us)":
                unit = ""
            if one.text:
                found.append(Figure(f"{before}{label}", one.text, unit))
        return found

    def _result(self, name: str, workload: str, figures: Sequence[Figure]) -> ImportedResult:
        parameters: dict[str, AxisValue] = {}
        if self.command.threads:
            # One client is one process on one host.
            parameters = {"hosts": 1, "lanes": self.command.threads}
        return ImportedResult(
            name=name,
            line=min(one.line for one in self.metrics[name].values()),
            target=self.command.database or NAME,
            workload=workload,
            operation=None,
            parameters=parameters,
            options=self.command.options,
            figures=tuple(figures),
        )

    def _left_out(self, name: str, reason: str, figures: Sequence[Figure] | None = None) -> ImportedResult:
        label = escape_line(name, 80)
        found = self._figures(name) if figures is None else figures
        return self._result(name, label, found).model_copy(update={"parameters": {}, "left_out": reason, "name": label})
