"""`assay history`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.output import note
from assay.model.base import AssayError

if TYPE_CHECKING:
    from assay.model.comparison import History, HistoryPoint, HistoryRow
    from assay.model.result import RunInfo
    from assay.store import RunStore

FIRST_ROWS = 40
MOST_DRAWN = 40
"""Runs in a sparkline: the latest."""
_BLOCKS = "▁▂▃▄▅▆▇█"


def command(
    study: str = typer.Argument(..., metavar="STUDY", help="Name of a study, or its file."),
    everything: bool = typer.Option(False, "--all", help=f"All rows, not only the first {FIRST_ROWS}."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    out: Path = typer.Option(Path("assay-runs"), "--out", help="Folder of the runs."),
) -> None:
    """Show how the results of a study went from run to run, and where they changed.

    One line a result: the median of each run as a small chart, and the change points with the date of the first run
    after them. Those that changed come first. Below stands what differs in the environment around each change. At
    least 4 runs are needed; a change must last for 2.

    Example: `assay history nightly`, `assay history study.yaml --json`
    """
    found = _history(_name(study), out)
    if as_json:
        from assay.cli.output import print_json

        print_json(_json(found))
        return
    _print(found, None if everything else FIRST_ROWS)


def _name(study: str) -> str:
    """The name of a study from what a user typed: the name itself, or a file's path."""
    path = Path(study)
    if not path.is_file():
        return study
    from assay.cli.studyfile import read_study, refuse
    from assay.plan.load import load_study

    loaded = load_study(read_study(path), str(Path.cwd()))
    if loaded.study is None:
        refuse(path, loaded.problems)
    return loaded.study.name


def _history(study: str, out: Path) -> "History":
    from assay.analyse.history import LEAST_RUNS, history
    from assay.store import RunStore, list_runs

    runs = [run for run in list_runs(out) if run.study == study]
    if not runs:
        names = sorted({run.study for run in list_runs(out) if run.study})
        known = f"there are runs of {', '.join(names[:8])}" if names else "start one with `assay run STUDY`"
        raise AssayError(f"there are no runs of study {study!r} in {out}", known)
    if len(runs) < LEAST_RUNS:
        counts = f"{len(runs)} {'run' if len(runs) == 1 else 'runs'}"
        raise AssayError(
            f"study {study!r} has {counts} in {out}, but a history needs at least {LEAST_RUNS}",
            "`assay compare RUN RUN` compares two",
        )
    infos: list[RunInfo] = []
    series: dict[str, dict[str, list[HistoryPoint]]] = {}
    metadata: set[str] = set()
    for number, run in enumerate(runs):
        with RunStore.open(Path(run.folder)) as store:
            infos.append(store.info())
            _read(store, number, series, metadata)
    return history(study, infos, _named(series), metadata)


def _read(
    store: "RunStore", number: int, series: "dict[str, dict[str, list[HistoryPoint]]]", metadata: set[str]
) -> None:
    """Add the results of one run: by their name, and by all parameters, which a later study may have changed."""
    from assay.cli.show import results_of
    from assay.model.comparison import HistoryPoint
    from assay.model.verdict import Verdict

    parameters = {case.id: case.parameters.model_dump_json() for case in store.cases()}
    for result in results_of(store):
        rate = result.iops if result.metadata else result.throughput
        name = f"{result.label}, {result.operation}"
        if result.metadata:
            metadata.add(name)
        verdict = Verdict(result.verdict)
        point = HistoryPoint(
            run=number, median=rate or 0.0, low=result.low, high=result.high, n=result.n, verdict=verdict
        )
        series.setdefault(name, {}).setdefault(parameters[result.case], []).append(point)


def _named(series: "dict[str, dict[str, list[HistoryPoint]]]") -> "dict[str, list[HistoryPoint]]":
    """One series per name and parameters; of the same name with other parameters the later ones are numbered."""
    found = {}
    for name, versions in series.items():
        for place, points in enumerate(versions.values()):
            found[name if place == 0 else f"{name} (parameters {place + 1})"] = points
    return found


def _print(found: "History", limit: int | None) -> None:
    from assay.cli.compare_text import print_differences, run_words

    changed = sum(bool(row.changes) for row in found.rows)
    first, last = found.runs[0], found.runs[-1]
    typer.echo(
        f"study {found.study}: {len(found.runs)} runs, from {_date(first.created_at)} to {_date(last.created_at)}"
    )
    typer.echo(f"{changed} of {len(found.rows)} results changed")
    _print_rows(found, limit)
    for boundary in found.boundaries:
        before, after = found.runs[boundary.before], found.runs[boundary.after]
        matter = [difference for difference in boundary.differences if difference.matters]
        typer.echo(f"\nfrom {run_words(before)}\nto   {run_words(after)}")
        if matter:
            print_differences(matter)
        else:
            typer.echo("  nothing that commonly changes results differs in the environment")
        typer.echo(f"  more: assay compare {before.id} {after.id}")
    if len(found.rows) >= 50 and changed:
        expected = max(1, round(len(found.rows) / 100))
        note(f"note: of {len(found.rows)} results that never change, about {expected} would show a change by chance")


def _print_rows(found: "History", limit: int | None) -> None:
    shown = found.rows if limit is None else found.rows[:limit]
    lines = [("result", "runs", "first", "last", "", "changes"), *(_cells(row, found) for row in shown)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    typer.echo("")
    for name, count, first, last, chart, changes in lines:
        words = (
            name.ljust(widths[0]),
            count.rjust(widths[1]),
            first.rjust(widths[2]),
            last.rjust(widths[3]),
            chart.ljust(widths[4]),
            changes,
        )
        typer.echo("  ".join(words).rstrip())
    if len(shown) < len(found.rows):
        typer.echo(f"{len(found.rows) - len(shown)} more results: --all")


def _cells(row: "HistoryRow", found: "History") -> tuple[str, ...]:
    from assay.cli.output import rate_text

    ends = [rate_text(point.median, row.metadata) for point in (row.points[:1] + row.points[-1:])] or ["", ""]
    words = [
        f"{_date(found.runs[change.after].created_at)} {100 * (change.ratio - 1):+.1f}% ({_p(change.p)})"
        for change in row.changes
    ]
    if row.left_out:
        words.append(f"{len(row.left_out)} left out: cached, impossible or incomplete")
    return (row.name, str(len(row.points)), *ends, _sparkline(row), "; ".join(words))


def _sparkline(row: "HistoryRow") -> str:
    """The medians of the latest runs; the height is the range of them, but at least a tenth of the greatest."""
    medians = [point.median for point in row.points[-MOST_DRAWN:]]
    if not medians:
        return ""
    least, greatest = min(medians), max(medians)
    # Noise must not look like news.
    span = max(greatest - least, 0.1 * greatest)
    floor = (least + greatest - span) / 2
    return "".join(_BLOCKS[min(len(_BLOCKS) - 1, int((value - floor) / span * len(_BLOCKS)))] for value in medians)


def _p(p: float) -> str:
    return "p<0.001" if p < 0.001 else f"p={p:.3f}"


def _date(at: float) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _json(found: "History") -> dict[str, Any]:
    """The history for programs; `run` of points, `before` and `after` of changes are places in `runs`."""
    rows = [
        {**row.model_dump(mode="json"), "unit": "operations/s" if row.metadata else "bytes/s"} for row in found.rows
    ]
    for row in rows:
        del row["metadata"]
    return {"study": found.study, "runs": found.runs, "rows": rows, "boundaries": found.boundaries}
