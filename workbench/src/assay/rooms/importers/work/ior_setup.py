"""What a test of IOR was asked to do: from the block of options, exact numbers elsewhere, and the command line.

The block is the same in versions 2.10 to 4.0, with other names before 3.1. Sizes in it are rounded from 1 MiB on
(`HumanReadable` in utilities.c), so that an exact size comes from the summary, JSON, or the command line.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.model.study.names import REORDERED, WORK
from assay.plan.command_lines.ior_tests import IorTest, options_as_test
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.results import Order

MAX_TASKS = 2**20
MAX_LANES = 1024
"""Most lanes of one host in a run; more are `streams`."""
_MAX_OPTION = 200
_SYNCHRONOUS = ("POSIX", "MMAP", "MPIIO")
"""Interfaces in which a task has one transfer in flight."""
_CLIENTS = re.compile(r"([0-9]{1,7}) \(([0-9]{1,7}) per node\)")
_SEGMENTS = re.compile(r"(?:strided|segmented) \(([0-9]{1,13}) segments?\)")
_OFFSET = re.compile(r"constant task offsets? = ([0-9]{1,7})")
_SIZE = re.compile(r"([0-9]{1,19})(?:\.([0-9]{2}))? (bytes|[KMGT]iB)")
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_NS = 10**9


def command_line(words: Sequence[str]) -> IorTest | None:
    """Return what the words after IOR's name set; None if they do not say it: a script, or an unknown option."""
    try:
        test = options_as_test(words)
    except AssayError:
        return None
    return None if "script" in test.texts else test


TYPED = re.compile(
    r"(?:.{0,80}[$#>] *)?(?:(?:\S{0,80}/)?(?:mpirun|mpiexec|srun)\b"
    r"(?:.{0,200}? (?:-np|-n|--np|--ntasks)[ =](?P<tasks>[0-9]{1,7})\b)?"
    r".{0,200}? )?(?P<command>(?:\S{0,80}/)?ior +-.{1,400})"
)
"""A command line as it was typed: it says what the block of options would say if that is missing."""


def typed_block(line: IorTest, tasks: str) -> dict[str, str]:
    """Return the entries of the block of options that follow from a command line, by IOR's names.

    Args:
        line: What the command line sets.
        tasks: Number of tasks of the MPI launcher; empty if it is not known.
    """
    block = {
        "api": line.api,
        "test filename": line.texts.get("testfile", ""),
        "access": "file-per-process" if line.has("fileperproc") else "single-shared-file",
        "ordering in a file": "random" if line.has("randomoffset") else "sequential",
        "xfersize": f"{line.sizes['transfersize']} bytes",
        "blocksize": f"{line.sizes['blocksize']} bytes",
        "segments": str(line.sizes["segmentcount"]),
        "tasks": tasks,
    }
    return {name: text for name, text in block.items() if text}


