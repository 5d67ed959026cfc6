"""Makes a run of what other tools measured."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from assay import __version__
from assay.model.base import AssayError
from assay.model.result.imported import ImportedFile, programs
from assay.model.result.sample import Sample
from assay.model.study.axis import AxisValue
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.parameters import DEFINITIONS, Parameters
from assay.rooms.importers.audit.facts import facts_by_name
from assay.rooms.importers.work.results import MAX_BYTES, MAX_RESULTS, ImportedResult, ImportedRun, ToolOutput
from assay.rooms.importers.work.table import NAME as TABLE
from assay.run.answers import store_conclusions
from assay.store import RunStore
from assay.store.records import RunMeta
from assay.store.run import new_run_id

STUDY_TEXT = "# Another tool measured this run, so that it has no study: see imported.json.\n"
_ENVIRONMENT = "imported from"
"""Section of the environment with the programs that measured."""
_FACTS = "machines, as stated"
"""Section of the environment with the facts that the user states."""
_MAX_REASONS = 3
"""Most reasons that are named if there is no result at all."""
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


def make_run(outputs: Sequence[ToolOutput], root: Path, study: str, command: str, name: str = "") -> Path:
    """Make a run's folder with all results of some outputs, and judge it.

    Results of the same work are repeats of one case, in one output or several.

    Args:
        outputs: What was read, in the order of the repeats.
        root: Folder of all runs.
        study: Name of the run's study, under which `assay history` and `show` find it; empty: from the first file.
        command: The command line.
        name: Under which the run is shown; empty: by its study and the time.

    Returns:
        The run's folder.

    Raises:
        AssayError: There is no result that could be shown, or too many, or the folder cannot be made.
    """
    _check_files(outputs)
    _check_count(outputs)
    cases, placed = _placed(outputs)
    repeats = Counter(result.case for output in placed for result in output.results if result.case)
    files = tuple(output.file for output in placed)
    now = time.time()
    study = study or _study_name(files[0].file)
    meta = RunMeta(
        id=new_run_id(study, now),
        study=study,
        question="",
        description=_description(files),
        created_at=now,
        seed=0,
        order="sequential",
        repeats=max(repeats.values()),
        command=command,
        versions={"assay": __version__, **{f"imported {one.tool}": one.version for one in files if one.version}},
        environment=_environment(outputs),
        imports=files,
    )
    order = [(case.id, repeat) for case in cases for repeat in range(1, repeats[case.id] + 1)]
    store = RunStore.create(root, meta, cases, _excluded(placed), order, STUDY_TEXT, None, _document(placed), name)
    try:
        _store_results(store, placed)
        _finish(store, repeats, meta.repeats)
    except BaseException:
        store.discard()
        raise
    store.close()
    return store.folder


def _document(outputs: Sequence[ToolOutput]) -> str:
    """Return what the outputs say as JSON.

    Raises:
        AssayError: It is too much.
    """
    document = ImportedRun(outputs=tuple(outputs)).model_dump_json()
    if len(document) > MAX_BYTES:
        raise AssayError(f"more than the {MAX_BYTES >> 20} MiB of figures of one run", "import fewer files at once")
    return document


def _check_files(outputs: Sequence[ToolOutput]) -> None:
    """Refuse a file that is given twice: its results would count as repeats, which nobody has measured."""
    first: dict[tuple[str, str, int], str] = {}
    for one in (output.file for output in outputs):
        if (key := (one.tool, one.sha256, one.line)) in first:
            raise AssayError(f"{one.file}: the same as {first[key]}, byte by byte", "give each output once")
        first[key] = one.file


def _check_count(outputs: Sequence[ToolOutput]) -> None:
    results = [result for output in outputs for result in output.results]
    if len(results) > MAX_RESULTS:
        message = f"{len(results):,} results, more than the {MAX_RESULTS:,} of one run"
        raise AssayError(message, "import fewer files at once")
    if not any(result.measured for result in results):
        names = ", ".join(dict.fromkeys(output.file.file for output in outputs))
        message = f"{names}: no result that a run could hold: {_reasons(results)}"
        raise AssayError(message, "do what the reasons say, or give a file with other results")


def _reasons(results: Sequence[ImportedResult]) -> str:
    """Return why results were left out, each reason once: the first need not be the one that a user can mend."""
    found: dict[str, str] = {}
    for one in results:
        found.setdefault(one.left_out, one.name)
    named = [f"{name}: {reason}" for reason, name in found.items()]
    more = [f"{len(named) - _MAX_REASONS:,} more"] if len(named) > _MAX_REASONS else []
    return "; ".join([*named[:_MAX_REASONS], *more]) or "it has none"


def _environment(outputs: Sequence[ToolOutput]) -> dict[str, dict[str, str]]:
    """Return what is known of where it was measured: what the outputs say, and what the user states."""
    known = {_ENVIRONMENT: {"programs": programs([output.file for output in outputs]), "hosts": _hosts(outputs)}}
    facts = next((output.facts for output in outputs if output.facts), None)
    return known if facts is None else known | {_FACTS: facts_by_name(facts)}


def _hosts(outputs: Sequence[ToolOutput]) -> str:
    names = dict.fromkeys(output.file.host for output in outputs if output.file.host)
    return ", ".join(names) or "the output does not say"


def _study_name(file: str) -> str:
    return _NOT_PLAIN.sub("-", Path(file).stem).strip("-.")[:60] or "imported"


def _placed(outputs: Sequence[ToolOutput]) -> tuple[list[Case], list[ToolOutput]]:
    """Return the cases, and the outputs whose results know their case and repeat."""
    groups: dict[tuple[str, str, str, str], list[ImportedResult]] = defaultdict(list)
    keys = {}
    for output in outputs:
        for result in output.results:
            if result.measured is not None and result.operation is not None:
                parameters = Parameters.partial(**result.parameters).model_dump_json()
                key = (result.target, result.workload, result.operation, parameters)
                keys[id(result)] = key
                groups[key].append(result)
    axes = _axes([members[0] for members in groups.values()])
    ids = {key: f"c{number:04}" for number, key in enumerate(groups, start=1)}
    cases = [_case(ids[key], members[0], axes[members[0].workload]) for key, members in groups.items()]
    counts: Counter[str] = Counter()
    placed = []
    for output in outputs:
        results = []
        for result in output.results:
            if id(result) not in keys:
                results.append(result)
                continue
            case = ids[keys[id(result)]]
            counts[case] += 1
            results.append(result.model_copy(update={"case": case, "repeat": counts[case]}))
        placed.append(output.model_copy(update={"results": tuple(results)}))
    return cases, placed


def _axes(first: Sequence[ImportedResult]) -> dict[str, list[str]]:
    """Return, for each workload, the parameters that differ between its cases.

    Those that differ only between targets are among them, since results of different work are not compared; and those
    that an output says of some cases only, or else these could not be told from the others of their target.
    """
    groups: dict[str, list[ImportedResult]] = defaultdict(list)
    for result in first:
        groups[result.workload].append(result)
    return {workload: [name for name in DEFINITIONS if _differs(name, members)] for workload, members in groups.items()}


def _differs(name: str, members: Sequence[ImportedResult]) -> bool:
    if len({one.parameters[name] for one in members if name in one.parameters}) > 1:
        return True
    known: dict[tuple[str, str | None], set[bool]] = defaultdict(set)
    for one in members:
        known[one.target, one.operation].add(name in one.parameters)
    return any(len(both) > 1 for both in known.values())


def _case(name: str, result: ImportedResult, axes: Sequence[str]) -> Case:
    assert result.operation is not None
    values: dict[str, AxisValue] = {axis: result.parameters[axis] for axis in axes if axis in result.parameters}
    shown = " ".join(f"{axis}={DEFINITIONS[axis].kind.display(value)}" for axis, value in values.items())
    return Case(
        id=name,
        target=result.target,
        workload=result.workload,
        operations=(result.operation,),
        parameters=Parameters.partial(**result.parameters),
        axes=values,
        label=" / ".join(part for part in (result.target, result.workload, shown) if part),
    )


def _description(files: Sequence[ImportedFile]) -> str:
    """Return with which tools others measured, and that nothing was measured here."""
    measured = [one for one in files if one.tool != TABLE]
    with_tools = f", measured with {programs(measured)}" if measured else ""
    return f"Figures of others{with_tools}. Nothing was measured here."


def _excluded(outputs: Sequence[ToolOutput]) -> list[ExcludedPoint]:
    return [
        ExcludedPoint(target=result.target, workload=result.workload, axes={}, rule="import", reason=result.left_out)
        for output in outputs
        for result in output.results
        if not result.case
    ]


def _store_results(store: RunStore, outputs: Sequence[ToolOutput]) -> None:
    for output in outputs:
        for result in output.results:
            if result.case:
                sample = _sample(result)
                attempt = store.begin_attempt(result.case, result.repeat, {})
                seconds = sample.get_value("elapsed_ns", 0) / 1e9
                reason = sample.errors[0].example if sample.errors else ""
                store.finish_repeat(attempt, "errors" if sample.errors else "ok", seconds, reason, "", [sample])


def _sample(result: ImportedResult) -> Sample:
    """Return the sample of a result; what its output does not say is missing in it."""
    measured = result.measured
    assert measured is not None
    values = {name: getattr(measured, name) for name in type(measured).model_fields if name != "has_counts"}
    unknown = {name for name in ("started_at", "elapsed_ns", "ops", "iops") if values[name] is None}
    unknown |= set() if measured.has_counts else {"ops", "bytes", "read_bytes", "write_bytes"}
    values = {name: value for name, value in values.items() if name not in unknown}
    return Sample.partial(case=result.case, repeat=result.repeat, phase=0, operation=result.operation, **values)


def _finish(store: RunStore, repeats: Counter[str], most: int) -> None:
    for case, count in repeats.items():
        if count < most:
            store.settle(case, f"{count} of its results {'was' if count == 1 else 'were'} imported")
    store_conclusions(store)
    store.set_status("complete with errors" if set(store.outcome_counts()) - {"ok"} else "complete")
