"""`assay history`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import AssayError
from assay.model.units import about_rate
from assay.model.user_files import path_kind
from assay.terminal.output import note, print_blocks, print_json
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.model.result.brief_result import BriefResult
    from assay.model.result.comparison import History, HistoryPoint, HistoryRow
    from assay.model.result.run import RunInfo
    from assay.report.document import Table
    from assay.store import RunStore

FIRST_ROWS = 40
MAX_DRAWN = 40
"""Runs that a sparkline shows: the latest ones."""
MAX_NAMED = 8
"""Runs that a note names at most."""
_BLOCKS = "▁▂▃▄▅▆▇█"


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="Name of a study, or its file."),
    everything: bool = typer.Option(False, "--all", help=f"All rows, not only the first {FIRST_ROWS}."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    out: Path = RUNS,
) -> None:
    """Show the results of a study over all its runs, and where they changed.

    One line for each result: the median of each run as a small chart, and the change points with the date of the first
    run after them. Results that changed come first. Differences in the environment at each change are printed below.
    At least 4 complete runs are needed; a change must last for 2 runs.

    Example: `assay history nightly`, `assay history study.yaml --json`
    """
    found = _history(_study_name(study), out)
    if as_json:
        print_json(_json(found))
        return
    _print(found, None if everything else FIRST_ROWS)


def _study_name(study: str) -> str:
    """Return the name of the study that a user named, by its name or by a file's path."""
    path = Path(study)
    if path_kind(path) != "file":
        return study
    from assay.cli.studyfile import exit_with_problems, read_study
    from assay.plan.load import load_study

    loaded = load_study(read_study(path), str(Path.cwd()), folder=str(path.absolute().parent))
    if loaded.study is None:
        exit_with_problems(path, loaded.problems)
    return loaded.study.name


def _history(study: str, out: Path) -> "History":
    from assay.analyse.history import MIN_RUNS, history
    from assay.store import RunStore
    from assay.store.damage import damage_as_error

    infos: list[RunInfo] = []
    series: dict[str, dict[str, list[HistoryPoint]]] = {}
    counted: set[str] = set()
    for folder in _complete_runs(study, out):
        try:
            with RunStore.open(folder) as store, damage_as_error(folder):
                info, results = store.info(), _results(store)
                points = [(name, parameters, _point(result, len(infos))) for name, parameters, result in results]
        except AssayError as error:
            note(f"note: left out: {error.message}")
            continue
        infos.append(info)
        counted |= {name for name, _, result in results if result.is_counted}
        for name, parameters, point in points:
            series.setdefault(name, {}).setdefault(parameters, []).append(point)
    if len(infos) < MIN_RUNS:
        counts = f"{len(infos) or 'no'} complete {'run' if len(infos) == 1 else 'runs'}"
        raise AssayError(
            f"study {study!r} has {counts} in {out}, but a history needs at least {MIN_RUNS}",
            "`assay compare RUN RUN` compares two",
        )
    return history(study, infos, _numbered(series), counted)


def _complete_runs(study: str, out: Path) -> list[Path]:
    """Return the folders of the study's complete runs, the oldest first; note why the others are left out."""
    from assay.store import list_runs

    found = list_runs(out)
    for run in found:
        if run.problem:
            note(f"note: left out: {run.problem}")
    runs = [run for run in found if run.study == study and not run.problem]
    if not runs:
        names = sorted({run.study for run in found if run.study})
        known = f"there are runs of {', '.join(names[:8])}" if names else "start one with `assay run STUDY`"
        raise AssayError(f"there are no runs of study {study!r} in {out}", known)
    ended = [run for run in runs if run.status.startswith("complete")]
    if others := [f"{run.id} ({run.status})" for run in runs if run not in ended]:
        more = f", and {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
        counts = f"{len(others)} {'run' if len(others) == 1 else 'runs'}"
        note(f"note: left out: {counts} that did not complete: {', '.join(others[:MAX_NAMED])}{more}")
    return [Path(run.folder) for run in ended]


def _results(store: "RunStore") -> "list[tuple[str, str, BriefResult]]":
    """Return each result of a run with its name and its parameters as JSON, which later versions may change."""
    from assay.run.brief_results import stored_or_new_results

    parameters = {case.id: case.parameters.model_dump_json() for case in store.cases()}
    return [
        (f"{result.label}, {result.operation}", parameters[result.case], result)
        for result in stored_or_new_results(store)
    ]


