"""diskspd's text: what it prints of its options, and the tables of each timespan (ResultParser.cpp).

MiB/s are 2^20 bytes, and so are the MB/s of old versions and of diskspd for Linux (its src/result_formatter.cc), which
calls a timespan a job.
"""

import re

from assay.model.escape import escape_line
from assay.rooms.importers.work.disks.diskspd_spans import (
    HINT,
    DiskspdSection,
    DiskspdTarget,
    Timespan,
    by_command,
    size_of,
)
from assay.rooms.importers.work.disks.printed import MAX_FIGURES, amount, nanoseconds, whole
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.results import Figure, OutputError

COMMAND = re.compile(r"Command Line: (.*)")
RESULTS = re.compile(r"Results for (timespan|job) ([0-9]{1,6}):")
HEAD = re.compile(r"thread \| +bytes +\| +I/Os +\| +Mi?B/s +\| +I/O per s .*")
_PROFILE = re.compile(r"\s+(timespan|job): +([0-9]{1,6})")
_TIME = re.compile(r"(?:actual )?test time:\s+([0-9]+(?:\.[0-9]+)?)s")
_THREADS = re.compile(r"(?:thread count|total threads):\s+([0-9]{1,6})")
_SECTION = re.compile(r"(Total|Read|Write) IO")
_ROW = re.compile(r"(total:|\s*[0-9]+ \|)(.*)")
_CHART = re.compile(r"(?:Total latency distribution|Latency distribution: (.*)|total|(.*)):?")
_PERCENTILE = re.compile(r"\s*(min|max|[0-9]{2}th|[0-9]-nines) \|\s*(\S+) \|\s*(\S+) \|\s*(\S+)\s*")
_CPU = re.compile(r"(?:(avg[.:])\s+)?([0-9]{1,3}\.[0-9]{2})%")
_SHOWN_SIZE = re.compile(r".* \(([0-9.]+)([KMGT]iB|B)?\)\s*")
_VALUE = re.compile(r"\s+([A-Za-z][A-Za-z /-]{0,60}): +'?(.*?)'?\)?")
_MIX = re.compile(r"performing mix test \(read/write ratio: ([0-9]{1,3})/([0-9]{1,3})\)")
_COLUMNS = {
    "bytes": ("bytes", "bytes"),
    "I/Os": ("ios", ""),
    "MiB/s": ("rate", "MiB/s"),
    "MB/s": ("rate", "MB/s of 2^20"),
    "I/O per s": ("iops", "1/s"),
    "AvgLat": ("latency.mean", "ms"),
    "AvgLat(ms)": ("latency.mean", "ms"),
    "IopsStdDev": ("iops.stddev", "1/s"),
    "LatStdDev": ("latency.stddev", "ms"),
}
"""Heading -> name and unit of the figure."""
_LATENCIES = {
    **{name: name for name in ("min", "max")},
    "50th": "p50",
    "90th": "p90",
    "99th": "p99",
    "3-nines": "p99.9",
    "4-nines": "p99.99",
}
_CPU_COLUMNS = ("usage", "user", "kernel", "idle")
_LINUX_COLUMNS = ("usage", "user", "kernel", "iowait", "idle")


