"""One job executed by one engine: job in, events out, and no way to hang."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from assay.contract.names import ByeEvent, Event, HelloEvent
from assay.contract.reader import BrokenLine, read_line
from assay.launch.binary import last_line
from assay.launch.launcher import Launcher, Process

TICK = 0.1
STDERR_KEPT = 8192
LINE_LIMIT = 64 << 20
BROKEN_LIMIT = 1000
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Grace:
    """Seconds to wait before the next, ruder step."""

    stop: float = 30.0
    """From `{"stop":true}` to SIGTERM: the engine removes its files meanwhile."""
    terminate: float = 10.0
    """From SIGTERM to SIGKILL."""
    kill: float = 60.0
    """From SIGKILL to giving up on a process that waits for storage."""
    leave: float = 60.0
    """From the engine's `bye` to its end."""


@dataclass(frozen=True)
class Outcome:
    """How a job went.

    Attributes:
        status: `ok`, `errors`, `refused`, `stopped` as the engine said, or `crashed` if it did not take its leave.
        reason: Why it did not end well; empty if it did.
        events: Everything on the engine's standard output.
        started_at: Seconds since 1970.
        stop_requested: We had asked it to stop.
    """

    status: str
    reason: str
    events: str
    started_at: float
    seconds: float
    stop_requested: bool


def run_job(
    launcher: Launcher,
    job_text: str,
    silence_limit: float,
    on_event: Callable[[Event], None] = lambda _: None,
    on_start: Callable[[int], None] = lambda _: None,
    stop: Callable[[], int] = lambda: 0,
    grace: Grace | None = None,
) -> Outcome:
    """Execute a job; returns when the engine is gone, however that comes about.

    Args:
        launcher: Where the engine runs.
        job_text: The job as JSON, one line.
        silence_limit: Seconds without an event after which the engine counts as hung.
        on_event: Called with each event as it comes.
        on_start: Called with the process id before the job is sent.
        stop: 0 go on, 1 stop orderly, 2 stop now; asked ten times a second.
        grace: Seconds between the steps of stopping.

    Raises:
        AssayError: The engine cannot be started, or `on_start` raised it.
    """
    started_at, clock = time.time(), time.monotonic()
    process = launcher.start(["run", "-"])
    try:
        on_start(process.pid)
        talk = _Conversation(process, job_text.strip().encode() + b"\n", silence_limit, on_event, grace or Grace())
        talk.run(stop)
    finally:
        _end(process)
    status, reason = talk.verdict()
    text = talk.heard.decode("utf-8", "replace")
    return Outcome(status, reason, text, started_at, time.monotonic() - clock, talk.stop_requested)


def _end(process: Process) -> None:
    """Leave nothing behind: kill the process if it still is, close the pipes."""
    if process.poll() is None:
        process.kill()
        with contextlib.suppress(Exception):
            process.wait(timeout=5)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


