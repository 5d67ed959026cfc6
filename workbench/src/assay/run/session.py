"""One `assay run` from beginning to end: prepares targets, executes repeats, stores results, removes what it made."""

import contextlib
import hashlib
import platform
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from assay import __version__
from assay.analyse.environments.diff import environment_diff
from assay.analyse.environments.limits import AT_END, GROUPS, group_limits, limits_changed
from assay.analyse.environments.settings import WANTED, setting_lines
from assay.contract import SPEC_VERSION
from assay.contract._answers import BackendCapabilities, Look
from assay.journal.entry import DIRECTORY, MOUNT, REMOTE
from assay.kinds.handler import handler_of
from assay.launch.binary import Engine, load_engine
from assay.launch.cgroup import remove_leftovers
from assay.launch.cold.remount import Remounter
from assay.launch.environment import capture_environment, sources_sha256
from assay.launch.environment.control_groups import describe_groups
from assay.launch.environment.reading import Files
from assay.launch.free_space import SpaceRequirement
from assay.launch.host_counters import CounterRecorder
from assay.launch.launcher import Launcher, LocalLauncher
from assay.launch.locks import close_all
from assay.launch.mounter import Mounter
from assay.launch.other_load import load_message, sample_load
from assay.launch.place_commands import patience_of
from assay.launch.remote_mounts import mount_facts
from assay.model.base import EXIT_REFUSED, AssayError, warning
from assay.model.deadline import Deadline
from assay.model.escape import escape_line
from assay.model.result.added_repeats import AddedRepeats
from assay.model.result.run import LAUNCHER_SECTION, TargetPlace
from assay.model.study.blocks import Blocks
from assay.model.units import about_duration
from assay.plan.ceilings import stated_ceilings
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.load import load_study
from assay.plan.methods import undecided_shapes
from assay.plan.schedule import RepeatKey, due_times
from assay.plan.study_warnings import request_limit_warnings
from assay.run import claims, targets
from assay.run import meter as meters
from assay.run.added.repeats import AddedRounds, add_repeats, current_settling, end_added_repeats, with_repeats
from assay.run.answers import store_conclusions
from assay.run.batch.facts import own_job_section
from assay.run.budget import read_budget
from assay.run.ceilings.meter import CeilingMeter
from assay.run.ceilings.passes import CeilingPasses
from assay.run.control import describe_machine
from assay.run.executor import LEAVING_TIMEOUT_SECONDS, Executor, Interruption, silence_limit
from assay.run.fleet import Fleet
from assay.run.listener import Listener, Progress, TimeLeft
from assay.run.methods import find_methods
from assay.run.preconditions import CheckRequest, refuse_impossible
from assay.run.rounds import run_rounds
from assay.run.run_network import measure_network
from assay.run.run_time import find_past_run, predict_run_time
from assay.run.series import run_rows
from assay.run.settle import repeats_time_s, settle_all
from assay.run.spending import ChargeTracker, charge_of_repeat, limits_of
from assay.run.staged.stages import accept_stages, end_stage, plan_to_next_stage
from assay.run.study_hosts import copy_study_files, hosts_of_study
from assay.run.study_plan import Plan, new_run_meta, prediction_text
from assay.run.target_layers import layer_notes
from assay.site.site import SiteState
from assay.store import RunStore, list_runs, lock_holders
from assay.store.entries import ENGINE_LOCK, RUN_LOCK
from assay.store.heartbeat import Heartbeat
from assay.store.lock import is_locked
from assay.store.prices import stored_prices

CLAIM_TYPES: dict[str, type] = {DIRECTORY: str, REMOTE: dict}
"""Kind of a journal entry -> type of `claimed` and `above` in its details, once they are known."""
ACCEPTED_BY_RESUME = "by going on"
OUT_OF_TIME = "the time for the run is over"
"""Why a case gets no more repeats."""
BUSY_CHECK_FROM_SECONDS = 3.0
"""A run expected to take this long checks what else the machine does."""
FEWEST_REPEATS = 3
"""Fewest repeats that give a confidence interval."""
CEILING_SHARE, NETWORK_SHARE = 0.4, 0.25
"""Most of the time left that the ceilings, or the network, may take; what does not fit is not measured."""
ENGINE_WAIT_SECONDS = 30.0
"""How long to wait for the engine of a dead workbench, which ends by itself when it notices."""


