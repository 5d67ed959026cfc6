"""One exchange with an engine: lines to its standard input, lines from its standard output, and no way to hang.

The engine is not trusted: its output is bounded in bytes, lines and time (`assay.contract.bounds`). When it exceeds a
bound, its output is ignored from then on and the engine is ended.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from assay.contract._generated import ByeStatus
from assay.contract.bounds import Bounds
from assay.contract.messages import (
    BeyondEvent,
    ByeEvent,
    ErrorSampleEvent,
    Event,
    HelloEvent,
    IntervalEvent,
    ListingEvent,
    LogEvent,
    PongEvent,
    UploadEvent,
)
from assay.contract.reader import BrokenLine, read_line
from assay.launch.binary import NO_CREDENTIALS, REFUSED, last_line
from assay.launch.launcher import Pings, Process
from assay.model.escape import escape_line
from assay.model.units import about_size

TICK_SECONDS = 0.1
MAX_STDERR_BYTES = 8192
MAX_BROKEN_LINES = 1000
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Grace:
    """Seconds to wait before the next step of ending an engine, each harder than the one before."""

    stop_s: float = 30.0
    """From `{"stop":true}` to SIGTERM; the engine removes its files in this time."""
    terminate_s: float = 10.0
    """From SIGTERM to SIGKILL."""
    kill_s: float = 15.0
    """From SIGKILL until a process that waits for storage is given up."""
    exit_s: float = 60.0
    """From the engine's `bye` to its end."""
    stalled_s: float = 2.0
    """From `bye` to SIGKILL, and from SIGKILL to giving up, where storage does not answer."""


