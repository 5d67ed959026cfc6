"""pgbench's text, of PostgreSQL 9.3 to 17: the summary that printResults of pgbench.c writes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.databases.transactions import (
    MAX_SECONDS,
    checked_amount,
    failures,
    is_amount,
    transactions,
)
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
)

NAME = "pgbench"
HINT = "give the file as pgbench printed it"
MAX_FIGURES = 5_000
"""Most figures of one output that are kept: progress and statements have a few each."""
_TYPE = re.compile(r"transaction type: (.{1,500})")
_VERSION = re.compile(r"pgbench \(([0-9]\S{0,20}?)\)?(?: .*)?")
_RATE = re.compile(r"tps = (\S{1,40}) \(([a-z ]{1,60})\)")
_PROCESSED = re.compile(r"number of transactions actually processed: ([^/\s]{1,20})(?:/([^/\s]{1,20}))?")
_PLAIN = re.compile(r"(?: - )?(latency average|latency stddev|initial connection time|average connection time)"
                    r"(?: =|:) (\S{1,40}) ms(?: \(including failures\))?")  # fmt: skip
_LAG = re.compile(r"rate limit schedule lag: avg (\S{1,40}) \(max (\S{1,40})\) ms")
_COUNT = re.compile(
    r"(?: - )?(number of (?:failed transactions|serialization failures|deadlock failures|transactions retried|"
    r"transactions skipped)|total number of retries): (\S{1,20})(?: \((\S{1,20})%\))?"
)
_ABOVE = re.compile(r"(?: - )?number of transactions above the (\S{1,20}) ms latency limit: "
                    r"([^/\s]{1,20})/([^/\s]{1,20}) \((\S{1,20})%\)")  # fmt: skip
_SCRIPT = re.compile(r"SQL script ([0-9]{1,4}): (.{1,500})")
_WEIGHT = re.compile(r" - weight(?::| =) (\S{1,20})(?: \(targets (\S{1,20})% of total\))?")
_SHARE = re.compile(r" - (\S{1,20}) transactions \((\S{1,20})% of total, tps = (\S{1,40})\)")
_STATEMENTS = re.compile(r"(?: - )?statement latencies in milliseconds(.{0,40}):")
_STATEMENT = re.compile(r"\s+([0-9.]{1,20})\s+(?:([0-9]{1,19})\s+(?:([0-9]{1,19})\s+)?)?(\S.*)")
_PROGRESS = re.compile(r"progress: (\S{1,20}) s, (\S{1,40}) tps, lat (\S{1,40}) ms stddev ([^,\s]{1,40})(.*)")
_OPTION = re.compile(r"(scaling factor|query mode|number of clients|number of threads|maximum number of tries|duration|"
                     r"number of transactions per client|partition method|partitions): (.{1,80})")  # fmt: skip
_ABORTED = re.compile(r"(?:pgbench: (?:error: |fatal: )?)?Run was aborted; the above results are incomplete\.")
_NOTED = ("scaling factor", "number of clients", "number of threads", "maximum number of tries", "partitions",
          "number of transactions per client")  # fmt: skip
"""Options that are numbers, and so figures, too."""
_EXCLUDING = ("excluding connections establishing", "without initial connection time", "including reconnection times")
"""Rates of the transactions alone; since version 14, that with `-C` has the connections in it."""


class _Part:
    """The run, or one script of it.

    Attributes:
        name: Name of its transactions.
        line: Its line, from 1.
        figures: As printed, in order.
        ops: Number of transactions as printed.
        rate: Transactions per second as printed.
        latency: Mean latency in ms as printed.
        failed: Number of failed transactions.
        statements: Number of statements whose latency is printed.
    """

    def __init__(self, name: str, line: int) -> None:
        self.name, self.line = name, line
        self.figures: list[Figure] = []
        self.ops, self.rate, self.latency, self.failed, self.statements = "", "", "", 0, 0

    def add(self, name: str, text: str, unit: str, line: int) -> None:
        """Add a figure.

        Raises:
            OutputError: It is no number, or printed twice.
        """
        if any(one.name == name for one in self.figures[:40]):
            raise OutputError(line, f"{name} is printed twice", HINT)
        if len(self.figures) < MAX_FIGURES:
            self.figures.append(Figure(name, checked_amount(text, name, line, HINT), unit))


def recognise(text: str) -> bool:
    """Whether a text has output of pgbench."""
    if "transaction type: " not in text or "number of transactions actually processed: " not in text:
        return False
    return any(_TYPE.fullmatch(line.rstrip()) for line in text.split("\n"))


def read(text: Text, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every output in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: a database has no order of offsets.

    Raises:
        OutputError: It is not what pgbench writes.
    """
    outputs: list[ToolOutput] = []
    reader, above = None, _Above()
    for number, line in enumerate(map(str.rstrip, each_line(text)), start=1):
        if _TYPE.fullmatch(line):
            outputs += [reader.output(file)] if reader else []
            reader, above = _Reader(above), _Above()
        if reader is not None:
            reader.take(line, number)
        if _RATE.fullmatch(line):
            # Progress and the version stand above the summary that they are of.
            above = _Above()
        above.take(line)
    return [*outputs, reader.output(file)] if reader else []


