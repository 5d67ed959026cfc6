"""Commands on other hosts that always end: after a time limit, on request, and when this process dies.

Killing an ssh client or an `nsenter` does not kill the command behind it. So a second process reads the standard input
and ends the command at the end of input, which comes when we close the pipe or are killed.
"""

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence

from assay.launch.commands import MAX_STDOUT_BYTES, collect
from assay.launch.shell import NOT_FOUND, SSH_FAILED, CommandResult, Process, Shell
from assay.model.base import AssayError
from assay.model.units import about_size

SCRIPT = (
    "s=$1; shift; PATH=$PATH:/usr/sbin:/sbin; export PATH; "
    f'command -v "$1" >/dev/null 2>&1 || {{ echo "$1: command not found" >&2; exit {NOT_FOUND}; }}; '
    'exec 3<&0 </dev/null; "$@" 3<&- & p=$!; '
    # Neither of the two watchers holds a pipe that leads out, so that these end with the command.
    # They wait for their sleeps, so that a signal reaches the trap at once and no sleep outlives them.
    "{ while read -r x; do :; done; trap 'kill -9 $!; exit' TERM; kill $p; sleep 1 & wait $!; kill -9 $p; } "
    "<&3 >/dev/null 2>&1 & r=$!; "
    "{ exec 3<&-; trap 'kill -9 $!; exit' TERM; sleep $s & wait $!; kill $p; sleep 1 & wait $!; kill -9 $p; } "
    ">/dev/null 2>&1 & t=$!; "
    "wait $p; c=$?; kill $r $t 2>/dev/null; wait; exit $c"
)
"""For sh, with seconds and a command; exits with the command's code. POSIX only and one line, for any login shell."""

KILL_GRACE_SECONDS = 3.0
"""Seconds from the end of input to SIGKILL of the process on this machine."""
SPARE_SECONDS = 5.0
"""Seconds that the limit here is longer: the command is ended on its host first, so that its output arrives."""


class StoppedError(Exception):
    """`end_all` was called; no more commands are started."""


class RemoteCommand:
    """A command on a host; it ends at the latest when this object is released."""

    def __init__(self, shell: Shell, argv: Sequence[str], seconds: float) -> None:
        """Start the command.

        Args:
            shell: Shell of the host.
            argv: The command.
            seconds: Time limit, after which the command is ended.

        Raises:
            AssayError: The host cannot be reached.
        """
        self.shell = shell
        self.argv = argv
        self.seconds = seconds
        read_end, self._input_fd = os.pipe()
        self._lock = threading.Lock()
        self._output = b""
        try:
            self.process: Process = shell.popen(
                ["sh", "-c", SCRIPT, "sh", str(max(1, round(seconds))), *argv],
                stdin=read_end,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except BaseException:
            os.close(self._input_fd)
            raise
        finally:
            os.close(read_end)

    def wait_for(self, word: bytes, seconds: float) -> bool:
        """Wait until the output contains `word`, and keep the output for `answer`; False if it ends or takes longer."""
        assert self.process.stdout is not None
        limit = time.monotonic() + seconds
        while word not in self._output:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, limit - time.monotonic()))
            chunk = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            if not chunk:
                return False
            self._output += chunk
        return True

    def answer(self) -> CommandResult:
        """Wait for the end of the command.

        Raises:
            AssayError: It did not end in time, printed too much, or the connection broke.
        """
        result = collect(self.process, None, self.seconds + SPARE_SECONDS)
        code = result.code
        if result.timed_out or result.overflowed or code is None:
            self.release()
            how = (
                f"printed more than {about_size(MAX_STDOUT_BYTES)}"
                if result.overflowed
                else f"did not end within {self.seconds:.0f} s"
            )
            raise AssayError(f"host {self.shell.host.name}: `{self.argv[0]}` {how}")
        output, errors = (self._output + result.out).decode("utf-8", "replace"), result.err.decode("utf-8", "replace")
        if code == SSH_FAILED and self.shell.host.kind == "ssh":
            raise AssayError(
                f"host {self.shell.host.name}: the connection broke ({CommandResult(code, '', errors).last_line})"
            )
        return CommandResult(code, output, errors)

    def end_input(self) -> None:
        """End the command, by the end of its input; does not wait."""
        with self._lock:
            if self._input_fd >= 0:
                os.close(self._input_fd)
                self._input_fd = -1

    def release(self) -> None:
        """End the command and wait until the process on this machine is gone; a second call does nothing."""
        self.end_input()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(KILL_GRACE_SECONDS)
        if self.process.poll() is None:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(KILL_GRACE_SECONDS)

    def close(self) -> None:
        """Close the pipes of its output."""
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class RemoteCommands:
    """The running commands of a measurement; another thread can end them together."""

    def __init__(self) -> None:
        """Start with no commands."""
        self._running: set[RemoteCommand] = set()
        self._closed = False
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def start(self, shell: Shell, argv: Sequence[str], seconds: float) -> Iterator[RemoteCommand]:
        """Run a command for the length of a `with` block; see `RemoteCommand`.

        Raises:
            StoppedError: `end_all` was called.
        """
        if self._closed:
            raise StoppedError
        leash = RemoteCommand(shell, argv, seconds)
        with self._lock:
            self._running.add(leash)
        try:
            if self._closed:
                raise StoppedError
            yield leash
        finally:
            leash.release()
            leash.close()
            with self._lock:
                self._running.discard(leash)

    def end_all(self) -> None:
        """End every command and start no more; a thread that waits for one sees it end."""
        self._closed = True
        with self._lock:
            for leash in self._running:
                leash.end_input()

    def run(self, shell: Shell, argv: Sequence[str], seconds: float) -> CommandResult:
        """Execute a command to its end; see `RemoteCommand`."""
        with self.start(shell, argv, seconds) as leash:
            return leash.answer()
