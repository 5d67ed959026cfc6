"""What mdtest was asked to do, from its command line, and the parameters that follow."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact_word
from assay.model.study.axis import AxisValue
from assay.model.study.names import REORDERED
from assay.plan.command_lines.mdtest_options import LETTERS
from assay.plan.command_lines.options import ParsedOption, binary_size, options_of, whole_number

_MAX_OPTIONS, _MAX_OPTION = 60, 120
_MAX_LANES, _MAX_TASKS = 1024, 2**20
_NS = 10**9
_STEPS = {"stat": 1, "open": 2, "read": 2, "unlink": 3, "rmdir": 3}
"""Operation -> how often -N has moved on: each phase goes on by that many tasks, in the order of phases."""
_WRITTEN = {one.name: f"-{letter}" if len(letter) == 1 else f"--{letter}" for letter, one in LETTERS.items()}
_NUMBERS = ("branch", "depth", "stride", "stonewall")
_SIZES = ("writebytes", "readbytes", "items", "itemsperdir")


@dataclass(frozen=True)
class Load:
    """Who worked.

    Attributes:
        tasks: All tasks that were started.
        nodes: Nodes that they ran on.
        shift: By how many tasks each phase goes on, if it is printed.
        is_old: mdtest before it was part of IOR, whose count of nodes misses a task.
    """

    tasks: int
    nodes: int
    shift: int | None
    is_old: bool

    def parameters_of(self, tasks: int | None) -> dict[str, AxisValue]:
        """Return who worked as parameters.

        Args:
            tasks: Tasks that took part; None if it is not printed.
        """
        count = tasks or self.tasks
        if not 0 < count <= _MAX_TASKS:
            return {}
        # The old count of tasks per node leaves the last task out: two on one node seem to be on two.
        knows_nodes = self.nodes > 0 and not (self.is_old and self.tasks == 2)
        if knows_nodes and count == self.tasks and count % self.nodes == 0 and count // self.nodes <= _MAX_LANES:
            return {"hosts": self.nodes, "lanes": count // self.nodes}
        return {"streams": count, **({"hosts": 1} if knows_nodes and self.nodes == 1 else {})}


@dataclass(frozen=True)
class Wanted:
    """The options of a command line.

    Attributes:
        options: As written, safe to print.
        flags: Names of all options.
        numbers: Values of options with a number or size; 0 for those that were not given.
        target: The directory; empty if it was not given.
    """

    options: dict[str, str]
    flags: frozenset[str]
    numbers: Mapping[str, int]
    target: str

    @property
    def read_bytes(self) -> int:
        """Bytes that are read of each file; 0: files are opened and closed."""
        return self.numbers["readbytes"]

    @property
    def seconds_limit(self) -> int:
        """Seconds after which the creation stops (-W); 0 without a limit."""
        return self.numbers["stonewall"]

    @property
    def is_by_one_task(self) -> bool:
        """Whether one task makes and removes the names of all."""
        return "collectivecreates" in self.flags

    def bytes_of(self, operation: str) -> int:
        """Return the bytes that one operation moves; reads do not go beyond what was written."""
        size = self.numbers["writebytes"]
        return size if operation == "create" else min(self.read_bytes, size) if operation == "read" else 0

    def parameters_of(self, operation: str, items: int | None, tasks: int | None, load: Load) -> dict[str, AxisValue]:
        """Return the parameters that follow from the options.

        Args:
            operation: One of Assay's.
            items: Files or directories of all tasks; None if it is not known.
            tasks: Tasks that took part; None likewise.
            load: Who worked.
        """
        found: dict[str, AxisValue] = {"queue_depth": 1, "runtime": None, "rate": None}
        found["layout"] = "separate" if "unique" in self.flags else "shared"
        if items and tasks and items % tasks == 0 and "sharedfile" not in self.flags:
            found["files"] = items // tasks
        found |= self._tree()
        if operation not in ("mkdir", "rmdir"):
            found["file_size"] = self.numbers["writebytes"]
        if operation == "read" and self.read_bytes == self.numbers["writebytes"]:
            found["record_size"] = self.read_bytes
        if operation == "create":
            limit = self.seconds_limit
            found |= {"time_limit": limit * _NS, "wear_out": True} if limit else {"time_limit": None}
        if sync := self._sync(operation):
            found["sync"] = sync
        return found | (self._reorder(operation, load) if operation in REORDERED else {})

    def _tree(self) -> dict[str, AxisValue]:
        """Return the shape of the tree; nothing if there were several trees (-n with -I)."""
        if self.numbers["items"] and self.numbers["itemsperdir"]:
            return {}
        depth = self.numbers["depth"]
        return {
            "depth": depth,
            "width": self.numbers["branch"] if depth and self.numbers["branch"] else 1,
            "inner": depth > 0 and "leafonly" not in self.flags,
        }

    def _sync(self, operation: str) -> str:
        if operation == "create":
            return "o_sync" if "syncfile" in self.flags else "fsync" if "syncphase" in self.flags else "none"
        if operation in ("mkdir", "rmdir", "unlink"):
            return "fsync" if "syncphase" in self.flags else "none"
        return ""

    def _reorder(self, operation: str, load: Load) -> dict[str, AxisValue]:
        if not self.numbers["stride"]:
            return {"reorder": "none"}
        by = load.shift if load.shift is not None else self.numbers["stride"] if load.nodes == 1 else 0
        return {"reorder": "lane", **({"reorder_by": by * _STEPS[operation]} if by else {})}


def wanted_by(command: str) -> Wanted | None:
    """Return what a command line asks for; None if it cannot be read.

    Args:
        command: As printed, with the program's name; options may stand in quotes.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    try:
        found = {one.name: one for one in options_of(words[1:], LETTERS, "mdtest")}
        numbers = {name: _number(found.get(name)) for name in _NUMBERS}
        numbers |= {name: _size(found.get(name)) for name in _SIZES}
    except AssayError:
        return None
    if not words or any(not 0 <= number < 2**62 for number in numbers.values()):
        return None
    target = found["dir"].value if "dir" in found else ""
    return Wanted(_options(found), frozenset(found), numbers, redact_word(escape_line(target, 80)))


def _options(found: Mapping[str, ParsedOption]) -> dict[str, str]:
    """Return the options as written, safe to print."""
    options = {}
    for one in list(found.values())[:_MAX_OPTIONS]:
        options[_WRITTEN.get(one.name, escape_line(one.name, 40))] = redact_word(escape_line(one.value, _MAX_OPTION))
    return options


def _number(one: ParsedOption | None) -> int:
    return 0 if one is None or len(one.value) > 18 else whole_number(one.value, one.text, "mdtest")


def _size(one: ParsedOption | None) -> int:
    return 0 if one is None or len(one.value) > 18 else binary_size(one.value, one.text, "mdtest")