class TextReader:
    """Reads the lines of one output.

    Attributes:
        tests: The tests, in order.
        command: The command line; empty if it is not there.
        date: When it began; empty likewise.
        host: On which host; empty likewise.
    """

    def __init__(self) -> None:
        self.tests: list[Timespan] = []
        self.command, self.date, self.host = "", "", ""
        self._profiles: dict[str, Timespan] = {}
        self._profile: Timespan | None = None
        self._section, self._chart = "", ""
        self._columns: list[str] = []

    def read(self, line: str, number: int) -> None:
        """Read one line.

        Raises:
            OutputError: It is not what diskspd prints there.
        """
        text = line.strip()
        if match := RESULTS.fullmatch(text):
            self._begin(match[1], match[2], number)
        elif not self.tests:
            self._before_results(line, text)
        elif match := _SECTION.fullmatch(text):
            self._section, self._columns = match[1].lower(), []
        elif HEAD.fullmatch(text):
            self._columns = [part.strip() for part in text.split("|")][1:]
        elif self._columns and (match := _ROW.fullmatch(line)):
            self._row(match[1], match[2], number)
        elif match := _PERCENTILE.fullmatch(line):
            self._percentile(match, number)
        elif text.startswith("Totals:"):
            self._columns, self._section = [], ""
        elif not text.startswith("-"):
            self._others(text, number)

    def _begin(self, kind: str, name: str, number: int) -> None:
        known = self._profiles.get(name)
        test = Timespan(f"{kind} {name}", number)
        if known is not None:
            test.targets, test.seconds, test.options = known.targets, known.seconds, known.options
            test.threads, test.total_threads = known.threads, known.total_threads
        else:
            test.targets, test.seconds = by_command(self.command)
        if len(self.tests) >= MAX_FIGURES:
            raise OutputError(number, "more tests than diskspd does", HINT)
        self.tests.append(test)
        self._section, self._columns, self._chart = "", [], ""

    def _before_results(self, line: str, text: str) -> None:
        if match := COMMAND.fullmatch(text):
            self.command = match[1]
        elif match := _PROFILE.fullmatch(line):
            self._profile = self._profiles.setdefault(match[2], Timespan(match[2], 0))
        elif text.startswith("computer name:"):
            self.host, self._profile = text.partition(":")[2].strip(), None
        elif text.startswith("start time:"):
            self.date, self._profile = text.partition(":")[2].strip(), None
        elif self._profile is not None and text:
            self._option(self._profile, line, text)

    def _option(self, test: Timespan, line: str, text: str) -> None:
        """Read one line of the profile: of the timespan, or of its last target."""
        name, value = (match[1], match[2]) if (match := _VALUE.fullmatch(line)) else (text, "yes")
        if len(test.options) < 60 and not text.startswith("-"):
            test.options.setdefault(escape_line(name, 60), escape_line(value, 120))
        if name == "path":
            test.targets.append(DiskspdTarget(path=value))
        elif name == "duration":
            test.seconds = whole_number(value.removesuffix("s"), 10**7)
        elif match := _THREADS.fullmatch(text):
            test.threads = int(match[1])
        elif match := re.fullmatch(r"thread pool with ([0-9]{1,6}) threads", text):
            test.total_threads = int(match[1])
        elif test.targets:
            _of_target(test.targets[-1], name, value, text)

    def _others(self, text: str, number: int) -> None:
        test = self.tests[-1]
        if match := _TIME.fullmatch(text):
            self._add("time", match[1], "s", number)
            test.elapsed_ns = nanoseconds(amount(match[1], "test time", number, HINT), "s")
        elif match := _THREADS.fullmatch(text):
            test.threads = int(match[1])
            self._add("threads", match[1], "", number)
        elif text.startswith("proc count:"):
            self._add("processors", text.partition(":")[2].strip(), "", number)
        elif text.endswith("%") and not self._section:
            self._cpu([cell.strip() for cell in text.split("|")], number)
        elif match := _CHART.fullmatch(text):
            path = match[1] or (match[2] or "").removesuffix(":")
            self._chart = escape_line(path, 80) if text.endswith(":") or match[1] else self._chart
            if text.rstrip(":") in ("total", "Total latency distribution"):
                self._chart = ""

    def _cpu(self, cells: list[str], number: int) -> None:
        """Read the row of a processor, which may stand behind those of its socket, node, group and core."""
        shares = [match for cell in cells if (match := _CPU.fullmatch(cell))]
        cpu = ".".join(cell for cell in cells if cell.isascii() and cell.isdigit() and len(cell) < 8) or "avg"
        names = _CPU_COLUMNS if len(shares) == len(_CPU_COLUMNS) else _LINUX_COLUMNS
        for name, share in zip(names, shares, strict=False):
            self._add(f"cpu.{cpu}.{name}", share[2], "%", number)

    def _row(self, head: str, cells: str, number: int) -> None:
        """Read the row of a thread, or of the total, of a section."""
        test, words = self.tests[-1], [cell.strip() for cell in cells.split("|")]
        is_total = head == "total:"
        columns = [name for name in self._columns if name != "file"]
        if not self._section or len(words) < len(columns) or any(name not in _COLUMNS for name in columns):
            raise OutputError(number, f"not a row of diskspd's table: {escape_line(cells.strip(), 60)}", HINT)
        before = self._section if is_total else f"{self._section}.thread.{head.strip(' |')}"
        found = {}
        for column, word in zip(columns, words, strict=False):
            name, unit = _COLUMNS[column]
            if word == "N/A":
                continue
            found[name] = Figure(f"{before}.{name}", amount(word, f"{before}.{name}", number, HINT), unit)
            self._add(found[name].name, word, unit, number)
        if not is_total:
            self._file(test, cells)
        else:
            self._total(test, found, number)

    def _file(self, test: Timespan, cells: str) -> None:
        if (match := _SHOWN_SIZE.fullmatch(cells)) and "." not in match[1] and len(match[1]) < 16:
            test.sizes.add(size_of(match[1] + (match[2] or "").removesuffix("iB").removesuffix("B")) or 0)
        else:
            test.sizes |= {0, 1}

    def _total(self, test: Timespan, found: dict[str, Figure], number: int) -> None:
        section = test.sections.setdefault(self._section, DiskspdSection())
        if not {"bytes", "ios", "rate", "iops"} <= found.keys() or section.ops:
            raise OutputError(number, f"the total of {self._section} lacks a figure, or is there twice", HINT)
        section.ops = whole(found["ios"].text, "I/Os", number, HINT)
        section.moved = whole(found["bytes"].text, "bytes", number, HINT)
        if "latency.mean" in found and section.ops:
            section.latency["mean"] = float(convert(found["latency.mean"].text, "ms"))
        if self._section == "total":
            test.rate, test.iops = found["rate"], found["iops"].text
        self._columns = []

    def _percentile(self, match: re.Match[str], number: int) -> None:
        test = self.tests[-1]
        chart = f".{self._chart}" if self._chart else ""
        for name, text in zip(("read", "write", "total"), match.groups()[1:], strict=True):
            if text == "N/A":
                continue
            self._add(f"{name}.latency{chart}.{match[1]}", text, "ms", number)
            if not chart and match[1] in _LATENCIES and test.sections.get(name, DiskspdSection()).ops:
                test.sections[name].latency[_LATENCIES[match[1]]] = float(convert(text, "ms"))

    def _add(self, name: str, text: str, unit: str, number: int) -> None:
        figures = self.tests[-1].figures
        if len(figures) >= MAX_FIGURES:
            raise OutputError(number, f"more than {MAX_FIGURES:,} figures", HINT)
        figures.append(Figure(name, amount(text, name, number, HINT), unit))


