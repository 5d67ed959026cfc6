"""`assay list`."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import typer

from assay.model.room import hook
from assay.terminal.settings import RUNS


def command(
    out: Path = RUNS,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the runs, the newest last.

    Example: `assay list --json`
    """
    from assay.store.entries import BATCH
    from assay.store.lookup import list_runs
    from assay.store.safe_files import plain_file_status
    from assay.terminal.output import note, print_json, print_table

    runs = list_runs(out)
    if any(plain_file_status(Path(run.folder), BATCH) for run in runs):
        runs = hook("job_states")(runs, note)
    if as_json:
        print_json([asdict(run) for run in runs])
        return
    if not runs:
        note(f"there are no runs in {out}; start one with `assay run STUDY`")
        return
    columns = ("run", "study", "started (UTC)", "status", "cases", "repeats done")
    rows = [
        (
            run.id,
            run.study,
            f"{datetime.fromtimestamp(run.created_at, UTC):%Y-%m-%d %H:%M:%S}" if run.created_at else "",
            ": ".join(filter(None, (run.status, run.problem, run.job, run.imported))),
            str(run.cases),
            f"{run.finished} of {run.planned}",
        )
        for run in runs
    ]
    print_table(
        columns, rows, right=("cases", "repeats done"), least=("cases", "started (UTC)", "study", "repeats done")
    )
