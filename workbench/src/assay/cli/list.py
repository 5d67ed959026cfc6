"""`assay list`."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.room import hook
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.store.lookup import RunSummary


def command(
    out: Path = RUNS,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the runs, the newest last.

    Of a run that another tool measured, the time is that of the measurement, if its output says it; its place is that
    of the import.

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
            _started(run),
            ": ".join(filter(None, (run.status, run.problem, run.job, run.imported))),
            str(run.cases),
            f"{run.finished} of {run.planned}",
        )
        for run in runs
    ]
    print_table(
        columns, rows, right=("cases", "repeats done"), least=("cases", "started (UTC)", "study", "repeats done")
    )


def _started(run: "RunSummary") -> str:
    """Return when a run was measured: in UTC, or as another tool printed it, which may be in any zone."""
    if run.imported and run.measured_at is None:
        return run.date or "not stated"
    moment = run.created_at if run.measured_at is None else run.measured_at
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S}" if moment else ""
