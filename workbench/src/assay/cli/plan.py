"""`assay plan`: what a run of the study would do."""

from pathlib import Path

import typer

from assay.cli.changes import ON, ONLY, REPEATS, SET, TARGET, study_change, study_path
from assay.terminal.output import as_path

FIRST_CASES = 20


def command(
    study: Path = typer.Argument(parser=as_path, help="Study file, or a folder with a `study.yaml`.", metavar="STUDY"),
    values: list[str] = SET,
    repeats: int | None = REPEATS,
    only: list[str] = ONLY,
    targets: list[str] = TARGET,
    on: str = ON,
    json: bool = typer.Option(False, "--json", help="Print everything as JSON."),
    show_all: bool = typer.Option(False, "--all", help=f"Print every case, not only the first {FIRST_CASES}."),
    budget: str | None = typer.Option(
        None, "--budget", help="Check whether a run stays within this budget, such as 5USD."
    ),
) -> None:
    """Show what a run would do: cases, repeats, excluded cases with reasons, time, bytes, order and cost.

    Nothing is written or measured. The times follow from assumed speeds, which are printed, too. Cost needs a study
    with `prices`.

    Example: `assay plan study.yaml`
    """
    from assay.cli.studies.study_plan import plan_file

    plan_file(
        study_path(study),
        study_change(values, repeats, only, targets, on),
        None if show_all else FIRST_CASES,
        budget,
        json,
    )
