"""Runs short commands and collects their output: bounded in bytes and time, and without a way to hang."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from assay.launch.launcher import Process

MAX_STDOUT_BYTES = 16 << 20
"""Most bytes of standard output; environments and interface lists of large hosts have far less than one MiB."""
STDERR_TAIL_BYTES = 64 << 10
"""Bytes of standard error to keep, from its end, where the reason of a failure is."""
POLL_SECONDS = 0.1
KILL_WAIT_SECONDS = 5.0
"""Seconds from SIGKILL until a process that waits for storage is given up."""
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class ProcessOutput:
    """Exit code and output of a command.

    Attributes:
        code: Exit code; negative if it was killed by a signal; None if it did not end, not even by SIGKILL.
        out: Standard output.
        err: The end of standard error.
        timed_out: It did not end in time and was killed.
        overflowed: It printed too much and was killed.
    """

    code: int | None
    out: bytes
    err: bytes
    timed_out: bool
    overflowed: bool


def run_program(
    argv: Sequence[str], seconds: float, input_bytes: bytes = b"", environment: Mapping[str, str] | None = None
) -> ProcessOutput:
    """Run a program of this machine and collect its output. All programs are run so, or by `Conversation`.

    Args:
        argv: The command; its working directory is /.
        seconds: Time limit.
        input_bytes: Its standard input.
        environment: Its variables; those of this process if None.

    Raises:
        OSError: It cannot be started.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, cwd="/")
    return collect(process, input_bytes, seconds)


def collect(
    process: Process, input_bytes: bytes | None, seconds: float, max_bytes: int = MAX_STDOUT_BYTES
) -> ProcessOutput:
    """Send a command its input and collect its output until it ends, for at most `seconds` and `LEAVE_SECONDS`.

    Unlike `Popen.communicate`, it does not wait for output that a child of the command holds open, nor for a process
    that not even SIGKILL ends.

    Args:
        process: The process, with pipes.
        input_bytes: Its standard input; None if that is no pipe.
        seconds: Time limit.
        max_bytes: Most bytes of standard output.
    """
    talk = _Talk(process, input_bytes or b"", max_bytes)
    try:
        late = not talk.finish(time.monotonic() + seconds)
    finally:
        end_process(process)
    return ProcessOutput(process.returncode, bytes(talk.out), bytes(talk.err), late, talk.long)


def end_process(process: Process) -> None:
    """Kill the process if it runs, and close its pipes; a process that waits for storage is given up."""
    if process.poll() is None:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KILL_WAIT_SECONDS)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


class _Talk:
    def __init__(self, process: Process, input_bytes: bytes, most: int) -> None:
        self.process = process
        self.out, self.err = bytearray(), bytearray()
        self.long = False
        self._input, self._most = memoryview(input_bytes), most
        self._open = {pipe for pipe in (process.stdout, process.stderr) if pipe is not None}

    def finish(self, deadline: float) -> bool:
        """Exchange data until the process ends or prints too much; False if the deadline passes first."""
        with selectors.DefaultSelector() as selector:
            for pipe in self._open:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ)
            if self.process.stdin is not None:
                os.set_blocking(self.process.stdin.fileno(), False)
                selector.register(self.process.stdin, selectors.EVENT_WRITE)
            while self._open and not self.long:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                # Checked before reading: the output of a process that has ended is complete in the pipe by then.
                exited = self.process.poll() is not None
                ready = selector.select(0.0 if exited else min(POLL_SECONDS, left))
                if exited and not any(key.fileobj in self._open for key, _ in ready):
                    return True
                for key, _ in ready:
                    self._serve(selector, key.fileobj)  # type: ignore[arg-type]
        if self.long:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        return self.process.returncode is not None

    def _serve(self, selector: selectors.BaseSelector, pipe: IO[bytes]) -> None:
        finished = self._send(pipe) if pipe is self.process.stdin else self._receive(pipe)
        if finished:
            selector.unregister(pipe)
            self._open.discard(pipe)
            if pipe is self.process.stdin:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, pipe: IO[bytes]) -> bool:
        try:
            self._input = self._input[os.write(pipe.fileno(), self._input[:READ_BYTES]) :]
        except BlockingIOError:
            return False
        except OSError:
            return True
        return not self._input

    def _receive(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if pipe is self.process.stdout:
            self.out += chunk
            self.long = len(self.out) > self._most
        else:
            self.err += chunk
            del self.err[:-STDERR_TAIL_BYTES]
        return not chunk
