"""Tables of vdbench's console and of its reports: summary.html, totals.html, and those of single SDs, WDs and hosts.

Two lines of a header name the columns: Report.java, `createHeaders`, and FwdStats.java, `getHeader1`. They differ
between versions, and whether CPU was measured.
"""

import re

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import OutputError
from assay.rooms.importers.work.vdbench.runs import BINARY, DECIMAL, HINT, MAX_NAME, VdbenchRun, figure_of

START = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} Starting RD=([^;\s<]{1,200})(.*)")
HEADER = re.compile(r"\s*[^\s0-9]{1,12} [0-9]{1,2}, [0-9]{4}\s+(?:interval\s+(i/o\s+MB/sec\s+bytes\s.*)"
                    r"|\.+Interval\.+\s+(\.+ReqstdOps\.+\s.*))")  # fmt: skip
_ROW = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}\s*(?:(avg_[0-9]{1,9}(?:-[0-9]{1,9})?)|(?<=\s)([0-9]{1,9}))"
                  r"\s+([-0-9NnI].*)")  # fmt: skip
_ERRORS = re.compile(r".*Total Data Validation or I/O error count: ([0-9]{1,15})\s*")
_LOOP = re.compile(r"([a-z]{1,20})=([^\s<]{1,60})")
_ELAPSED = re.compile(r"; elapsed=([0-9]{1,9})(?: warmup=([0-9]{1,9}))?;")
_RATE = re.compile(r"; I/O rate: ([^;]{1,40});")
_FILE_RATE = re.compile(r"; fwdrate=([a-z0-9]{1,20})[.;]")
_DISK = {
    "i/o rate": "rate",
    "MB/sec 1024**2": "MB/sec",
    "MB/sec 1000**2": "MB/sec",
    "bytes i/o": "bytes/io",
    "read pct": "read%",
    "resp time": "resp",
    "read resp": "read_resp",
    "write resp": "write_resp",
    "resp max": "resp_max",
    "read max": "read_max",
    "write max": "write_max",
    "resp stddev": "resp_std",
    "queue depth": "queue_depth",
    "cpu% sys+u": "cpu_used",
    "cpu% sys+usr": "cpu_used",
    "cpu% sys": "cpu_kernel",
}
"""Column of runs on luns, from both lines of the header -> its name in flatfile.html."""
_FILES = {
    "reqstdops rate": "rate",
    "reqstdops resp": "resp",
    "cpu% total": "cpu_used",
    "cpu% sys": "cpu_kernel",
    "read pct": "read%",
    "mb/sec read": "MB_read",
    "mb/sec write": "MB_write",
    "mb/sec total": "MB/sec",
    "xfer size": "Xfersize",
}
"""Column of runs on files likewise; those of operations are `Mkdir_rate` and the like."""
_PAIRS = re.compile(r"(rate\s+resp|total\s+sys|pct|read\s+write|total|size)\s*")
OPERATIONS = ("read", "write", "mkdir", "rmdir", "create", "open", "close", "delete", "getattr", "setattr", "access",
              "copy", "move")  # fmt: skip
_MAX_RUNS = 20_000


