"""Executes one job with engines on several hosts, which start their phases together."""

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.contract.bounds import Bounds, output_bounds
from assay.contract.messages import BarrierEvent, Event, HelloEvent, Job, PhaseEndEvent, PongEvent
from assay.launch.conversation import Conversation, Grace, run_conversations
from assay.launch.engine import JobEnd
from assay.launch.launcher import Launcher, engine_arguments
from assay.launch.parallel.step import EngineStep, HostConversation

PING_SECONDS = 0.5
"""Seconds between two pings of an engine; pings compare clocks and show the engine that the controller is alive."""
MIN_PINGS = 8
"""Answered pings that are needed before the first start."""
MAX_PINGS = 64
"""Pings of which the best gives the clock offset; older ones would hide a drift."""
HOST_TIMEOUT_SECONDS = 15.0
"""A host that answers no ping for so many seconds is lost."""
PAUSE_SECONDS = 2.0
"""If this process was suspended for longer than this many seconds, the pause does not count against the hosts."""
MIN_HEADSTART_SECONDS = 0.02
"""Seconds from the go message to the start of the lanes, at least."""
HEADSTART_TRIPS = 4
"""Lanes start this many of the longest round trips after the go message, so that it reaches all hosts in time."""
NS = 10**9


@dataclass(frozen=True)
class Member:
    """A host of the group and the job of its engine.

    Attributes:
        host: Name of the host in results.
        launcher: Starts the engine.
        job_text: Its job as JSON; `rank` is its position in the group.
        arguments: Arguments of the engine.
    """

    host: str
    launcher: Launcher
    job_text: str
    arguments: tuple[str, ...] = engine_arguments(1)


@dataclass(frozen=True)
class MemberOutcome:
    """The result of one engine.

    Attributes:
        host: Name of the host.
        status: As in `assay.launch.engine.Outcome`.
        reason: As in `assay.launch.engine.Outcome`.
        events: Its events, NDJSON, without the answers to pings.
        offset_ns: Its monotonic clock minus ours.
        uncertainty_ns: Error bound of the offset: half of the shortest round trip; None if no ping was answered.
    """

    host: str
    status: str
    reason: str
    events: str
    offset_ns: int
    uncertainty_ns: int | None


@dataclass(frozen=True)
class GroupOutcome(JobEnd):
    """How a job of several engines ended, with the result of each engine."""

    parts: tuple[MemberOutcome, ...]


def run_group(
    members: Sequence[Member],
    silence_limit: float,
    on_event: Callable[[str, Event], None] = lambda _host, _event: None,
    on_start: Callable[[int], None] = lambda _: None,
    stop: Callable[[], int] = lambda: 0,
    grace: Grace | None = None,
    bounds: Bounds | None = None,
    before_start: Callable[[int], None] = lambda _: None,
    step: Callable[[], EngineStep] | None = None,
) -> GroupOutcome:
    """Execute a job on several hosts, and return when all engines have ended. If one fails, all are stopped.

    Args:
        members: The engines; their jobs wait at barriers (`wait_for_go`).
        silence_limit: Seconds without progress after which an engine counts as hung.
        on_event: Called with the host's name and each event as it comes.
        on_start: Called with each local process id before its job is sent.
        stop: Called ten times a second; returns 0 go on, 1 stop orderly, 2 stop now.
        grace: Seconds between the steps of ending an engine.
        bounds: Limits of each engine's output; by default those of its job.
        before_start: Called with the number of each phase before it starts, when all engines are ready.
        step: Starts the engines of all members with one command; by default the launcher of each member does.

    Raises:
        AssayError: An engine cannot be started, or `before_start` has raised it.
    """
    started_at, clock = time.time(), time.monotonic()
    running_step: EngineStep | None = None
    engines: list[_Engine] = []
    try:
        running_step = step() if step else None
        for node, member in enumerate(members):
            limits = bounds or output_bounds(Job.model_validate_json(member.job_text))
            engine = _Engine(member, on_event)
            job = member.job_text.strip().encode() + b"\n"
            if running_step is not None:
                engine.talk = HostConversation(
                    running_step, node, job, silence_limit, engine.on_event, grace, bounds=limits
                )
            else:
                process = member.launcher.start(member.arguments)
                engine.talk = Conversation(process, job, silence_limit, engine.on_event, grace, bounds=limits)
            engines.append(engine)
            on_start(engine.talk.process.pid)
        group = _Group(engines, before_start)
        run_conversations([engine.talk for engine in engines], lambda: max(stop(), group.stop), group.turn)
        requested = bool(stop())
    finally:
        for engine in engines:
            engine.talk.end()
        if running_step is not None:
            running_step.close()
    parts = tuple(engine.part() for engine in engines)
    status, reason = _summary(parts, group.failed)
    took, left = time.monotonic() - clock, any(engine.talk.has_leftovers for engine in engines)
    return GroupOutcome(status, reason, started_at, took, requested, parts, has_leftovers=left)


def _summary(parts: Sequence[MemberOutcome], failed: str) -> tuple[str, str]:
    """Return status and reason of the host that failed first; else the worst status, with its reason."""
    order = ("incomplete", "crashed", "refused", "errors", "stopped", "ok")
    named = [part for part in parts if part.host == failed]
    worst = min(named or parts, key=lambda part: order.index(part.status))
    return worst.status, f"{worst.host}: {worst.reason}" if worst.reason else ""


