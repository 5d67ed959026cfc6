"""`assay compare`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.cli.compare_output import EVERYTHING, FAIL_IF_SLOWER, JUNIT, ComparisonOutput
from assay.model.base import AssayError
from assay.terminal.output_file import FORCE, output_option
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.cli.ab.text import SidesOutcome
    from assay.model.result.comparison import RunsComparison
    from assay.model.result.result import RunAnalysis

BY = ("target",)


def command(
    runs: list[str] | None = typer.Argument(
        None,
        metavar="RUN[,RUN...]...",
        autocompletion=matching_runs,
        help="Id of a run, a unique beginning of it, `last`, the name of a study, a path, or a file of "
        "another tool. The older one first. Commas join several.",
    ),
    by: str | None = typer.Option(
        None, "--by", metavar="target", help="One run: compare its targets. Two runs: each target with each."
    ),
    fail_if_slower: str | None = FAIL_IF_SLOWER,
    junit: Path | None = JUNIT,
    everything: bool = EVERYTHING,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    output: Path | None = output_option("Write an HTML page, too."),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Compare runs, or the targets of one run.

    Rows are compared if target, workload, operation and parameters are the same. If the runs have one target each, its
    name does not matter. `~` means no significant difference, after adjustment for the number of rows (Bonferroni).

    Repeats of a run share the conditions of its day, so each run counts as one observation. The variation from day to
    day is estimated from three or more runs on each side, joined by commas, or from at least three other runs of the
    study in the folder. Two runs alone show no difference. Targets of one run are compared round by round. p50 and p99
    of latency are compared too, if both sides have enough operations; between runs that takes three runs a side.
    Differences in the environment are printed below. `assay ab A B` measures two sides now, and needs no other runs.

    With --fail-if-slower 5% the exit code is 1 if a row is significantly slower and its median fell by more than 5 %.
    It is also 1 if a result is missing or incomplete in the second run, or has become cached or impossible there: a
    broken benchmark must not pass. It is 3 if there are too few runs for a judgement.

    Three or more runs without commas stand side by side, each with a column, and are compared with the first.

    Example: `assay compare 20261121 last`, `assay compare last --by target`, `assay compare a1,a2,a3 b1,b2,b3`,
    `assay compare a b c`, `assay compare a b --fail-if-slower 5%`
    """
    written = ComparisonOutput(fail_if_slower, junit, everything, as_json, output, force)
    if runs is not None and len(runs) > 2:
        _show_runs(runs, out, written, by)
        return
    written.write(_compare_runs(runs or [], by, out, written.has_latencies))


def _compare_runs(runs: list[str], by: str | None, out: Path, latencies: bool) -> "RunsComparison | SidesOutcome":
    from assay.analyse.runs import compare_targets
    from assay.run.analysis import load_analysis
    from assay.run.between_runs import compare_with_history

    if by is not None and by not in BY:
        raise AssayError(f"--by {by!r} is unknown", "write --by target")
    if not runs:
        raise AssayError("no run is named", "name two runs; `assay ab A B` measures two sides")
    if len(runs) == 1 and not by:
        return _stored_answer(runs[0], out)
    if len(runs) == 1 and "," in runs[0]:
        raise AssayError("--by target compares the targets of one run", f"name one of {runs[0]}, or two sides")
    sides = [[load_analysis(run, out, quick=not latencies) for run in _split(side)] for side in runs]
    if len(sides) == 1:
        return compare_targets(sides[0][-1])
    for side in sides:
        _refuse_twice(side)
    before, after = (sorted(side, key=lambda one: one.run.created_at) for side in sides)
    twice = {(one.run.id, one.run.created_at) for one in before} & {(one.run.id, one.run.created_at) for one in after}
    if twice:
        if by:
            return compare_targets(before[-1])
        name, _ = next(iter(twice))
        raise AssayError(f"both are run {name}", "name two runs, or compare its targets with --by target")
    return compare_with_history(out, before, after, by_target=bool(by))


def _show_runs(runs: list[str], out: Path, written: ComparisonOutput, by: str | None) -> None:
    """Print the results of more than two runs side by side, and what differs between the runs; write the page, too.

    Raises:
        AssayError: An option or a run joined by commas needs two sides.
    """
    from assay.terminal.named_runs import load_views

    if by or written.allowed is not None or any("," in run for run in runs):
        hint = "name two, join the runs of a side by commas, or leave the option out; `assay history STUDY` shows all"
        raise AssayError(f"{len(runs)} runs are named, and this needs two sides", hint)
    from assay.run.between_runs import join_with_history

    views = load_views(runs, out)
    written.write_joint(views, join_with_history(out, [view.analysis for view in views.values()]))


def _refuse_twice(side: "list[RunAnalysis]") -> None:
    """Raise an error if a side names a run twice: one day would count as several observations."""
    known: set[tuple[str, float]] = set()
    for one in side:
        if (one.run.id, one.run.created_at) in known:
            raise AssayError(f"run {one.run.id} is named more than once on a side", "name each run once")
        known.add((one.run.id, one.run.created_at))


def _stored_answer(run: str, out: Path) -> "SidesOutcome":
    """Return the outcome of a stored run of two sides."""
    from assay.cli.ab.text import sides_outcome
    from assay.run.analysis import load_analysis

    if "," not in run:
        found = load_analysis(run, out)
        if found.run.blocks is not None:
            return sides_outcome(found)
    raise AssayError("one run is named", "name two, or compare the targets of one with --by target")


def _split(side: str) -> list[str]:
    """Return the runs of a side, which are separated by commas."""
    names = [name.strip() for name in side.split(",")]
    if not all(names):
        raise AssayError(f"{side!r} has no run after a comma", "write RUN,RUN,RUN")
    return names