def start(
    plan: Plan,
    out: Path,
    destroy: bool,
    listener: Listener,
    budget: str | None = None,
    on_root: bool = False,
    stage: bool = False,
    deadline: Deadline | None = None,
) -> RunStore:
    """Measure a study from the beginning.

    Args:
        plan: The study.
        out: Folder of the runs.
        destroy: The user has confirmed that devices may be overwritten.
        listener: Receives what the run reports.
        budget: What the designs may cost meanwhile, such as `5USD`; None for no limit.
        on_root: The user has confirmed that directories for mounts may be on the root file system.
        stage: Measure the first stage only.
        deadline: When the run ends, whatever is left to do; the caller then reports how long it takes.

    Returns:
        The run, still open for writing; its status shows whether it is complete.

    Raises:
        AssayError: The run is refused or impossible; then nothing is left of it.
    """
    amount = read_budget(budget, plan.prices)
    engine = load_engine()
    full_plan, plan = plan, plan_to_next_stage(plan) if stage else plan
    study = plan.study
    estimate = estimate_study(study, plan.cases)
    if deadline is None:
        listener.print_line(prediction_text(plan, estimate))
    request = CheckRequest(plan, engine, destroy, SpaceRequirement(estimate.peak_space, on_root), out)
    for name, place in refuse_impossible(request).items():
        listener.print_line(f"{name} is on {place.words}")
    if plan.blocks is None and deadline is None:
        listener.print_line(f"whole run: {predict_run_time(plan, estimate, find_past_run(out, study.name)).words}")
    store = RunStore.create(
        out, new_run_meta(plan), full_plan.cases, plan.excluded, full_plan.order, plan.text, plan.prices
    )
    try:
        meters.store_budget(store, amount, is_new=True, print_line=listener.print_line)
        meter = meters.make_meter(amount, plan.prices, store, estimate)
        return _Session(plan, store, engine, estimate, destroy, meter, listener, deadline=deadline).run()
    except BaseException:
        if not store.attempts() and not store.entries():
            store.discard()
        else:
            store.close()
        raise


def resume(
    folder: Path,
    destroy: bool,
    listener: Listener,
    budget: str | None = None,
    stage: bool = False,
    accepted_how: str = ACCEPTED_BY_RESUME,
    on_root: bool = False,
    settle: bool = False,
) -> RunStore:
    """Measure what is missing of a run; arguments, result and errors as for `start`, but the run keeps its budget.

    For a run that was submitted and has not begun, that is everything, and its targets are checked like those of a new
    run.

    With `stage`, that is only what is missing up to the first stage that was not measured yet. Measured stages are
    accepted then; `accepted_how` is stored as `MeasuredStage.accepted_how`.

    With `settle`, a run that is over gets repeats for what it has left undecided; if there is nothing, it does not
    change.
    """
    engine = load_engine()
    # Check first, since opening for writing converts the store to this version.
    with RunStore.open(folder) as before:
        _check_contract(before)
    store = _reopen(folder)
    try:
        blocks = _resumable(store)
        budget_text = store.budget() if budget is None else budget
        prices = None if budget_text is None else stored_prices(store)
        amount = read_budget(budget_text, prices)
        loaded = load_study(store.study_text().encode(), store.base_folder())
        if loaded.study is None:
            problem = loaded.problems[0]
            raise AssayError(problem.text(str(folder / "study.yaml")).splitlines()[0], problem.hint)
        file, cases, excluded = folder / "study.yaml", store.cases(), store.excluded()
        plan = Plan(loaded.study, store.study_text(), loaded.source, file, cases, excluded, blocks=blocks)
        _check_unchanged(store, plan)
        if stage:
            plan = plan_to_next_stage(plan, store.info().stages)
        accept_stages(store, accepted_how)
        estimate = estimate_study(plan.study, plan.cases, measured_seconds(store))
        is_new = not store.info().versions
        needs = SpaceRequirement(estimate.peak_space, on_root) if is_new else None
        if is_new:
            store.set_start(time.time())
            listener.print_line(prediction_text(plan, estimate))
        mounts_of_places = refuse_impossible(CheckRequest(plan, engine, destroy, needs, owner=claims.run_owner(store)))
        for name, place in mounts_of_places.items() if is_new else ():
            listener.print_line(f"{name} is on {place.words}")
        meter = meters.make_meter(amount, prices, store, estimate)
        if settle and not add_repeats(store, listener.print_line):
            return store
        if (settling := current_settling(store)) is not None:
            plan = replace(plan, study=with_repeats(plan.study, settling))
        store.close_lost_attempts("the workbench died")
        store.begin_session(meters.now())
        meters.store_budget(store, amount, is_new=budget is not None, print_line=listener.print_line)
        store.save_results(())
        store.set_status("running")
        return _Session(plan, store, engine, estimate, destroy, meter, listener, settling).run()
    except BaseException:
        store.close()
        raise