class _Engine:
    """The state of one engine: its clock, and the barrier at which it waits."""

    talk: Conversation

    def __init__(self, member: Member, on_event: Callable[[str, Event], None]) -> None:
        self.expected = member.host
        self._forward = on_event
        self.waits_at: tuple[str, int | None] | None = None
        self.most: int | None = None
        """Operations of its fastest lane at the time limit of a phase; None if it reported none."""
        self.phases_left = len(json.loads(member.job_text)["phases"])
        self.phase_failed = False
        self.speaks = False
        self._answered = 0
        """Number of the last ping that the engine has answered."""
        self._answers: deque[tuple[int, int]] = deque(maxlen=MAX_PINGS)
        self._next_ping = 0.0
        self._answered_at = time.monotonic()

    @property
    def host(self) -> str:
        """Name of its host in results."""
        return self.talk.name or self.expected

    def on_event(self, event: Event) -> None:
        """Handle an event of the engine."""
        match event:
            case PongEvent():
                self._compare_clocks(event)
                return
            case HelloEvent():
                self.speaks = True
                self._answered_at = time.monotonic()
            case BarrierEvent():
                self.waits_at, self.most = (event.step.value, event.phase), event.most
                self.talk.waits = self.speaks
            case PhaseEndEvent():
                self.phases_left -= 1
                self.phase_failed = self.phase_failed or event.status.value == "failed"
            case _:
                pass
        self._forward(self.host, event)

    def ping(self, now: float) -> None:
        """Send a ping when one is due; fail the engine if it has not answered for `HOST_TIMEOUT_SECONDS`."""
        if not self.speaks or self.talk.bye is not None or now < self._next_ping:
            return
        if now - self._answered_at > HOST_TIMEOUT_SECONDS:
            self.talk.fail(f"the host has not answered for {now - self._answered_at:.0f} s")
            return
        self._next_ping = now + PING_SECONDS
        self.talk.send_ping(self._answered)

    def exclude_pause(self, seconds: float) -> None:
        """Do not count a pause of this process as silence of the engine."""
        self._answered_at += seconds

    def _compare_clocks(self, event: PongEvent) -> None:
        now, sent = time.monotonic_ns(), self.talk.pings.sent_at(event.ping)
        if sent is None or event.ping <= self._answered:
            return
        self._answered = event.ping
        self._answered_at = time.monotonic()
        self._answers.append(((now - sent) // 2, event.at_ns - (now + sent) // 2))
        if len(self._answers) < MIN_PINGS:
            self._next_ping = 0.0

    @property
    def has_ended(self) -> bool:
        """Whether it has sent `bye` or died."""
        return self.talk.finished or self.talk.bye is not None

    @property
    def failed(self) -> bool:
        """Whether the others cannot go on, because it will not reach a phase that they wait for."""
        # An engine whose phase failed goes on to its cleanup, and reports the reason there.
        has_reported = self.has_ended or self.waits_at == ("cleanup", None)
        return (
            bool(self.talk.fault) or (self.phase_failed and has_reported) or (self.has_ended and self.phases_left > 0)
        )

    @property
    def has_clock(self) -> bool:
        """Whether its clock is known well enough to start."""
        return len(self._answers) >= MIN_PINGS

    @property
    def clock(self) -> tuple[int, int]:
        """Uncertainty and offset of its clock in nanoseconds, by the shortest round trip (Cristian's algorithm)."""
        return min(self._answers)

    def go(self, at_ns: int | None, most: int | None = None) -> None:
        """Release it from its barrier, at this time of our clock or at once.

        Args:
            at_ns: When to start, by our monotonic clock; None: at once.
            most: After a time limit, each lane goes on until it has done this many operations; None: it does not.
        """
        self.waits_at = None
        self.talk.note_release()
        word: dict[str, object] = {"go": True}
        if at_ns is not None:
            word["at_ns"] = max(0, at_ns + self.clock[1])
        if most is not None:
            word["most"] = most
        self.talk.send(json.dumps(word).encode() + b"\n")

    def part(self) -> MemberOutcome:
        status, reason = self.talk.verdict()
        uncertainty, offset = self.clock if self._answers else (None, 0)
        return MemberOutcome(self.host, status, reason, self.talk.output, offset, uncertainty)


class _Group:
    """Releases all engines from a barrier when all have reached it, and none if one has failed."""

    def __init__(self, engines: Sequence[_Engine], before_start: Callable[[int], None]) -> None:
        self.engines, self.before_start = engines, before_start
        self.begun: set[tuple[str, int | None]] = set()
        """Barriers for which `before_start` was called."""
        self.turned = time.monotonic()
        self.stop = 0
        self.failed = ""
        """The host that failed first."""

    def turn(self) -> None:
        now = time.monotonic()
        away, self.turned = now - self.turned, now
        for engine in self.engines:
            if away > PAUSE_SECONDS:
                engine.exclude_pause(away)
            engine.ping(now)
        failed = next((engine for engine in self.engines if engine.failed), None)
        if failed is not None and not self.stop:
            self.failed, self.stop = failed.host, 1
        waiting = [engine for engine in self.engines if not engine.has_ended]
        places = {engine.waits_at for engine in waiting}
        if self.stop or len(places) != 1:
            return
        place = places.pop()
        if place is None:
            return
        if place[0] != "start":
            self._release(waiting, None)
        elif place not in self.begun:
            self.begun.add(place)
            self.before_start(place[1] or 0)
        elif all(engine.has_clock for engine in waiting):
            trip = max(engine.clock[0] for engine in waiting) * 2
            at_ns = time.monotonic_ns() + max(int(MIN_HEADSTART_SECONDS * NS), HEADSTART_TRIPS * trip)
            self._release(waiting, at_ns)

    def _release(self, waiting: Sequence[_Engine], at_ns: int | None) -> None:
        limits = [engine.most for engine in waiting if engine.most is not None]
        for engine in waiting:
            engine.go(at_ns, max(limits, default=None))
