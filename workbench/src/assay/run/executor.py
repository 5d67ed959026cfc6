"""Executes the repeats of a run one after the other, and stores each as it ends."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from assay.analyse.ceilings import Ceilings
from assay.analyse.estimate import estimate
from assay.contract._generated import IntervalEvent
from assay.contract.bounds import Bounds, output_bounds
from assay.contract.counts import progress_counts
from assay.contract.messages import Event, PhaseStartEvent
from assay.kinds.handler import handler_of
from assay.launch.cgroup import MemoryCap
from assay.launch.cold.drop_caches import CacheDropper
from assay.launch.engine import REPORT_MARGIN_SECONDS, Outcome
from assay.launch.inspector import MachineInspector
from assay.launch.place_commands import SilentStorageError, patience_of
from assay.launch.shell import make_shell
from assay.model.base import AssayError, warning
from assay.model.result.ceiling import CeilingShare
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.steady_clock import steady_time
from assay.model.study.case import Case
from assay.model.study.names import DATA, OP_KINDS, is_counted
from assay.model.units import about_duration, format_size
from assay.plan.jobs import PlannedJob, in_directory, plan_job, with_safeguards, with_watched_devices
from assay.plan.layout.legs import Leg
from assay.plan.layout.shared_files import SharedFiles
from assay.plan.methods import choices_by_shape, with_methods
from assay.run.added_repeats import AddedRounds
from assay.run.context import RunContext
from assay.run.control import Control
from assay.run.costs.spending import ChargeTracker, charge_of_repeat, limits_of
from assay.run.fleet import Fleet, JobOptions
from assay.run.legs import leg_filter, run_legs, with_remounts
from assay.run.listener import HostInterval, Progress, Stretch, TimeLeft
from assay.run.lost_hosts import find_losses
from assay.run.places.claims import run_owner, update_remounted
from assay.run.places.cleaning import LeftoverJournal, RunCleaner, record_leftovers
from assay.run.places.targets import target_path
from assay.run.read_events import read_repeat
from assay.run.replayed_traces import with_trace
from assay.run.settle import RoundRules, settle
from assay.store import RunStore

MIN_SILENCE_SECONDS = 120.0
"""Storage counts as hung after this many seconds without progress, or more (see `silence_limit`)."""
LEAVING_TIMEOUT_SECONDS = 15.0
"""Longest wait for storage that does not answer after the user has asked to stop."""
ANNOUNCE_WAIT_SECONDS = 5.0
"""A wait longer than this is announced."""
STOP_POLL_SECONDS = 0.2
"""Time between two checks whether to stop, while the run waits."""
SILENT_INTERVALS = 10
STOPPED_BY_BUDGET = "stopped by the budget"
"""Reason of an attempt that took longer than the budget lasted."""
STOPPED_BY_DEADLINE = "stopped because the time for the run was over"
SILENT_ESTIMATES = 10


def silence_limit(interval_ns: int, estimated: float) -> float:
    """Return the seconds without progress after which the storage counts as hung, unless the study states them.

    The flush of a large file is one long silence, so the estimate of the repeat counts several times.

    Args:
        interval_ns: Length of the engine's intervals.
        estimated: Estimated seconds of the repeat.
    """
    return max(MIN_SILENCE_SECONDS, 60 + SILENT_INTERVALS * interval_ns / 1e9, SILENT_ESTIMATES * estimated)


def time_of_day(moment: float) -> str:
    """Return local date and time of a moment in seconds since 1970."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


