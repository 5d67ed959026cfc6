"""After the repeats of a run: what it has made is removed, and its results are computed and stored."""

from assay.analyse.environments.limits import AT_END, GROUPS, limits_changed
from assay.launch.environment.control_groups import describe_groups
from assay.launch.environment.reading import Files
from assay.launch.locks import close_all
from assay.launch.place_commands import patience_of
from assay.model.base import AssayError, warning
from assay.run.added_repeats import end_added_repeats
from assay.run.answers import store_conclusions
from assay.run.context import RunContext
from assay.run.control import describe_machine
from assay.run.executor import LEAVING_TIMEOUT_SECONDS
from assay.run.places import claims
from assay.run.series import run_rows


def release(context: RunContext) -> None:
    """Remove what the run has made in its targets, and unlock devices; warn about what stays."""
    if context.remounting is not None:
        try:
            context.remounting.restore()
        except AssayError as error:
            context.print_line(
                warning(f"mounts could not be restored, so the data there is not removed: {error.message}")
            )
    keep = context.plan.study.output.keep_files
    patience = patience_of(context.plan.study)
    if context.interruption.count or context.deadline is not None:
        patience = min(patience, LEAVING_TIMEOUT_SECONDS)
    problems = claims.release_targets(
        context.store, context.plan.study, context.fleet.launchers[0], context.fleet, keep, context.silent, patience
    )
    for line in problems:
        context.print_line(warning(f"could not be removed: {line}"))
    close_all(context.descriptors[1:])


def _keep_limits(context: RunContext) -> None:
    """Record the limits of control groups if they changed during the run, which makes its parts unlike."""
    environment = context.store.info().environment
    before, now = environment.get(GROUPS), describe_groups(Files())
    if context.fleet.is_local and before is not None and limits_changed(before, now):
        context.store.describe(environment={**environment, AT_END: dict(now)})


def conclude(context: RunContext) -> None:
    """Store what can be computed from the events, then mark the run as complete."""
    if context.settling is not None:
        end_added_repeats(context.store, context.settling)
    context.store.write_intervals(run_rows(context.store, context.print_line))
    _keep_limits(context)
    describe_machine(context.store)
    store_conclusions(context.store)
    bad = set(context.store.outcome_counts()) - {"ok"}
    context.store.set_status("complete with errors" if bad else "complete")
