"""Find runs by what a user types."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError
from assay.store.damage import damage_told
from assay.store.entries import DATABASE
from assay.store.lock import run_is_alive
from assay.store.snapshot import open_to_read
from assay.store.values import count_of, moment_of, text_of


@dataclass(frozen=True)
class RunSummary:
    """A run in one line of `assay list`.

    Attributes:
        created_at: Seconds since 1970.
        planned: Planned repeats of all cases; finished: how many have an outcome.
        problem: Why the run cannot be read; empty if it can.
        job: Of a run that was submitted to a scheduler: its newest job, and where that stands; else empty.
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
    job: str = ""


def run_folders(root: Path) -> list[Path]:
    """Folders of runs below `root`, the oldest first; empty if there is no such folder.

    Raises:
        AssayError: The folder cannot be read.
    """
    try:
        if root.exists() and not root.is_dir():
            raise AssayError(f"{root}: is no folder", "give the folder of the runs with --out")
        if not root.is_dir():
            return []
        return sorted(folder for folder in root.iterdir() if not folder.name.startswith(".") and _may_be_run(folder))
    except OSError as error:
        raise AssayError(
            f"{root}: cannot be read: {error.strerror}", "give the folder of the runs with --out"
        ) from error


def _may_be_run(folder: Path) -> bool:
    """Whether something has the name of a run's database, whatever it is; what cannot be seen may be."""
    try:
        if folder.is_symlink():
            # It is not followed, and listed with that.
            return os.path.lexists(folder / DATABASE)
        (folder / DATABASE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def list_runs(root: Path) -> list[RunSummary]:
    """All runs below `root`, the oldest first; one that cannot be read is listed with the reason.

    Raises:
        AssayError: The folder cannot be read.
    """
    return sorted((run_summary(folder) for folder in run_folders(root)), key=lambda run: (run.created_at, run.id))


def run_summary(folder: Path) -> RunSummary:
    """The run in a folder; if it cannot be read, with the reason."""
    try:
        with damage_told(folder), contextlib.closing(open_to_read(folder)) as connection:
            found = connection.execute(
                "SELECT id, study, status, created_at, planned, (SELECT count(*) FROM outcomes),"
                " (SELECT count(*) FROM cases) FROM run"
            ).fetchone()
            name, study, status = (text_of(text) for text in found[:3])
            created_at = moment_of(found[3])
            planned, finished, cases = (count_of(number) for number in found[4:])
    except AssayError as error:
        return RunSummary(folder.name, "", "unreadable", 0.0, 0, 0, 0, str(folder), error.message)
    if status == "running" and not run_is_alive(folder):
        status = "interrupted"
    return RunSummary(name, study, status, created_at, planned, finished, cases, str(folder))


def find_run(ref: str, root: Path) -> Path:
    """The folder of a run.

    Args:
        ref: An id or the name of the run's folder, a unique prefix of one, `last`, a path, or the name or file of a
            study: then its newest run.
        root: Folder of all runs.

    Raises:
        AssayError: There is no such run, or more than one.
    """
    path = Path(ref)
    try:
        if ref and os.path.lexists(path / DATABASE):
            return _followed(path)
        is_folder, is_file = bool(ref) and path.is_dir(), bool(ref) and path.is_file()
    except OSError as error:
        raise AssayError(f"{ref}: cannot be read: {error.strerror}", "`assay list` names the runs") from error
    runs = list_runs(root)
    if ref == "last" and runs:
        return Path(runs[-1].folder)
    found = _called(ref, runs)
    if not found and is_folder:
        raise AssayError(f"the folder {ref} holds no run (it has no {DATABASE})", "`assay list` names the runs")
    if not found and is_file:
        return Path(_of_study_file(ref, runs, root).folder)
    if not runs:
        raise AssayError(f"there are no runs in {root}", "start one with `assay run STUDY`, or use --out")
    if not found:
        raise AssayError(f"there is no run or study {ref!r} in {root}", _near(ref, runs))
    if len(found) > 1:
        names = ", ".join(Path(run.folder).name for run in found[:3]) + (", ..." if len(found) > 3 else "")
        raise AssayError(f"{ref!r} fits {len(found)} runs in {root}: {names}", "type more of the name")
    folder = Path(found[0].folder)
    return _followed(folder) if folder.name == ref else folder


def _of_study_file(ref: str, runs: list[RunSummary], root: Path) -> RunSummary:
    """The newest run of the study in a file."""
    from assay.model.named import read_named
    from assay.model.source import read_source
    from assay.model.written import MOST_BYTES

    try:
        data = read_source(read_named(ref, ref, "", MOST_BYTES)).data
    except AssayError:
        data = None
    study = data.get("study") if isinstance(data, dict) else None
    if not isinstance(study, str):
        hint = "a run is the folder that `assay run` makes; results of other programs are not read"
        raise AssayError(f"the file {ref} is no run", hint)
    found = [run for run in runs if run.study == study]
    if not found:
        raise AssayError(f"there is no run of the study {study} of {ref} in {root}", f"`assay run {ref}` makes one")
    return found[-1]


def _followed(path: Path) -> Path:
    """The folder itself, where a user names a link to it: the only link of a run that is followed."""
    return path.resolve() if path.is_symlink() else path


def _near(ref: str, runs: list[RunSummary]) -> str:
    """A hint that names what was probably meant."""
    from difflib import get_close_matches

    known = dict.fromkeys(name for run in runs for name in (run.study, run.id))
    near = get_close_matches(ref.removesuffix(".yaml"), known, n=1)
    return f"did you mean `{near[0]}`?" if near else "`assay list` names the runs"


def _called(ref: str, runs: list[RunSummary]) -> list[RunSummary]:
    """The runs that a name fits: the folder's before the id, as it may have been renamed, and whole before in part.

    Of a study's runs, oldest first, it is the newest.
    """
    names = {run.folder: (Path(run.folder).name, run.id) for run in runs}
    return (
        [run for run in runs if names[run.folder][0] == ref]
        or [run for run in runs if run.id == ref]
        or [run for run in runs if ref and run.study == ref][-1:]
        or [run for run in runs if ref and any(name.startswith(ref) for name in names[run.folder])]
    )