class TableReader:
    """Reads lines of a console or report, one after the other.

    Attributes:
        runs: What was found.
    """

    def __init__(self) -> None:
        self.runs: list[VdbenchRun] = []
        self._header = ""
        self._columns: tuple[str, ...] = ()
        self._unit = BINARY
        self._has_files = False

    def read(self, line: str, number: int) -> None:
        """Read a line.

        Args:
            line: Its text.
            number: Its number, from 1.

        Raises:
            OutputError: It is not what vdbench prints there.
        """
        if self._header:
            self._columns = self._second_header(line, number)
            self._header = ""
        elif match := START.search(line):
            self._start(match, number)
        elif match := HEADER.match(line):
            self._header, self._has_files = match[1] or match[2], match[2] is not None
        elif match := _ERRORS.fullmatch(line):
            if self.runs:
                self.runs[-1].errors = int(match[1])
        elif self._columns and (match := _ROW.fullmatch(line.rstrip())):
            self._row(match, number)

    def _start(self, match: re.Match[str], number: int) -> None:
        if len(self.runs) >= _MAX_RUNS:
            raise OutputError(number, f"more than {_MAX_RUNS:,} runs", "give fewer of them in one file")
        self.runs.append(VdbenchRun(number, escape_line(match[1], MAX_NAME), options=options_of(match[2])))
        self.runs[-1].has_files = "fwdrate=" in match[2] or self.runs[-1].name.startswith("format_for_")

    def _second_header(self, line: str, number: int) -> tuple[str, ...]:
        """Return the names of the columns from both lines of a header."""
        if self._has_files:
            return _file_columns(self._header, line, number)
        below = line.split()
        above = self._header.split()[: len(below)]
        names = [f"{one} {other}" for one, other in zip(above, below, strict=False)]
        # What follows comes from reports that users add (`report=(...)`), not from vdbench.
        known = next((at for at, name in enumerate(names) if name not in _DISK), len(names))
        if "i/o rate" not in names or known < 7 or len(above) != len(below):
            raise OutputError(number, "not the second line of a header of vdbench", HINT)
        self._unit = DECIMAL if "MB/sec 1000**2" in names else BINARY
        return tuple(_DISK[name] for name in names[:known])

    def _row(self, match: re.Match[str], number: int) -> None:
        words = match[3].split()
        if len(words) < len(self._columns):
            message = f"a row has {len(words)} columns, and its header {len(self._columns)}"
            raise OutputError(number, message, HINT)
        if not self.runs or (self.runs[-1].average and match[1]):
            self.runs.append(VdbenchRun(number, ""))
        run = self.runs[-1]
        run.has_files = run.has_files or self._has_files
        unit = BINARY if self._has_files else self._unit
        figures = {}
        for name, text in zip(self._columns, words, strict=False):
            figure = figure_of(name, text, number, unit if name == "MB/sec" else "")
            if figure is not None:
                figures[name] = figure
        size = figures.get("Xfersize" if self._has_files else "bytes/io")
        if match[1]:
            run.line, run.average, run.figures = number, match[1], figures
        else:
            run.add_sizes(size.text if size else "")


def options_of(text: str) -> dict[str, str]:
    """Return what a line `Starting RD=` says of the run: its loops, rate, seconds and warmup."""
    found: dict[str, str] = {}
    if match := _ELAPSED.search(text):
        found["elapsed"] = match[1]
        found |= {"warmup": match[2]} if match[2] else {}
    if match := _RATE.search(text) or _FILE_RATE.search(text):
        found["iorate" if "I/O rate" in match[0] else "fwdrate"] = escape_line(match[1], 40)
    loops = text.partition("For loops: ")[2]
    for name, value in _LOOP.findall(loops):
        found[name] = escape_line(value.removesuffix(".0"), 60)
    return found


def _file_columns(header: str, line: str, number: int) -> tuple[str, ...]:
    """Return the columns of a table of file operations: groups above, one or two columns of each below."""
    groups = [word.strip(".").lower() for word in header.split()]
    parts = [match[1].split() for match in _PAIRS.finditer(line)]
    if len(parts) < len(groups) or _PAIRS.sub("", line.strip()):
        raise OutputError(number, "the two lines of this header do not have the same columns", HINT)
    found = []
    for group, words in zip(groups, parts, strict=False):
        for word in words:
            name = f"{group} {word}"
            if name not in _FILES and not (group in OPERATIONS and word in ("rate", "resp")):
                raise OutputError(number, f"an unknown column {escape_line(name, 40)}", HINT)
            found.append(_FILES.get(name) or f"{group.capitalize()}_{word}")
    return tuple(found)
