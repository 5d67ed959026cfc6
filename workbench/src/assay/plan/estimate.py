"""Estimates how long a study takes and how much it reads and writes, before it runs.

The expected time is based on assumed speeds, which are stated with it; bytes and space follow from the study.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assay.model.frozen import Frozen
from assay.model.study.case import Case
from assay.model.study.commands import RECORDED, StudyCommand, StudyReplay, pace_factor
from assay.model.study.mixes import mix_of, moved_shares, read_share
from assay.model.study.names import CREATES, DELETES, LOOKUPS, METADATA, OBJECTS, WRITES
from assay.model.study.parameters import Parameters
from assay.model.study.repeats import Repeats
from assay.model.study.speed import Speed
from assay.model.study.study import LauncherWord, Study
from assay.model.study.target import Target
from assay.model.units import about_duration, about_size
from assay.plan import object_estimate
from assay.plan.ceiling_times import ceiling_times
from assay.plan.layout.shared_files import SharedFiles
from assay.plan.layout.tasks import TASK_SECONDS
from assay.plan.phases import leg_starts, plan_phases, times_of

BUFFERED_SECONDS = 5e-6
"""Seconds of an operation that is served by the page cache or the kernel's cache of names."""
ENTRY_SECONDS = 0.3e-6
"""Time that each entry adds to the listing of a directory."""
BLOCK_BYTES = 4096
"""Allocation unit: small files and directories take a multiple of it."""
JOB_SECONDS = 0.15
"""Start, set-up and clean-up of a job with one engine per host, started here or over an open connection."""
LAUNCHED_SECONDS = 1.5
"""Time that mpirun or srun adds to a repeat, to start and end the step, the engines and their relays on all hosts.
Measured with mpirun on 1 to 4 small hosts: 1.2 to 2 s."""
MPI_SECONDS = 2.0
"""Time that targets behind MPI-IO add to that: MPI_Init, collective open and MPI_Finalize. Measured on 2 small hosts:
repeats with phases of 0.7 s took 4.4 s in all."""
PHASE_SECONDS = 0.02
CONTROL_SECONDS = 0.2
"""Time of a control between two repeats (`assay.plan.controls`)."""
CONTROL_SHARE = 0.05
"""Most time for controls as a share of all time: the next control waits until enough time has passed."""
REMOUNT_SECONDS = 0.5
"""Time to unmount a file system on all hosts and mount it again. Measured with MooseFS on two small hosts: 1.9 s more
for three remounts, including the starts of engines."""
DROP_SECONDS = 0.3
"""Time to drop the host's page cache before a phase."""

_SCATTERED = frozenset({"random_read", "backward_read", "stride_read", "random_mix"})


UNKNOWN_SIZE = "of unknown size"
"""Words for an amount that is unknown until objects are listed."""
MIN_SHOWN_SECONDS = 1.0
"""Least seconds for ceilings that the text mentions."""


Program = StudyCommand | StudyReplay | None


class CaseEstimate(Frozen):
    """The estimate of one repeat of one case.

    Attributes:
        case: Id of the case.
        seconds: Expected duration, including preparation.
        max_seconds: Duration if every phase takes its whole runtime or time_limit; None if a phase has neither.
        written: Expected bytes written to the target, including preparation.
        read: Expected bytes read.
        space: Most bytes of test data in place at once.
        requests: Expected requests to a service of objects, without listing the objects to remove them.
        has_known_sizes: False if existing objects of unknown size are read: `seconds` then covers only the requests,
            and `read`
            lacks the bytes of these objects.
    """

    case: str
    seconds: float
    max_seconds: float | None
    written: int
    read: int
    space: int
    requests: int = 0
    has_known_sizes: bool = True

    @property
    def read_summary(self) -> str:
        """Amount that is read, in words."""
        return about_size(self.read) if self.has_known_sizes else UNKNOWN_SIZE


FAR_BOUND_RATIO = 2.0
"""Ratio of bound to estimate above which the text explains when the bound is reached."""