class _Conversation:
    """The state of one exchange with an engine."""

    def __init__(
        self, process: Process, job: bytes, silence_limit: float, on_event: Callable[[Event], None], grace: Grace
    ) -> None:
        self.process = process
        self.silence_limit = silence_limit
        self.on_event = on_event
        self.grace = grace
        self.to_send = job
        self.heard = bytearray()
        self.line_start = 0
        self.scanned = 0
        self.complaints = b""
        self.broken: list[BrokenLine] = []
        self.hello = False
        self.bye: ByeEvent | None = None
        self.fault = ""
        self.stop_requested = False
        self.last_heard = time.monotonic()
        self.steps = [self._ask_to_stop, self._terminate, self._kill]
        self.next_step_at: float | None = None
        self.given_up = False

    def run(self, stop: Callable[[], int]) -> None:
        """Talk until the engine is gone or beyond reach."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        with selectors.DefaultSelector() as selector:
            self.selector = selector
            for pipe in (self.process.stdout, self.process.stderr, self.process.stdin):
                os.set_blocking(pipe.fileno(), False)
            selector.register(self.process.stdout, selectors.EVENT_READ, self._receive)
            selector.register(self.process.stderr, selectors.EVENT_READ, self._receive_complaint)
            selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)
            while not self.given_up:
                # Asked before looking for output: what a process that is gone has said is all in the pipe by then.
                gone = self.process.poll() is not None
                ready = selector.select(0.0 if gone else self._patience())
                for key, _ in ready:
                    key.data(key.fileobj)
                reading = any(key.events == selectors.EVENT_READ for key, _ in ready)
                if gone and not reading:
                    break
                self._look_after(stop())

    def _patience(self) -> float:
        """Seconds to wait for output; once its output is closed, the engine is about to end."""
        if self.process.stdout in {key.fileobj for key in self.selector.get_map().values()}:
            return TICK
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=TICK)
        return 0.0

    def _send(self, pipe: IO[bytes]) -> None:
        try:
            self.to_send = self.to_send[os.write(pipe.fileno(), self.to_send) :]
        except BlockingIOError:
            return
        except OSError:
            self.to_send = b""
        if not self.to_send:
            self.selector.unregister(pipe)

    def _receive(self, pipe: IO[bytes]) -> None:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self.selector.unregister(pipe)
            return
        self.heard += chunk
        while (end := self.heard.find(b"\n", self.scanned)) >= 0:
            line = bytes(self.heard[self.line_start : end])
            self.line_start = self.scanned = end + 1
            self._take(line)
        self.scanned = len(self.heard)
        if len(self.heard) - self.line_start > LINE_LIMIT:
            self._find_fault(f"the engine printed a line of more than {LINE_LIMIT >> 20} MiB")

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        event = read_line(line)
        if isinstance(event, BrokenLine):
            self.broken.append(event)
            if len(self.broken) > BROKEN_LIMIT:
                self._find_fault(f"the engine printed more than {BROKEN_LIMIT} lines that are no events")
            return
        self.last_heard = time.monotonic()
        if isinstance(event, HelloEvent):
            self.hello = True
        elif isinstance(event, ByeEvent):
            self.bye = event
            self._schedule(self.grace.leave, skip_to=self._terminate)
        self.on_event(event)

    def _receive_complaint(self, pipe: IO[bytes]) -> None:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self.selector.unregister(pipe)
        self.complaints = (self.complaints + chunk)[-STDERR_KEPT:]

    def _look_after(self, stop: int) -> None:
        """Take the next step towards the engine's end where it is time."""
        now = time.monotonic()
        if stop and not self.stop_requested:
            self.stop_requested = True
            self._schedule(0.0)
        if stop >= 2 and self.steps and self.steps[0] != self._kill:
            self._schedule(0.0, skip_to=self._terminate)
        silent = now - self.last_heard
        if silent > self.silence_limit and not self.fault and self.bye is None and not self.stop_requested:
            self._find_fault(f"hung: no event for {silent:.0f} s")
        if self.next_step_at is None or time.monotonic() < self.next_step_at:
            return
        if self.steps:
            self.steps.pop(0)()
        else:
            self.given_up = True
            self.fault = self.fault or "the engine does not end, not even by SIGKILL: it waits for storage"

    def _find_fault(self, fault: str) -> None:
        self.fault = self.fault or fault
        self._schedule(0.0)

    def _schedule(self, seconds: float, skip_to: Callable[[], None] | None = None) -> None:
        """Take the next step in so many seconds, or earlier if one was due; `skip_to` drops the milder ones."""
        if skip_to is not None and skip_to in self.steps:
            del self.steps[: self.steps.index(skip_to)]
        due = time.monotonic() + seconds
        self.next_step_at = due if self.next_step_at is None else min(due, self.next_step_at)

    def _ask_to_stop(self) -> None:
        assert self.process.stdin
        if not self.to_send:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)
        self.to_send += b'{"stop":true}\n'
        self.next_step_at = time.monotonic() + (min(self.grace.stop, 10.0) if self.fault else self.grace.stop)

    def _terminate(self) -> None:
        self.process.terminate()
        self.next_step_at = time.monotonic() + self.grace.terminate

    def _kill(self) -> None:
        self.process.kill()
        self.next_step_at = time.monotonic() + self.grace.kill

    def verdict(self) -> tuple[str, str]:
        """Status and reason of the job."""
        if self.fault:
            return "crashed", self.fault
        if self.bye is not None and self.broken and not self.hello:
            return "crashed", f"the engine's hello cannot be read: {self.broken[0].reason}"
        if self.bye is not None:
            return self.bye.status.value, self.bye.reason or self._broken_note()
        complaint = last_line(self.complaints)
        code = self.process.returncode
        if code == 2 and not self.hello:
            return "refused", complaint or "the engine refused the job and did not say why"
        how = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        return "crashed", f"the engine {how} before it was done" + (f": {complaint}" if complaint else "")

    def _broken_note(self) -> str:
        if not self.broken:
            return ""
        return f"{len(self.broken)} lines of the engine's output are no events; the first: {self.broken[0].text}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
