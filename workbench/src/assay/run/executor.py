"""Executes the repeats of a run one after the other, and stores each as it ends."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType
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
from assay.launch.cold.remount import Remounter
from assay.launch.engine import REPORT_MARGIN_SECONDS, Outcome, run_job
from assay.launch.inspector import MachineInspector
from assay.launch.launcher import Launcher
from assay.launch.place_commands import SilentStorageError, patience_of
from assay.launch.shell import make_shell
from assay.model.base import AssayError, warning
from assay.model.deadline import Deadline
from assay.model.result.ceiling import CeilingShare
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.steady_clock import steady_time
from assay.model.study.case import Case
from assay.model.study.names import DATA, OP_KINDS, is_counted
from assay.model.study.study import Study
from assay.model.units import about_duration, format_size
from assay.plan.jobs import PlannedJob, in_directory, joint_job, plan_job, with_safeguards, with_watched_devices
from assay.plan.layout.legs import Leg
from assay.plan.layout.shared_files import SharedFiles
from assay.plan.methods import choices_by_shape, with_methods
from assay.run.added.repeats import AddedRounds
from assay.run.claims import run_owner, update_remounted
from assay.run.cleaning import LeftoverJournal, RunCleaner, record_leftovers
from assay.run.control import Control
from assay.run.fleet import Fleet
from assay.run.legs import leg_filter, run_legs, with_remounts
from assay.run.listener import HostInterval, Progress, Stretch, TimeLeft
from assay.run.meter import Meter
from assay.run.read_events import read_repeat
from assay.run.settle import RoundRules, settle
from assay.run.spending import ChargeTracker, charge_of_repeat, limits_of
from assay.run.targets import target_path
from assay.store import RunStore

LEAST_SILENCE_SECONDS = 120.0
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


class Interruption:
    """Counts requests to stop: Ctrl-C, SIGTERM, SIGHUP. The first is orderly, the second immediate."""

    def __init__(self) -> None:
        """Start with no requests."""
        self.count = 0

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Handle the signals during the block, except those that the parent process has set to ignore, as `nohup` does.

        Python handles signals in the main thread only; in any other thread the run receives none.
        """
        main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if main else ()
        handled = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._take) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def raise_on_signal(self) -> Iterator[None]:
        """In the block, raise a request to stop as KeyboardInterrupt, for work that cannot poll for it.

        The request is counted, and ends the block.
        """
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        before = {number: signal.getsignal(number) for number in numbers}
        handled = [number for number in numbers if before[number] == self._take]
        for number in handled:
            signal.signal(number, signal.default_int_handler)
        try:
            yield
        except KeyboardInterrupt:
            self.count += 1
        finally:
            for number in handled:
                signal.signal(number, before[number])

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


def silence_limit(interval_ns: int, estimated: float) -> float:
    """Return the seconds without progress after which the storage counts as hung, unless the study states them.

    The flush of a large file is one long silence, so the estimate of the repeat counts several times.

    Args:
        interval_ns: Length of the engine's intervals.
        estimated: Estimated seconds of the repeat.
    """
    return max(LEAST_SILENCE_SECONDS, 60 + SILENT_INTERVALS * interval_ns / 1e9, SILENT_ESTIMATES * estimated)


