"""What is audited: files of other tools, folders of them, and runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.result.imported import ImportedFile
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.parameters import DEFINITIONS
from assay.rooms.importers.shown.figures import imported_run
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, Measurement, ToolOutput
from assay.rooms.importers.work.several_files import read_path
from assay.rooms.importers.work.table_roles import RolesFile
from assay.store import RunStore, find_run, list_runs

MAX_NAME = 80


class Audited(NamedTuple):
    """What is audited.

    Attributes:
        outputs: In the order of the files.
        unread: Why files of a folder were not read.
        guessed: Tables without roles, which are audited by their headings.
    """

    outputs: list[ToolOutput]
    unread: Sequence[AssayError] = ()
    guessed: Sequence[str] = ()


def outputs_of(ref: str, runs: Path, roles: RolesFile | None = None) -> Audited:
    """Return the outputs in a file, in all files of a folder, or of a run.

    Args:
        ref: Path, or a run as `find_run` finds it.
        runs: Folder of all runs.
        roles: What the columns of tables are; None: by the roles file beside each, such as `costs.roles.yaml`.

    Raises:
        AssayError: It is neither, or a named file cannot be read, or no file of a folder can.
    """
    path = Path(ref)
    if not ref or not _is_short(path):
        raise AssayError(f"`{ref[:MAX_NAME]}` is no name of a file, a folder or a run", "name one")
    if path.exists() and not path.is_dir():
        return _of_path(ref, roles)
    try:
        folder = find_run(ref, runs)
    except AssayError as error:
        if path.is_dir():
            return _of_folder(path, roles)
        raise AssayError(f"{ref}: no such file, and {error.message}", "name a file, a folder or a run") from None
    return Audited(outputs_of_run(folder))


def _of_path(path: str, roles: RolesFile | None) -> Audited:
    read = read_path(path, ImportOptions(roles=roles, is_audit=True))
    return Audited([output for _, outputs in read.found for output in outputs], read.unread, read.guessed)


def _is_short(path: Path) -> bool:
    """Return whether the system takes so long a name."""
    try:
        path.exists()
    except OSError:
        return False
    return True


def _of_folder(folder: Path, roles: RolesFile | None) -> Audited:
    if runs := list_runs(folder):
        return Audited([output for run in runs for output in outputs_of_run(Path(run.folder))])
    return _of_path(str(folder), roles)


def outputs_of_run(folder: Path) -> list[ToolOutput]:
    """Return what a run holds: as its files had it if it was imported, else a result for each of its samples.

    Args:
        folder: The run's folder.

    Raises:
        AssayError: The run is damaged.
    """
    with RunStore.open(folder) as store:
        info, cases, samples = store.info(), store.cases(), store.samples()
    if not info.imports:
        return [_own_output(str(folder), cases, samples)]
    known = {(sample.case, sample.repeat): sample for sample in samples}
    outputs = []
    for output in imported_run(folder).outputs:
        results = []
        for result in output.results:
            sample = known.get((result.case, result.repeat))
            results.append(result if sample is None else result.model_copy(update={"measured": _measurement(sample)}))
        outputs.append(output.model_copy(update={"results": tuple(results)}))
    return outputs


def _own_output(folder: str, cases: Sequence[Case], samples: Sequence[Sample]) -> ToolOutput:
    by_id = {case.id: case for case in cases}
    file = ImportedFile(tool="assay", version="", form="run", file=folder, line=1, sha256="", size_bytes=0)
    results = []
    for sample in samples:
        case = by_id[sample.case]
        parameters = {name: case.parameters.get_value(name) for name in DEFINITIONS}
        results.append(
            ImportedResult(
                name=case.label,
                line=None,
                target=case.target,
                workload=case.workload,
                operation=sample.operation,
                parameters={name: value for name, value in parameters.items() if value is not None},
                options={},
                figures=(),
                measured=_measurement(sample),
                case=case.id,
                repeat=sample.repeat,
            )
        )
    return ToolOutput(file=file, results=tuple(results))


def _measurement(sample: Sample) -> Measurement:
    """Return the measurement of a sample; counts that are missing are 0."""
    names = ("ops", "bytes", "read_bytes", "write_bytes", "throughput", "iops")
    counts = {name: sample.get_value(name, 0) for name in names}
    status = sample.get_value("status", "done")
    return Measurement(
        status=status if status in ("done", "time_limit") else "failed",
        has_counts=not {"ops", "bytes"} & set(sample.missing_names),
        elapsed_ns=sample.get_value("elapsed_ns", None),
        latency=sample.get_value("latency", {}),
        kinds=sample.get_value("kinds", ()),
        **counts,
    )