class StudyEstimate(Frozen):
    """The estimate of all repeats of all cases, with the greatest number of repeats if it is not fixed.

    Attributes:
        jobs: Number of repeats of all cases together.
        seconds: Expected duration, with the controls between the repeats.
        min_seconds: Expected duration with the fewest repeats; equal to `seconds` if their number is fixed.
        max_seconds: Upper bound from runtime and time_limit; None if a phase has neither.
        written: Bytes written.
        read: Bytes read.
        peak_space: Target -> most bytes of test data in place at once.
        cases: One entry per case, for one repeat.
        assumptions: Assumptions behind the times, one sentence each.
        ceilings_before: Seconds for ceilings before the cases, in addition to `seconds`.
        ceilings_later: Seconds for ceilings between and after the cases, in addition to `seconds`.
        requests: Requests to services of objects.
        has_known_sizes: True if `CaseEstimate.has_known_sizes` is true for all cases.
    """

    jobs: int
    seconds: float
    min_seconds: float
    max_seconds: float | None
    written: int
    read: int
    peak_space: dict[str, int]
    cases: tuple[CaseEstimate, ...]
    assumptions: tuple[str, ...]
    ceilings_before: float = 0.0
    ceilings_later: float = 0.0
    requests: int = 0
    has_known_sizes: bool = True

    def read_summary(self, about: str = "") -> str:
        """Return the amount that is read, in words; `about` is put before a number."""
        read = f"{about}{about_size(self.read)}"
        if self.has_known_sizes:
            return read
        return f"{read} plus objects {UNKNOWN_SIZE}" if self.read else UNKNOWN_SIZE

    @property
    def requests_text(self) -> str:
        """Number of requests to services of objects, which may charge for each, in words; empty if there are none."""
        return f", in about {self.requests:,} requests" if self.requests else ""

    @property
    def time_text(self) -> str:
        """Expected time in words: a range if the number of repeats is open, and the upper bound if there is one."""
        least, most = about_duration(self.min_seconds), about_duration(self.seconds)
        words = f"about {most}" if least == most else f"about {least} to {most}"
        if self.max_seconds is not None:
            far = self.max_seconds > FAR_BOUND_RATIO * self.seconds
            words += f", at most {about_duration(self.max_seconds)}"
            words += " if every phase takes all of its time limit" if far else ""
        ceilings = self.ceilings_before + self.ceilings_later
        return f"{words}, and about {about_duration(ceilings)} for ceilings" if ceilings >= MIN_SHOWN_SECONDS else words


def work_key(case: Case) -> tuple[object, ...]:
    """Return a key that is equal for cases with the same work, in one study or in two runs; ids do not matter."""
    return (case.target, case.operations, *case.parameters.__dict__.values())


def estimate_study(
    study: Study, cases: Sequence[Case], measured_seconds: Mapping[str, float] | None = None
) -> StudyEstimate:
    """Estimate a whole study.

    Args:
        study: The study.
        cases: Its cases.
        measured_seconds: Case id -> measured seconds of one repeat, which replace the estimate.
    """
    known: dict[tuple[object, ...], CaseEstimate] = {}
    shared = SharedFiles(study, cases)
    users = Counter(shared.first.values())
    measured = measured_seconds or {}
    estimates: list[CaseEstimate] = []
    for case in cases:
        uses = study.repeats * users[shared.first.get(case.id, "")]
        key = (uses, case.workload if case.group == "programs" else "", *work_key(case))
        if key not in known:
            program = study.workloads[case.workload].replay or study.workloads[case.workload].command
            known[key] = estimate_case(study.targets[case.target], case, study.launcher, max(1, uses), program)
        seconds = measured.get(case.id, known[key].seconds)
        estimates.append(known[key].model_copy(update={"case": case.id, "seconds": seconds}))
    round_seconds = sum(item.seconds for item in estimates)
    scheduled_seconds = 0.0 if study.schedule is None else study.schedule.over / 1e9
    ceilings = ceiling_times(study, cases, max(scheduled_seconds, round_seconds * study.repeats))
    return StudyEstimate.model_construct(
        jobs=len(cases) * study.repeats,
        seconds=_in_time(study, round_seconds),
        min_seconds=with_controls(round_seconds * study.repeating.min),
        max_seconds=_at_most(estimates, study.repeating),
        written=sum(item.written for item in estimates) * study.repeats,
        read=sum(item.read for item in estimates) * study.repeats,
        peak_space=_peak_space(study, cases, estimates, shared),
        cases=tuple(estimates),
        assumptions=_assumptions(study, cases, set(measured)),
        ceilings_before=ceilings[0],
        ceilings_later=ceilings[1],
        requests=sum(item.requests for item in estimates) * study.repeats,
        has_known_sizes=all(item.has_known_sizes for item in estimates),
    )


