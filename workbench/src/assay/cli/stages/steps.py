"""Measure stage after stage: print the result, have it accepted or not, go on or stop."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.model.base import EXIT_INCOMPLETE, EXIT_OK
from assay.model.units import about_duration
from assay.terminal.output import note, print_line

if TYPE_CHECKING:
    from assay.run.stages import EndedStage
    from assay.store import RunStore

MeasureNextStage = Callable[[str], "RunStore"]
"""Measures the next stage of the run; gets the words of how the previous stage was accepted."""


def stage_by_stage(
    store: "RunStore", known: int, go_on: MeasureNextStage, interactive: bool
) -> tuple["RunStore", "EndedStage | None"]:
    """Measure further stages as long as they are accepted.

    Args:
        store: The run after a stage, open; it is closed before the next stage is measured.
        known: Stages that the run had before.
        go_on: Measures the next stage.
        interactive: Print the result of each stage, and ask the user on a terminal if the study has no rule.

    Returns:
        The run, open; and its last stage if the run stopped after it, None if the run is over or was interrupted.
    """
    from assay.plan.load import load_study
    from assay.run.stages import last_stage

    while True:
        study = load_study(store.study_text().encode(), store.base_folder(), folder=store.study_folder()).study
        ended = last_stage(store, study) if study is not None else None
        if ended is None or ended.number <= known:
            return store, None
        if interactive:
            _print_stage(ended)
        if ended.next_value is None:
            return store, None
        how = _accepted(ended, interactive)
        if not how:
            return store, ended
        known = ended.number
        store.close()
        store = go_on(how)


def _accepted(ended: "EndedStage", interactive: bool) -> str:
    """Return in words how the stage is accepted; empty if it is not."""
    if ended.has_rule:
        if ended.refusal:
            note(f"not accepted by the study's rule: {ended.refusal}")
            return ""
        note("accepted by the study's rule")
        return "by the study's rule"
    if not interactive or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    import typer

    wanted = typer.confirm(f"Accept it, and continue with {ended.stage.axis} {ended.next_value}?")
    return "asked on a terminal" if wanted else ""


def _print_stage(ended: "EndedStage") -> None:
    """Print the result of a stage, time and cost so far, and what the next stage takes."""
    done = ended.stage
    print_line(f"stage {ended.number} of {ended.stage_count}, {done.axis} {done.value}:")
    for line in done.lines:
        print_line(f"  {line}")
    cost = f"; the designs have cost {done.cost}" if done.cost else ""
    print_line(f"  so far {about_duration(done.seconds)}{cost}")
    if ended.next_value is not None:
        more = f", {ended.next_cost}" if ended.next_cost else ""
        print_line(f"next: {done.axis} {ended.next_value}, about {about_duration(ended.next_seconds)}{more}")


def print_stage_stop(store: "RunStore", ended: "EndedStage", quiet: bool, as_json: bool) -> int:
    """Print how to continue a run that stopped after a stage; return the exit code."""
    bad = set(store.outcome_counts()) - {"ok"}
    if quiet and not as_json:
        print_line(str(store.folder))
    elif not quiet:
        note(f"stopped after stage {ended.number} of {ended.stage_count}")
        note(f"results: {store.folder}; report: assay report {store.folder}")
        note(f"accept it and continue with: assay run {store.folder} --resume --stage")
    return EXIT_INCOMPLETE if bad else EXIT_OK
