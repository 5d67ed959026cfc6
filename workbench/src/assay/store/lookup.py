"""Finds runs by what a user types."""

import contextlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.model.base import AssayError
from assay.model.origin import origin_words
from assay.store.damage import damage_as_error
from assay.store.entries import DATABASE
from assay.store.lock import run_is_alive
from assay.store.snapshot import open_to_read
from assay.store.values import count_of, moment_of, text_of

_STUDY_KEY = re.compile(rb"""(?:^|[{,\s])["']?study["']?\s*:""")


@dataclass(frozen=True)
class RunSummary:
    """A run in one line of `assay list`.

    Attributes:
        created_at: Seconds since 1970.
        planned: Planned repeats of all cases.
        finished: Repeats that have an outcome.
        problem: Why the run cannot be read; empty if it can.
        job: Newest job of a run that was submitted to a scheduler, and its state; else empty.
        imported: For a run that other tools measured: `imported from fio 3.33, FILE`; else empty.
        measured_at: When the first output of such a run was printed, in seconds since 1970; None if it does not say,
            and for other runs.
        date: The same as the output prints it; else empty.
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
    imported: str = ""
    measured_at: float | None = None
    date: str = ""


def run_folders(root: Path) -> list[Path]:
    """Return the folders of runs in `root`, the oldest first; empty if there is no such folder.

    Raises:
        AssayError: The folder cannot be read.
    """
    try:
        if root.exists() and not root.is_dir():
            raise AssayError(f"{root}: is not a folder", "name the folder of the runs with --out")
        if not root.is_dir():
            return []
        return sorted(folder for folder in root.iterdir() if not folder.name.startswith(".") and _may_be_run(folder))
    except OSError as error:
        raise AssayError(
            f"{root}: cannot be read: {error.strerror}", "name the folder of the runs with --out"
        ) from error


def _may_be_run(folder: Path) -> bool:
    """Whether a folder has an entry with the name of a run's database; True if that cannot be checked."""
    try:
        if folder.is_symlink():
            # It is listed as a link, and not followed.
            return os.path.lexists(folder / DATABASE)
        (folder / DATABASE).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def list_runs(root: Path) -> list[RunSummary]:
    """Return all runs in `root`, the oldest first; one that cannot be read is listed with the reason.

    Raises:
        AssayError: The folder cannot be read.
    """
    return sorted((run_summary(folder) for folder in run_folders(root)), key=lambda run: (run.created_at, run.id))


def run_summary(folder: Path) -> RunSummary:
    """Summarise the run in a folder; if it cannot be read, the summary states the reason."""
    try:
        with damage_as_error(folder), contextlib.closing(open_to_read(folder)) as connection:
            row = connection.execute(
                "SELECT id, study, status, created_at, planned, (SELECT count(*) FROM outcomes),"
                " (SELECT count(*) FROM cases), details ->> '$.imports' FROM run"
            ).fetchone()
            name, study, status = (text_of(text) for text in row[:3])
            created_at = moment_of(row[3])
            planned, finished, cases = (count_of(number) for number in row[4:7])
            files = json.loads(row[7] or "[]")
            imports = [[text_of(one[name]) for name in ("tool", "version", "file")] for one in files]
            measured_at = min((moment_of(one["measured_at"]) for one in files if one.get("measured_at")), default=None)
            date = next((text_of(one["date"]) for one in files if one.get("date")), "")
    except AssayError as error:
        return RunSummary(folder.name, "", "unreadable", 0.0, 0, 0, 0, str(folder), error.message)
    if status == "running" and not run_is_alive(folder):
        status = "interrupted"
    words = origin_words([f"{tool} {version}".strip() for tool, version, _ in imports], [file for *_, file in imports])
    return RunSummary(
        name, study, status, created_at, planned, finished, cases, str(folder), "", "", words, measured_at, date
    )