def with_controls(seconds: float) -> float:
    """Return the seconds of repeats together with the controls between them."""
    return seconds * (1 + CONTROL_SHARE) if seconds * CONTROL_SHARE >= CONTROL_SECONDS else seconds


def _in_time(study: Study, round_seconds: float) -> float:
    """Return the seconds of all rounds, or of as many as fit into the study's time."""
    repeating = study.repeating
    most = with_controls(round_seconds * repeating.max)
    if repeating.time is None:
        return most
    return min(most, max(with_controls(round_seconds * repeating.min), repeating.time / 1e9))


def _at_most(estimates: Sequence[CaseEstimate], repeating: Repeats) -> float | None:
    bounds = [item.max_seconds for item in estimates if item.max_seconds is not None]
    if len(bounds) < len(estimates):
        return None
    all_rounds = with_controls(sum(bounds) * repeating.max)
    # The last round that starts in time is not cut short.
    limited = all_rounds if repeating.time is None else repeating.time / 1e9 + sum(bounds)
    return max(with_controls(sum(bounds) * repeating.min), min(all_rounds, limited))


def _peak_space(
    study: Study, cases: Sequence[Case], estimates: Sequence[CaseEstimate], shared: SharedFiles
) -> dict[str, int]:
    peak = {name: 0 for name, target in study.targets.items() if target.keeps_data}
    shared_bytes = dict.fromkeys(peak, 0)
    for case, item in zip(cases, estimates, strict=True):
        if case.target not in peak:
            continue
        if case.id in shared.first:
            # Shared files stay until the end of the run.
            shared_bytes[case.target] += item.space * (shared.first[case.id] == case.id)
            continue
        if study.output.keep_files and study.targets[case.target].accumulates_data:
            peak[case.target] += item.space * study.repeats
        else:
            peak[case.target] = max(peak[case.target], item.space)
    return {name: size + shared_bytes[name] for name, size in peak.items()}


def estimate_case(
    target: Target, case: Case, launcher: LauncherWord = "ssh", uses: int = 1, program: Program = None
) -> CaseEstimate:
    """Estimate one repeat of a case from the assumed speed of its target.

    Args:
        target: The target of the case.
        case: The case.
        launcher: What starts the engines.
        uses: Number of repeats that share files made once: each is charged its share of the time to make them.
        program: What it runs or replays; None for all other cases.
    """
    parameters = case.parameters
    if parameters.tasks is not None:
        return _command(launcher, target, case, program)
    speed = target.speed()
    seconds = at_most = _start_seconds(launcher, target) + _legs_seconds(launcher, target, case, uses > 1)
    bounded = True
    written = read = requests = 0.0
    data = _data_bytes(parameters)
    present = 0.0
    for operation, measured in plan_phases(case):
        if not measured:
            missing = data - present if operation == "prepare" else 0.0
            time, sent = _preparation(operation, parameters, speed, missing)
            seconds, at_most = seconds + time / uses, at_most + time / uses
            written, present, requests = written + missing / uses, data, requests + sent
            continue
        time, amount, sent = _phase(operation, parameters, speed)
        runtime, time_limit = times_of(operation, parameters)
        limit = runtime if runtime is not None else time_limit
        bounded = bounded and limit is not None
        extra = PHASE_SECONDS + (DROP_SECONDS if parameters.cache == "drop" else 0)
        seconds, at_most = seconds + time + extra, at_most + (limit or 0) / 1e9 + extra
        reads, requests = read_share(operation, parameters), requests + sent
        written, read = written + amount * (1 - reads), read + amount * reads
        if operation in (*WRITES, "create", "put") and not present:
            present = min(amount, data)
        if operation == "unlink" or operation in DELETES:
            present = 0.0
    return CaseEstimate.model_construct(
        case=case.id,
        seconds=seconds,
        max_seconds=at_most if bounded else None,
        written=math.ceil(written) if target.keeps_data else 0,
        read=math.ceil(read) if target.keeps_data else 0,
        space=_space(case, data) if target.keeps_data else 0,
        requests=math.ceil(requests) if case.group == "objects" and target.keeps_data else 0,
        has_known_sizes=case.group != "objects" or object_estimate.has_known_sizes(case.operations, parameters),
    )


