"""Find runs by what a user types."""

from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError
from assay.store.lock import run_is_alive
from assay.store.reader import DATABASE
from assay.store.schema import connect


@dataclass(frozen=True)
class RunSummary:
    """A run in one line of `assay list`.

    Attributes:
        created_at: Seconds since 1970.
        planned: Planned repeats of all cases; finished: how many have an outcome.
        problem: Why the run cannot be read; empty if it can.
    """

    id: str
    study: str
    status: str
    created_at: float
    planned: int
    finished: int
    cases: int
    folder: str
    problem: str = ""


def run_folders(root: Path) -> list[Path]:
    """Folders of runs below `root`, the oldest first; empty if there is no such folder."""
    if not root.is_dir():
        return []
    visible = (folder for folder in root.iterdir() if not folder.name.startswith("."))
    return sorted(folder for folder in visible if (folder / DATABASE).is_file())


def list_runs(root: Path) -> list[RunSummary]:
    """All runs below `root`, the oldest first; one that cannot be read is listed with the reason."""
    return sorted((_summary(folder) for folder in run_folders(root)), key=lambda run: (run.created_at, run.id))


def _summary(folder: Path) -> RunSummary:
    try:
        connection = connect(folder / DATABASE, write=False)
        row = connection.execute(
            "SELECT id, study, status, created_at, planned, (SELECT count(*) FROM outcomes),"
            " (SELECT count(*) FROM cases) FROM run"
        ).fetchone()
        connection.close()
    except AssayError as error:
        return RunSummary(folder.name, "", "unreadable", 0.0, 0, 0, 0, str(folder), error.message)
    status = "interrupted" if row[2] == "running" and not run_is_alive(folder) else row[2]
    return RunSummary(row[0], row[1], status, row[3], row[4], row[5], row[6], str(folder))


def find_run(ref: str, root: Path) -> Path:
    """The folder of a run.

    Args:
        ref: An id, a unique prefix of one, `last`, or a path.
        root: Folder of all runs.

    Raises:
        AssayError: There is no such run, or more than one.
    """
    path = Path(ref)
    if (path / DATABASE).is_file():
        return path
    runs = list_runs(root)
    if not runs:
        raise AssayError(f"there are no runs in {root}", "start one with `assay run STUDY`, or use --out")
    if ref == "last":
        return Path(runs[-1].folder)
    found = [run for run in runs if run.id == ref] or [run for run in runs if ref and run.id.startswith(ref)]
    if not found:
        raise AssayError(f"there is no run {ref!r} in {root}", "`assay list` names the runs")
    if len(found) > 1:
        names = ", ".join(run.id for run in found[:3]) + (", ..." if len(found) > 3 else "")
        raise AssayError(f"{ref!r} fits {len(found)} runs in {root}: {names}", "type more of the name")
    return Path(found[0].folder)
