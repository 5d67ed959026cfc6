"""How much an engine can have to say of a job, and how long. More than that is no engine of ours."""

from dataclasses import dataclass

from assay.contract._generated import Job, ListedSizes, Operation, Phase, RangeOfSizes

HISTOGRAM_COUNTERS = 54 << 10
"""Counters of an HDR histogram of three significant digits for any number of 62 bits."""
HISTOGRAM_BYTES = 40 + 9 * HISTOGRAM_COUNTERS
"""Its header, and at most nine bytes for each counter (HdrHistogram, V2 encoding)."""
HISTOGRAM_LETTERS = (HISTOGRAM_BYTES + 1024) * 4 // 3
"""In base64, if compression does not help."""

SEVERAL = (Operation.batch_put, Operation.batch_get, Operation.query, Operation.scan)
"""Move the contents of several objects with each request."""
MOST_TOGETHER = 1000
"""Objects of these requests: those of a batch, of a page, of as many bytes as an answer of DynamoDB has (1 MiB)."""

PLAIN_LINE = 64 << 10
"""Of an event without histograms, lanes and job: paths and reasons."""
LANE_LINE = 1 << 10
"""Of one lane in the end of a phase."""
COUNT_LETTERS = 128
"""Of what a lane did of one kind of operation: three numbers of up to 19 digits, and their names."""
OTHER_HISTOGRAMS = 2
"""In the end of a phase, besides two of each kind of operation: delays of starts, and the watcher's."""
STORING = (Operation.put, Operation.object_mix, Operation.prepare)
"""May store objects in parts."""
UPLOAD_KINDS = 3
"""Of these: the start, the parts, the completion."""
SET_KINDS = 2
"""Of a set of files: opening and closing them."""
INTERVAL_BYTES = 64 << 10
"""Of one interval and kind of operation on average, and `LANE_LINE` more for each lane, which may report late and by
itself."""
ALLOWANCE = 8 << 20
"""For everything else: remarks, failures, lines that are no events."""
MOST_BYTES = 1 << 30
REMARKS = 1000
LANE_FAILURES = 8
"""Failed operations that a lane describes in a phase, set-up included: the engine stops at five."""
PHASE_STEPS = 5
"""A phase has two barriers, or three where it wears out, a start and an end."""
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
    counted = max(kinds_of(phase, job.tree is not None) for phase in job.phases)
    lanes = (LANE_LINE + COUNT_LETTERS * counted) * job.lanes
    line = PLAIN_LINE + 2 * text + lanes + (2 * counted + OTHER_HISTOGRAMS) * HISTOGRAM_LETTERS
    interval = INTERVAL_BYTES * counted + LANE_LINE * job.lanes
    phases = len(job.phases)
    return Bounds(
        seconds=longest(job, estimated),
        line_bytes=line,
        bytes=ALLOWANCE + line + phases * (line + 2 * interval),
        bytes_per_s=interval * 1e9 / job.interval_ns,
        failures=LANE_FAILURES * (job.lanes + 1) * phases,
        steps=PHASE_STEPS * phases + OTHER_STEPS,
    )


def kinds_of(phase: Phase, tree: bool = False) -> int:
    """Kinds of operation that a phase can count: its own or its mix, the flush, and those of storing in parts.

    Of a `tree` of files they may be opened and closed besides.
    """
    own = len(phase.mix) if phase.mix else 1
    return own + 1 + SET_KINDS * tree + (UPLOAD_KINDS if phase.operation in STORING else 0)


def largest_operation(job: Job) -> int:
    """Bytes that one measured operation of a job can move: a record, all contents of a small file or of objects."""
    if job.tree is None and job.objects is None:
        return job.record_size_bytes
    several = any(phase.operation in SEVERAL for phase in job.phases)
    return largest_contents(job) * (MOST_TOGETHER if several else 1)


def only_reads(job: Job) -> bool:
    """Whether a job only reads objects that were there before, of which it says no sizes."""
    return getattr(job.target, "existing", None) is not None


def largest_contents(job: Job) -> int:
    """Bytes of the largest small file or object of a job."""
    match job.sizes:
        case ListedSizes(sizes=sizes):
            return max(size.bytes for size in sizes)
        case RangeOfSizes(max_bytes=greatest):
            return greatest
    return job.file_size_bytes


def longest(job: Job, estimated: float | None) -> float:
    """Seconds after which an engine is ended, whatever it says; arguments as of `bounds_of`.

    Half an hour, three times the times that its phases state, and a hundred times the estimate: the storage may be so
    much slower than was assumed. Of objects whose sizes nobody knows there is no estimate.
    """
    stated = sum((phase.runtime_ns or phase.time_limit_ns or 0) for phase in job.phases) / 1e9
    return (
        LEAST_SECONDS
        + STATED * stated
        + (UNESTIMATED_SECONDS if estimated is None or only_reads(job) else ESTIMATES * estimated)
    )
