"""Replications: a line for each sync, as replication reports have them, and what was lost and recovered."""

from collections.abc import Container

from assay.analyse.programs.results import ProgramResult
from assay.model.result.result import ResultRow
from assay.model.study.replication_figures import COMMON, FIGURES, SPECIAL, SYNCS, figure_of
from assay.report import numbers
from assay.report.document import Block, Bullets, Cell, Column, Heading, Num, Table
from assay.report.view import RunView

_LABELS = tuple(dict.fromkeys(label for labels in SYNCS.values() for label in labels))
_SYNC_COLUMNS = (
    Column("Policy"),
    Column("Sync"),
    Column("Duration", is_numeric=True),
    Column("Rate", "Mbit/s", is_numeric=True),
    Column("Link used", is_numeric=True),
    Column("Data", "bytes", is_numeric=True),
    Column("Sent", "bytes", is_numeric=True),
    Column("Received", "bytes", is_numeric=True, drop_rank=2),
    Column("New", "files", is_numeric=True, drop_rank=1),
    Column("Updated", "files", is_numeric=True, drop_rank=1),
    Column("Deleted", "files", is_numeric=True, drop_rank=1),
    Column("Unchanged", "files", is_numeric=True, is_detail=True),
    Column("Errors", is_numeric=True),
    Column("Start", "UTC, last repeat", drop_rank=3),
    Column("End", "UTC, last repeat", is_detail=True),
)
_PRESERVED = {f"{kind} kept": kind for kind in SPECIAL}
_YES_OR_NO = ("write refused", "refused syncs")
_SYNC_CAPTION = (
    "Medians over the repeats. Sent and received: what the link of the source's host carried meanwhile, with all "
    "headers, whatever program it was for. Data: sizes of the new and updated files. Rate: bytes of the busier "
    "direction per second. A steady line is all syncs while the application wrote. A sync without data has no rate: it "
    "consists of round trips."
)
_RECOVERY_CAPTION = (
    "Medians over the repeats. Lag: age of the oldest write that the replica did not have, sampled every 50 ms; 0 if "
    "it had all. Recovery point: the same when the source was lost. Recovery time: from the loss until the replica had "
    "its first write on storage, with detection. There: changes that the replica had when a sync had failed; torn: "
    "files that were neither the old nor the new version. Set aside: files that only the old source had, which "
    "failback did not overwrite."
)


def syncs_of(result: ProgramResult) -> list[str]:
    """Return the syncs of a case in order; empty if it is no replication."""
    return [label for label in _LABELS if figure_of(label, "duration") in result.figures]


def is_replication(row: ResultRow, figures: Container[tuple[str, str]]) -> bool:
    """Return whether a command is a replication; `figures` has (command, figure) of all that the study states."""
    return any((row.case.workload, figure_of(label, "duration")) in figures for label in _LABELS)


def replication_blocks(view: RunView, found: list[tuple[ResultRow, ProgramResult]]) -> list[Block]:
    """Return the table of syncs, and that of what was lost and recovered; empty without replications.

    Args:
        view: The run.
        found: Its commands.
    """
    replications = [(row, result) for row, result in found if syncs_of(result)]
    if not replications:
        return []
    lines = [_sync_line(view, row, result, label) for row, result in replications for label in syncs_of(result)]
    blocks: list[Block] = [Heading("Replication", "replication")]
    blocks.append(Table("replication-syncs", _SYNC_COLUMNS, tuple(lines), _SYNC_CAPTION, is_interactive=True))
    names = {name: unit for figures in (*FIGURES.values(), COMMON) for name, unit in figures.items()}
    names = {name: unit for name, unit in names.items() if name not in _PRESERVED}
    shown = {name: unit for name, unit in names.items() if any(name in result.figures for _, result in replications)}
    if shown:
        columns = (
            Column("Policy"),
            *(
                Column(numbers.capitalized(name), "" if unit == "s" else unit, is_numeric=True)
                for name, unit in shown.items()
            ),
        )
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (_policy(view, row), *(_cell(result, name, unit) for name, unit in shown.items()))
            for row, result in replications
            if any(name in result.figures for name in shown)
        )
        blocks.append(Table("replication-recovery", columns, rows, _RECOVERY_CAPTION, is_interactive=True))
    kept = [words for row, result in replications if (words := _kept_words(view, row))]
    return [*blocks, *((Bullets(tuple(kept)),) if kept else ())]


def _kept_words(view: RunView, row: ResultRow) -> str:
    """Return what a replicator kept in all repeats beside the contents of files, and what not; empty if not known."""
    known = {kind: min(values) for name, kind in _PRESERVED.items() if (values := _printed(row, name))}
    kept, lost = ([kind for kind, value in known.items() if bool(value) is is_kept] for is_kept in (True, False))
    words = [f"{numbers.listing(kept)} arrived as they were"] if kept else []
    words += [f"{numbers.listing(lost)} did not{'' if kept else ' arrive as they were'}"] if lost else []
    return f"{_policy(view, row)}: {'; '.join(words)}." if words else ""


def _printed(row: ResultRow, name: str) -> list[float]:
    """Return a figure of all tasks that printed it."""
    return [task.figures[name] for sample in row.samples for task in sample.tasks if name in task.figures]


def _policy(view: RunView, row: ResultRow) -> str:
    targets = len(view.targets) > 1
    return f"{row.case.workload} on {row.case.target}" if targets else row.case.workload


def _sync_line(view: RunView, row: ResultRow, result: ProgramResult, label: str) -> tuple[Cell, ...]:
    def value(name: str) -> float | None:
        found = result.figures.get(figure_of(label, name))
        return None if found is None else found.median

    last = [
        task.figures for sample in row.samples for task in sample.tasks if figure_of(label, "start") in task.figures
    ]
    start = last[-1][figure_of(label, "start")] if last else None
    end = None if start is None else start + last[-1].get(figure_of(label, "duration"), 0.0)
    has_data = bool(value("data"))
    rate, used = (value(name) if has_data else None for name in ("rate", "utilisation"))
    return (
        _policy(view, row),
        label,
        _time(value("duration")),
        _number(rate),
        Num(numbers.NONE if used is None else f"{used:.1f} %", used),
        *(_count(value(name)) for name in ("data", "sent", "received")),
        *(_count(value(name)) for name in ("new", "updated", "deleted", "unchanged", "errors")),
        *(numbers.NONE if time is None else numbers.utc_time(time).removesuffix(" UTC") for time in (start, end)),
    )


def _cell(result: ProgramResult, name: str, unit: str) -> Num:
    found = result.figures.get(name)
    value = None if found is None else found.median
    if name in _YES_OR_NO and value in (0.0, 1.0):
        return Num("yes" if value else "no", value)
    return _time(value) if unit == "s" else _count(value)


def _time(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else numbers.seconds(value), value)


def _count(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else numbers.count(value), value)


def _number(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else numbers.significant(value), value)
