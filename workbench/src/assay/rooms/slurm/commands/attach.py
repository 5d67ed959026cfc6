"""`assay attach`."""

from pathlib import Path

import typer

from assay.terminal.settings import RUNS


def command(
    run: str = typer.Argument(
        ..., metavar="RUN", help="Id of the run, a unique beginning of it, `last`, the name of a study, or a path."
    ),
    out: Path = RUNS,
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only warnings and the folder of the run."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON."),
) -> None:
    """Follow a run that was submitted to Slurm until its job ends; then print the results.

    The run does not depend on this command: Ctrl-C ends only the command. Exit codes are those of `assay run`.

    Example: `assay run study.yaml --slurm "-p compute -N 16 -t 1:00:00"`, later `assay attach last`
    """
    from assay.cli.run import listener_for, print_run_results
    from assay.rooms.slurm.commands.slurm_jobs import follow_run
    from assay.store import find_run

    store = follow_run(find_run(run, out), listener_for(quiet), later=True)
    try:
        code = print_run_results(store, as_json, quiet)
    finally:
        store.close()
    raise typer.Exit(code)