def _point(result: "BriefResult", run: int) -> "HistoryPoint":
    from assay.model.result.comparison import HistoryPoint
    from assay.model.result.verdict import Verdict

    rate = result.iops if result.is_counted else result.throughput
    return HistoryPoint(
        run=run,
        median=rate or 0.0,
        low=result.low,
        high=result.high,
        n=result.n,
        verdict=Verdict(result.verdict),
    )


def _numbered(series: "dict[str, dict[str, list[HistoryPoint]]]") -> "dict[str, list[HistoryPoint]]":
    """Return one series for each name and parameters; further parameters of a name get a number in the name."""
    found = {}
    for name, versions in series.items():
        for place, points in enumerate(versions.values()):
            found[name if place == 0 else f"{name} (parameters {place + 1})"] = points
    return found


def _print(found: "History", limit: int | None) -> None:
    from assay.cli.compare_text import differences_blocks, run_words
    from assay.report.document import Block, Facts, Heading, Paragraph

    changed = sum(bool(row.changes) for row in found.rows)
    first, last = found.runs[0], found.runs[-1]
    runs = f"{len(found.runs)} runs, from {_date(first.created_at)} to {_date(last.created_at)}"
    blocks: list[Block] = [Paragraph(f"study {found.study}: {runs}")]
    blocks += [Paragraph(f"{changed} of {len(found.rows)} results changed"), _table(found, limit)]
    if limit is not None and limit < len(found.rows):
        blocks.append(Paragraph(f"{len(found.rows) - limit} more results: --all"))
    for boundary in found.boundaries:
        before, after = found.runs[boundary.before], found.runs[boundary.after]
        title = f"What changed with the run of {_date(after.created_at)}"
        blocks += [Heading(title, "new"), Facts((("from", run_words(before)), ("to", run_words(after))))]
        blocks += differences_blocks(boundary.differences)
        blocks.append(Paragraph(f"more: assay compare {before.id} {after.id}"))
    print_blocks(*blocks)
    if len(found.rows) >= 50 and changed:
        expected = max(1, round(len(found.rows) / 100))
        note(f"note: of {len(found.rows)} unchanged results, about {expected} would show a change by chance")


def _table(found: "History", limit: int | None) -> "Table":
    from assay.report.document import Table

    columns = ("result", "runs", "first", "last", "", "changes")
    return Table.of(
        columns,
        [_cells(row, found) for row in found.rows[:limit]],
        numeric_titles=columns[1:4],
        dropped_first=("runs", "", "first"),
    )


def _cells(row: "HistoryRow", found: "History") -> tuple[str, ...]:
    from assay.report import numbers

    ends = [about_rate(point.median, row.is_counted) for point in (row.points[:1] + row.points[-1:])] or ["", ""]
    words = [
        f"{_date(found.runs[change.after].created_at)} {numbers.difference_text(change.ratio)} ({_p(change.p)})"
        for change in row.changes
    ]
    if row.left_out:
        words.append(f"{len(row.left_out)} left out: cached, impossible or incomplete")
    return (row.name, str(len(row.points)), *ends, _sparkline(row), "; ".join(words))


def _sparkline(row: "HistoryRow") -> str:
    """Draw the medians of the latest runs; the height is their range, but at least a tenth of the greatest."""
    medians = [point.median for point in row.points[-MAX_DRAWN:]]
    if not medians:
        return ""
    least, greatest = min(medians), max(medians)
    # With a smaller height noise would look like a change.
    span = max(greatest - least, 0.1 * greatest)
    floor = (least + greatest - span) / 2
    return "".join(_BLOCKS[min(len(_BLOCKS) - 1, int((value - floor) / span * len(_BLOCKS)))] for value in medians)


def _p(p: float) -> str:
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def _date(at: float) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _json(found: "History") -> dict[str, Any]:
    """Return the history for programs; `run` of points, `before` and `after` of changes are indices into `runs`."""
    rows = [
        {**row.model_dump(mode="json"), "unit": "operations/s" if row.is_counted else "bytes/s"} for row in found.rows
    ]
    for row in rows:
        del row["is_counted"]
    return {"study": found.study, "runs": found.runs, "rows": rows, "boundaries": found.boundaries}
