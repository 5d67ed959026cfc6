"""One document on any number of runs: their results side by side, matched by work, and how the machines differ."""

from collections.abc import Iterator, Mapping, Sequence

from assay.analyse.environments.diff import environment_diff
from assay.analyse.runs import environment_of
from assay.model.base import AssayError
from assay.model.result.comparison import JointRuns
from assay.model.result.verdict import Verdict
from assay.model.study.parameters import DEFINITIONS
from assay.report import numbers
from assay.report.document import Block, Cell, Column, Document, Heading, Num, Paragraph, Section, Table
from assay.report.environments import readable_values
from assay.report.joint_differences import joint_differences
from assay.report.selection.options import ValueChoice
from assay.report.selection.properties import OF_ROW, RunResult, host_of, property_names, property_title, value_words
from assay.report.selection.tables import TableOptions, table_blocks
from assay.report.view import RunView

MAX_CELLS = 100_000
"""Most cells of one table."""
_MAX_COLUMNS = 10
"""Most columns of targets that no two runs have in common."""
_MANY = 20
"""With more rows, a page lets the reader sort and filter a table."""
_MEANING = (
    "Rows are of the same work: the same operation, and the same values of all that is swept or differs between runs. "
    "A parameter that only some runs report does not keep rows apart."
)


def joint_document(views: Mapping[str, RunView], found: JointRuns, value: str = "rate") -> Document:
    """Return the document on several runs.

    Args:
        views: The runs by name.
        found: The same runs, in the same order, compared with the first one.
        value: The quantity to show, as ordered tables name it.

    Raises:
        AssayError: No run has a result.
    """
    runs = [view.run for view in views.values()]
    sections = [
        Section("runs", "Runs", (_runs_table(views),)),
        Section("results", "Results", (*results_blocks(views, value), Paragraph(_MEANING))),
        Section("comparison", f"Compared with {next(iter(views))}", tuple(joint_differences(found, list(views)))),
        Section("differences", "What differs between the runs", tuple(differences_blocks(views))),
    ]
    title = numbers.listing(list(views))
    meta = (("Runs", ", ".join(run.id for run in runs)),)
    studies = ", ".join(dict.fromkeys(run.study for run in runs))
    made = tuple(section for section in sections if section.blocks)
    return Document(f"Assay · {studies}", title, "", meta, made)


def _runs_table(views: Mapping[str, RunView]) -> Table:
    """Return where the results of each run come from, and how many of them are ok."""
    columns = (
        *map(Column, ("Run", "Measured", "Machine", "Targets")),
        *(Column(name, is_numeric=True) for name in ("Results", "ok")),
    )
    rows = []
    for name, view in views.items():
        run, results = view.run, view.analysis.rows
        made = run.import_words if run.imports else numbers.utc_time(run.created_at)
        sound = sum(row.verdict is Verdict.OK for row in results)
        counts = [Num(numbers.count(count), float(count)) for count in (len(results), sound)]
        head: list[Cell] = [name, made, host_of(view) or "not recorded", ", ".join(view.targets)]
        rows.append((*head, *counts))
    return Table("runs-table", columns, tuple(rows))


def results_blocks(views: Mapping[str, RunView], value: str = "rate") -> Iterator[Block]:
    """Yield a table for each operation: a row for each kind of work, a column for each run and target.

    Raises:
        AssayError: No run has a result, or a table would be too large.
    """
    results = [RunResult(name, view, row) for name, view in views.items() for row in view.analysis.rows]
    if not results:
        raise AssayError("the runs have no results", "name others")
    has_pairs = _are_few_and_different(views)
    for operation in dict.fromkeys(one.row.operation for one in results):
        chosen = [one for one in results if one.row.operation == operation]
        work = _work(chosen)
        options = TableOptions(
            rows=(work or ("operation",)) if has_pairs else ("target", *work),
            columns=("run", "target") if has_pairs else ("run",),
            where={"operation": (operation,)},
            value=ValueChoice(name=value),
        )
        yield Heading(numbers.operation_title(operation), "")
        yield from table_blocks(options, views, MAX_CELLS, has_origins=False)


def _are_few_and_different(views: Mapping[str, RunView]) -> bool:
    """Return whether no two runs have a target of the same name, so that each target can have a column of its own."""
    targets = [{row.case.target for row in view.analysis.rows} for view in views.values()]
    every = set[str]().union(*targets)
    return len(every) == sum(map(len, targets)) <= _MAX_COLUMNS


def _work(results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return the properties that tell the work of results apart; the workload and the case only where these must.

    A parameter that no run sweeps is one of them if runs have different known values.
    """
    axes = [name for name in property_names(one.row for one in results) if name not in OF_ROW]
    names = [name for name in axes if len({one.value(name) for one in results}) > 1]
    for name in DEFINITIONS:
        if name not in axes and len({value for one in results if (value := one.value(name)) is not None}) > 1:
            names.append(name)
    for more in ((), ("workload",), ("workload", "case")):
        found = (*names, *more)
        keys = [(one.run, one.row.case.target, *(one.value(name) for name in found)) for one in results]
        if len(set(keys)) == len(keys):
            return found
    return found


def differences_blocks(views: Mapping[str, RunView]) -> Iterator[Block]:
    """Yield a table of the parameters, and one of the machines, each with what is not the same in all runs."""
    yield from _table(views, "parameters-table", "Parameters that are the same throughout a run", _parameters(views))
    measured = {name: view for name, view in views.items() if not view.run.imports}
    if len(measured) > 1:
        caption = "Machines and software; what commonly changes results comes first"
        yield from _table(measured, "machines-table", caption, _machines(measured))
    if len(measured) < len(views):
        imported = numbers.listing([name for name in views if name not in measured])
        yield Paragraph(f"Of {imported}, which other tools measured, no machine was recorded.")


def _table(views: Mapping[str, RunView], name: str, caption: str, rows: Sequence[tuple[str, ...]]) -> Iterator[Table]:
    if rows:
        columns = (Column("What"), *map(Column, views))
        yield Table(name, columns, tuple(rows), f"{caption}.", is_interactive=len(rows) > _MANY)


def _parameters(views: Mapping[str, RunView]) -> list[tuple[str, ...]]:
    """Return the parameters with one value in each run that differ between runs, or that a run does not report."""
    found = []
    for name in DEFINITIONS:
        values = [{RunResult("", view, row).value(name) for row in view.analysis.rows} for view in views.values()]
        if any(len(each) > 1 for each in values) or len({*map(frozenset, values)}) == 1:
            continue
        words = [value_words(name, next(iter(each), None)) for each in values]
        found.append((property_title(name), *words))
    return found


def _machines(views: Mapping[str, RunView]) -> list[tuple[str, ...]]:
    """Return items of the environments that differ between any two of the runs, with their value in each."""
    environments = [environment_of(view.run) for view in views.values()]
    first, *others = environments
    items = [item for other in others for item in environment_diff(first, other)]
    names = dict.fromkeys((item.section, item.name) for item in sorted(items, key=lambda item: not item.matters))
    readable = [{section: readable_values(values) for section, values in one.items()} for one in environments]
    rows = []
    for section, name in names:
        values = [one.get(section, {}).get(name, numbers.NONE) for one in readable]
        if set(values) != {numbers.NONE}:
            rows.append((f"{section}: {name}", *values))
    return rows
