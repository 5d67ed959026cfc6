"""What iozone prints before its results: version, date, command line and options."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from assay.model.escape import escape_line
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.model.study.names import STDIO, WORK
from assay.rooms.importers.work.figure_units import UNITS, convert
from assay.rooms.importers.work.iozone_columns import HEADER, tests_of

HINT = "give the file as iozone printed it"
MAX_KB = Decimal(2**52)
"""Most KB, and most of anything that iozone counts."""
_MAX_OPTIONS, _MAX_OPTION = 60, 200
_END = re.compile(r"\s*(Throughput test with |Children see throughput|Each \w+ writes a )")
_VERSION = re.compile(r"\s*Version \$Revision: ([0-9.]{1,20}) \$\s*")
_BUILD = re.compile(r"\s*Build: (.*)")
_BEGAN = re.compile(r"\s*Run began: (.*)")
_COMMAND = re.compile(r"\s*Command line used: ?(.*)")
TYPED = re.compile(r"(?:.{0,80}[$#>] *)?(?:sudo +|time +)?((?:\S{0,80}/)?iozone +-\S.{0,400})")
"""A command line as it was typed, which says what the first lines would say if they are missing."""
_TYPED_SIZE = re.compile(r"([0-9]{1,12})([kKmMgG]?)")
_SIZE = re.compile(r"\s*(File size set to|Record Size) ([0-9]{1,20}) ([kK]B|[kK]bytes)\s*")
_STRIDE = re.compile(r"\s*File stride size set to ([0-9]{1,7}) \* record size\.?\s*")
_TEST = re.compile(r"\s*Throughput test with ([0-9]{1,7}) (?:process|thread)\w*\s*")
_DEPTH = re.compile(r"POSIX [aA]sync I/O \(\w+ bcopy\)\. Depth ([0-9]{1,6})")
_SHARES = ("Shared file mode", "shared file mode")
_SLOWS = ("Rate control active", "Think time is included", "Delay ")
_FLAGS = {
    "Auto Mode": "-a",
    "Include close in write timing": "-c",
    "Include fsync in write timing": "-e",
    "O_DIRECT feature enabled": "-I",
    "SYNC Mode.": "-o",
    "OPS Mode. Output is in operations per second.": "-O",
    "Microseconds/op Mode. Output is in microseconds per operation.": "-N",
    "Excel chart generation enabled": "-R",
    "Purge Mode On": "-p",
    "Setting no_unlink": "-w",
    "Stonewall disabled": "-x",
    "Using mmap files": "-B",
    "Network distribution mode enabled.": "-+m",
    "No retest option selected": "-+n",
    ">>> O_DSYNC mode enabled. <<<": "-+D",
    "Read & Write sync mode active.": "-+r",
}
"""Line of the output -> the option that it stands for."""


@dataclass(frozen=True)
class Head:
    """What an output says before its results.

    Attributes:
        version: As printed; empty if it is not.
        date: When it began, local time without a time zone.
        arguments: The command line; empty if it is not printed.
        sizes: Bytes of each file and of a record; 0 if not printed.
        processes: Number of processes of throughput mode; 0 in other modes.
        stride: Distance of records in stride reads, in records; None if not printed.
        options: Options, by their flags where there is one.
        is_invalid: iozone itself says that measurements are invalid.
    """

    version: str
    date: str
    arguments: tuple[str, ...]
    sizes: tuple[int, int]
    processes: int
    stride: int | None
    options: dict[str, str]
    is_invalid: bool

    @property
    def tests(self) -> frozenset[int]:
        """The tests that `-i` chose; empty for all."""
        return tests_of(self.arguments)

    @property
    def is_distributed(self) -> bool:
        """Processes may be on several hosts."""
        return "-+m" in self.options or "-+m" in self.arguments

    @property
    def table_unit(self) -> str:
        """Unit of the rates of a table."""
        return "us/op" if "-N" in self.options else "ops/sec" if "-O" in self.options else "kB/sec"

    @property
    def workload(self) -> str:
        """Name of the mode."""
        return "throughput mode" if self.processes else "automatic mode" if "-a" in self.options else "one process"

    @property
    def target(self) -> str:
        """The file or directory that `-f` names; empty if it names none."""
        following = dict(zip(self.arguments, self.arguments[1:], strict=False))
        return redact_word(escape_line(following.get("-f", ""), 80))

    def rates_of(self, text: str, unit: str, record_size: int) -> tuple[float, float] | None:
        """Return bytes and operations per second; each operation moves a record. None if it is no rate, or unknown."""
        if UNITS[unit].quantity == "ns" or not record_size:
            return None
        value = convert(text, unit)
        return (
            (float(value), float(value / record_size))
            if UNITS[unit].quantity == "bytes/s"
            else (float(value * record_size), float(value))
        )

    def parameters_of(self, operation: str) -> dict[str, AxisValue]:
        """Return the parameters that follow from the options; all others are not known."""
        found: dict[str, AxisValue] = {"files": None, "runtime": None, "queue_depth": self._depth()}
        if not self.options and not self.arguments:
            return {"files": None, "runtime": None}
        if not any(word in name for name in self.options for word in _SLOWS):
            found["rate"] = None
        if not any(word in name for name in self.options for word in _SHARES):
            found["layout"] = "separate" if "-F" not in self.arguments else None
        found["cache"] = "direct" if "-I" in self.options and operation not in STDIO else None
        found["method"] = "mmap" if "-B" in self.options and operation not in STDIO else None
        found["sync"] = self._sync() if WORK[operation].writes else None
        found["stride"] = self.stride if operation == "stride_read" else None
        return {
            name: value for name, value in found.items() if value is not None or name in ("files", "runtime", "rate")
        }

    def _depth(self) -> int | None:
        """Return the operations in flight of each process: 1 unless asynchronous I/O was chosen."""
        matches = [match for name in self.options if (match := _DEPTH.match(name))]
        if not matches:
            return None if any("POSIX" in name for name in self.options) else 1
        return int(matches[0][1]) or None

    def _sync(self) -> str | None:
        """Return how writes are made stable; None if it is not known, or in several ways."""
        flags = {"-e": "fsync", "-o": "o_sync", "-+D": "o_dsync"}
        ways = [way for flag, way in flags.items() if flag in self.options]
        if any(flag in self.options for flag in ("-+r", "-B")) or len(ways) > 1:
            return None
        return ways[0] if ways else "none"


def read_head(lines: Sequence[str], start: int, end: int) -> Head:
    """Return what an output says before its first result.

    Args:
        lines: All lines of the file.
        start: Index of its first line.
        end: Index after its last.
    """
    texts = {"version": "", "date": "", "command": ""}
    options: dict[str, str] = {}
    sizes = {"File size set to": 0, "Record Size": 0}
    processes, stride, is_invalid, has_begun = 0, None, False, False
    typed = ""
    for line in lines[start:end]:
        if match := _TEST.fullmatch(line):
            processes = processes or int(match[1])
        if HEADER.fullmatch(line) or _END.match(line):
            break
        if match := TYPED.fullmatch(line.strip()):
            typed = match[1]
        for name, pattern in (("version", _VERSION), ("date", _BEGAN), ("command", _COMMAND)):
            if match := pattern.fullmatch(line):
                texts[name] = match[1].rstrip()
        if match := _BUILD.fullmatch(line):
            options["Build"] = escape_line(match[1].rstrip(), _MAX_OPTION)
        elif match := _SIZE.fullmatch(line):
            sizes[match[1]] = min(int(match[2]), int(MAX_KB)) * 1024
            options["-s" if match[1].startswith("File") else "-r"] = f"{match[2]} {match[3]}"
        elif match := _STRIDE.fullmatch(line):
            stride = int(match[1]) or None
        elif has_begun and not texts["command"] and line.strip() and len(options) < _MAX_OPTIONS:
            name = escape_line(line.strip(), _MAX_OPTION)
            options[_FLAGS.get(name, name)] = ""
        has_begun = has_begun or bool(texts["date"])
        is_invalid = is_invalid or "measurements are invalid in this mode" in line
    if not processes:
        processes = next((1 for line in lines[start:end] if _END.match(line)), 0)
    arguments = tuple((texts["command"] or typed).split())
    if not texts["command"]:
        options |= {word: "" for word in arguments if word in _FLAGS.values()}
        sizes = {
            name: known or _typed_size(arguments, flag)
            for (name, known), flag in zip(sizes.items(), ("-s", "-r"), strict=True)
        }
    return Head(
        version=texts["version"],
        date=escape_line(texts["date"], 80),
        arguments=arguments,
        sizes=(sizes["File size set to"], sizes["Record Size"]),
        processes=processes,
        stride=stride,
        options=options,
        is_invalid=is_invalid,
    )


def _typed_size(arguments: Sequence[str], flag: str) -> int:
    """Return the bytes that an option sets, which counts in KB; 0 if it is not given once."""
    found = [word for name, word in pairwise(arguments) if name == flag]
    match = _TYPED_SIZE.fullmatch(found[0]) if len(found) == 1 else None
    if match is None:
        return 0
    return min(int(match[1]) << {"k": 0, "m": 10, "g": 20}[match[2].lower() or "k"], int(MAX_KB)) * 1024
