"""Records a command: runs it under strace, and writes what it did as a trace."""

import contextlib
import fcntl
import os
import shlex
import shutil
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.journal.trees import scratch_folder
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.secret import redact_command
from assay.model.trace.records import TraceHeader
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.strace.known_files import KnownFiles
from assay.rooms.traces.work.strace.program import run_traced, run_untraced, strace_options
from assay.rooms.traces.work.strace.reader import Inherited, StraceReader
from assay.rooms.traces.work.writer import TraceTotals, TraceWriter

CALIBRATION_CALLS = 2000
"""Records of a program that is run to find out what tracing a call costs; each is a read and a write."""


@dataclass(frozen=True)
class Recording:
    """What a recording was.

    Attributes:
        code: Exit code of the command.
        header: Header of the trace.
        totals: What is in it.
        lines: Calls that strace printed.
        call_ns: Nanoseconds that tracing one call costs; None if that is not known.
    """

    code: int
    header: TraceHeader
    totals: TraceTotals
    lines: int
    call_ns: float | None


class Recorder:
    """A command that is recorded; it is checked on construction.

    Args:
        command: The command.
        below: Directories and files that are recorded; none: all but those of the system.
        keep_names: Names of files stay as they are.
        twice: Run it once more without tracing, to know what tracing cost.

    Raises:
        AssayError: There is no strace, no such program or no such directory.
    """

    def __init__(self, command: Sequence[str], below: Sequence[str], keep_names: bool, twice: bool) -> None:
        self._options = strace_options()
        self._command, self._twice = command, twice
        self._roots = [_root(each) for each in below]
        if shutil.which(command[0]) is None:
            raise AssayError(f"{command[0]}: there is no such program", "write the command behind `--`", 127)
        self._folder = str(Path.cwd())
        self._files = KnownFiles(self._roots, Names(self._roots, keep_names), kind_of, size_of)

    def record(self, path: Path) -> Recording:
        """Run the command and write its trace.

        Args:
            path: Where the trace is written.

        Raises:
            AssayError: strace cannot trace it; nothing was written.
        """
        with scratch_folder("assay-record-") as folder:
            writer = TraceWriter(folder)
            reader = StraceReader(self._files, writer, self._folder, inherited())
            recorded = datetime.now(UTC).isoformat(timespec="seconds")
            begin = time.monotonic_ns()
            code = run_traced(self._options, self._command, folder / "calls", reader.line)
            duration = time.monotonic_ns() - begin
            if reader.lines == 0:
                hint = "its message stands above; in a container it may need the capability SYS_PTRACE"
                raise AssayError("strace could not trace the command", hint, EXIT_REFUSED)
            reader.finish()
            untraced = run_untraced(self._command) if self._twice else None
            cost = None if self._twice else self._cost_of_a_call(folder)
            words = shlex.split(redact_command(self._command))
            header = TraceHeader("strace", words, recorded, duration, untraced, reader.losses())
            totals = writer.write(path, header, self._files)
        return Recording(code, header, totals, reader.lines, cost)

    def _cost_of_a_call(self, folder: Path) -> float | None:
        """Return the nanoseconds that tracing a call costs on this machine, by a program of many calls."""
        program = shutil.which("dd")
        if program is None:
            return None
        times = []
        for number, count in enumerate((1, CALIBRATION_CALLS)):
            place = folder / f"cost{number}"
            place.mkdir()
            reader = StraceReader(KnownFiles((), Names(), kind_of, size_of), TraceWriter(place), self._folder)
            command = [program, "if=/dev/zero", "of=/dev/null", "bs=1", f"count={count}"]
            begin = time.monotonic_ns()
            run_traced(self._options, command, place / "calls", reader.line, quiet=True)
            traced = time.monotonic_ns() - begin
            times.append(traced - run_untraced(command, quiet=True))
        return max(0.0, (times[1] - times[0]) / (2 * (CALIBRATION_CALLS - 1)))


def _root(written: str) -> str:
    path = os.path.realpath(written)
    if not os.path.lexists(path):
        raise AssayError(
            f"--below {written}: there is no such directory", "name one that exists before the command runs"
        )
    return path


def kind_of(path: str) -> str:
    """Return the letter of what is at a path: `f`, `d` or `b`; empty for other things, and nothing."""
    with contextlib.suppress(OSError):
        mode = Path(path).stat().st_mode
        return "f" if stat.S_ISREG(mode) else "d" if stat.S_ISDIR(mode) else "b" if stat.S_ISBLK(mode) else ""
    return ""


def size_of(path: str) -> int | None:
    """Return the size of a regular file in bytes; None if there is none."""
    with contextlib.suppress(OSError):
        status = Path(path).stat()
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    return None


def inherited() -> list[Inherited]:
    """Return the standard streams of this process that are files."""
    found = []
    for number in range(3):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(number).st_mode):
                path = str(Path(f"/proc/self/fd/{number}").readlink())
                appends = bool(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_APPEND)
                found.append(Inherited(number, path, os.lseek(number, 0, os.SEEK_CUR), appends))
    return found