def _check_contract(store: RunStore) -> None:
    """Check that stored results can be combined with new ones.

    Raises:
        AssayError: Its engine used another version of the contract; nothing was touched.
    """
    version = store.contract_version()
    if version is not None and version != SPEC_VERSION:
        age = "an older" if version < SPEC_VERSION else "a newer"
        message = (
            f"run {store.folder.name} was measured by {age} Assay (contract {version}, this one has {SPEC_VERSION})"
        )
        hint = "measure its study again with `assay run STUDY`, or resume it with the version that began it"
        raise AssayError(message, hint, EXIT_REFUSED)


def _resumable(store: RunStore) -> Blocks | None:
    """Return how a run's two sides are measured; None if it has one side.

    Raises:
        AssayError: The sides are engines. A run's folder may come from anywhere, so no program that it names is
            started.
    """
    blocks = store.info().blocks
    if blocks is not None and blocks.engines:
        message = f"run {store.folder.name} compares two engines, which a run does not store"
        raise AssayError(message, "measure again: `assay compare --ab ENGINE ENGINE --study STUDY`", EXIT_REFUSED)
    return blocks


def _check_unchanged(store: RunStore, plan: Plan) -> None:
    """Check that a run's study is the one that it began with, and that its journal is well formed.

    Raises:
        AssayError: Something was changed by hand; nothing was touched.
    """
    hint = "a run is resumed with the study that it began with: start a new run with the changed study"
    stored = store.info().versions.get("study_sha256")
    if stored is not None and stored != _study_hash(plan.text):
        raise AssayError(f"{plan.file}: has changed since the run began", hint, EXIT_REFUSED)
    for case in plan.cases:
        if case.target not in plan.study.targets or case.workload not in plan.study.workloads:
            missing = f"{case.target} / {case.workload}"
            raise AssayError(f"{plan.file}: has no {escape_line(missing)}, which the run needs", hint, EXIT_REFUSED)
    for entry in store.entries():
        kind = CLAIM_TYPES.get(entry.kind, object)
        if any(not isinstance(entry.details.get(key, kind()), kind) for key in ("claimed", "above")):
            message = f"{plan.folder} is damaged: its journal does not say what was claimed"
            raise AssayError(message, "restore it from a copy")


def _study_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _reopen(folder: Path) -> RunStore:
    try:
        return RunStore.open(folder, write=True, wait=ENGINE_WAIT_SECONDS)
    except AssayError as error:
        holders = lock_holders(folder / ENGINE_LOCK)
        if is_locked(folder / RUN_LOCK) or not holders:
            raise
        processes = ", ".join(str(pid) for pid in holders)
        raise AssayError(
            f"run {folder.name} still has processes at work: {processes}",
            "wait for them; if they hang, end them with kill",
            error.exit_code,
        ) from None


def find_unfinished(out: Path, study_text: str | None = None) -> Path:
    """Return the newest run that `--resume` can go on with.

    Args:
        out: Folder of the runs.
        study_text: Only runs of exactly this study file.

    Raises:
        AssayError: There is none.
    """
    other_count = 0
    for summary in reversed(list_runs(out)):
        if summary.status in ("complete", "unreadable"):
            continue
        with RunStore.open(Path(summary.folder)) as store:
            unfinished = summary.status == "interrupted" or bool(store.pending())
            if unfinished and (study_text is None or store.study_text() == study_text):
                return Path(summary.folder)
            other_count += unfinished
    if other_count:
        raise AssayError(
            f"there is no unfinished run of exactly this study in {out}",
            "the study was changed: start a new run, or name the run: `assay run RUN --resume`",
        )
    raise AssayError(
        f"there is no unfinished run in {out}", "`assay list` names the runs; start one with `assay run STUDY`"
    )