@dataclass
class _Above:
    """What stands above a summary.

    Attributes:
        version: The version as printed last.
        progress: The first lines of progress, as many as are kept.
    """

    version: str = ""
    progress: list[re.Match[str]] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Take one line into account."""
        if match := _VERSION.fullmatch(line):
            self.version = match[1]
        elif len(self.progress) < MAX_FIGURES and (match := _PROGRESS.fullmatch(line)):
            self.progress.append(match)


class _Reader:
    """Reads one output line by line."""

    def __init__(self, above: _Above) -> None:
        self.version, self.progress = above.version, above.progress
        self.options: dict[str, str] = {}
        self.parts: list[_Part] = []
        self.is_aborted = self.has_statements = False
        self.rates: dict[str, str] = {}

    def take(self, line: str, number: int) -> None:
        """Take one line into account; what pgbench does not print is passed over."""
        if (match := _TYPE.fullmatch(line)) and not self.parts:
            self.parts.append(_Part(escape_line(match[1], 80), number))
        elif match := _SCRIPT.fullmatch(line):
            self.parts.append(_Part(escape_line(match[2], 80), number))
            self.has_statements = False
        elif match := _OPTION.fullmatch(line):
            self._option(match[1], match[2], number)
        elif _STATEMENTS.fullmatch(line):
            self.has_statements = True
        elif self.has_statements and (match := _STATEMENT.fullmatch(line)):
            self._statement(match, number)
        elif _ABORTED.fullmatch(line):
            self.is_aborted = True
        else:
            self._figure(line, number)

    def _option(self, name: str, text: str, number: int) -> None:
        self.options[name] = escape_line(text, 80)
        if name in _NOTED:
            self.parts[0].add(name, text, "", number)
        elif name == "duration":
            self.parts[0].add(name, text.removesuffix(" s"), "s", number)

    def _figure(self, line: str, number: int) -> None:
        part = self.parts[-1]
        if match := _PLAIN.fullmatch(line):
            part.add(match[1], match[2], "ms", number)
            if match[1] == "latency average":
                part.latency = match[2]
        elif match := _PROCESSED.fullmatch(line):
            part.add("transactions processed", match[1], "", number)
            part.ops = match[1]
            if match[2]:
                part.add("transactions asked for", match[2], "", number)
        elif match := _RATE.fullmatch(line):
            part.add(f"tps ({match[2]})", match[1], "1/s", number)
            if match[2] in _EXCLUDING or not part.rate:
                part.rate = match[1]
        elif match := _SHARE.fullmatch(line):
            part.ops, part.rate = match[1], match[3]
            for name, text, unit in zip(
                ("transactions", "share", "tps"), match.groups(), ("", "%", "1/s"), strict=True
            ):
                part.add(name, text, unit, number)
        else:
            self._count(line, number)

    def _count(self, line: str, number: int) -> None:
        part = self.parts[-1]
        if match := _COUNT.fullmatch(line):
            part.add(match[1], match[2], "", number)
            if match[3] and match[3] != "NaN":
                part.add(f"{match[1]}.share", match[3], "%", number)
            if match[1] == "number of failed transactions":
                part.failed = whole_number(match[2]) or 0
        elif match := _WEIGHT.fullmatch(line):
            part.add("weight", match[1], "", number)
            if match[2]:
                part.add("weight.share", match[2], "%", number)
        elif match := _LAG.fullmatch(line):
            part.add("schedule lag average", match[1], "ms", number)
            part.add("schedule lag maximum", match[2], "ms", number)
        elif match := _ABOVE.fullmatch(line):
            names = ("latency limit", "above the limit", "above the limit.of", "above the limit.share")
            for name, text, unit in zip(names, match.groups(), ("ms", "", "", "%"), strict=True):
                part.add(name, text, unit, number)

    def _statement(self, match: re.Match[str], number: int) -> None:
        part = self.parts[-1]
        part.statements += 1
        name = f"statement.{part.statements}.{escape_line(match[4], 60)}"
        part.add(name, match[1], "ms", number)
        for what, text in (("failures", match[2]), ("retries", match[3])):
            if text:
                part.add(f"{name}.{what}", text, "", number)

    def output(self, file: ImportedFile) -> ToolOutput:
        """Return what was read.

        Raises:
            OutputError: There is no summary.
        """
        whole = self.parts[0]
        if not whole.ops:
            raise OutputError(whole.line, "pgbench printed no number of transactions", HINT)
        for match in self.progress:
            for what, text, unit in zip(
                ("tps", "lat", "stddev"), match.groups()[1:4], ("1/s", "ms", "ms"), strict=True
            ):
                if is_amount(text) and len(whole.figures) < MAX_FIGURES:
                    whole.figures.append(Figure(f"progress.{escape_line(match[1], 20)} s.{what}", text, unit))
        # What was measured comes before what was asked for: reports show the first figures.
        whole.figures.sort(key=lambda figure: figure.name in (*_NOTED, "duration"))
        known = {"tool": NAME, "version": escape_line(self.version, 20), "form": "text", "line": whole.line}
        return ToolOutput(file=file.model_copy(update=known), results=tuple(self._results()))

    def _settings(self) -> str:
        """Return what makes another work of the same script, behind commas; empty if all is as by default."""
        whole = self.parts[0]
        scale, mode = (self.options.get(name, "") for name in ("scaling factor", "query mode"))
        printed = {one.name for one in whole.figures[:40]}
        words = (
            f"scale {scale}" if scale not in ("", "1") else "",
            mode if mode not in ("", "simple") else "",
            "a connection each" if "average connection time" in printed else "",
            "limited rate" if "schedule lag average" in printed else "",
        )
        return "".join(f", {word}" for word in words if word)

    def _results(self) -> Iterator[ImportedResult]:
        whole, settings = self.parts[0], self._settings()
        for part in self.parts:
            name = whole.name + settings if part is whole else f"{whole.name}{settings}: {part.name}"
            ops = whole_number(part.ops) or 0
            is_done = bool(ops and part.rate and Decimal(part.rate))
            yield ImportedResult(
                name=part.name,
                line=part.line,
                target=NAME,
                workload=name,
                operation="transaction" if is_done else None,
                parameters=self._parameters() if is_done else {},
                options=self.options,
                figures=tuple(part.figures),
                latency_of="latency" if is_done and part.latency else "",
                measured=self._measured(part, ops) if is_done else None,
                left_out="" if is_done else "no transaction was finished",
            )

    def _measured(self, part: _Part, ops: int) -> Measurement:
        rate = Decimal(part.rate)
        words = f"pgbench: {part.failed} transactions failed"
        tallies = failures(part.failed, words)
        if self.is_aborted:
            tallies += failures(1, "pgbench: the run was aborted, so that its results are incomplete")
        latency = {"mean": convert(part.latency, "ms")} if part.latency else {}
        return transactions(rate, ops=ops, seconds=ops / rate, latency=latency, errors=tallies)

    def _parameters(self) -> dict[str, AxisValue]:
        found: dict[str, AxisValue] = {"hosts": 1}
        if clients := whole_number(self.options.get("number of clients"), 10**6):
            found["lanes"] = clients
        if seconds := whole_number(self.options.get("duration", "").removesuffix(" s"), MAX_SECONDS):
            found["runtime"] = seconds * 10**9
        return found