@dataclass
class Setup:
    """What a test was asked to do.

    Attributes:
        version: Main version of IOR; 0 if it is not printed.
        block: The block of options, by IOR's names.
        exact: Numbers of the summary or of JSON, by the names of JSON; whole numbers as text.
        line: What the command line sets; None if that is not known.
        order: Order of offsets that the user states, for a form that does not say it.
    """

    version: int = 0
    block: dict[str, str] = field(default_factory=dict)
    exact: dict[str, str] = field(default_factory=dict)
    line: IorTest | None = None
    order: Order | None = None

    @property
    def api(self) -> str:
        """The interface: `POSIX`; empty if it is not known."""
        printed = self.block.get("api") or (self.line.api if self.line else "")
        return printed.split("-")[0].split(" ")[0].upper()

    @property
    def target(self) -> str:
        """The file under test; empty if it is not printed."""
        return redact_word(escape_line(self.block.get("test filename", ""), 80))

    @property
    def options(self) -> dict[str, str]:
        """The block of options, safe to print."""
        return {
            escape_line(name, 40): redact_word(escape_line(value, _MAX_OPTION))
            for name, value in self.block.items()
            if value
        }

    @property
    def tasks(self) -> int | None:
        """Number of all tasks."""
        clients = _CLIENTS.fullmatch(self.block.get("clients", ""))
        text = clients[1] if clients else self.block.get("tasks") or self.exact.get("numTasks")
        return whole_number(text, MAX_TASKS) or None

    @property
    def repetitions(self) -> int | None:
        """How often the test was to be done."""
        return whole_number(self.block.get("repetitions"), MAX_TASKS) or None

    @property
    def block_size(self) -> int | None:
        """Bytes of a block, exactly."""
        return self._size("blockSize", "blocksize")

    @property
    def transfer_size(self) -> int | None:
        """Bytes of a transfer, exactly."""
        return self._size("transferSize", "xfersize")

    @property
    def segments(self) -> int | None:
        """Number of segments."""
        pattern = _SEGMENTS.fullmatch(self.block.get("pattern", ""))
        text = pattern[1] if pattern else self.block.get("segments") or self.exact.get("segmentCount")
        if text is None and self.line is not None:
            return self.line.sizes["segmentcount"]
        return whole_number(text, 2**40) or None

    @property
    def is_shared(self) -> bool | None:
        """Whether all tasks work on one file."""
        access = self.block.get("access", "")
        if access.startswith("file-per-process"):
            return False
        return True if access.startswith("single-shared-file") else None

    @property
    def bytes_of_all(self) -> int | None:
        """Bytes that all tasks were to write or read together, exactly."""
        segments, block, tasks = self.segments, self.block_size, self.tasks
        return segments * block * tasks if segments and block and tasks else None

    @property
    def seconds_limit(self) -> int:
        """Seconds after which tasks stop (-D); 0 without a limit."""
        printed = self.block.get("stonewallingTime") or self.block.get("Using stonewalling", "").split(" ")[0]
        return whole_number(printed or self.exact.get("deadlineForStonewall"), 2**31) or 0

    @property
    def is_random(self) -> bool | None:
        """Whether offsets are random; None if it is not known."""
        order = self.block.get("ordering in a file", "") or (self.order or "")
        if not order.startswith("random"):
            return False if order.startswith("sequential") else None
        # From 4.0 on -z shuffles the transfers of each block: with one in a block there is nothing to shuffle.
        return self.version < 4 or self._shuffles > 1 or self.block_size != self.transfer_size

    @property
    def _shuffles(self) -> int:
        """How often -z was given, from 1 on."""
        return whole_number(self.exact.get("randomOffset")) or (
            self.line.counts.get("randomoffset", 1) if self.line else 1
        )

    def parameters_of(self, operation: str) -> dict[str, AxisValue]:
        """Return the parameters that are known."""
        found: dict[str, AxisValue] = {
            "files": None,
            "record_size": self.transfer_size,
            **self._shape(),
            **self._load(),
        }
        if self.api in _SYNCHRONOUS:
            found["queue_depth"] = 1
        if self.api == "MMAP":
            found["method"] = "mmap"
        if self.api == "MPIIO" and "type" in self.block:
            found["collective"] = self.block["type"] == "collective"
        if self._is_direct():
            found["cache"] = "direct"
        found["sync"] = self._sync() if WORK[operation].writes else None
        if operation in REORDERED:
            found |= self._reorder()
        known = {name: value for name, value in found.items() if value is not None or name == "files"}
        return known | self._time(operation)

    def _shape(self) -> dict[str, AxisValue]:
        segments, block, tasks = self.segments, self.block_size, self.tasks
        shared = self.is_shared
        found: dict[str, AxisValue] = {"layout": None if shared is None else "shared" if shared else "separate"}
        if segments and block and shared is not None and (tasks or not shared):
            found["file_size"] = segments * block * (tasks or 1 if shared else 1)
        # An order over the whole file has no blocks.
        if self.is_random and (self._shuffles > 1 or block == self.transfer_size):
            return found
        return found | {"segments": segments, "block_size": block}

    def _load(self) -> dict[str, AxisValue]:
        """Return who works: hosts with lanes each if that is the same on all, else all streams."""
        tasks, clients = self.tasks, _CLIENTS.fullmatch(self.block.get("clients", ""))
        each = whole_number(clients[2] if clients else self.block.get("clients per node"), MAX_TASKS)
        nodes = whole_number(self.block.get("nodes"), MAX_TASKS) or (1 if tasks and tasks == each else None)
        if not tasks:
            return {}
        name = "tasks_per_host" if self.api == "MPIIO" else "lanes"
        if nodes and each and nodes * each == tasks and each <= MAX_LANES:
            return {"hosts": nodes, name: each, **({"lanes": 1} if name != "lanes" else {})}
        return {"hosts": nodes, "streams": tasks}

    def _is_direct(self) -> bool:
        asked = self.exact.get("useO_DIRECT") == "1" or (self.line is not None and self.line.has("useo_direct"))
        return asked and self.api not in ("MPIIO", "MMAP")

    def _sync(self) -> str | None:
        if "fsync" in self.exact and "fsyncperwrite" in self.exact:
            at_end, each = self.exact["fsync"] != "0", self.exact["fsyncperwrite"] != "0"
        elif self.line is not None:
            at_end, each = self.line.has("fsync"), self.line.has("fsyncperwrite")
        else:
            return None
        if each and self.api != "MPIIO":
            return "fsync" if self.api == "MMAP" else "o_dsync"
        return "fsync" if at_end else "none"

    def _reorder(self) -> dict[str, AxisValue]:
        printed = self.block.get("ordering inter file", "")
        if printed.startswith("random"):
            return {"reorder": "random"}
        if printed.startswith("no tasks"):
            return {"reorder": "none"}
        if not printed.startswith("constant"):
            return {}
        old = _OFFSET.fullmatch(printed)
        by = whole_number(old[1] if old else self.block.get("task offset"), MAX_TASKS)
        return {"reorder": "node", "reorder_by": by} if by else {"reorder": "none"} if by == 0 else {}

    def _time(self, operation: str) -> dict[str, AxisValue]:
        """Return limits of time, and that none was set; nothing if that is not known."""
        if not self.block and not self.exact.get("deadlineForStonewall"):
            return {}
        least = (self.line.number("mintimeduration") or 0) if self.line and _is_number(self.line) else 0
        limit = self.seconds_limit
        if least:
            return {"runtime": min(least, limit or least) * _NS}
        found: dict[str, AxisValue] = {"time_limit": limit * _NS or None}
        if self.line is not None:
            found["runtime"] = None
            if "interiodelay" not in self.line.texts:
                found["rate"] = None
        if limit and operation == "write":
            found["wear_out"] = self._wears_out()
        return {name: value for name, value in found.items() if name != "wear_out" or value is not None}

    def _wears_out(self) -> bool | None:
        text = self.block.get("stoneWallingWearOut") or self.exact.get("stoneWallingWearOut")
        if text is not None:
            return text != "0"
        return None if self.line is None else self.line.has("stonewallingwearout")

    def _size(self, exact: str, rounded: str) -> int | None:
        if (known := whole_number(self.exact.get(exact))) is not None:
            return known or None
        match = _SIZE.fullmatch(self.block.get(rounded, ""))
        if match is None:
            return None
        unit, cents = _UNITS[match[3]], int(match[1]) * 100 + int(match[2] or 0)
        if match[2] is None:
            return cents // 100 * unit or None
        if self.line is None:
            return None
        size = self.line.sizes["blocksize" if exact == "blockSize" else "transfersize"]
        return size if abs(size * 100 - cents * unit) <= unit else None


def _is_number(line: IorTest) -> bool:
    return whole_number(line.texts.get("mintimeduration", "0")) is not None


def texts_of(values: Mapping[str, object]) -> dict[str, str]:
    """Return the entries of a part of JSON whose values are texts or numbers."""
    return {name: value for name, value in values.items() if isinstance(value, str)}
