"""Upper limits on the output of an engine: bytes, lines and time, derived from its job.

An engine that exceeds them is faulty, or is not our engine.
"""

from dataclasses import dataclass

from assay.contract._generated import CommandTarget, Job, ListedSizes, Operation, Phase, RangeOfSizes, ReplayTarget

HISTOGRAM_COUNTERS = 54 << 10
"""Counters of an HDR histogram with three significant digits for any 62-bit number."""
HISTOGRAM_BYTES = 40 + 9 * HISTOGRAM_COUNTERS
"""Size of an encoded histogram: its header, and at most nine bytes for each counter (HdrHistogram, V2 encoding)."""
HISTOGRAM_CHARS = (HISTOGRAM_BYTES + 1024) * 4 // 3
"""Characters of the same in base64, if compression does not help."""

MULTI_OBJECT_OPERATIONS = (Operation.batch_put, Operation.batch_get, Operation.query, Operation.scan)
"""Operations that move the contents of several objects with each request."""
MAX_OBJECTS_PER_REQUEST = 1000
"""Most objects of such a request: of a batch, of a page, or of as many bytes as DynamoDB's answer may have (1 MiB)."""

PLAIN_LINE_BYTES = 64 << 10
"""Bytes of an event without histograms, lanes and job: paths and reasons."""
TASK_BYTES = 4 << 10
"""Bytes of the event of a task, apart from what it has printed."""
LANE_BYTES = 1 << 10
"""Bytes of one lane in the event that ends a phase."""
COUNT_BYTES = 128
"""Bytes of a lane's counts for one kind of operation: three numbers of up to 19 digits, and their names."""
OTHER_HISTOGRAMS = 2
"""Histograms in the event that ends a phase, apart from two for each kind of operation: start delays, and the
watcher's."""
UPLOAD_OPERATIONS = (Operation.put, Operation.object_mix, Operation.prepare)
"""Operations that may store objects in parts."""
UPLOAD_KINDS = 3
"""Kinds of operation that storing in parts adds: the start, the parts, the completion."""
SET_KINDS = 2
"""Kinds of operation that a set of files adds: opening and closing them."""
REPLAY_KINDS = 15
"""Kinds of operation on files that a trace has."""
REPLAY_BYTES = 64 << 10
"""Bytes of the event of a replayed copy, apart from histograms: counts, and the first differences."""
INTERVAL_BYTES = 64 << 10
"""Average bytes of one interval and kind of operation. Each lane adds `LANE_BYTES`, since it may report late and in a
line of its own."""
ALLOWANCE_BYTES = 8 << 20
"""Bytes for everything else: log lines, failures, lines that are not events."""
MAX_BYTES = 1 << 30
MAX_LOG_LINES = 1000
MAX_LANE_FAILURES = 8
"""Failed operations that a lane describes in a phase, set-up included; the engine stops at five."""
PHASE_STEPS = 5
"""Events of a phase: two barriers, or three where lanes wear out, a start and an end."""
OTHER_STEPS = 4
"""Events outside phases: hello, ready, the last barrier and bye."""

MIN_TIMEOUT_SECONDS = 1800.0
STATED_TIME_FACTOR = 3.0
"""A phase that runs for a stated time may take this many times as long, with its set-up and flush."""
ESTIMATE_FACTOR = 100.0
"""Storage may be this many times slower than assumed."""
NO_TASK_LIMIT_SECONDS = 30 * 86_400.0
"""Time allowed for a command whose tasks have no limit, and for a trace: only its author knows how long they take."""
NO_ESTIMATE_SECONDS = 86_400.0
"""Time allowed for a job without an estimate."""


@dataclass(frozen=True)
class Bounds:
    """The most output that an engine may produce.

    Attributes:
        seconds: Length of the whole exchange.
        line_bytes: Length of one line.
        bytes: All output apart from intervals.
        bytes_per_s: Further bytes for each second that has passed, for intervals.
        max_bytes: All output, however long the engine runs.
        log_lines: Number of log lines.
        failures: Number of failed operations that are described.
        other_events: Number of other events, apart from intervals and answers to pings.
    """

    seconds: float
    line_bytes: int
    bytes: int
    bytes_per_s: float
    max_bytes: int = MAX_BYTES
    log_lines: int = MAX_LOG_LINES
    failures: int = MAX_LANE_FAILURES
    other_events: int = PHASE_STEPS + OTHER_STEPS

    def bytes_after(self, seconds: float) -> int:
        """Return the most bytes that may have arrived after this many seconds."""
        return min(self.max_bytes, int(self.bytes + self.bytes_per_s * max(0.0, seconds)))


