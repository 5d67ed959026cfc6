"""The command lines of dd that stand before its output: what was copied, and how (coreutils, dd.c and xdectoint.c)."""

import re
from dataclasses import dataclass, field

from assay.model.escape import escape_line
from assay.model.secret import redact, redact_word
from assay.model.study.axis import AxisValue

_CALL = re.compile(r"(?:^|[\s;|&(`'\"/])(?:g?dd)((?:\s+[a-z]+=(?:\"[^\"]*\"|'[^']*'|[^\s;|&)<>`\"']*))+)")
_OPERAND = re.compile(r"([a-z]+)=(?:\"([^\"]*)\"|'([^']*)'|(\S*))")
_SIZE = re.compile(r"([0-9]{1,15})([a-zA-Z]{0,3})", re.ASCII)
_MAX_LINE = 4000
_LETTERS = "KMGTPE"
_SUFFIXES = {
    "": 1,
    "c": 1,
    "w": 2,
    "b": 512,
    **{f"{letter}{end}": 1024**power for power, letter in enumerate(_LETTERS, 1) for end in ("", "iB")},
    **{f"{letter}B": 1000**power for power, letter in enumerate(_LETTERS, 1)},
}
_ZEROS = ("/dev/zero",)
_SOURCES = (*_ZEROS, "/dev/urandom", "/dev/random")
_SINKS = ("/dev/null",)


@dataclass(frozen=True)
class DdCommand:
    """A command line of dd.

    Attributes:
        operands: As typed; the last of each name counts.
    """

    operands: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The command line without what stands around it, safe to print."""
        return redact(escape_line("dd " + " ".join(f"{name}={value}" for name, value in self.operands.items())))

    @property
    def options(self) -> dict[str, str]:
        """The operands, safe to print."""
        return {name: redact_word(escape_line(value, 120)) for name, value in list(self.operands.items())[:30]}

    @property
    def target(self) -> str:
        """What was read or written, as typed."""
        path = self.operands.get("if" if self.operation == "read" else "of", "")
        return redact_word(escape_line(path, 80))

    @property
    def operation(self) -> str:
        """`read` or `write`; empty if it is neither alone."""
        source, sink = self.operands.get("if", ""), self.operands.get("of", "")
        if source in _SOURCES and sink and sink not in _SINKS:
            return "write"
        return "read" if source and source not in _SOURCES and sink in _SINKS else ""

    @property
    def why_none(self) -> str:
        """Why it neither reads nor writes alone."""
        source, sink = self.operands.get("if", ""), self.operands.get("of", "")
        if source in _SOURCES and sink in _SINKS:
            return "no storage took part"
        if not source or not sink:
            return "its other end was a pipe"
        return "it read one file and wrote another at the same time"

    def size(self, name: str) -> int | None:
        """Return an operand that is a size in bytes, or a count; None if it is not there, or is none."""
        found = 1
        for part in self.operands.get(name, "").split("x"):
            match = _SIZE.fullmatch(part)
            suffix = match[2] if match else "?"
            suffix = suffix.upper() if len(suffix) == 1 and suffix not in "bcw" else suffix
            if match is None or (suffix not in _SUFFIXES and suffix != "kB"):
                return None
            found *= int(match[1]) * _SUFFIXES.get(suffix, 1000)
        return found if 0 < found < 2**62 else None

    def wanted(self) -> int | None:
        """Return how many bytes it was to copy; None if that is not known."""
        size, count = self.record_size, self.size("count")
        return size * count if size and count and "count_bytes" not in self.flags("iflag") else None

    @property
    def record_size(self) -> int | None:
        """Bytes of each call of read or write; None if that is not known."""
        own = "ibs" if self.operation == "read" else "obs"
        if "bs" in self.operands or own in self.operands:
            return self.size("bs" if "bs" in self.operands else own)
        return 512

    def flags(self, name: str) -> list[str]:
        """Return the words of `conv`, `iflag` or `oflag`."""
        return self.operands.get(name, "").split(",")

    def parameters(self, moved: int) -> dict[str, AxisValue]:
        """Return the parameters that follow from it.

        Args:
            moved: How many bytes were copied.
        """
        found: dict[str, AxisValue] = {
            "lanes": 1,
            "hosts": 1,
            "queue_depth": 1,
            "layout": "separate",
            "rate": None,
            "runtime": None,
        }
        if size := self.record_size:
            found["record_size"] = size
        if not {"seek", "skip", "oseek", "iseek"} & self.operands.keys():
            found["file_size"] = moved
        if "direct" in self.flags("iflag" if self.operation == "read" else "oflag"):
            found["cache"] = "direct"
        if self.operation == "write":
            found["sync"] = self._sync()
            found["compressible"] = 100 if self.operands["if"] in _ZEROS else 0
        return found

    def _sync(self) -> str:
        flags, conversions = self.flags("oflag"), self.flags("conv")
        for name, words in (("o_sync", "sync"), ("o_dsync", "dsync")):
            if words in flags:
                return name
        return next((name for name in ("fsync", "fdatasync") if name in conversions), "none")


def commands_of(line: str) -> list[DdCommand]:
    """Return the command lines of dd in a line of a terminal or a script, in order."""
    if "dd" not in line or "=" not in line or len(line) > _MAX_LINE:
        return []
    found = []
    for match in _CALL.finditer(line):
        operands = {one[1]: one[2] or one[3] or one[4] or "" for one in _OPERAND.finditer(match[1])}
        if operands.keys() & {"if", "of", "bs", "count"}:
            found.append(DdCommand(operands))
    return found
