"""The repeats of a run: one after the other, or in rounds of two sides; a run that is out of time ends its cases."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.launch.host_counters import CounterRecorder
from assay.model.base import warning
from assay.model.study.blocks import Blocks
from assay.model.units import about_duration
from assay.plan.schedule import RepeatKey, due_times
from assay.plan.study_warnings import request_limit_warnings
from assay.run.added_repeats import AddedRounds
from assay.run.context import RunContext
from assay.run.costs.spending import ChargeTracker, charge_of_repeat, limits_of
from assay.run.executor import Executor, silence_limit
from assay.run.listener import Progress, TimeLeft
from assay.run.rounds import run_rounds
from assay.run.settle import repeats_time_s, settle_all

OUT_OF_TIME = "the time for the run is over"
"""Why a case gets no more repeats."""
FEWEST_REPEATS = 3
"""Fewest repeats that give a confidence interval."""


def measure(context: RunContext) -> None:
    """Execute the pending repeats, until all are done or the run has to stop.

    Args:
        context: The session, whose targets are ready; its `used_up` is set if a limit of a target ends it, and its
            `losses` if hosts do.
    """
    repeating, blocks = context.plan.study.repeating, context.plan.blocks
    settle_all(context.store, repeating, context.plan.cases)
    pending = context.pending()
    total = _planned(context)
    seconds = {case.case: case.seconds for case in context.estimate.cases}
    is_fixed = not repeating.is_adaptive and blocks is None
    left = TimeLeft(sum(seconds.get(case, 0.0) for case, _ in pending), not is_fixed, len(pending))
    added = None
    if context.settling is not None:
        added = AddedRounds(context.store, context.plan.cases, context.settling, context.begun)
        left.set_limit(added.left)
    if blocks is not None:
        left.set_limit(blocks.seconds - repeats_time_s(context.store))
    if repeating.time is not None:
        left.set_limit(max(context.estimate.min_seconds, repeating.time / 1e9) - repeats_time_s(context.store))
    if context.deadline is not None:
        left.set_limit(context.deadline.seconds_left())
    for line in _beyond_limits(context):
        context.print_line(warning(f"{line}"))
    if context.deadline is None:
        about = "about" if is_fixed else "at most about"
        to_do = f"{len(pending)} of {total} repeats to do, {about} {about_duration(left.seconds())}"
        context.print_line(f"run {context.store.folder.name}: {to_do}{_patience_text(context, seconds)}")
    executor = Executor(context, _spending(context), added)
    with _counting(context), context.listener.progress(total, total - len(pending), left) as progress:
        due = due_times(context.plan.study, context.plan.cases) if added is None else {}
        begun = context.store.info().created_at
        moments = {job: begun + seconds for job, seconds in due.items()}
        if blocks is not None:
            _measure_rounds(context, blocks, executor, seconds, progress, left)
        else:
            executor.run(context.pending(settled_too=True), seconds, progress, left, moments)
    context.used_up = executor.used_up
    _end_in_time(context)
    if context.passes is not None and not context.pending():
        context.passes.finish()


def _beyond_limits(context: RunContext) -> tuple[str, ...]:
    """Return a line for each target that would get more requests than its limit allows."""
    pending = Counter(case for case, _ in context.pending())
    pairs = zip(context.plan.cases, context.estimate.cases, strict=True)
    return request_limit_warnings(
        context.plan.study, ((case, item.requests * pending[case.id]) for case, item in pairs)
    )


def _spending(context: RunContext) -> ChargeTracker:
    """Return what earlier sessions of the run have spent at targets that limit it."""
    targets = {case.id: case.target for case in context.plan.cases}
    limited = {
        name for name, target in context.plan.study.targets.items() if any(limits_of(target.job_target()).values())
    }
    hosts = not context.fleet.is_local
    limited_cases = [case for case, target in targets.items() if target in limited]
    return ChargeTracker(
        (targets[case], charge_of_repeat(events, hosts))
        for case in limited_cases
        for events in context.store.attempt_events(case)
    )


def _end_in_time(context: RunContext) -> None:
    """Settle the pending cases of a run that has reached its deadline."""
    pending = Counter(case for case, _ in context.pending())
    if context.deadline is None or context.interruption.count or not pending:
        return
    for case in pending:
        context.store.settle(case, OUT_OF_TIME, known=False)
    planned = Counter(case for case, _ in context.store.order())
    few_count = sum(planned[case] - count < FEWEST_REPEATS for case, count in pending.items())
    if few_count:
        context.print_line(
            f"{OUT_OF_TIME}: {few_count} of {len(context.plan.cases)} cases have fewer than {FEWEST_REPEATS} repeats"
        )


@contextlib.contextmanager
def _counting(context: RunContext) -> Iterator[None]:
    """Count links, CPUs and disks in the block, for the given hosts and those that serve a target.

    On this machine alone only commands need it: the engine counts what it does itself.
    """
    has_commands = any(case.group == "programs" for case in context.plan.cases)
    if context.fleet.is_local and not has_commands:
        yield
        return
    hosts = list(context.fleet.hosts) if context.fleet.is_local else context.fleet.watched_hosts(context.served)
    links = {host.name: host.link for host in hosts if host.link}
    with CounterRecorder(hosts, context.engine, context.print_line, links, has_commands) as counting:
        context.fleet = replace(context.fleet, counting=counting)
        yield


def _measure_rounds(
    context: RunContext,
    blocks: Blocks,
    executor: Executor,
    seconds: Mapping[str, float],
    progress: Progress,
    left: TimeLeft,
) -> None:
    def execute(jobs: Sequence[RepeatKey]) -> bool:
        executor.run(jobs, seconds, progress, left)
        is_spent = (context.meter is not None and context.meter.stop_reason) or executor.used_up
        return not (context.interruption.count or is_spent or context.losses)

    def settled(case: str, fewer: int) -> None:
        left.drop_repeats(fewer * seconds.get(case, 0.0), fewer)
        progress.drop_any_repeats(fewer)

    run_rounds(context.store, blocks, context.pending(settled_too=True), execute, settled, progress.print_line)


def _patience_text(context: RunContext, seconds: Mapping[str, float]) -> str:
    """Return the text on how long storage may be silent; empty if no target stores data."""
    study = context.plan.study
    if not any(study.targets[name].keeps_data for name in context.names):
        return ""
    longest = max(seconds.values(), default=0.0)
    interval = max(study.output.interval_for(case.parameters.runtime) for case in context.plan.cases)
    patience = (study.patience or 0) / 1e9 or silence_limit(interval, longest)
    return f"; stall timeout {about_duration(patience)}"


def _planned(context: RunContext) -> int:
    """Return how many repeats the stage, or the whole run, has."""
    if not context.is_partial:
        return context.store.info().planned
    cases = {case.id for case in context.plan.cases}
    return sum(case in cases for case, _ in context.store.order())