def output_bounds(job: Job, estimated: float | None = None) -> Bounds:
    """Return the most output that one engine may produce for a job.

    Args:
        job: As it is sent.
        estimated: Seconds that it is expected to take; None if unknown.
    """
    text = len(job.model_dump_json())
    command = command_of(job)
    # A byte that a program prints takes up to six in JSON.
    tasks, printed = (len(command.tasks), 6 * command.output_bytes) if command else (0, 0)
    counted = max(operation_kind_count(phase, job.tree is not None) for phase in job.phases)
    lanes = (LANE_BYTES + COUNT_BYTES * counted) * job.lanes
    # Of each kind of operation that is replayed: times from its start, and from when it was due.
    copies, replayed = (job.lanes, REPLAY_BYTES + 2 * REPLAY_KINDS * HISTOGRAM_CHARS) if replay_of(job) else (0, 0)
    end = PLAIN_LINE_BYTES + printed + 2 * text + lanes + (2 * counted + OTHER_HISTOGRAMS) * HISTOGRAM_CHARS
    line = max(end, replayed)
    interval = INTERVAL_BYTES * counted + LANE_BYTES * job.lanes
    phases = len(job.phases)
    return Bounds(
        seconds=timeout_seconds(job, estimated),
        line_bytes=line,
        bytes=ALLOWANCE_BYTES
        + line
        + phases * (line + 2 * interval)
        + tasks * (TASK_BYTES + printed)
        + copies * replayed,
        bytes_per_s=interval * 1e9 / job.interval_ns,
        failures=MAX_LANE_FAILURES * (job.lanes + 1) * phases,
        other_events=PHASE_STEPS * phases + OTHER_STEPS + tasks + copies,
    )


def command_of(job: Job) -> CommandTarget | None:
    """Return the program that a job runs, with its tasks; None for all other jobs."""
    return job.target if isinstance(job.target, CommandTarget) else None


def replay_of(job: Job) -> ReplayTarget | None:
    """Return the trace that a job replays, with its place; None for all other jobs."""
    return job.target if isinstance(job.target, ReplayTarget) else None


def operation_kind_count(phase: Phase, tree: bool = False) -> int:
    """Return how many kinds of operation a phase can count: its own or its mix, the flush, and parts of uploads.

    For a `tree` of files, opening and closing files are added.
    """
    own = len(phase.mix) if phase.mix else 1
    return own + 1 + SET_KINDS * tree + (UPLOAD_KINDS if phase.operation in UPLOAD_OPERATIONS else 0)


def largest_operation_bytes(job: Job) -> int:
    """Return the most bytes that one measured operation can move: a record, a whole small file, or whole objects."""
    if job.tree is None and job.objects is None:
        return job.record_size_bytes
    several = any(phase.operation in MULTI_OBJECT_OPERATIONS for phase in job.phases)
    return largest_content_bytes(job) * (MAX_OBJECTS_PER_REQUEST if several else 1)


def reads_existing_objects(job: Job) -> bool:
    """Whether a job only reads objects that existed before it, whose sizes it does not state."""
    return getattr(job.target, "existing", None) is not None


def largest_content_bytes(job: Job) -> int:
    """Return the bytes of the largest small file or object of a job."""
    match job.sizes:
        case ListedSizes(sizes=sizes):
            return max(size.bytes for size in sizes)
        case RangeOfSizes(max_bytes=greatest):
            return greatest
    return job.file_size_bytes


def _tasks_seconds(job: Job, command: CommandTarget) -> float:
    """Return the seconds after which the tasks of a command count as hung."""
    if command.task_limit_ns is None:
        return NO_TASK_LIMIT_SECONDS
    return STATED_TIME_FACTOR * command.task_limit_ns / 1e9 * -(-len(command.tasks) // (job.lanes * job.ranks))


def timeout_seconds(job: Job, estimated: float | None) -> float:
    """Return the seconds after which an engine is killed, whatever it reports; arguments as for `bounds_of`.

    They are half an hour, three times the times that its phases state, and a hundred times the estimate, in case the
    storage is that much slower than assumed. For objects of unknown size there is no estimate.
    """
    if (command := command_of(job)) is not None:
        return MIN_TIMEOUT_SECONDS + _tasks_seconds(job, command)
    if replay_of(job) is not None:
        # The engine notices operations that do not end; pauses are as long as they were.
        return MIN_TIMEOUT_SECONDS + NO_TASK_LIMIT_SECONDS
    stated_s = sum((phase.runtime_ns or phase.time_limit_ns or 0) for phase in job.phases) / 1e9
    return (
        MIN_TIMEOUT_SECONDS
        + STATED_TIME_FACTOR * stated_s
        + (NO_ESTIMATE_SECONDS if estimated is None or reads_existing_objects(job) else ESTIMATE_FACTOR * estimated)
    )