def measured_seconds(store: RunStore) -> dict[str, float]:
    """Return the mean seconds of the repeats of each case id, but no less than a stopped repeat took."""
    ended: dict[str, list[float]] = {}
    least: dict[str, float] = {}
    for attempt in store.attempts():
        if attempt.seconds is not None and attempt.status in ("ok", "errors"):
            ended.setdefault(attempt.case, []).append(attempt.seconds)
        elif attempt.seconds is not None and attempt.status == "stopped":
            least[attempt.case] = max(attempt.seconds, least.get(attempt.case, 0.0))
    means = {case: sum(seconds) / len(seconds) for case, seconds in ended.items()}
    return {case: max(means.get(case, 0.0), least.get(case, 0.0)) for case in means | least}


class _Session:
    """The common part of `start` and `resume`."""

    def __init__(
        self,
        plan: Plan,
        store: RunStore,
        engine: Engine,
        estimate: StudyEstimate,
        destroy: bool,
        meter: meters.Meter | None,
        listener: Listener,
        settling: AddedRepeats | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        self.begun = time.monotonic()
        self.settling = settling
        """The repeats that are being added to a complete run; None in any other session."""
        self.deadline = deadline
        self.plan = plan
        self.meter = meter
        self.executor: Executor | None = None
        self.listener = listener
        self.say = listener.print_line
        self.store = store
        self.engine = engine
        self.estimate = estimate
        self.destroy = destroy
        self.names = targets.used_targets(plan.study, plan.cases)
        self.interruption = Interruption()
        self.fleet: Fleet | None = None
        self.site = SiteState(())
        self.remounting: Remounter | None = None
        self.passes: CeilingPasses | None = None
        """Measurements of ceilings during the run; None if none are made."""
        self.silent: set[str] = set()
        """Paths of targets whose storage did not answer."""
        self.devices: list[int] = []
        """Open descriptors that keep the devices locked until the run is over."""

    def run(self) -> RunStore:
        """Execute the whole session; the targets are released whatever happens."""
        # Only time that costs money is counted, so other runs need no such file.
        with Heartbeat(self.store.folder) if self.plan.study.prices is not None else contextlib.nullcontext():
            return self._run()

    def _run(self) -> RunStore:
        for group in remove_leftovers():
            self.say(warning(f"{group}: left by a run that died, and could not be removed"))
        try:
            if self._affordable():
                with (
                    self.interruption.watch(),
                    self._gathered() as (self.fleet, self.site),
                    self._mounted() as mounting,
                ):
                    self.remounting = Remounter(mounting, self.site.mounts) if self.fleet is not None else None
                    self.plan = replace(self.plan, study=self.plan.study.with_targets(self.site.targets))
                    try:
                        self._prepare()
                        self._measure()
                    finally:
                        self._release()
        except BaseException:
            # A run without a workbench counts as interrupted even if its status cannot be stored.
            with contextlib.suppress(AssayError):
                self.store.set_status("interrupted")
            raise
        budget_stop = self.meter.stop_reason if self.meter is not None else ""
        if self.executor is not None and self.executor.used_up:
            # The limit holds for the whole run, so no later session can do the rest.
            self.say(f"ended by the {self.executor.used_up}")
        stopped = bool(self._pending() and (self.interruption.count or budget_stop))
        if stopped and budget_stop:
            self.say(f"stopped by the {budget_stop}")
        if not stopped and (len(self.plan.cases) < self.store.case_count() or self.store.info().stages):
            end_stage(self.store, self.plan)
            stopped = len(self.plan.cases) < self.store.case_count()
        if stopped:
            describe_machine(self.store)
            self.store.set_status("interrupted")
            return self.store
        self._conclude()
        return self.store

    def _pending(self, settled_too: bool = False) -> list[RepeatKey]:
        """Return the pending repeats of the stage, or of the whole run."""
        cases = {case.id for case in self.plan.cases}
        if self.settling is not None:
            cases &= self.settling.repeats.keys()
        return [job for job in self.store.pending(settled_too) if job[0] in cases]

    def _planned(self) -> int:
        """Return how many repeats the stage, or the whole run, has."""
        if len(self.plan.cases) == self.store.case_count():
            return self.store.info().planned
        cases = {case.id for case in self.plan.cases}
        return sum(case in cases for case, _ in self.store.order())

    def _affordable(self) -> bool:
        """Whether the budget pays for the first repeat and what comes before it."""
        pending = self._pending()
        if self.meter is None or not pending:
            return True
        seconds = next(case.seconds for case in self.estimate.cases if case.case == pending[0][0])
        if not self.store.info().ceilings:
            seconds += self.estimate.ceilings_before
        return self.meter.allows_repeat(seconds)

    def _gathered(self) -> AbstractContextManager[tuple[Fleet | None, SiteState]]:
        copy_study_files(self.plan.study, self.plan.folder, self.store.folder)
        return hosts_of_study(self.plan.study, self.plan.cases, self.store.folder, self.engine, self.say)

    def _prepare(self) -> None:
        study, plan = self.plan.study, self.plan
        for name in plan.places:
            self.devices += handler_of(study.targets[name]).lock(targets.MachineLocker(self.destroy, self.say, name))
        claims.claim_targets(study, plan.places, self.store, self.say, self.fleet, self.silent, self.destroy)
        backends = self._probed()
        targets.check_capable(plan.cases, backends, plan.source, plan.file)
        looks = targets.look_at_directories(study, self.names)
        places = targets.make_places(study, backends, looks)
        for line in (*targets.space_notes(self.estimate.peak_space, places), *layer_notes(places)):
            self.say(line)
        self._look_around(places)
        self._describe(looks)
        hosts = [host.name for host in self.fleet.hosts] if self.fleet is not None else None
        self.store.describe(places=places, hosts=hosts)
        if study.network == "measure" and self._has_unmeasured_links():
            with self.interruption.raise_on_signal():
                limit = NETWORK_SHARE * self.deadline.seconds_left() if self.deadline is not None else None
                self.store.describe(network=measure_network(study, self.fleet, self.say, limit))
        self._find_methods()
        self._measure_ceilings(backends)

    def _look_around(self, places: Sequence[TargetPlace]) -> None:
        """Report what else this machine does, unless the run is very short."""
        if self.fleet is not None or self.estimate.seconds < BUSY_CHECK_FROM_SECONDS:
            return
        devices = [layer.number for place in places for level in place.device_levels for layer in level]
        if line := load_message(sample_load(devices)):
            self.say(line)

    def _has_unmeasured_links(self) -> bool:
        """Whether links are still to be measured: all, or those of hosts that joined in a later stage."""
        known = self.store.info().network
        hosts = self.fleet.hosts if self.fleet is not None else ()
        return known is None or not {host.name for host in hosts} <= set(known.host_names("client"))

    def _probed(self) -> dict[str, BackendCapabilities]:
        """Return what the engine of each target can do there."""
        study, owner = self.plan.study, claims.run_owner(self.store)
        backends: dict[str, BackendCapabilities] = {}
        for name in self.names:
            own_launcher = self._own_launchers().get(name)
            engine, launcher = self.plan.engines.get(name, self.engine), own_launcher or self._first_launcher()
            hosts = self.fleet.launchers_by_host if own_launcher is None and self.fleet is not None else {}
            backends |= targets.probe_targets(study, [name], engine, launcher, owner, self.destroy, hosts)
        return backends

    def _find_methods(self) -> None:
        """Find how operations reach the kernel, once: a resumed run keeps the methods that it began with."""
        known = self.store.info().methods
        missing = undecided_shapes(self.plan.study, self.plan.cases, known)
        missing = {name: shapes for name, shapes in missing.items() if name not in self.plan.twins}
        if missing:
            owner = claims.run_owner(self.store)
            found = find_methods(self.plan.study, missing, self._first_launcher(), owner, self.destroy)
            # The engines are compared with one method, not with the method that each would choose.
            twin_methods = [choice.model_copy(update={"target": name}) for name in self.plan.twins for choice in found]
            self.store.describe(methods=(*known, *found, *twin_methods))

    def _measure_ceilings(self, backends: dict[str, BackendCapabilities]) -> None:
        """Measure ceilings before all cases; a resumed run adds to those that it began with."""
        study = self.plan.study
        if study.ceilings == "none":
            if not self.store.info().ceilings:
                self.store.describe(ceilings=stated_ceilings(study, self.names))
            return
        meter = CeilingMeter(
            study,
            self._first_launcher(),
            claims.run_owner(self.store),
            self.destroy,
            {name: backend for name, backend in backends.items() if name not in self.plan.twins},
            self.say,
            self.plan.cases,
            self.store.info().places,
            stop=self._stop,
            here=self.fleet is None,
            silent=self.silent,
        )
        if not self.store.info().ceilings:
            if meter.stored:
                about = "" if self.deadline else f", about {self.estimate.ceilings_before:.0f} s"
                self.say(f"measuring ceilings first: the most that memory, devices and the engine can do{about}")
            with self.deadline.limit_to_share(CEILING_SHARE) if self.deadline else contextlib.nullcontext():
                ceilings = meter.measure()
            own = [ceiling for ceiling in ceilings if ceiling.target]
            twin_ceilings = [ceiling.model_copy(update={"target": name}) for name in self.plan.twins for ceiling in own]
            if not self.interruption.count:
                self.store.describe(ceilings=(*ceilings, *twin_ceilings))
        if not self.plan.twins:
            self.passes = CeilingPasses(meter, self.store, self._run_seconds(), self._affords)

    def _run_seconds(self) -> float:
        """Return the estimated seconds of the whole run: at least its schedule's, and for two sides their limit."""
        schedule, blocks = self.plan.study.schedule, self.plan.blocks
        if blocks is not None:
            return blocks.seconds
        if self.deadline is not None:
            return max(0.0, self.deadline.seconds_left())
        return max(self.estimate.seconds, 0.0 if schedule is None else schedule.over / 1e9)

    def _affords(self, seconds: float) -> bool:
        in_time = self.deadline is None or self.deadline.allows(seconds)
        return in_time and (self.meter is None or self.meter.affords(seconds))

    def _stop(self) -> int:
        """Return whether measuring ceilings is to stop; as for `run_job`."""
        return max(self.interruption.count, self.deadline.stop_level() if self.deadline is not None else 0)

    def _first_launcher(self) -> Launcher:
        return self.fleet.launchers[0] if self.fleet is not None else self._launcher()

    def _launcher(self) -> LocalLauncher:
        return LocalLauncher(self.engine.path, (self.store.engine_lock_fd, *self.devices))

    def _own_launchers(self) -> dict[str, LocalLauncher]:
        """Return what starts the engines of a target, for targets with another program or environment."""
        descriptors, launchers = (self.store.engine_lock_fd, *self.devices), {}
        for name in dict.fromkeys((*self.plan.engines, *self.site.engine_variables)):
            engine = self.plan.engines.get(name, self.engine)
            launchers[name] = LocalLauncher(engine.path, descriptors, self.site.engine_variables.get(name, {}))
        return launchers

    def _describe(self, looks: Mapping[str, Look]) -> None:
        """Record versions and environment; differences of a resumed run are stored in addition."""
        info = self.store.info()
        study = self.plan.study
        local = study.inspectable_targets(self.names)
        found = {name: (study.targets[name].whole_device, targets.target_path(study, name)) for name in local}
        versions = {
            "assay": __version__,
            "assay_sha256": sources_sha256(),
            "assay-engine": self.engine.version,
            "engine_sha256": self.engine.sha256,
            "study_sha256": _study_hash(self.plan.text),
            "python": platform.python_version(),
        }
        for name, engine in self.plan.engines.items():
            versions |= {f"assay-engine {name}": engine.version, f"engine_sha256 {name}": engine.sha256}
        environment = capture_environment(found, looks=looks)
        if self.fleet is not None:
            environment |= {**self.fleet.environment(self._served()), LAUNCHER_SECTION: {"name": study.launcher}}
            for name in self.names:
                if study.targets[name].is_directory:
                    environment[f"target {name}"] = mount_facts(self.fleet.shells, targets.target_path(study, name))
        else:
            environment |= {name: dict(section) for name, section in self.site.server_facts.items()}
        if wanted := study.settings.required_values:
            environment[WANTED] = wanted
        for line in setting_lines(environment):
            self.say(f"settings: {line}")
        if self.fleet is None and (words := group_limits(environment, info.places).words):
            self.say(warning(f"a control group limits {words}: no rate can be higher"))
        job = own_job_section()
        if not info.versions:
            # The environment may already have sections on earlier batch jobs, which measured nothing.
            self.store.describe(versions=versions, environment={**info.environment, **environment, **job})
            return
        changed = {name: value for name, value in versions.items() if info.versions.get(name) != value}
        if changed:
            self.say(warning(f"the run continues with a different {', '.join(sorted(changed))} than it began with"))
            later = {f"{name} (resumed)": value for name, value in changed.items()}
            self.store.describe(versions={**info.versions, **later})
        self._compare_environment({**info.environment, **job}, {**environment, **job})
        self.store.describe(environment={**self.store.info().environment, **job})

    def _compare_environment(self, before: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> None:
        """Record changes since the run began that commonly change results, in sections `NAME (resumed)`."""
        begun = {name: section for name, section in before.items() if not name.endswith(" (resumed)")}
        # Sections that appear in a later stage, such as those of a new host, are stored now.
        joined = {name: section for name, section in now.items() if name not in begun}
        both = {name: section for name, section in now.items() if name in begun}
        changed = [difference for difference in environment_diff(begun, both) if difference.matters]
        later: dict[str, dict[str, str]] = {}
        for item in changed:
            later.setdefault(f"{item.section} (resumed)", {})[item.name] = item.after or ""
        if changed:
            names = ", ".join(f"{item.section} {item.name}" for item in changed)
            self.say(warning(f"the environment has changed since the run began: {names}"))
        if later or joined:
            self.store.describe(environment={**before, **joined, **later})

    def _beyond_limits(self) -> tuple[str, ...]:
        """Return a line for each target that would get more requests than its limit allows."""
        pending = Counter(case for case, _ in self._pending())
        pairs = zip(self.plan.cases, self.estimate.cases, strict=True)
        return request_limit_warnings(
            self.plan.study, ((case, item.requests * pending[case.id]) for case, item in pairs)
        )

    def _spending(self) -> ChargeTracker:
        """Return what earlier sessions of the run have spent at targets that limit it."""
        targets = {case.id: case.target for case in self.plan.cases}
        limited = {
            name for name, target in self.plan.study.targets.items() if any(limits_of(target.job_target()).values())
        }
        hosts = self.fleet is not None
        limited_cases = [case for case, target in targets.items() if target in limited]
        return ChargeTracker(
            (targets[case], charge_of_repeat(events, hosts))
            for case in limited_cases
            for events in self.store.attempt_events(case)
        )

    def _measure(self) -> None:
        repeating, blocks = self.plan.study.repeating, self.plan.blocks
        settle_all(self.store, repeating, self.plan.cases)
        pending = self._pending()
        total = self._planned()
        seconds = {case.case: case.seconds for case in self.estimate.cases}
        is_fixed = not repeating.is_adaptive and blocks is None
        left = TimeLeft(sum(seconds.get(case, 0.0) for case, _ in pending), not is_fixed, len(pending))
        added = None
        if self.settling is not None:
            added = AddedRounds(self.store, self.plan.cases, self.settling, self.begun)
            left.set_limit(added.left)
        if blocks is not None:
            left.set_limit(blocks.seconds - repeats_time_s(self.store))
        if repeating.time is not None:
            left.set_limit(max(self.estimate.least_seconds, repeating.time / 1e9) - repeats_time_s(self.store))
        if self.deadline is not None:
            left.set_limit(self.deadline.seconds_left())
        for line in self._beyond_limits():
            self.say(warning(f"{line}"))
        if self.deadline is None:
            about = "about" if is_fixed else "at most about"
            to_do = f"{len(pending)} of {total} repeats to do, {about} {about_duration(left.seconds())}"
            self.say(f"run {self.store.folder.name}: {to_do}{self._patience_text(seconds)}")
        launcher = self._launcher()
        executor = self.executor = Executor(
            self.plan.study,
            self.plan.cases,
            self.store,
            launcher,
            self.interruption,
            self.destroy,
            self.fleet,
            self.meter,
            self.silent,
            self.passes.before_repeat if self.passes is not None else None,
            self._own_launchers(),
            self._spending(),
            self.remounting,
            added,
            self.deadline,
        )
        with self._counting(), self.listener.progress(total, total - len(pending), left) as progress:
            due = due_times(self.plan.study, self.plan.cases) if added is None else {}
            begun = self.store.info().created_at
            moments = {job: begun + seconds for job, seconds in due.items()}
            if blocks is not None:
                self._measure_rounds(blocks, executor, seconds, progress, left)
            else:
                executor.run(self._pending(settled_too=True), seconds, progress, left, moments)
        self._end_in_time()
        if self.passes is not None and not self._pending():
            self.passes.finish()

    def _end_in_time(self) -> None:
        """Settle the pending cases of a run that has reached its deadline."""
        pending = Counter(case for case, _ in self._pending())
        if self.deadline is None or self.interruption.count or not pending:
            return
        for case in pending:
            self.store.settle(case, OUT_OF_TIME, known=False)
        planned = Counter(case for case, _ in self.store.order())
        few_count = sum(planned[case] - count < FEWEST_REPEATS for case, count in pending.items())
        if few_count:
            self.say(
                f"{OUT_OF_TIME}: {few_count} of {len(self.plan.cases)} cases have fewer than {FEWEST_REPEATS} repeats"
            )

    def _mounted(self) -> AbstractContextManager[Mounter | None]:
        """Return the context in which the study's file systems are mounted on the hosts that generate load."""
        mounts = self.plan.study.mounts_of(self.names)
        if self.fleet is None or not mounts:
            return contextlib.nullcontext()
        known = {entry.name: entry.details for entry in self.store.entries() if entry.kind == MOUNT}
        return Mounter(self.fleet.shells, mounts, self.store, known, self.say)

    @contextlib.contextmanager
    def _counting(self) -> Iterator[None]:
        """Count links, CPUs and disks in the block, for the given hosts and those that serve a target."""
        if self.fleet is None or self.executor is None:
            yield
            return
        hosts = self.fleet.watched_hosts(self._served())
        links = {host.name: host.link for host in hosts if host.link}
        with CounterRecorder(hosts, self.engine, self.say, links) as counting:
            self.fleet = self.executor.fleet = replace(self.fleet, counting=counting)
            yield

    def _served(self) -> set[str]:
        """Return the names and addresses of the servers of all targets."""
        return {name for target in self.plan.study.targets.values() for name in target.server_names}

    def _measure_rounds(
        self, blocks: Blocks, executor: Executor, seconds: Mapping[str, float], progress: Progress, left: TimeLeft
    ) -> None:
        def execute(jobs: Sequence[RepeatKey]) -> bool:
            executor.run(jobs, seconds, progress, left)
            is_spent = (self.meter is not None and self.meter.stop_reason) or executor.used_up
            return not self.interruption.count and not is_spent

        def settled(case: str, fewer: int) -> None:
            left.drop_repeats(fewer * seconds.get(case, 0.0), fewer)
            progress.drop_any_repeats(fewer)

        run_rounds(self.store, blocks, self._pending(settled_too=True), execute, settled, progress.print_line)

    def _patience_text(self, seconds: Mapping[str, float]) -> str:
        """Return the text on how long storage may be silent; empty if no target stores data."""
        study = self.plan.study
        if not any(study.targets[name].keeps_data for name in self.names):
            return ""
        longest = max(seconds.values(), default=0.0)
        interval = max(study.output.interval_for(case.parameters.runtime) for case in self.plan.cases)
        patience = (study.patience or 0) / 1e9 or silence_limit(interval, longest)
        return f"; stall timeout {about_duration(patience)}"

    def _release(self) -> None:
        if self.remounting is not None:
            try:
                self.remounting.restore()
            except AssayError as error:
                self.say(warning(f"mounts could not be restored, so the data there is not removed: {error.message}"))
        keep = self.plan.study.output.keep_files
        patience = patience_of(self.plan.study)
        if self.interruption.count or self.deadline is not None:
            patience = min(patience, LEAVING_TIMEOUT_SECONDS)
        problems = claims.release_targets(
            self.store, self.plan.study, self._first_launcher(), self.fleet, keep, self.silent, patience
        )
        for line in problems:
            self.say(warning(f"could not be removed: {line}"))
        close_all(self.devices)

    def _keep_limits(self) -> None:
        """Record the limits of control groups if they changed during the run, which makes its parts unlike."""
        environment = self.store.info().environment
        before, now = environment.get(GROUPS), describe_groups(Files())
        if self.fleet is None and before is not None and limits_changed(before, now):
            self.store.describe(environment={**environment, AT_END: dict(now)})

    def _conclude(self) -> None:
        """Store what can be computed from the events, then mark the run as complete."""
        if self.settling is not None:
            end_added_repeats(self.store, self.settling)
        self.store.write_intervals(run_rows(self.store, self.say))
        self._keep_limits()
        describe_machine(self.store)
        store_conclusions(self.store)
        bad = set(self.store.outcome_counts()) - {"ok"}
        self.store.set_status("complete with errors" if bad else "complete")