def _command(launcher: LauncherWord, target: Target, case: Case, program: Program) -> CaseEstimate:
    """Return the estimate of a command: its bytes apart from inputs, and the time of a program, only a run can tell."""
    rounds = math.ceil((case.parameters.tasks or 0) / case.parameters.all_lanes)
    seconds, inputs = rounds * TASK_SECONDS, 0
    if isinstance(program, StudyReplay):
        from assay.model.trace.reader import recorded_seconds

        recorded = recorded_seconds(program.replay.path)
        seconds = TASK_SECONDS if recorded is None else recorded / pace_factor(case.parameters.pace or RECORDED)
    elif program is not None:
        # A missing file is refused with its name; its size is not needed.
        files = [Path(one.path) for one in program.inputs.values()]
        inputs = sum(file.stat().st_size for file in files if file.is_file())
        seconds = rounds * (TASK_SECONDS if program.task_seconds is None else program.task_seconds)
    fixed = _start_seconds(launcher, target) + _legs_seconds(launcher, target, case, reused=False)
    return CaseEstimate.model_construct(
        case=case.id, seconds=fixed + seconds, max_seconds=None, written=inputs, read=0, space=inputs
    )


def _start_seconds(launcher: LauncherWord, target: Target) -> float:
    """Return the seconds of a repeat outside its phases.

    Args:
        launcher: What starts the engines on the hosts.
        target: The target; one behind MPI-IO needs additional time.
    """
    launched = LAUNCHED_SECONDS if launcher != "ssh" else 0.0
    return JOB_SECONDS + launched + (MPI_SECONDS if target.through_mpi else 0.0)


def _legs_seconds(launcher: LauncherWord, target: Target, case: Case, reused: bool) -> float:
    """Return the seconds for remounts: the mounts, and a start of engines for each leg except the first."""
    if case.parameters.cache != "remount":
        return 0.0
    legs = len(leg_starts(plan_phases(case), reused))
    return legs * REMOUNT_SECONDS + (legs - 1) * _start_seconds(launcher, target)


def _preparation(operation: str, parameters: Parameters, speed: Speed, missing: float) -> tuple[float, float]:
    """Return (seconds, requests) of an unmeasured phase that makes `missing` bytes of data."""
    if parameters.objects is None:
        return missing / speed.bandwidth + _names(operation, parameters) * speed.change, 0.0
    requests, each = object_estimate.requests_of_pass(operation, parameters)
    sent = min(requests, missing / each)
    return sent * object_estimate.request_seconds(operation, parameters, speed), sent


def _data_bytes(parameters: Parameters) -> int:
    if parameters.objects is not None:
        return object_estimate.data_bytes(parameters)
    return parameters.data_set_bytes


