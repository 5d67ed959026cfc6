"""One exchange with an engine: lines to its standard input, lines from its standard output, and no way to hang.

The engine is not trusted: what it says has bounds in bytes, lines and time (`assay.contract.bounds`). At the first one
that is passed it is no longer listened to, and ended.
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
from assay.model.foreign import plain
from assay.model.units import about_size

TICK = 0.1
STDERR_KEPT = 8192
BROKEN_LIMIT = 1000
READ_BYTES = 1 << 16


@dataclass(frozen=True)
class Grace:
    """Seconds to wait before the next, ruder step."""

    stop: float = 30.0
    """From `{"stop":true}` to SIGTERM: the engine removes its files meanwhile."""
    terminate: float = 10.0
    """From SIGTERM to SIGKILL."""
    kill: float = 15.0
    """From SIGKILL to giving up on a process that waits for storage."""
    leave: float = 60.0
    """From the engine's `bye` to its end."""
    stalled: float = 2.0
    """The same where storage does not answer."""


class Conversation:
    """The state of one exchange. Several can share a selector; `serve` and `look_after` are called by its loop."""

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
        """Nothing is sent yet.

        Args:
            process: The engine, with pipes.
            job: The job with its newline.
            silence_limit: Seconds without progress after which the engine counts as hung.
            on_event: Called with each event as it comes.
            grace: Seconds between the steps of stopping.
            bounds: The most that the engine may say, and for how long.
        """
        self.process = process
        self.silence_limit = silence_limit
        self.on_event = on_event
        self.grace = grace or Grace()
        self.bounds = bounds
        self.begun = self.last_heard = time.monotonic()
        self.waits = False
        """It waits for a word of ours, so that its silence says nothing."""
        self.bye: ByeEvent | None = None
        self.fault = ""
        self.stop_requested = False
        self.finished = self._stuck = False
        self._to_send = job
        self._lines = bytearray()
        self._unfinished = b""
        self._bytes = 0
        self._deaf = False
        self._remarks = self._failures = self._steps_told = self._listed = 0
        self._gone_at: float | None = None
        self._complaints = b""
        self._broken: list[BrokenLine] = []
        self._hello = False
        self.pings = Pings()
        self._steps = [self._ask_to_stop, self._terminate, self._kill]
        self._next_step_at: float | None = None

    def attach(self, selector: selectors.BaseSelector) -> None:
        """Wait for this engine, too, with the selector; the data of its keys is to be called with the pipe."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self._selector = selector
        for pipe in (self.process.stdout, self.process.stderr, self.process.stdin):
            os.set_blocking(pipe.fileno(), False)
        selector.register(self.process.stdout, selectors.EVENT_READ, self._receive)
        selector.register(self.process.stderr, selectors.EVENT_READ, self._receive_complaint)
        selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)

    def say(self, line: bytes) -> None:
        """Send a line, at once if the pipe takes it."""
        assert self.process.stdin
        if self._to_send:
            self._to_send += line
            return
        self._to_send = line
        with contextlib.suppress(KeyError, ValueError):
            self._selector.register(self.process.stdin, selectors.EVENT_WRITE, self._send)
            self._send(self.process.stdin)

    def ask_time(self, _answered: int) -> None:
        """Send a ping.

        Args:
            _answered: Number of the last one that it has answered.
        """
        self.say(b'{"ping":%d}\n' % self.pings.next())

    @property
    def name(self) -> str:
        """What its host is called, where the launcher tells; else empty."""
        return ""

    @property
    def reading(self) -> bool:
        """The engine's standard output is open."""
        return self._is_registered(self.process.stdout)

    @property
    def said(self) -> str:
        """What it said but answers to pings, and what is for the journal, NDJSON; what was over a bound is left out."""
        return (self._lines + self._unfinished).decode("utf-8", "replace")

    def let_go(self) -> None:
        """It has been told to go on."""
        self.waits, self.last_heard = False, time.monotonic()

    def look_after(self, stop: int) -> None:
        """Take the next step towards the engine's end where it is time.

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
            self._look_at_clock(now)
        if self._next_step_at is None or time.monotonic() < self._next_step_at:
            return
        if self._steps:
            self._steps.pop(0)()
        else:
            # Nothing else keeps a process from being killed.
            self.finished = self._stuck = True

    def _look_at_clock(self, now: float) -> None:
        silent = now - self.last_heard
        if silent > self.silence_limit and not self.waits:
            self.find_fault(f"hung: no progress for {silent:.0f} s")
        elif now - self.begun > self.bounds.seconds:
            self.find_fault(f"hung: not done after {self.bounds.seconds:.0f} s, the longest that this job can take")

    def gone(self, quiet: bool) -> bool:
        """Whether nothing more is to be expected of a process that has ended.

        Args:
            quiet: It had nothing to say when it was looked at last. One of its children may go on for ever.
        """
        now = time.monotonic()
        self._gone_at = self._gone_at or now
        return quiet or self._deaf or now - self._gone_at > self.grace.leave

    @property
    def _stalled(self) -> bool:
        return self.bye is not None and self.bye.status == ByeStatus.stalled

    @property
    def not_removed(self) -> bool:
        """The engine said that it could not remove what the job made."""
        return self.bye is not None and bool(self.bye.left_behind)

    def find_fault(self, fault: str) -> None:
        """The job has failed for this reason; stop it. Only the first counts: each step has its time."""
        if not self.fault:
            self.fault = fault
            self._schedule(0.0)

    def verdict(self) -> tuple[str, str]:
        """Status and reason of the job."""
        if self._stalled and self.bye is not None:
            return "incomplete", plain(self.bye.reason or "storage does not answer")
        if self._stuck:
            return "incomplete", f"storage does not answer: {self.fault or 'the engine waits for it, even when killed'}"
        if self.fault:
            return "crashed", self.fault
        if self.bye is not None and self._broken and not self._hello:
            return "crashed", f"the engine's hello cannot be read: {plain(self._broken[0].reason)}"
        if self.bye is not None and not self._hello:
            return "crashed", "the engine took its leave and never said hello"
        if self.bye is not None:
            return self.bye.status.value, plain(self.bye.reason or "") or self._broken_note()
        complaint = last_line(self._complaints)
        code = self.process.returncode
        if code in (REFUSED, NO_CREDENTIALS) and not self._hello:
            return "refused", complaint or "the engine refused the job and did not say why"
        if complaint.startswith("nsenter: ") and not self._hello:
            return "crashed", f"the host cannot be entered, it is gone: {complaint.removeprefix('nsenter: ')}"
        how = f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
        return "crashed", f"the engine {how} before it was done" + (f": {complaint}" if complaint else "")

    def end(self) -> None:
        """Leave nothing behind: kill the process if it still is, close the pipes."""
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
        self.take_in(chunk)
        return True

    def take_in(self, chunk: bytes) -> None:
        """Hear what has come from its standard output."""
        if self._deaf:
            return
        self._bytes += len(chunk)
        *lines, self._unfinished = (self._unfinished + chunk).split(b"\n")
        for line in lines:
            if not self._deaf and self._fits(line):
                self._take(line)
        if not self._deaf and self._fits(self._unfinished):
            most = self.bounds.bytes_by(time.monotonic() - self.begun)
            if self._bytes > most:
                self._stop_listening(f"the engine said more than {about_size(most)}, too much for this job")

    def _fits(self, line: bytes) -> bool:
        most = self.bounds.line_bytes
        if len(line) > most:
            self._stop_listening(f"the engine printed a line of more than {about_size(most)}")
        return len(line) <= most

    def _stop_listening(self, fault: str) -> None:
        self._deaf, self._unfinished = True, b""
        self.find_fault(fault)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        event = read_line(line)
        if not isinstance(event, PongEvent | UploadEvent | BeyondEvent):
            self._lines += line + b"\n"
        if isinstance(event, BrokenLine):
            self._broken.append(event)
            if len(self._broken) > BROKEN_LIMIT:
                self._stop_listening(f"the engine printed more than {BROKEN_LIMIT} lines that are no events")
            return
        self._count(event)
        if isinstance(event, HelloEvent):
            self._hello = True
        elif isinstance(event, ByeEvent):
            self.bye = event
            if self._stalled:
                # One that waits for storage can do no more than say so.
                self._schedule(self.grace.stalled, skip_to=self._kill)
            else:
                self._schedule(self.grace.leave, skip_to=self._terminate)
        self.on_event(event)

    def _count(self, event: Event) -> None:
        """Note a sign of life; remarks, and intervals in which nothing was done, are none."""
        match event:
            case LogEvent():
                self._remarks += 1
                if self._remarks > self.bounds.remarks:
                    self._stop_listening(f"the engine made more than {self.bounds.remarks} remarks")
            case ErrorSampleEvent():
                self._failures += 1
                if self._failures > self.bounds.failures:
                    self._stop_listening(f"the engine described more than {self.bounds.failures} failed operations")
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
                self._steps_told += 1
                if self._steps_told > self.bounds.steps:
                    self._stop_listening(f"the engine told more than {self.bounds.steps} steps of this job")

    def _receive_complaint(self, pipe: IO[bytes]) -> bool:
        chunk = os.read(pipe.fileno(), READ_BYTES)
        if not chunk:
            self._selector.unregister(pipe)
        self.complain(chunk)
        return True

    def complain(self, chunk: bytes) -> None:
        """Keep the end of what it has complained of."""
        self._complaints = (self._complaints + chunk)[-STDERR_KEPT:]

    def _schedule(self, seconds: float, skip_to: Callable[[], None] | None = None) -> None:
        """Take the next step in so many seconds, or earlier if one was due; `skip_to` drops the milder ones."""
        if skip_to is not None and skip_to in self._steps:
            del self._steps[: self._steps.index(skip_to)]
        due = time.monotonic() + seconds
        self._next_step_at = due if self._next_step_at is None else min(due, self._next_step_at)

    def _ask_to_stop(self) -> None:
        self.say(b'{"stop":true}\n')
        self._next_step_at = time.monotonic() + (min(self.grace.stop, 10.0) if self.fault else self.grace.stop)

    def _terminate(self) -> None:
        self.process.terminate()
        self._next_step_at = time.monotonic() + self.grace.terminate

    def _kill(self) -> None:
        self.process.kill()
        self._next_step_at = time.monotonic() + (self.grace.stalled if self._stalled else self.grace.kill)

    def _broken_note(self) -> str:
        if not self._broken:
            return ""
        first = plain(self._broken[0].text)
        return f"{len(self._broken)} lines of the engine's output are no events; the first: {first}"


def converse(
    conversations: list[Conversation], stop: Callable[[], int], each_turn: Callable[[], None] = lambda: None
) -> None:
    """Talk until every engine is gone or beyond reach.

    Args:
        conversations: With engines that have been started.
        stop: Asked ten times a second: 0 go on, 1 stop orderly, 2 stop now.
        each_turn: Called ten times a second and after each event.
    """
    with selectors.DefaultSelector() as selector:
        for one in conversations:
            one.attach(selector)
        live = list(conversations)
        while live:
            # Asked before looking for output: what a process that is gone has said is all in the pipe by then.
            gone = [one for one in live if one.process.poll() is not None]
            ready = selector.select(0.0 if gone else _patience(live))
            heard = {id(key.data.__self__) for key, _ in ready if key.data(key.fileobj)}
            for one in gone:
                one.finished = one.finished or one.gone(quiet=id(one) not in heard)
            each_turn()
            wish = stop()
            for one in live:
                if not one.finished:
                    one.look_after(wish)
            for one in [one for one in live if one.finished]:
                live.remove(one)
                _detach(selector, one)


def _patience(live: list[Conversation]) -> float:
    """Seconds to wait for output; an engine whose output is closed is about to end."""
    closing = next((one for one in live if not one.reading), None)
    if closing is None:
        return TICK
    with contextlib.suppress(subprocess.TimeoutExpired):
        closing.process.wait(timeout=TICK / len(live))
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
