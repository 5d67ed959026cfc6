"""How much an engine can have to say of a job, and how long. More than that is no engine of ours."""

from dataclasses import dataclass

from assay.contract._generated import Job

HISTOGRAM_COUNTERS = 54 << 10
"""Counters of an HDR histogram of three significant digits for any number of 62 bits."""
HISTOGRAM_BYTES = 40 + 9 * HISTOGRAM_COUNTERS
"""Its header, and at most nine bytes for each counter (HdrHistogram, V2 encoding)."""
HISTOGRAM_LETTERS = (HISTOGRAM_BYTES + 1024) * 4 // 3
"""In base64, if compression does not help."""

PLAIN_LINE = 64 << 10
"""Of an event without histograms, lanes and job: paths and reasons."""
LANE_LINE = 1 << 10
"""Of one lane in the end of a phase."""
INTERVAL_BYTES = 64 << 10
"""Of one interval on average, and `LANE_LINE` more for each lane, which may report late and by itself."""
ALLOWANCE = 8 << 20
"""For everything else: remarks, failures, lines that are no events."""
MOST_BYTES = 1 << 30
REMARKS = 1000
LANE_FAILURES = 8
"""Failed operations that a lane describes in a phase, set-up included: the engine stops at five."""
PHASE_STEPS = 4
"""A phase has two barriers, a start and an end."""
OTHER_STEPS = 4
"""Hello, ready, the last barrier and bye."""

LEAST_SECONDS = 1800.0
STATED = 3.0
"""A phase that runs for a stated time may take so many times as long with its set-up and flush."""
ESTIMATES = 100.0
"""Storage may be so many times slower than assumed."""
UNESTIMATED_SECONDS = 86_400.0
"""Of a job of which no estimate is known."""


@dataclass(frozen=True)
class Bounds:
    """The most that an engine may say.

    Attributes:
        seconds: Length of the whole exchange.
        line_bytes: Length of one line.
        bytes: Of everything, besides what the intervals take.
        bytes_per_s: More for each second that has passed.
        most_bytes: Of everything, however long it takes.
        remarks: Number of log lines.
        failures: Number of failed operations that are described.
        steps: Number of other events but intervals and answers to pings.
    """

    seconds: float
    line_bytes: int
    bytes: int
    bytes_per_s: float
    most_bytes: int = MOST_BYTES
    remarks: int = REMARKS
    failures: int = LANE_FAILURES
    steps: int = PHASE_STEPS + OTHER_STEPS

    def bytes_by(self, seconds: float) -> int:
        """Bytes that can have been said when so much time has passed."""
        return min(self.most_bytes, int(self.bytes + self.bytes_per_s * max(0.0, seconds)))


def bounds_of(job: Job, estimated: float | None = None) -> Bounds:
    """What one engine may say of a job.

    Args:
        job: As it is sent.
        estimated: Seconds that it is expected to take; None if nobody knows.
    """
    text = len(job.model_dump_json())
    line = PLAIN_LINE + 2 * text + LANE_LINE * job.lanes + 5 * HISTOGRAM_LETTERS
    interval = INTERVAL_BYTES + LANE_LINE * job.lanes
    phases = len(job.phases)
    return Bounds(
        seconds=longest(job, estimated),
        line_bytes=line,
        bytes=ALLOWANCE + line + phases * (line + 2 * interval),
        bytes_per_s=interval * 1e9 / job.interval_ns,
        failures=LANE_FAILURES * (job.lanes + 1) * phases,
        steps=PHASE_STEPS * phases + OTHER_STEPS,
    )


def longest(job: Job, estimated: float | None) -> float:
    """Seconds after which an engine is ended, whatever it says; arguments as of `bounds_of`.

    Half an hour, three times the times that its phases state, and a hundred times the estimate: the storage may be so
    much slower than was assumed.
    """
    stated = sum((phase.runtime_ns or phase.time_limit_ns or 0) for phase in job.phases) / 1e9
    return LEAST_SECONDS + STATED * stated + (UNESTIMATED_SECONDS if estimated is None else ESTIMATES * estimated)