class Conversation:
    """One exchange with an engine and its state. Several can share a selector; the loop is `run_conversations`."""

    def __init__(
        self,
        process: Process,
        job: bytes,
        silence_limit: float,
        on_event: Callable[[Event], None] = lambda _: None,
        grace: Grace | None = None,
        *,
        bounds: Bounds,
    ) -> None:
        """Send nothing yet.

        Args:
            process: The engine, with pipes.
            job: The job with its newline.
            silence_limit: Seconds without progress after which the engine counts as hung.
            on_event: Called with each event as it comes.
            grace: Seconds between the steps of ending the engine.
            bounds: Limits of the engine's output and time.
        """
        self.process = process
        self.silence_limit = silence_limit
        self.on_event = on_event
        self.grace = grace or Grace()
        self.bounds = bounds
        self.begun = self.last_heard = time.monotonic()
        self.waits = False
        """The engine waits at a barrier for us, so its silence is no sign of a hang."""
        self.bye: ByeEvent | None = None
        self.fault = ""
        self.stop_requested = False
        self.finished = self._stuck = False
        self._to_send = job
        self._lines = bytearray()
        self._unfinished = b""
        self._bytes = 0
        self._ignores_output = False
        self._log_lines = self._error_samples = self._steps_reported = self._listed = 0
        self._gone_at: float | None = None
        self._stderr = b""
        self._broken: list[BrokenLine] = []
        self._hello = False
        self.pings = Pings()
        self._steps = [self._request_stop, self._terminate, self._kill]
        self._next_step_at: float | None = None

    def attach(self, selector: selectors.BaseSelector) -> None:
        """Register the pipes with a selector; the data of each key is a function to call with the pipe."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._selector = selector
        for pipe in (self.process.stdout, self.process.stderr, self.process.stdin):
            os.set_blocking(pipe.fileno(), False)
        selector.register(self.process.stdout, selectors.EVENT_READ, self._receive)
        selector.register(self.process.stderr, selectors.EVENT_READ, self._receive_stderr)
        selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)

    def send(self, line: bytes) -> None:
        """Send a line, at once if the pipe takes it."""
        assert self.process.stdin
        if self._to_send:
            self._to_send += line
            return
        self._to_send = line
        with contextlib.suppress(KeyError, ValueError):
            self._selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)
            self._send(self.process.stdin)

    def send_ping(self, _answered: int) -> None:
        """Send a ping.

        Args:
            _answered: Number of the last ping that the engine has answered.
        """
        self.send(b'{"ping":%d}\n' % self.pings.next())

    @property
    def name(self) -> str:
        """Name of its host as the launcher reports it; empty if it does not."""
        return ""

    @property
    def is_reading(self) -> bool:
        """Whether the engine's standard output is open."""
        return self._is_registered(self.process.stdout)

    @property
    def output(self) -> str:
        """The engine's output, NDJSON, without answers to pings, lines for the journal, and what exceeded a bound."""
        return (self._lines + self._unfinished).decode("utf-8", "replace")

    def note_release(self) -> None:
        """Note that the engine was released from its barrier."""
        self.waits, self.last_heard = False, time.monotonic()

    def supervise(self, stop: int) -> None:
        """Check the time limits, and take the next step of ending the engine when it is due.

        Args:
            stop: 0 go on, 1 stop orderly, 2 stop now.
        """
        now = time.monotonic()
        if stop and not self.stop_requested:
            self.stop_requested = True
            self._schedule(0.0)
        if stop >= 2 and self._steps and self._steps[0] != self._kill:
            self._schedule(0.0, skip_to=self._terminate)
        if not self.fault and self.bye is None and not self.stop_requested:
            self._check_time(now)
        if self._next_step_at is None or time.monotonic() < self._next_step_at:
            return
        if self._steps:
            self._steps.pop(0)()
        else:
            # A process survives SIGKILL only while it waits for storage.
            self.finished = self._stuck = True

    def _check_time(self, now: float) -> None:
        silent = now - self.last_heard
        if silent > self.silence_limit and not self.waits:
            self.fail(f"hung: no progress for {silent:.0f} s")
        elif now - self.begun > self.bounds.seconds:
            self.fail(f"hung: not done after {self.bounds.seconds:.0f} s, the longest that this job can take")

    def output_ended(self, quiet: bool) -> bool:
        """Return whether a process that has ended will send no more output.

        Args:
            quiet: It sent nothing when it was last polled. A child of it may go on sending for ever.
        """
        now = time.monotonic()
        self._gone_at = self._gone_at or now
        return quiet or self._ignores_output or now - self._gone_at > self.grace.exit_s

    @property
    def _stalled(self) -> bool:
        return self.bye is not None and self.bye.status == ByeStatus.stalled

    @property
    def has_leftovers(self) -> bool:
        """Whether the engine reported that it could not remove what the job made."""
        return self.bye is not None and bool(self.bye.left_behind)

    def fail(self, fault: str) -> None:
        """Record why the job failed and stop the engine. Only the first reason counts: each step keeps its time."""
        if not self.fault:
            self.fault = fault
            self._schedule(0.0)

    def verdict(self) -> tuple[str, str]:
        """Return status and reason of the job."""
        if self._stalled and self.bye is not None:
            return "incomplete", escape_line(self.bye.reason or "storage does not answer")
        if self._stuck:
            return "incomplete", f"storage does not answer: {self.fault or 'the engine waits for it, even when killed'}"
        if self.fault:
            return "crashed", self.fault
        if self.bye is not None and self._broken and not self._hello:
            return "crashed", f"the engine's hello cannot be read: {escape_line(self._broken[0].reason)}"
        if self.bye is not None and not self._hello:
            return "crashed", "the engine sent bye without hello"
        if self.bye is not None:
            return self.bye.status.value, escape_line(self.bye.reason or "") or self._broken_note()
        complaint = last_line(self._stderr)
        code = self.process.returncode
        if code in (REFUSED, NO_CREDENTIALS) and not self._hello:
            return "refused", complaint or "the engine refused the job without a reason"
        if complaint.startswith("nsenter: ") and not self._hello:
            return "crashed", f"the host cannot be entered; it no longer exists: {complaint.removeprefix('nsenter: ')}"
        how = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        return "crashed", f"the engine {how} before it was done" + (f": {complaint}" if complaint else "")

    def end(self) -> None:
        """Kill the process if it still runs, and close the pipes."""
        if self.process.poll() is None:
            self.process.kill()
        if not self._stuck:
            with contextlib.suppress(Exception):
                self.process.wait(timeout=5)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _is_registered(self, pipe: IO[bytes] | None) -> bool:
        try:
            return pipe is not None and bool(self._selector.get_key(pipe))
        except (KeyError, ValueError):
            return False

    def _send(self, pipe: IO[bytes]) -> bool:
        try:
            self._to_send = self._to_send[os.write(pipe.fileno(), self._to_send) :]
        except BlockingIOError:
            return False
        except OSError:
            self._to_send = b""
        if not self._to_send:
            self._selector.unregister(pipe)
        return False

    def _receive(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self._selector.unregister(pipe)
            return True
        self.feed(chunk)
        return True

    def feed(self, chunk: bytes) -> None:
        """Process a piece of the standard output."""
        if self._ignores_output:
            return
        self._bytes += len(chunk)
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        for line in lines:
            if not self._ignores_output and self._check_line(line):
                self._take(line)
        if not self._ignores_output and self._check_line(self._unfinished):
            most = self.bounds.bytes_after(time.monotonic() - self.begun)
            if self._bytes > most:
                self._reject_output(f"the engine printed more than {about_size(most)}, the limit for this job")

    def _check_line(self, line: bytes) -> bool:
        most = self.bounds.line_bytes
        if len(line) > most:
            self._reject_output(f"the engine printed a line of more than {about_size(most)}")
        return len(line) <= most

    def _reject_output(self, fault: str) -> None:
        self._ignores_output, self._unfinished = True, b""
        self.fail(fault)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        event = read_line(line)
        if not isinstance(event, PongEvent | UploadEvent | BeyondEvent):
            self._lines += line + b"\n"
        if isinstance(event, BrokenLine):
            self._broken.append(event)
            if len(self._broken) > MAX_BROKEN_LINES:
                self._reject_output(f"the engine printed more than {MAX_BROKEN_LINES} lines that are not events")
            return
        self._count(event)
        if isinstance(event, HelloEvent):
            self._hello = True
        elif isinstance(event, ByeEvent):
            self.bye = event
            if self._stalled:
                # An engine that waits for storage cannot end by itself.
                self._schedule(self.grace.stalled_s, skip_to=self._kill)
            else:
                self._schedule(self.grace.exit_s, skip_to=self._terminate)
        self.on_event(event)

    def _count(self, event: Event) -> None:
        """Count an event against the bounds, and note progress; log lines and empty intervals are no progress."""
        match event:
            case LogEvent():
                self._log_lines += 1
                if self._log_lines > self.bounds.log_lines:
                    self._reject_output(
                        f"the engine printed more than {self.bounds.log_lines} log lines, the limit for this job"
                    )
            case ErrorSampleEvent():
                self._error_samples += 1
                if self._error_samples > self.bounds.failures:
                    self._reject_output(
                        f"the engine reported more than {self.bounds.failures} failed operations, the limit for this"
                        " job"
                    )
            case IntervalEvent():
                if any(done.ops or done.errors for done in event.operations):
                    self.last_heard = time.monotonic()
            case ListingEvent():
                if event.objects > self._listed:
                    self._listed, self.last_heard = event.objects, time.monotonic()
            case PongEvent() | UploadEvent() | BeyondEvent():
                pass
            case _:
                self.last_heard = time.monotonic()
                self._steps_reported += 1
                if self._steps_reported > self.bounds.other_events:
                    self._reject_output(
                        f"the engine reported more than {self.bounds.other_events} steps, the limit for this job"
                    )

    def _receive_stderr(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self._selector.unregister(pipe)
        self.add_stderr(chunk)
        return True

    def add_stderr(self, chunk: bytes) -> None:
        """Add a piece of standard error, and keep the end of all."""
        self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]

    def _schedule(self, seconds: float, skip_to: Callable[[], None] | None = None) -> None:
        """Take the next step in `seconds`, or earlier if one is due; `skip_to` drops the milder steps before it."""
        if skip_to is not None and skip_to in self._steps:
            del self._steps[: self._steps.index(skip_to)]
        due = time.monotonic() + seconds
        self._next_step_at = due if self._next_step_at is None else min(due, self._next_step_at)

    def _request_stop(self) -> None:
        self.send(b'{"stop":true}\n')
        self._next_step_at = time.monotonic() + (min(self.grace.stop_s, 10.0) if self.fault else self.grace.stop_s)

    def _terminate(self) -> None:
        self.process.terminate()
        self._next_step_at = time.monotonic() + self.grace.terminate_s

    def _kill(self) -> None:
        self.process.kill()
        self._next_step_at = time.monotonic() + (self.grace.stalled_s if self._stalled else self.grace.kill_s)

    def _broken_note(self) -> str:
        if not self._broken:
            return ""
        first = escape_line(self._broken[0].text)
        return f"{len(self._broken)} lines of the engine's output are not events; the first: {first}"


def run_conversations(
    conversations: list[Conversation], stop: Callable[[], int], each_turn: Callable[[], None] = lambda: None
) -> None:
    """Exchange data with engines until every one has ended or was given up.

    Args:
        conversations: Conversations with engines that have been started.
        stop: Called ten times a second; returns 0 go on, 1 stop orderly, 2 stop now.
        each_turn: Called ten times a second and after each event.
    """
    with selectors.DefaultSelector() as selector:
        for one in conversations:
            one.attach(selector)
        live = list(conversations)
        while live:
            # Checked before reading: the output of a process that has ended is complete in the pipe by then.
            exited = [one for one in live if one.process.poll() is not None]
            ready = selector.select(0.0 if exited else _patience(live))
            active = {id(key.data.__self__) for key, _ in ready if key.data(key.fileobj)}
            for one in exited:
                one.finished = one.finished or one.output_ended(quiet=id(one) not in active)
            each_turn()
            stop_level = stop()
            for one in live:
                if not one.finished:
                    one.supervise(stop_level)
            for one in [one for one in live if one.finished]:
                live.remove(one)
                _detach(selector, one)


def _patience(live: list[Conversation]) -> float:
    """Return seconds to wait for output; an engine whose output is closed is about to end."""
    closing = next((one for one in live if not one.is_reading), None)
    if closing is None:
        return TICK_SECONDS
    with contextlib.suppress(subprocess.TimeoutExpired):
        closing.process.wait(timeout=TICK_SECONDS / len(live))
    return 0.0


def _detach(selector: selectors.BaseSelector, one: Conversation) -> None:
    for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(pipe)  # type: ignore[arg-type]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
