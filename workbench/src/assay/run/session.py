"""One `assay run` from beginning to end: prepares targets, executes repeats, stores results, removes what it made."""

import contextlib
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from assay.contract import SPEC_VERSION
from assay.journal.entry import DIRECTORY, MOUNT, REMOTE
from assay.launch.binary import load_engine
from assay.launch.cgroup import remove_leftovers
from assay.launch.cold.remount import Remounter
from assay.launch.free_space import SpaceRequirement
from assay.launch.mounter import Mounter
from assay.model.base import EXIT_REFUSED, AssayError, warning
from assay.model.deadline import Deadline
from assay.model.escape import escape_line
from assay.model.study.blocks import Blocks
from assay.model.study.study import Study
from assay.plan.estimate import estimate_study
from assay.plan.load import load_study
from assay.run.added_repeats import add_repeats, current_settling, with_repeats
from assay.run.conclude import conclude, release
from assay.run.context import RunContext
from assay.run.control import describe_machine
from assay.run.costs import meter as meters
from assay.run.costs.budget import read_budget
from assay.run.listener import Listener
from assay.run.lost_hosts import take_replacements, wait_for_replacements
from assay.run.measure import measure
from assay.run.places import claims
from assay.run.places.targets import target_path
from assay.run.preconditions import CheckRequest, refuse_impossible
from assay.run.prepare import prepare, study_hash
from assay.run.run_time import find_past_run, predict_run_time
from assay.run.stages import accept_stages, end_stage, plan_to_next_stage
from assay.run.study_hosts import copy_study_files, hosts_of_study
from assay.run.study_plan import Plan, new_run_meta, prediction_text
from assay.store import RunStore, list_runs, lock_holders
from assay.store.entries import ENGINE_LOCK, RUN_LOCK
from assay.store.heartbeat import Heartbeat
from assay.store.lock import is_locked
from assay.store.prices import stored_prices

CLAIM_TYPES: dict[str, type] = {DIRECTORY: str, REMOTE: dict}
"""Kind of a journal entry -> type of `claimed` and `above` in its details, once they are known."""
ACCEPTED_BY_RESUME = "by going on"
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
        listener.print_line(_place_line(study, name, place.words))
    if plan.blocks is None and deadline is None:
        listener.print_line(f"whole run: {predict_run_time(plan, estimate, find_past_run(out, study.name)).words}")
    store = RunStore.create(
        out, new_run_meta(plan), full_plan.cases, plan.excluded, full_plan.order, plan.text, plan.prices
    )
    try:
        meters.store_budget(store, amount, is_new=True, print_line=listener.print_line)
        meter = meters.make_meter(amount, plan.prices, store, estimate)
        return _run(RunContext(plan, store, engine, estimate, destroy, meter, listener, deadline=deadline))
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
        loaded = load_study(store.study_text().encode(), store.base_folder(), folder=store.study_folder())
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
            listener.print_line(_place_line(plan.study, name, place.words))
        take_replacements(plan, store, listener.print_line)
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
        return _run(RunContext(plan, store, engine, estimate, destroy, meter, listener, settling))
    except BaseException:
        store.close()
        raise


def _place_line(study: Study, name: str, words: str) -> str:
    """Return where a target is: its name may be one that `assay fit` or `measure` has chosen."""
    path = target_path(study, name)
    return f"{name}{f' ({path})' if path else ''} is on {words}"


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
        AssayError: Another tool measured it, or the sides are engines. A run's folder may come from anywhere, so no
            program that it names is started.
    """
    info = store.info()
    if info.imports:
        message = f"run {store.folder.name} was {info.import_words}: it has no study that could be measured"
        raise AssayError(message, "write a study for `assay run`, or import another file", EXIT_REFUSED)
    blocks = info.blocks
    if blocks is not None and blocks.engines:
        message = f"run {store.folder.name} compares two engines, which a run does not store"
        raise AssayError(message, "measure again: `assay ab ENGINE ENGINE --study STUDY`", EXIT_REFUSED)
    return blocks


def _check_unchanged(store: RunStore, plan: Plan) -> None:
    """Check that a run's study is the one that it began with, and that its journal is well formed.

    Raises:
        AssayError: Something was changed by hand; nothing was touched.
    """
    hint = "a run is resumed with the study that it began with: start a new run with the changed study"
    stored = store.info().versions.get("study_sha256")
    if stored is not None and stored != study_hash(plan.text):
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


def _run(context: RunContext) -> RunStore:
    """Execute a session from its beginning to its end."""
    store = context.store
    for group in remove_leftovers():
        context.print_line(warning(f"{group}: left by a run that died, and could not be removed"))
    try:
        # Only time that costs money is counted, so other runs need no such file.
        with Heartbeat(store.folder) if context.plan.study.prices is not None else contextlib.nullcontext():
            if _affordable(context):
                with context.interruption.watch():
                    _measure_on_site(context)
                    while context.losses and wait_for_replacements(context):
                        context = context.with_other_hosts()
                        _measure_on_site(context)
    except BaseException:
        # A run without a workbench counts as interrupted even if its status cannot be stored.
        with contextlib.suppress(AssayError):
            store.set_status("interrupted")
        raise
    if _is_stopped(context):
        describe_machine(store)
        store.set_status("interrupted")
    else:
        conclude(context)
    return store


def _affordable(context: RunContext) -> bool:
    """Whether the budget pays for the first repeat and what comes before it."""
    pending = context.pending()
    if context.meter is None or not pending:
        return True
    seconds = next(case.seconds for case in context.estimate.cases if case.case == pending[0][0])
    if not context.store.info().ceilings:
        seconds += context.estimate.ceilings_before
    return context.meter.allows_repeat(seconds)


def _measure_on_site(context: RunContext) -> None:
    """Bring up the site of the study, and measure there; the targets are released whatever happens."""
    plan, folder = context.plan, context.store.folder
    copy_study_files(plan.study, plan.folder, folder)
    site = hosts_of_study(plan.study, plan.cases, folder, context.engine, context.print_line, context.local_fleet)
    with site as context.fleet, _mounted(context) as mounting:
        if not context.fleet.is_local:
            context.remounting = Remounter(mounting, context.fleet.site.mounts)
        context.plan = replace(plan, study=plan.study.with_targets(context.fleet.site.targets))
        try:
            prepare(context)
            measure(context)
        finally:
            release(context)


def _mounted(context: RunContext) -> AbstractContextManager[Mounter | None]:
    """Return the context in which the study's file systems are mounted on the hosts that generate load."""
    mounts = context.plan.study.mounts_of(context.names)
    if context.fleet.is_local or not mounts:
        return contextlib.nullcontext()
    known = {entry.name: entry.details for entry in context.store.entries() if entry.kind == MOUNT}
    return Mounter(context.fleet.shells, mounts, context.store, known, context.print_line)


def _is_stopped(context: RunContext) -> bool:
    """Whether repeats or stages are left to a later session; print why, and end a stage that is done."""
    budget_stop = context.meter.stop_reason if context.meter is not None else ""
    if context.used_up:
        # The limit holds for the whole run, so no later session can do the rest.
        context.print_line(f"ended by the {context.used_up}")
    if context.pending() and (context.interruption.count or budget_stop or context.losses):
        if budget_stop:
            context.print_line(f"stopped by the {budget_stop}")
        return True
    if context.is_partial or context.store.info().stages:
        end_stage(context.store, context.plan)
    return context.is_partial
