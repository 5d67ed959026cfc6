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

from assay.model.base import AssayError
from assay.model.regular_files import IrregularError, open_regular
from assay.model.secret import redact_command
from assay.model.trace.records import MAX_NUMBER, TraceHeader
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.strace.known_files import KnownFiles
from assay.rooms.traces.work.strace.program import (
    EXIT_NOT_STARTED,
    check_tracing,
    run_traced,
    run_untraced,
    strace_options,
)
from assay.rooms.traces.work.strace.reader import Inherited, StraceReader
from assay.rooms.traces.work.writer import TraceTotals, TraceWriter

CALIBRATION_CALLS = 1000
"""Records of a program that is run to find out what tracing a call costs; each is a read and a write."""
_HEAD_BYTES = 80
"""Bytes at the beginning of a program that say whether it is text."""


@dataclass(frozen=True)
class Recording:
    """What a recording was.

    Attributes:
        code: Exit code of the command.
        header: Header of the trace.
        totals: What is in it.
        calls: Calls that strace printed.
        call_ns: Least and most nanoseconds that tracing a call of another program cost, right before and right after;
            None if that is not known.
        untraced_code: Exit code of the run without tracing; None if there was none.
    """

    code: int
    header: TraceHeader
    totals: TraceTotals
    calls: int
    call_ns: tuple[float, float] | None
    untraced_code: int | None


class Recorder:
    """A command that is recorded; it is checked on construction.

    Args:
        command: The command.
        below: Directories and files that are recorded; none: all but those of the system.
        keep_names: Names of files stay as they are.
        twice: Run it once more without tracing, to know what tracing cost.

    Attributes:
        code: Exit code of the command; None until it has ended.

    Raises:
        AssayError: There is no strace, it may not trace, or there is no such program or directory.
    """

    def __init__(self, command: Sequence[str], below: Sequence[str], keep_names: bool, twice: bool) -> None:
        self.code: int | None = None
        self._options = strace_options()
        self._roots = [_root(each) for each in below]
        self._words, self._command, self._twice = command, startable(command), twice
        check_tracing(self._options)
        self._folder = str(Path.cwd())
        self._files = KnownFiles(self._roots, Names(self._roots, keep_names), kind_of, size_of)
        self._writer = TraceWriter()
        self._reader = StraceReader(self._files, self._writer, self._folder, inherited())
        self._failure: OSError | None = None

    def run(self) -> None:
        """Run the command.

        Raises:
            AssayError: It cannot be started.
        """
        costs = [] if self._twice else [self._cost_of_a_call()]
        self._recorded = datetime.now(UTC).isoformat(timespec="seconds")
        begin = time.monotonic_ns()
        code = run_traced(self._options, self._command, self._line)
        self._duration = time.monotonic_ns() - begin
        if not self._reader.has_started and self._failure is None:
            message = f"{self._command[0]} cannot be started"
            raise AssayError(message, "the message of strace stands above; nothing was run", EXIT_NOT_STARTED)
        self.code = code
        self._untraced = run_untraced(self._command) if self._twice else None
        costs += [] if self._twice else [self._cost_of_a_call()]
        known = [cost for cost in costs if cost is not None]
        self._call_ns = (min(known), max(known)) if known else None

    def write(self, path: Path) -> Recording:
        """Write the trace of the command, which has been run.

        Args:
            path: Where the trace is written.

        Raises:
            OSError: It cannot be written.
        """
        if self._failure is not None:
            raise self._failure
        code, untraced = self.code or 0, self._untraced
        self._reader.finish()
        # The time of a run that ended otherwise says nothing of tracing.
        without = untraced.time if untraced is not None and untraced.code == code else None
        words = shlex.split(redact_command(self._words))
        header = TraceHeader("strace", words, self._recorded, self._duration, without, self._reader.losses())
        totals = self._writer.write(path, header, self._files)
        untraced_code = None if untraced is None else untraced.code
        return Recording(code, header, totals, self._reader.call_count, self._call_ns, untraced_code)

    def _line(self, text: str) -> None:
        """Take a line into account, unless there was no room for those before: the command runs to its end anyway."""
        if self._failure is None:
            try:
                self._reader.line(text)
            except OSError as error:
                self._failure = error

    def _cost_of_a_call(self) -> float | None:
        """Return the nanoseconds that tracing a call costs now, by a program of many calls; None if that is unclear."""
        program = shutil.which("dd")
        if program is None:
            return None
        times = []
        for count in (1, CALIBRATION_CALLS):
            reader = StraceReader(KnownFiles((), Names(), kind_of, size_of), TraceWriter(), self._folder)
            command = [program, "if=/dev/zero", "of=/dev/null", "bs=1", f"count={count}"]
            begin = time.monotonic_ns()
            run_traced(self._options, command, reader.line, quiet=True)
            traced = time.monotonic_ns() - begin
            times.append(traced - run_untraced(command, quiet=True).time)
        cost = (times[1] - times[0]) / (2 * (CALIBRATION_CALLS - 1))
        return cost if cost > 0 else None


def startable(command: Sequence[str]) -> list[str]:
    """Return the words with which a command is started: those of a script without `#!` with the shell before them.

    Raises:
        AssayError: There is no such program, or it may not be started; exit codes are those of shells.
    """
    name = command[0]
    path = shutil.which(name)
    if path is None:
        if "/" in name and Path(name).is_dir():
            raise AssayError(f"{name} is a directory", "name a program", EXIT_NOT_STARTED)
        if "/" in name and Path(name).exists():
            hint = f"allow it: chmod +x {shlex.quote(name)}; or name the program that reads it before it"
            raise AssayError(f"{name} may not be executed", hint, EXIT_NOT_STARTED)
        first = name.split()
        if len(command) == 1 and len(first) > 1 and shutil.which(first[0]):
            raise AssayError(f"{name}: there is no such program", f"leave out the quotes: assay record -- {name}", 127)
        raise AssayError(f"{name}: there is no such program", "write the command behind `--`", 127)
    # As shells do: what has no interpreter, and is text, is read by sh.
    is_script = _is_text_without_interpreter(path)
    return ["sh", path, *command[1:]] if is_script else list(command)


def _is_text_without_interpreter(path: str) -> bool:
    with contextlib.suppress(OSError, IrregularError):
        file = open_regular(path, MAX_NUMBER)
        try:
            head = os.read(file, _HEAD_BYTES)
        finally:
            os.close(file)
        return not head.startswith((b"#!", b"\x7fELF")) and b"\0" not in head
    return False


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