class Executor:
    """Executes the pending repeats of a run whose targets are ready."""

    def __init__(
        self, context: RunContext, spending: ChargeTracker, rounds: "RoundRules | AddedRounds | None" = None
    ) -> None:
        """Start nothing yet.

        Args:
            context: The run.
            spending: What the run has spent before.
            rounds: Decides between two rounds whether cases go on; by the study's rules if left out.
        """
        self.context = context
        self.deadline = context.deadline
        self.silent = context.silent
        self.meter = context.meter
        self.took: dict[str, float] = {}
        """Case id -> seconds of its longest repeat of this session."""
        self.study = context.plan.study
        self.cases = {case.id: case for case in context.plan.cases}
        self.store = context.store
        self.owner = run_owner(context.store)
        self.interruption = context.interruption
        self.destroy = context.destroy
        self.spending = spending
        self.used_up = ""
        """Limit of a target that has ended the run, in words."""
        self.known = _KnownCeilings(self.store)
        self.diary = LeftoverJournal(self.store)
        self.rounds = rounds or RoundRules(self.store, self.study.repeating, context.plan.cases)
        self.shared = SharedFiles(self.study, context.plan.cases)
        self.made: set[str] = set()
        """Names of directories with complete shared files; the targets are emptied at the end of the run."""
        info = self.store.info()
        self.methods = choices_by_shape(info.methods)
        self.layers = {place.target: place.layers for place in info.places} if self.fleet.is_local else {}
        """Layers of targets on this machine; the device numbers of other hosts are unknown."""

    @property
    def fleet(self) -> Fleet:
        """The hosts that generate the load; counted ones once the measurement has begun."""
        return self.context.fleet

    def run(
        self,
        planned: Sequence[tuple[str, int]],
        seconds: Mapping[str, float],
        progress: Progress,
        left: TimeLeft,
        due: Mapping[tuple[str, int], float] | None = None,
    ) -> None:
        """Execute repeats until all are done, the user stops, a host is lost, or budget or time are too short.

        Args:
            planned: (case id, repeat), in order; those that are not pending at their turn are skipped.
            seconds: Case id -> estimated seconds of one repeat.
            progress: Receives what happens.
            left: Receives how long each repeat took.
            due: Time, in seconds since 1970, before which a repeat does not start; without an entry it starts at once.
        """
        control = Control(self.store, self.fleet, self._stop, progress.print_line)
        under_way = 0
        for case_id, repeat in planned:
            if repeat != under_way and not self.interruption.count:
                under_way = repeat
                self.known.forget()
                self._between(repeat, seconds, progress, left)
            if not self.store.is_pending(case_id, repeat):
                continue
            if used_up := self._used_up(self.cases[case_id]):
                # Repeats on other targets go on.
                self.used_up = used_up
                continue
            if self.context.passes is not None:
                self.context.passes.before_repeat(repeat)
            if self.interruption.count or self._late(case_id):
                return
            moment, estimated = (due or {}).get((case_id, repeat), 0.0), seconds.get(case_id, 0.0)
            if not self._pays(max(estimated, self.took.get(case_id, 0.0)) + max(0.0, moment - steady_time())):
                return
            if not self._wait(moment, progress):
                return
            control.measure_if_due()
            self._repeat(self.cases[case_id], repeat, estimated, progress, left)
            if self.context.losses:
                return

    def _between(self, repeat: int, seconds: Mapping[str, float], progress: Progress, left: TimeLeft) -> None:
        """Between two rounds, settle cases that are decided, or all if the time is spent."""
        fewer = self.rounds.settle_before_round(repeat)
        for case, count in fewer.items():
            left.drop_repeats(count * seconds.get(case, 0.0), count)
        if fewer:
            progress.drop_repeats(sum(fewer.values()))
            ended = len(self.store.settled())
            progress.print_line(
                f"after {repeat - 1} rounds: {ended} of {len(self.cases)} cases are decided, or the time is over"
            )

    def _used_up(self, case: Case) -> str:
        """Return why the target of a case may get no more requests; empty if it may."""
        target = self.study.targets[case.target].job_target()
        return self.spending.exhausted_limit(case.target, target, case.parameters.hosts)

    def _pays(self, seconds: float) -> bool:
        return self.meter is None or self.meter.allows_repeat(seconds)

    def _late(self, case_id: str) -> bool:
        """Whether a repeat of a case would end too late, judging by its earlier ones."""
        return self.deadline is not None and not self.deadline.allows(self.took.get(case_id, 0.0))

    def _stop(self) -> int:
        """Return 0 to go on, 1 to stop after clean-up, 2 to stop now."""
        used_up = self.meter is not None and self.meter.is_used_up()
        return max(self.context.stop_level(), int(used_up))

    def _wait(self, moment: float, progress: Progress) -> bool:
        """Wait until a moment; False if the user stops meanwhile."""
        if moment > steady_time() + ANNOUNCE_WAIT_SECONDS:
            progress.print_line(
                f"the next repeat is due at {time_of_day(moment)}, in {about_duration(moment - steady_time())}"
            )
        while steady_time() < moment:
            if self.interruption.count:
                return False
            time.sleep(min(STOP_POLL_SECONDS, max(0.0, moment - steady_time())))
        return True

    def _repeat(self, case: Case, repeat: int, estimated: float, progress: Progress, left: TimeLeft) -> None:
        left.begin_repeat(estimated)
        begun = time.monotonic()
        planned = self._plan(case, repeat, estimated)
        planned = planned.model_copy(update={"job": self.spending.limited_job(planned.job, case.target)})
        # From here on there is one job: the one that is stored, sent, and checked against the engines' events.
        planned, refusal = self._checked(planned, case.target)
        job: dict[str, Any] = planned.job.model_dump(mode="json")
        attempt = self.store.begin_attempt(case.id, repeat, job)
        progress.begin(case, repeat)
        shared = self.shared.directory(case)
        name = shared or planned.id
        failure = refusal or (None if name in self.made else self._clean_place(case, name, planned, progress))
        outcome = failure or self._execute(planned, case, estimated, progress)
        outcome, samples = read_repeat(case.id, repeat, planned.job, outcome, not self.fleet.is_local)
        remounts = case.parameters.cache == "remount"
        samples = with_remounts(planned.job, samples) if remounts else samples
        samples = tuple(self._with_host_use(sample, case) for sample in samples)
        if limits_of(planned.job.target):
            self.spending.add(case.target, charge_of_repeat(outcome.events, not self.fleet.is_local))
        if outcome.status == "incomplete":
            self.silent.add(target_path(self.study, case.target))
        self.made.discard(name)
        if shared and outcome.status == "ok":
            self.made.add(shared)
        elif not failure and self._may_leave_files(outcome, shared, remounts):
            self._clean_after(case, name, planned, progress)
        elif not failure:
            self.diary.forget_job(target_path(self.study, case.target), self._directory(case, name))
        by_user, late = bool(self.interruption.count), self.deadline is not None and self.deadline.is_over()
        if outcome.stop_requested and (
            outcome.status == "stopped" or ((by_user or late) and outcome.status == "crashed")
        ):
            reason = "stopped by the user" if by_user else STOPPED_BY_DEADLINE if late else STOPPED_BY_BUDGET
            self.store.abandon_attempt(attempt, outcome.seconds, reason, outcome.events)
            return
        if outcome.status != "ok" and (losses := find_losses(self.context, case, repeat)):
            # What failed with a host shows nothing of the storage.
            self.store.abandon_attempt(attempt, outcome.seconds, losses[0].reason, outcome.events, "lost")
            self.context.losses = losses
            return
        # This counts the preparation and clean-up around the job, too.
        left.end_repeat(estimated, time.monotonic() - begun)
        self.took[case.id] = max(time.monotonic() - begun, self.took.get(case.id, 0.0))
        if self.deadline is not None:
            self.deadline.add_repeat()
        self.store.finish_repeat(attempt, outcome.status, outcome.seconds, outcome.reason, outcome.events, samples)
        fewer = settle(self.store, self.study.repeating, case)
        if fewer:
            left.drop_repeats(fewer * estimated, fewer)
            progress.drop_repeats(fewer)
        progress.finish(case, repeat, outcome.status, outcome.reason, outcome.seconds, samples)

    @staticmethod
    def _may_leave_files(outcome: Outcome, shared: str | None, remounts: bool) -> bool:
        """Whether a repeat may have left something in the target; in a job in legs only the last leg removes the files.

        If an engine could not remove it, as after a throttle, a second attempt may succeed, or reports that it did not.
        """
        return bool(shared) or outcome.may_have_leftovers or (remounts and outcome.status != "ok")

    def _with_host_use(self, sample: Sample, case: Case) -> Sample:
        """Return the sample with what the hosts did during its phase."""
        if not sample.elapsed_ns:
            return sample
        uses = self.fleet.host_uses(sample.started_at, sample.elapsed_ns / 1e9, case.parameters.hosts)
        return sample.model_copy(update={"uses": uses}) if uses else sample

    def _plan(self, case: Case, repeat: int, estimated: float) -> PlannedJob:
        """Return the job with all that the run knows of its place."""
        planned, shared = plan_job(self.study, case, repeat, self.destroy), self.shared.directory(case)
        if shared:
            planned = self.shared.job(planned, shared in self.made)
        job = with_trace(with_methods(planned.job, case, self.methods), self.context.traces)
        job = self.fleet.joint_job(job, case.parameters.hosts)
        job = in_directory(job, self._directory(case, shared or planned.id))
        limit = (self.study.patience or 0) / 1e9 or silence_limit(job.interval_ns, estimated)
        job = with_safeguards(job, self.owner.identity, limit)
        job = with_watched_devices(job, self.layers.get(case.target, ()))
        return planned.model_copy(update={"job": job})

    def _execute(self, planned: PlannedJob, case: Case, estimated: float, progress: Progress) -> Outcome:
        started_at, bounds = steady_time(), output_bounds(planned.job, estimated)
        # A program may be silent as long as it likes; the engine notices if it cannot even be killed.
        silent = bounds.seconds if case.group == "programs" else (planned.job.stall_limit_ns or 0) / 1e9
        limit = silent + REPORT_MARGIN_SECONDS
        try:
            place, directory = self.study.targets[case.target].path, getattr(planned.job.target, "directory", "")
            record_event = partial(self.diary.on_event, place, directory)
            reporter = _ProgressReporter(progress, self.known.closest(case), record_event)
            with self._capped(planned.memory_limit if self.fleet.is_local else None) as cap:
                execute = partial(self._on_hosts, case, limit, reporter.on_event, bounds, planned.tasks, cap)
                if case.parameters.cache == "remount":
                    return run_legs(planned.job, execute, lambda: self._remount(case), self._stop)
                outcome = execute(Leg(0, planned.job))
                return cap.explain(outcome) if cap else outcome
        except _DisturbedError as error:
            # The engines had begun to work, and have ended.
            return Outcome("crashed", error.reason, started_at, steady_time() - started_at, False)
        except _ImpossibleError as error:
            # The engine never got its job. That is a result like any other, and the other cases go on.
            return Outcome("refused", error.reason, started_at, steady_time() - started_at, False)

    def _on_hosts(
        self,
        case: Case,
        limit: float,
        on_event: Callable[[str, Event], None],
        bounds: Bounds,
        tasks: int,
        cap: "_Cap | None",
        leg: Leg,
    ) -> Outcome:
        """Execute one leg of a job, or all of it, on the hosts of the case."""
        drop_caches, mpi = self._cache_dropper(case), self.study.targets[case.target].through_mpi

        def before(phase: int) -> None:
            if phase >= leg.first:
                drop_caches()

        on_start = cap.add if cap else lambda _: None
        how = JobOptions(bounds, before, tasks, mpi, case.target, on_start)
        return self.fleet.run(leg.job, limit, leg_filter(leg, on_event), self._stop, how)

    def _remount(self, case: Case) -> None:
        """Remount the file systems of the target on the case's hosts."""
        if self.context.remounting is None:
            raise _ImpossibleError("cache: remount: Assay mounted no file system for this study")
        try:
            paths, count = self.study.targets[case.target].paths, case.parameters.hosts
            self.context.remounting(paths, self.fleet.shells[:count])
            update_remounted(self.store, self.fleet, paths, count)
        except AssayError as error:
            raise _DisturbedError(f"cache: remount: {error.message}") from None

    def _cache_dropper(self, case: Case) -> Callable[[], None]:
        """Return the function that empties the caches of servers before each phase.

        Raises:
            _ImpossibleError: No server of the target may be entered.
        """
        if case.parameters.server_cache == "keep":
            return lambda: None
        hosts = self.fleet.serving_hosts(self.study.targets[case.target].server_names)
        if not hosts:
            raise _ImpossibleError(
                "server_cache: drop: no host that serves the target can be entered: name it in the inventory"
            )
        emptying = CacheDropper([make_shell(host) for host in hosts], all(host.kind == "box" for host in hosts))

        def drop_caches() -> None:
            try:
                emptying()
            except AssayError as error:
                raise _DisturbedError(error.message) from None

        return drop_caches

    def _checked(self, planned: PlannedJob, name: str) -> tuple[PlannedJob, Outcome | None]:
        """Return the job with its target as it is now, and the outcome if it must not start.

        A device may have been mounted since the last repeat; and engines open it by the kernel's own name.
        """
        keeper, started_at = handler_of(self.study.targets[name]), steady_time()
        try:
            now = keeper.recheck_target(planned.job.target, MachineInspector(self.destroy, self.owner))
        except AssayError as error:
            return planned, Outcome("refused", error.message, started_at, steady_time() - started_at, False)
        return planned.model_copy(update={"job": planned.job.model_copy(update={"target": now})}), None

    @contextlib.contextmanager
    def _capped(self, memory_limit: int | None) -> Iterator["_Cap | None"]:
        if memory_limit is None:
            yield None
            return
        cap = _Cap(self.store, memory_limit)
        try:
            yield cap
        finally:
            cap.remove()

    def _clean_place(self, case: Case, name: str, planned: PlannedJob, progress: Progress) -> Outcome | None:
        """Clean the place of a repeat; returns an outcome if a host is gone or storage does not answer."""
        started_at, path = steady_time(), target_path(self.study, case.target)
        try:
            for line in self._clean_up(case, name, planned):
                progress.print_line(warning(f"could not be removed: {line}"))
        except AssayError as error:
            status, reason = "crashed", error.message
            if isinstance(error, SilentStorageError):
                status = "incomplete"
                self.silent.add(path)
            elif path in self.silent:
                status, reason = "incomplete", f"storage does not answer: operations on it still wait: {reason}"
            return Outcome(status, reason, started_at, steady_time() - started_at, False)
        self.silent.discard(path)
        return None

    def _clean_after(self, case: Case, name: str, planned: PlannedJob, progress: Progress) -> None:
        """Remove what the repeat has left, or warn that it may still be there."""
        failure = self._clean_place(case, name, planned, progress)
        directory = getattr(planned.job.target, "directory", "")
        if failure and directory:
            place = f"{target_path(self.study, case.target)}/{directory}"
            progress.print_line(warning(f"{place}: may still be there: {failure.reason}"))

    def _clean_up(self, case: Case, name: str, planned: PlannedJob) -> list[str]:
        """Remove what a killed engine left of this repeat, now or earlier; returns what is still there."""
        target = self.study.targets[case.target]
        patience = patience_of(self.study, target.path in self.silent)
        if self.interruption.count:
            patience = min(patience, LEAVING_TIMEOUT_SECONDS)
        hosts, launchers = None, self.fleet.launchers
        if self.fleet.is_local:
            launchers = (self.fleet.launcher_for(case.target),)
        else:
            names = [host.name for host in self.fleet.hosts[: case.parameters.hosts]]
            hosts = dict(zip(names, launchers, strict=False))
        leaving = LEAVING_TIMEOUT_SECONDS if self.interruption.count else None
        directory = self._directory(case, name)
        left_job = self.diary.left_job(planned.job, target.path, directory) if target.is_made_by_engines else None
        cleaning = RunCleaner(self.owner, launchers, hosts, patience, leaving, left_job)
        try:
            problems = handler_of(target).clean(directory, cleaning)
        except AssayError:
            record_leftovers(self.store, target.path, directory, left=True)
            raise
        record_leftovers(self.store, target.path, directory, left=False)
        self.diary.forget_job(target.path, directory)
        return problems

    def _directory(self, case: Case, name: str) -> str:
        """Return the directory of a job; where several runs may share a place, its name contains the run's."""
        target = self.study.targets[case.target]
        # Places that only engines reach have no marks of runs, so the names themselves must be unique to the run.
        run = self.owner.name if target.is_made_by_engines else self.store.folder.name
        return target.directory_of(name, run, self.fleet.is_local)