def time_of_day(moment: float) -> str:
    """Return local date and time of a moment in seconds since 1970."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


class Executor:
    """Executes the pending repeats of a run whose targets are ready."""

    def __init__(
        self,
        study: Study,
        cases: Sequence[Case],
        store: RunStore,
        launcher: Launcher,
        interruption: Interruption,
        destroy: bool = False,
        fleet: Fleet | None = None,
        meter: Meter | None = None,
        silent: set[str] | None = None,
        before_repeat: Callable[[int], None] | None = None,
        launchers: Mapping[str, Launcher] | None = None,
        spending: ChargeTracker | None = None,
        remounting: Remounter | None = None,
        rounds: "RoundRules | AddedRounds | None" = None,
        deadline: Deadline | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            study: The study.
            cases: Its cases.
            store: The run, open for writing.
            launcher: Starts engines.
            interruption: Requests to stop.
            destroy: The user has confirmed that devices may be overwritten.
            fleet: The machines that generate the load; only this one if left out.
            meter: Checks before each repeat whether the budget pays for it, and during it whether anything is left.
            silent: Gets the paths of targets whose storage did not answer.
            before_repeat: Called with the number of each repeat before it.
            launchers: Target -> what starts its engines, if not `launcher`.
            spending: What the run has spent before; nothing if left out.
            remounting: Remounts file systems on the fleet; only with one.
            rounds: Decides between two rounds whether cases go on; by the study's rules if left out.
            deadline: When the run ends, whatever is left to do.
        """
        self.deadline = deadline
        self.remounting = remounting
        self.between = before_repeat
        self.launchers = launchers or {}
        self.silent = set() if silent is None else silent
        self.meter = meter
        self.took: dict[str, float] = {}
        """Case id -> seconds of its longest repeat of this session."""
        self.fleet = fleet
        self.study = study
        self.cases = {case.id: case for case in cases}
        self.store = store
        self.owner = run_owner(store)
        self.launcher = launcher
        self.interruption = interruption
        self.destroy = destroy
        self.spending = spending or ChargeTracker()
        self.used_up = ""
        """Limit of a target that has ended the run, in words."""
        self.known = _KnownCeilings(store)
        self.diary = LeftoverJournal(store)
        self.rounds = rounds or RoundRules(store, study.repeating, cases)
        self.shared = SharedFiles(study, cases)
        self.made: set[str] = set()
        """Names of directories with complete shared files; the targets are emptied at the end of the run."""
        info = store.info()
        self.methods = choices_by_shape(info.methods)
        self.layers = {place.target: place.layers for place in info.places} if fleet is None else {}
        """Layers of targets on this machine; the device numbers of other hosts are unknown."""

    def run(
        self,
        planned: Sequence[tuple[str, int]],
        seconds: Mapping[str, float],
        progress: Progress,
        left: TimeLeft,
        due: Mapping[tuple[str, int], float] | None = None,
    ) -> None:
        """Execute repeats until all are done, the user stops, or budget or time are not enough for the next one.

        Args:
            planned: (case id, repeat), in order; those that are not pending at their turn are skipped.
            seconds: Case id -> estimated seconds of one repeat.
            progress: Receives what happens.
            left: Receives how long each repeat took.
            due: Time, in seconds since 1970, before which a repeat does not start; without an entry it starts at once.
        """
        control = Control(self.store, self.launcher, self.fleet, self._stop, progress.print_line)
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
            if self.between is not None:
                self.between(repeat)
            if self.interruption.count or self._late(case_id):
                return
            moment, estimated = (due or {}).get((case_id, repeat), 0.0), seconds.get(case_id, 0.0)
            if not self._pays(max(estimated, self.took.get(case_id, 0.0)) + max(0.0, moment - steady_time())):
                return
            if not self._wait(moment, progress):
                return
            control.measure_if_due()
            self._repeat(self.cases[case_id], repeat, estimated, progress, left)

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
        late = self.deadline.stop_level() if self.deadline is not None else 0
        return max(self.interruption.count, int(used_up), late)

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
        outcome, samples = read_repeat(case.id, repeat, planned.job, outcome, self.fleet is not None)
        remounts = case.parameters.cache == "remount"
        samples = with_remounts(planned.job, samples) if remounts else samples
        samples = tuple(self._with_host_use(sample, case) for sample in samples)
        if limits_of(planned.job.target):
            self.spending.add(case.target, charge_of_repeat(outcome.events, self.fleet is not None))
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
        if self.fleet is None or not sample.elapsed_ns:
            return sample
        uses = self.fleet.host_uses(sample.started_at, sample.elapsed_ns / 1e9, case.parameters.hosts)
        return sample.model_copy(update={"uses": uses}) if uses else sample

    def _plan(self, case: Case, repeat: int, estimated: float) -> PlannedJob:
        """Return the job with all that the run knows of its place."""
        planned, shared = plan_job(self.study, case, repeat, self.destroy), self.shared.directory(case)
        if shared:
            planned = self.shared.job(planned, shared in self.made)
        job = with_methods(planned.job, case, self.methods)
        if self.fleet is not None:
            job = joint_job(job, case.parameters.hosts)
        job = in_directory(job, self._directory(case, shared or planned.id))
        limit = (self.study.patience or 0) / 1e9 or silence_limit(job.interval_ns, estimated)
        job = with_safeguards(job, self.owner.identity, limit)
        job = with_watched_devices(job, self.layers.get(case.target, ()))
        return planned.model_copy(update={"job": job})

    def _execute(self, planned: PlannedJob, case: Case, estimated: float, progress: Progress) -> Outcome:
        started_at, bounds = steady_time(), output_bounds(planned.job, estimated)
        limit = (planned.job.stall_limit_ns or 0) / 1e9 + REPORT_MARGIN_SECONDS
        try:
            place, directory = self.study.targets[case.target].path, getattr(planned.job.target, "directory", "")
            record_event = partial(self.diary.on_event, place, directory)
            reporter = _ProgressReporter(progress, self.known.closest(case), record_event)
            if self.fleet is not None:
                execute = partial(self._on_hosts, self.fleet, case, limit, reporter.on_event, bounds, planned.tasks)
                if case.parameters.cache != "remount":
                    return execute(Leg(0, planned.job))
                return run_legs(planned.job, execute, lambda: self._remount(case), self._stop)
            with self._capped(planned.memory_limit) as cap:
                outcome = run_job(
                    self.launchers.get(case.target, self.launcher),
                    planned.job.model_dump_json(),
                    limit,
                    on_event=lambda event: reporter.on_event("", event),
                    on_start=lambda pid: cap.add(pid) if cap else None,
                    stop=self._stop,
                    bounds=bounds,
                    tasks=planned.tasks,
                )
                return cap.explain(outcome) if cap else outcome
        except _DisturbedError as error:
            # The engines had begun to work, and have ended.
            return Outcome("crashed", error.reason, started_at, steady_time() - started_at, False)
        except _ImpossibleError as error:
            # The engine never got its job. That is a result like any other, and the other cases go on.
            return Outcome("refused", error.reason, started_at, steady_time() - started_at, False)

    def _on_hosts(
        self,
        fleet: Fleet,
        case: Case,
        limit: float,
        on_event: Callable[[str, Event], None],
        bounds: Bounds,
        tasks: int,
        leg: Leg,
    ) -> Outcome:
        """Execute one leg of a job, or all of it, on the hosts of the case."""
        drop_caches, mpi = self._cache_dropper(case), self.study.targets[case.target].through_mpi

        def before(phase: int) -> None:
            if phase >= leg.first:
                drop_caches()

        return fleet.run(leg.job, limit, leg_filter(leg, on_event), self._stop, bounds, before, tasks, mpi)

    def _remount(self, case: Case) -> None:
        """Remount the file systems of the target on the case's hosts."""
        if self.remounting is None or self.fleet is None:
            raise _ImpossibleError("cache: remount: Assay mounted no file system for this study")
        try:
            paths, count = self.study.targets[case.target].paths, case.parameters.hosts
            self.remounting(paths, self.fleet.shells[:count])
            update_remounted(self.store, self.fleet, paths, count)
        except AssayError as error:
            raise _DisturbedError(f"cache: remount: {error.message}") from None

    def _cache_dropper(self, case: Case) -> Callable[[], None]:
        """Return the function that empties the caches of servers before each phase.

        Raises:
            _ImpossibleError: No server of the target may be entered.
        """
        if case.parameters.server_cache == "keep" or self.fleet is None:
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
        hosts = None
        if self.fleet is not None:
            names = [host.name for host in self.fleet.hosts[: case.parameters.hosts]]
            hosts = dict(zip(names, self.fleet.launchers, strict=False))
        launcher = self.launchers.get(case.target, self.launcher)
        launchers = self.fleet.launchers if self.fleet is not None else (launcher,)
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
        return target.directory_of(name, run, self.fleet is None)


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
