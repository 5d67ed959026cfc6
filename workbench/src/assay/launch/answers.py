"""What a short command says before it ends: with a bound in bytes and in time, and no way to hang."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from assay.launch.launcher import Process

MOST_OUT = 16 << 20
"""Bytes on standard output: environments and interface lists of large hosts have far less than one MiB."""
KEPT_ERR = 64 << 10
"""Of standard error the end counts: there stands why a command failed."""
LOOK_SECONDS = 0.1
LEAVE_SECONDS = 5.0
"""From SIGKILL to giving up on a process that waits for storage."""
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Collected:
    """What came of a command.

    Attributes:
        code: Exit code; negative if it was killed by a signal; None if it has not ended, not even by SIGKILL.
        out: Standard output.
        err: The end of standard error.
        late: It did not end in time, and was killed.
        long: It printed more than it may, and was killed.
    """

    code: int | None
    out: bytes
    err: bytes
    late: bool
    long: bool


def said(
    words: Sequence[str], seconds: float, given: bytes = b"", environment: Mapping[str, str] | None = None
) -> Collected:
    """What a program of this machine says: all that is read of programs is read so, or as `Conversation` does.

    Args:
        words: The command; it works in /.
        seconds: Longest time.
        given: For its standard input.
        environment: Its variables; this process's if left out.

    Raises:
        OSError: It cannot be started.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=environment, cwd="/")
    return collect(process, given, seconds)


def collect(process: Process, given: bytes | None, seconds: float, most: int = MOST_OUT) -> Collected:
    """Talk with a command to its end; it is never waited for longer than that and `LEAVE_SECONDS`.

    Unlike `Popen.communicate`, it does not wait for the end of output that a child of the command holds open, nor for
    a process that not even SIGKILL ends.

    Args:
        process: With pipes.
        given: For its standard input; None if that is no pipe.
        seconds: Longest time.
        most: Bytes on standard output.
    """
    talk = _Talk(process, given or b"", most)
    try:
        late = not talk.finish(time.monotonic() + seconds)
    finally:
        end(process)
    return Collected(process.returncode, bytes(talk.out), bytes(talk.err), late, talk.long)


def end(process: Process) -> None:
    """Leave no process of ours and no pipe behind; one that waits for storage is given up."""
    if process.poll() is None:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LEAVE_SECONDS)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


class _Talk:
    def __init__(self, process: Process, given: bytes, most: int) -> None:
        self.process = process
        self.out, self.err = bytearray(), bytearray()
        self.long = False
        self._given, self._most = memoryview(given), most
        self._open = {pipe for pipe in (process.stdout, process.stderr) if pipe is not None}

    def finish(self, deadline: float) -> bool:
        """Whether it came to its end, or said too much, by then."""
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
                # Asked before looking for output: what a process that is gone has said is all in the pipe by then.
                gone = self.process.poll() is not None
                ready = selector.select(0.0 if gone else min(LOOK_SECONDS, left))
                if gone and not any(key.fileobj in self._open for key, _ in ready):
                    return True
                for key, _ in ready:
                    self._serve(selector, key.fileobj)  # type: ignore[arg-type]
        if self.long:
            return True
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.0, deadline - time.monotonic()))
        return self.process.returncode is not None

    def _serve(self, selector: selectors.BaseSelector, pipe: IO[bytes]) -> None:
        done = self._send(pipe) if pipe is self.process.stdin else self._receive(pipe)
        if done:
            selector.unregister(pipe)
            self._open.discard(pipe)
            if pipe is self.process.stdin:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _send(self, pipe: IO[bytes]) -> bool:
        try:
            self._given = self._given[os.write(pipe.fileno(), self._given[:READ_BYTES]) :]
        except BlockingIOError:
            return False
        except OSError:
            return True
        return not self._given

    def _receive(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if pipe is self.process.stdout:
            self.out += chunk
            self.long = len(self.out) > self._most
        else:
            self.err += chunk
            del self.err[:-KEPT_ERR]
        return not chunk