def _space(case: Case, data: int) -> int:
    """Return the bytes of test data in place at once; small files and directories take whole blocks."""
    parameters = case.parameters
    if parameters.objects is not None:
        return object_estimate.space_bytes(case.operations, parameters)
    if parameters.files is None:
        return data
    blocks = math.ceil(parameters.sizes.records(BLOCK_BYTES)) if parameters.file_size else 0
    directories = (
        parameters.all_files if {"mkdir", "rmdir"}.intersection(case.operations) else parameters.directory_count
    )
    return (blocks * parameters.all_files + directories) * BLOCK_BYTES


def _names(operation: str, parameters: Parameters) -> float:
    """Return the operations of a phase that handles every name once; listing a directory is one operation."""
    if parameters.files is None:
        return 0.0
    if operation != "readdir":
        return float(parameters.all_files)
    return float(min(parameters.directory_count, parameters.files) * parameters.all_lanes)


def once_through(operation: str, parameters: Parameters) -> tuple[float, float]:
    """Return (operations, bytes of each) of a phase that handles all data, names or objects once."""
    if operation in OBJECTS:
        return object_estimate.requests_of_pass(operation, parameters)
    if parameters.record_size is None:
        return _names(operation, parameters), parameters.file_size if operation == "create" else 0
    if parameters.files is not None:
        records = parameters.all_files * parameters.sizes.records(parameters.record_size)
        moved = sum(moved_shares(operation, parameters)) if operation == "file_mix" else 1.0
        return records * moved, parameters.data_set_bytes / records
    files = parameters.all_lanes if parameters.layout == "separate" else 1
    return float(parameters.file_size // parameters.record_size * files), parameters.record_size


def _phase(operation: str, parameters: Parameters, speed: Speed) -> tuple[float, float, float]:
    """Return the expected (seconds, bytes, operations) of one measured phase."""
    operations, record = once_through(operation, parameters)
    each = _operation_seconds(operation, parameters, speed)
    if parameters.rate is not None:
        each = max(each, 1 / parameters.rate)
    runtime, time_limit = times_of(operation, parameters)
    if runtime is not None:
        seconds = runtime / 1e9
        return seconds, seconds / each * record, seconds / each
    seconds = operations * each
    if time_limit is not None and seconds > time_limit / 1e9:
        seconds = time_limit / 1e9
        operations = seconds / each
    return seconds, operations * record, operations


def _operation_seconds(operation: str, parameters: Parameters, speed: Speed) -> float:
    """Return the seconds between the ends of successive operations of all lanes together."""
    if operation in METADATA:
        return _name_seconds(operation, parameters, speed)
    if operation in OBJECTS:
        return object_estimate.request_seconds(operation, parameters, speed)
    direct = parameters.cache == "direct" or (operation in WRITES and parameters.sync in ("o_sync", "o_dsync"))
    scattered = operation in _SCATTERED and parameters.cache != "keep"
    reaches_storage = direct or scattered or not speed.words
    start = speed.operation if reaches_storage else min(BUFFERED_SECONDS, speed.operation)
    depth = parameters.in_flight
    each: float = parameters.record_size or 0
    if parameters.files is not None:
        records = parameters.sizes.records(parameters.record_size or 1)
        each = parameters.sizes.mean / records
        # The operation's share of the time to open, flush and close the file.
        start += _file_seconds(operation, parameters, speed) / records
    return start / min(depth, speed.parallel) + each / speed.bandwidth


def _file_seconds(operation: str, parameters: Parameters, speed: Speed) -> float:
    """Return the seconds to open a file of a set, flush it if the sync policy says so, and close it."""
    if not speed.words:
        return 2 * speed.operation
    lookup = speed.operation if parameters.cache in ("drop", "remount") else BUFFERED_SECONDS
    made = speed.change * _changes(operation, parameters)
    flushed = speed.operation if operation in WRITES and parameters.sync in ("fsync", "fdatasync") else 0.0
    return lookup + BUFFERED_SECONDS + made + flushed


def _changes(operation: str, parameters: Parameters) -> float:
    """Return how many files are created or removed for each file that is read or written."""
    if operation != "file_mix":
        return float(operation in CREATES)
    shares = mix_of(operation, parameters) or {}
    return (shares.get("create", 0) + shares.get("unlink", 0)) / 100 / sum(moved_shares(operation, parameters))


def _name_seconds(operation: str, parameters: Parameters, speed: Speed) -> float:
    """Return the same for a metadata operation: a rough guess, since file systems differ by a factor of 100."""
    if not speed.words:
        return speed.operation / parameters.in_flight
    lookup = speed.operation if parameters.cache in ("drop", "remount") else BUFFERED_SECONDS
    start = lookup if operation in LOOKUPS else speed.change
    if operation == "readdir":
        start += (parameters.files or 0) / parameters.directory_count * ENTRY_SECONDS
    contents = parameters.file_size if operation == "create" else 0
    return start / min(parameters.in_flight, speed.parallel) + contents / speed.bandwidth


def _brief(seconds: float) -> str:
    """Return a duration with three digits and no exponent: `100 us`, `1 ms`, `1.5 s`."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if float(f"{seconds / size:.3g}") < 1000:
            return f"{seconds / size:.3g} {unit}"
    return about_duration(seconds)


def _assumptions(study: Study, cases: Sequence[Case], measured: set[str]) -> tuple[str, ...]:
    lines: list[str] = []
    unmeasured = list(dict.fromkeys(case.target for case in cases if case.id not in measured))
    commands = [study.workloads[case.workload].command for case in cases if case.id not in measured]
    if any(command is not None and command.task_seconds is None for command in commands):
        lines.append(
            f"Each task of a command takes {about_duration(TASK_SECONDS)}: only a run can say how long it takes."
        )
    if any(study.workloads[case.workload].replay is not None for case in cases if case.id not in measured):
        lines.append(
            "A trace takes as long as its recording, divided by its pace, also with pace: fast, which is quicker on "
            "fast storage; making its files takes additional time."
        )
    for name in unmeasured:
        speed = study.targets[name].speed()
        if not speed.words:
            lines.append(f"{name}: no storage, {_brief(speed.operation)} per operation.")
            continue
        lines.append(
            f"{name}: {speed.words}, {about_size(speed.bandwidth)}/s, {_brief(speed.operation)} per operation, "
            f"at most {speed.parallel:.0f} at once."
        )
        object_cases = [case for case in cases if case.target == name and case.group == "objects"]
        if any(case.parameters.has_existing_objects for case in object_cases):
            lines.append(
                f"{name}: each repeat first lists its objects, the only source of their number and sizes: "
                "times and requests are for as many as the lanes may have, without the list, and without the bytes "
                "of the objects."
            )
        if any(not case.parameters.has_existing_objects for case in object_cases):
            lines.append(f"{name}: {_brief(speed.change)} to store or remove an object.")
        if any(case.is_metadata for case in cases if case.target == name):
            lines.append(
                f"{name}: {_brief(speed.change)} to change a name, {_brief(BUFFERED_SECONDS)} to stat one, "
                f"or {_brief(speed.operation)} after the caches were dropped."
            )
    lines += _start_words(study, unmeasured)
    if any(case.parameters.time_limit is not None for case in cases):
        lines.append(
            "After a time_limit, the flush of written data and the preparation of the rest take additional time."
        )
    return tuple(lines)


def _start_words(study: Study, targets: Iterable[str]) -> Iterator[str]:
    """Yield the assumptions about starting engines, one sentence each; none with ssh.

    Args:
        study: The study.
        targets: Names of the targets whose times are not measured.
    """
    names = list(targets)
    if study.launcher == "ssh" or not names:
        return
    yield f"{study.launcher}: {about_duration(LAUNCHED_SECONDS)} a repeat to start the engines and to end them."
    for name in names:
        if study.targets[name].through_mpi:
            yield f"{name}: {about_duration(MPI_SECONDS)} more a repeat for MPI_Init and MPI_Finalize."
