"""One run of a run definition, as every output of vdbench has it, and the numbers in it."""

import re
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import Figure, OutputError

NAME = "vdbench"
HINT = "give the file as vdbench wrote it"
BINARY, DECIMAL = "MB/sec (1024**2)", "MB/sec (1000**2)"
"""Units of vdbench's MB/sec: Report.java, `setDecimal`, and the second line of each header."""
FORMAT_FILES, FORMAT_DISK = "format_for_", "SD_format"
"""Beginnings of the names of runs that vdbench adds to write files (RD_entry.java) and luns (SD_entry.java)."""
REQUESTED = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "reqrate", "compratio", "dedupratio")
"""Columns that say what was asked for."""
MAX_NAME = 120
_NUMBER = re.compile(r"-?[0-9]{1,15}(?:[.,][0-9]{1,6})?")
_NONE = ("n/a", "NaN", "-NaN", "Infinity", "-Infinity", "nan")
_ENDINGS = {"_rate": "1/s", "_resp": "ms", "_max": "ms", "_std": "ms", "%": "%", "pct": "%"}
_UNITS = {
    "reqrate": "1/s",
    "rate": "1/s",
    "resp": "ms",
    "bytes/io": "bytes",
    "xfersize": "bytes",
    "Xfersize": "bytes",
    "cpu_used": "%",
    "cpu_user": "%",
    "cpu_kernel": "%",
    "cpu_wait": "%",
    "cpu_idle": "%",
    "lunsize": "GiB",
    "ks_wait": "ms",
    "ks_svct": "ms",
    "ks_bytes": "bytes",
    "ks_mb": BINARY,
    "MB_read": BINARY,
    "MB_write": BINARY,
    "MB/sec": BINARY,
}


@dataclass
class VdbenchRun:
    """One run: a run definition with one value of each of its loops.

    Attributes:
        line: Line of the file on which it begins, from 1.
        name: Name of the run definition; empty if it is not in the text.
        has_files: It works on files of file systems (FSD), not on luns (SD).
        options: What was asked for, by vdbench's names.
        figures: The figures of its average; names are those of flatfile.html.
        average: Label of the average, such as `avg_2-5`; empty without one.
        sizes: Mean bytes of a transfer in each interval in which there were some.
        intervals: Number of intervals.
        is_histogram: It comes from a file of histograms, which has no rates.
        buckets: Counts of its histograms of response times.
        errors: Errors that vdbench counted in it.
    """

    line: int
    name: str
    has_files: bool = False
    options: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Figure] = field(default_factory=dict)
    average: str = ""
    sizes: set[str] = field(default_factory=set)
    intervals: int = 0
    is_histogram: bool = False
    buckets: tuple[Figure, ...] = ()
    errors: int = 0

    def value(self, name: str) -> Decimal | None:
        """Return a figure of the average; None if it is not printed."""
        figure = self.figures.get(name)
        return None if figure is None else Decimal(figure.text)

    @property
    def is_format(self) -> bool:
        """Whether vdbench added it to write the files or luns that other runs work on."""
        return self.name.startswith((FORMAT_FILES, FORMAT_DISK))

    def add_sizes(self, size: str) -> None:
        """Note the mean bytes of a transfer in an interval."""
        self.intervals += 1
        if size not in ("", "0") and len(self.sizes) < 3:
            self.sizes.add(size)


def figure_of(name: str, text: str, line: int, unit: str = "") -> Figure | None:
    """Return a figure; None if vdbench says that it has no number there (`n/a`, `NaN`).

    Args:
        name: Its name.
        text: The number as printed; some locales have a comma in place of the point.
        line: Line of the file, from 1.
        unit: Its unit, if the name does not say it.

    Raises:
        OutputError: It is no number that vdbench prints.
    """
    if text in _NONE:
        return None
    # What was not asked for may be -1, and CPUs may be idle for less than no time.
    may_be_negative = name in REQUESTED or name.startswith(("cpu_", "ks_"))
    if not _NUMBER.fullmatch(text) or (text.startswith("-") and not may_be_negative):
        raise OutputError(line, f"{escape_line(name, 40)} cannot be {escape_line(text, 40)}", HINT)
    return Figure(name, text.replace(",", "."), unit or unit_of(name))


def unit_of(name: str) -> str:
    """Return the unit of a column of flatfile.html; empty for a count."""
    if name in _UNITS:
        return _UNITS[name]
    return next((unit for ending, unit in _ENDINGS.items() if name.endswith(ending)), "")


def half_digit(text: str) -> Decimal:
    """Return the most by which a printed number may differ from the exact one."""
    return Decimal(5).scaleb(-len(text.partition(".")[2]) - 1)
