"""Runs a command under strace and gives each line that strace prints to a reader, while the command runs."""

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

from assay.launch.commands import run_program
from assay.model.base import EXIT_REFUSED, AssayError
from assay.rooms.traces.work.strace.reader import TRACED, VECTORS

INSTALL = "install strace: apt-get install strace, dnf install strace or zypper install strace"
EXIT_NOT_STARTED = 126
"""Exit code of a command that is there and cannot be started, as shells have it."""
_FORBIDDEN = "nothing was run; a container needs the capability SYS_PTRACE, and a program has one tracer at a time"
_NOTHING = ("sh", "-c", ":")
_POLL_MILLISECONDS = 100
_READ_BYTES = 1 << 18
_SECONDS = 20.0
"""Time limit of `strace -V`, and of a program that does nothing."""
_VERSION = re.compile(rb"strace -- version (\d+)\.(\d+)")
_WITH_SECCOMP, _WITH_NANOSECONDS = (5, 3), (5, 7)
"""Versions of strace from which on it has --seccomp-bpf, and times in nanoseconds."""

Line = Callable[[str], None]


def strace_options() -> list[str]:
    """Return the words with which strace is to be started, but for its output and the command.

    Raises:
        AssayError: There is no strace.
    """
    path = shutil.which("strace")
    if path is None:
        raise AssayError("there is no strace on PATH, which records the calls of a program", INSTALL, EXIT_REFUSED)
    found = _VERSION.search(run_program([path, "-V"], _SECONDS).out)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    times = ["-ttt", "-T"]
    if version >= _WITH_NANOSECONDS:
        times = ["--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns"]
    # Of what is read and written strace prints nothing: -s 0. Calls that an architecture lacks are left out: `?`.
    return [
        *(path, "-f", "-q", "-y", "-s", "0", *times),
        *(["--seccomp-bpf"] if version >= _WITH_SECCOMP else []),
        *("-e", f"abbrev=!{','.join(VECTORS)}", "-e", "signal=none"),
        *("-e", "trace=" + ",".join(f"?{name}" for name in dict.fromkeys(TRACED))),
    ]


def check_tracing(options: Sequence[str]) -> None:
    """Trace a program that does nothing, since a container, or another tracer, may forbid that.

    Args:
        options: As `strace_options` returns them.

    Raises:
        AssayError: strace may not trace programs here.
    """
    words = [*options, "-o", os.devnull, "--", *_NOTHING]
    done = run_program(words, _SECONDS)
    if done.code != 0:
        said = done.err.decode(errors="replace").strip().splitlines()
        why = f": {said[0].removeprefix('strace: ')}" if said else ""
        raise AssayError(f"strace may not trace programs here{why}", _FORBIDDEN, EXIT_NOT_STARTED)


def run_traced(options: Sequence[str], command: Sequence[str], line: Line, quiet: bool = False) -> int:
    """Run a command under strace to its end; return its exit code, as a shell has it.

    Signals that would end this process go to the command, and the trace is written when it has ended. If this process
    is killed, the command goes on, and strace with it: calls of a program that has lost its tracer would fail.

    Args:
        options: As `strace_options` returns them.
        command: The command.
        line: Gets each line.
        quiet: The command reads and prints nothing.

    Raises:
        OSError: strace cannot be started.
    """
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) if quiet else {}
    first: list[int] = []
    source, sink = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(source, False)
    # strace opens the pipe itself, so that the command does not inherit it, and there is no FIFO to be left over.
    words = [*options, "-o", f"/proc/{os.getpid()}/fd/{sink}", "--", *command]
    ends = [sink]
    with _signals_for(first), subprocess.Popen(words, **streams) as process:
        try:
            for text in _lines(source, process):
                while ends:
                    os.close(ends.pop())
                if not first and (pid := text.split(" ", 1)[0]).isdigit():
                    first.append(int(pid))
                line(text)
        finally:
            for end in (source, *ends):
                os.close(end)
        code = process.wait()
    return code if code >= 0 else 128 - code


class Untraced(NamedTuple):
    """A run without tracing: its exit code as a shell has it, and nanoseconds."""

    code: int
    time: int


def run_untraced(command: Sequence[str], quiet: bool = False) -> Untraced:
    """Run a command to its end, as `run_traced` does but for strace."""
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL) if quiet else {}
    begin = time.monotonic_ns()
    with _signals_for([]), subprocess.Popen(command, **streams) as process:
        code = process.wait()
    return Untraced(code if code >= 0 else 128 - code, time.monotonic_ns() - begin)


def _lines(source: int, process: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Yield the lines that come through a pipe, until its writer has closed it, or ended."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    rest = b""
    while True:
        # Looked at before: what strace has printed is in the pipe by then.
        has_ended = process.poll() is not None
        if not poll.poll(_POLL_MILLISECONDS):
            if has_ended:
                break
            continue
        try:
            chunk = os.read(source, _READ_BYTES)
        except BlockingIOError:
            continue
        if not chunk:
            break
        *whole, rest = (rest + chunk).split(b"\n")
        for one in whole:
            yield one.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


@contextlib.contextmanager
def _signals_for(first: Sequence[int]) -> Iterator[None]:
    """In the block, Ctrl-C is left to the command, which gets it from the terminal, too; others are passed on to it.

    Args:
        first: The id of its process, as soon as it is known.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(first[0], number)

    # Handlers, since a signal that is ignored here would be ignored by the command.
    handled: dict[int, Any] = {signal.SIGINT: lambda *_: None, signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}
    before = {
        number: signal.signal(number, handler)
        for number, handler in handled.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
