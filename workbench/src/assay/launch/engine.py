"""Executes one job with one engine: job in, events out, and no way to hang."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from assay.contract.bounds import Bounds, output_bounds
from assay.contract.messages import Event, Job
from assay.launch.conversation import Conversation, Grace, run_conversations
from assay.launch.launcher import Launcher, engine_arguments

REPORT_MARGIN_SECONDS = 30.0
"""Extra seconds before an engine counts as hung: it reports silent storage itself."""


@dataclass(frozen=True)
class JobEnd:
    """How a job ended, whether of one engine or of several.

    Attributes:
        status: `ok`, `errors`, `refused` or `stopped` as the engine reported, `incomplete` if storage does not
            answer, or `crashed` if it ended without a `bye`.
        reason: Why it did not end well; empty if it did.
        started_at: Seconds since 1970.
        seconds: How long it took.
        stop_requested: We had requested a stop.
        has_leftovers: An engine reported that it could not remove what the job made.
    """

    status: str
    reason: str
    started_at: float
    seconds: float
    stop_requested: bool
    has_leftovers: bool = field(default=False, kw_only=True)

    @property
    def may_have_leftovers(self) -> bool:
        """Whether files that the job made may still exist."""
        return self.has_leftovers or self.status in ("crashed", "incomplete")


@dataclass(frozen=True)
class Outcome(JobEnd):
    """How a job of one engine ended, with its events.

    Attributes:
        events: The engine's events, NDJSON.
    """

    events: str = ""


def run_job(
    launcher: Launcher,
    job_text: str,
    silence_limit: float,
    on_event: Callable[[Event], None] = lambda _: None,
    on_start: Callable[[int], None] = lambda _: None,
    stop: Callable[[], int] = lambda: 0,
    grace: Grace | None = None,
    bounds: Bounds | None = None,
    tasks: int = 1,
) -> Outcome:
    """Execute a job, and return when the engine has ended or was given up.

    Args:
        launcher: Starts the engine.
        job_text: The job as JSON, one line.
        silence_limit: Seconds without progress after which the engine counts as hung.
        on_event: Called with each event as it comes.
        on_start: Called with the process id before the job is sent.
        stop: Called ten times a second; returns 0 go on, 1 stop orderly, 2 stop now.
        grace: Seconds between the steps of ending the engine.
        bounds: Limits of the engine's output; by default those of the job.
        tasks: Number of engine processes that share the job's lanes.

    Raises:
        AssayError: The engine cannot be started, or `on_start` raised it.
    """
    started_at, clock = time.time(), time.monotonic()
    limits = bounds or output_bounds(Job.model_validate_json(job_text))
    process = launcher.start(engine_arguments(tasks))
    talk = Conversation(process, job_text.strip().encode() + b"\n", silence_limit, on_event, grace, bounds=limits)
    try:
        on_start(process.pid)
        run_conversations([talk], stop)
    finally:
        talk.end()
    status, reason = talk.verdict()
    took, left = time.monotonic() - clock, talk.has_leftovers
    return Outcome(status, reason, started_at, took, talk.stop_requested, talk.output, has_leftovers=left)