def find_run(ref: str, root: Path, make: Callable[[str], Path] | None = None) -> Path:
    """Return the folder of a run.

    Args:
        ref: An id or the name of the run's folder, a unique prefix of one, `last`, a path, or the name or file of a
            study, which stands for its newest run.
        root: Folder of all runs.
        make: Makes a run of a path that is neither a run nor a study, but may be what other tools wrote, and returns
            its folder; None: such paths are refused. A file stands before a run of the same name.

    Raises:
        AssayError: There is no such run, or more than one.
    """
    path = Path(ref)
    try:
        if ref and os.path.lexists(path / DATABASE):
            return _resolved(path)
        is_folder, is_file = bool(ref) and path.is_dir(), bool(ref) and path.is_file()
    except OSError as error:
        raise AssayError(f"{ref}: cannot be read: {error.strerror}", "`assay list` names the runs") from error
    if make is not None and is_file and ref != "last" and _study_in(ref) is None:
        return make(ref)
    runs = list_runs(root)
    if ref == "last" and runs:
        return Path(runs[-1].folder)
    matches = _matching_runs(ref, runs)
    if not matches and is_folder:
        if make is not None and not run_folders(path):
            return make(ref)
        raise AssayError(f"the folder {ref} is not a run (it has no {DATABASE})", "`assay list` names the runs")
    if not matches and is_file:
        return Path(_of_study_file(ref, runs, root).folder)
    if not matches and (Path(ref).suffix or os.sep in ref):
        hint = _nearest_hint(ref, runs) if runs else "`assay list` names the runs"
        raise AssayError(f"there is no file, folder or run {ref}", hint)
    if not runs:
        raise AssayError(f"there are no runs in {root}", "start one with `assay run STUDY`, or use --out")
    if not matches:
        raise AssayError(f"there is no run or study {ref!r} in {root}", _nearest_hint(ref, runs))
    if len(matches) > 1:
        names = ", ".join(Path(run.folder).name for run in matches[:3]) + (", ..." if len(matches) > 3 else "")
        raise AssayError(f"{ref!r} fits {len(matches)} runs in {root}: {names}", "type more of the name")
    folder = Path(matches[0].folder)
    return _resolved(folder) if folder.name == ref else folder


def _of_study_file(ref: str, runs: list[RunSummary], root: Path) -> RunSummary:
    """Return the newest run of the study in a file."""
    study = _study_in(ref)
    if study is None:
        hint = f"a run is a folder that `assay run` creates; `assay import {ref}` reads results of other programs"
        raise AssayError(f"{ref} is a file, not a run", hint)
    matches = [run for run in runs if run.study == study]
    if not matches:
        raise AssayError(f"there is no run of the study {study} of {ref} in {root}", f"`assay run {ref}` starts one")
    return matches[-1]


def _study_in(path: str) -> str | None:
    """Return the name of the study in a file; None if it is no study."""
    from assay.model.source import read_source
    from assay.model.user_files import read_user_file
    from assay.model.user_text import MAX_FILE_BYTES

    try:
        text = read_user_file(path, path, "", MAX_FILE_BYTES)
        # Outputs of other tools take long to read as YAML.
        data = read_source(text).data if _STUDY_KEY.search(text) else None
    except AssayError:
        return None
    study = data.get("study") if isinstance(data, dict) else None
    return study if isinstance(study, str) else None


def _resolved(path: Path) -> Path:
    """Resolve a link that the user names; no other link of a run is followed."""
    return path.resolve() if path.is_symlink() else path


def _nearest_hint(ref: str, runs: list[RunSummary]) -> str:
    """Return a hint that names the most similar study or run."""
    from difflib import get_close_matches

    known = dict.fromkeys(name for run in runs for name in (run.study, run.id))
    closest = get_close_matches(ref.removesuffix(".yaml"), known, n=1)
    return f"did you mean `{closest[0]}`?" if closest else "`assay list` names the runs"


def _matching_runs(ref: str, runs: list[RunSummary]) -> list[RunSummary]:
    """Return the runs that a name matches: folder names before ids, and full names before prefixes.

    Folder names come first since folders may be renamed. For the name of a study, return its newest run only.
    """
    names = {run.folder: (Path(run.folder).name, run.id) for run in runs}
    return (
        [run for run in runs if names[run.folder][0] == ref]
        or [run for run in runs if run.id == ref]
        or [run for run in runs if ref and run.study == ref][-1:]
        or [run for run in runs if ref and any(name.startswith(ref) for name in names[run.folder])]
    )