def _of_target(target: DiskspdTarget, name: str, value: str, text: str) -> None:
    """Read one line of a target's options."""
    if name == "block size":
        target.block = size_of(value.replace("iB", ""))
    elif name.startswith("number of outstanding I/O operations"):
        target.depth = whole_number(value, 10**7)
    elif name == "threads per file":
        target.threads = whole_number(value, 10**7)
    elif text in ("performing read test", "performing write test"):
        target.write_percent = 0 if "read" in text else 100
    elif match := _MIX.fullmatch(text):
        target.write_percent = int(match[2])
    elif text.startswith("using ") and " I/O (" in text:
        kinds = ("mixed", "random", "sequential")
        target.order = next((kind for kind in kinds if f"{kind}" in text.partition(" I/O (")[0]), None)
    elif "cache" in text or text in ("using O_DIRECT", "using O_SYNC"):
        target.is_direct |= text in ("software cache disabled", "using O_DIRECT") or text.startswith(
            "hardware and soft"
        )
        sync = "o_sync" if text == "using O_SYNC" else "o_dsync" if "writethrough on" in text else "none"
        target.sync = sync if target.sync in (None, "none") else target.sync
    elif text.startswith("memory mapped"):
        target.sync = None
    elif text.startswith("throughput rate-limited") or (name in ("think time", "burst size") and value[:1] != "0"):
        target.is_limited = True
