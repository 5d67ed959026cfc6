"""`assay ab`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.compare_output import EVERYTHING, FAIL_IF_SLOWER, JUNIT, ComparisonOutput
from assay.terminal.output_file import FORCE, output_option
from assay.terminal.settings import RUNS

if TYPE_CHECKING:
    from assay.cli.ab.text import SidesOutcome


def command(
    base: str = typer.Argument(..., metavar="A", help="A directory, device or engine, or a target of STUDY."),
    other: str = typer.Argument(..., metavar="B", help="What it is compared with, of the same kind."),
    study: str = typer.Option("", "--study", metavar="STUDY", help="The study to run on both sides."),
    time: str | None = typer.Option(None, "--time", metavar="TIME", help="Longest time to measure; 5m if left out."),
    destroy: bool = typer.Option(False, "--destroy", help="Block devices may be overwritten."),
    budget: str | None = typer.Option(None, "--budget", help="Budget, as in `assay run`."),
    fail_if_slower: str | None = FAIL_IF_SLOWER,
    junit: Path | None = JUNIT,
    everything: bool = EVERYTHING,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    output: Path | None = output_option("Write an HTML page, too."),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Measure two sides in turns, and say which is faster and by how much.

    Both sides are measured in each of many short rounds, in one run, until each row is decided or the time is over, so
    no earlier runs are needed. A side is a directory, a device or an engine, written with a slash, or the name of a
    target of STUDY. Two directories or devices need no study. `assay compare RUN` shows such a run again.

    With --fail-if-slower 5% the exit code is 1 if a row is significantly slower on side B and its median fell by more
    than 5 %, or if a result is missing, incomplete, cached or impossible there. It is 3 if no row is decided.

    Example: `assay ab /mnt/a /mnt/b`, `assay ab old new --study study.yaml --fail-if-slower 5%`
    """
    written = ComparisonOutput(fail_if_slower, junit, everything, as_json, output, force)
    written.write(_measure_sides((base, other), study, time, written.allowed, out, destroy, budget))


def _measure_sides(
    sides: tuple[str, str],
    study: str,
    time: str | None,
    allowed: float | None,
    out: Path,
    destroy: bool,
    budget: str | None,
) -> "SidesOutcome":
    """Measure two sides in a new run; return the outcome."""
    from assay.cli.ab.measure import measure
    from assay.cli.ab.text import sides_outcome
    from assay.run.analysis import analyse_store

    with measure(sides, study, time, allowed, out, destroy, budget) as store:
        if store.current_status() == "interrupted":
            from assay.cli.run import print_stopped

            raise typer.Exit(print_stopped(store))
        return sides_outcome(analyse_store(store))