class _ImpossibleError(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _DisturbedError(_ImpossibleError):
    pass


class _Cap:
    """A memory control group that the journal records before it is made."""

    def __init__(self, store: RunStore, limit: int) -> None:
        try:
            self.group = MemoryCap(store.folder.name, limit, store)
            self.group.create()
        except AssayError as error:
            raise _ImpossibleError(error.message) from error

    def add(self, pid: int) -> None:
        try:
            self.group.add(pid)
        except AssayError as error:
            raise _ImpossibleError(error.message) from error

    def explain(self, outcome: Outcome) -> Outcome:
        """Return the outcome with the memory limit as its reason, if that is why the engine was killed."""
        if outcome.status != "crashed" or not self.group.was_oom_killed():
            return outcome
        return replace(outcome, reason=f"{outcome.reason}: out of its memory_limit of {format_size(self.group.limit)}")

    def remove(self) -> None:
        self.group.remove()


class _KnownCeilings:
    """The known ceilings, read again once a round, since passes between the repeats may raise them."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._ceilings: Ceilings | None = None
        self._places: dict[str, TargetPlace] = {}

    def forget(self) -> None:
        self._ceilings = None

    def closest(self, case: Case) -> Callable[[str, float, float], CeilingShare | None]:
        """Return a function that finds the ceiling which a rate of the case is closest to.

        It takes an operation, bytes and operations per second.
        """
        if self._ceilings is None:
            info = self._store.info()
            self._ceilings = Ceilings(info.ceilings, info.hosts, info.network)
            self._places = {place.target: place for place in info.places}
        ceilings, place = self._ceilings, self._places.get(case.target)

        def closest(operation: str, throughput: float, iops: float) -> CeilingShare | None:
            moved = estimate([throughput]) if throughput else None
            return next(iter(ceilings.bindings(case, operation, place, moved, estimate([iops]))), None)

        return closest


class _ProgressReporter:
    """Reports phases and intervals of all hosts as their events arrive."""

    def __init__(
        self,
        progress: Progress,
        closest: Callable[[str, float, float], CeilingShare | None],
        record_event: Callable[[Event], None],
    ) -> None:
        self.progress = progress
        self.record_event = record_event
        self.closest = closest
        self.phase = -1
        self.operation = ""
        self.counted = False

    def on_event(self, host: str, event: Event) -> None:
        self.record_event(event)
        if isinstance(event, PhaseStartEvent):
            if event.phase != self.phase:
                self.phase = event.phase
                self.operation = event.operation.value
                self.counted = is_counted(self.operation)
                self.progress.phase(event.operation.value, partial(self.closest, event.operation.value))
        elif isinstance(event, IntervalEvent) and event.end_ns > event.start_ns:
            self.progress.interval(self._host_interval(host, event))

    def _host_interval(self, host: str, event: IntervalEvent) -> HostInterval:
        counts = progress_counts(event.operations, self.operation in DATA)
        names = any(OP_KINDS[done.operation.value][0] == "names" for done in counts)
        earlier = _earlier(event)
        # A short interval at the end of a phase may contain operations that took much longer.
        moved = sum(done.bytes for done in counts) - sum(part.bytes for part in earlier)
        ops = sum(done.ops for done in counts) - sum(part.ops for part in earlier)
        return HostInterval(
            host,
            Stretch(event.start_ns, event.end_ns, max(0.0, moved), max(0.0, ops)),
            names or self.counted,
            tuple(done.latency for done in counts if done.latency),
            earlier,
        )


def _earlier(event: IntervalEvent) -> tuple[Stretch, ...]:
    """Return what the operations that ended in an interval had done before it; inconsistent entries are left out."""
    length = event.start_ns // event.index if event.index else 0
    return tuple(
        Stretch(part.from_ * length, part.to * length, part.bytes * count, part.ops * count)
        for part in event.earlier or ()
        if length and (count := part.to - part.from_) > 0 and part.to <= event.index
    )
