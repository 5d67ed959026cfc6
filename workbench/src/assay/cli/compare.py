"""`assay compare`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_OK, EXIT_REFUSED, AssayError
from assay.terminal.output import note, print_json
from assay.terminal.output_file import FORCE, JUNIT_MARK, PAGE_MARK, OutputFile, check_one_printed, output_option
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.cli.ab_text import SidesOutcome
    from assay.model.result.comparison import ComparedRow, ComparedSide, RunsComparison
    from assay.model.result.result import Comparison, RunAnalysis

BY = ("target",)
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")


def command(
    runs: list[str] | None = typer.Argument(
        None,
        metavar="RUN[,RUN...] [RUN[,RUN...]]",
        autocompletion=matching_runs,
        help="Id of a run, a unique beginning of it, `last`, the name of a study, or a path; the older one first. "
        "Commas join several.",
    ),
    ab: tuple[str, str] | None = typer.Option(
        None, "--ab", metavar="A B", help="Measure two sides in turns: directories, devices, targets, or engines."
    ),
    study: str = typer.Option("", "--study", metavar="STUDY", help="With --ab: the study to run on both sides."),
    time: str | None = typer.Option(
        None, "--time", metavar="TIME", help="With --ab: longest time to measure; 5m if left out."
    ),
    destroy: bool = typer.Option(False, "--destroy", help="With --ab: block devices may be overwritten."),
    budget: str | None = typer.Option(None, "--budget", help="With --ab: budget, as in `assay run`."),
    by: str | None = typer.Option(
        None, "--by", metavar="target", help="One run: compare its targets. Two runs: each target with each."
    ),
    fail_if_slower: str | None = typer.Option(
        None,
        "--fail-if-slower",
        metavar="PERCENT",
        help="Exit with 1 if a row is slower by more than this.",
    ),
    junit: Path | None = typer.Option(
        None, "--junit", metavar="FILE", help="Write the result of --fail-if-slower as JUnit XML, too."
    ),
    everything: bool = typer.Option(
        False, "--all", help="All rows; a large study's are otherwise only those with a difference."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    output: Path | None = output_option("Write an HTML page, too."),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Compare two runs, the targets of one run, or, with --ab, two sides measured now in turns.

    Rows are compared if target, workload, operation and parameters are the same. If the runs have one target each, its
    name does not matter. `~` means no significant difference, after adjustment for the number of rows (Bonferroni).

    Repeats of a run share the conditions of its day, so each run counts as one observation. The variation from day to
    day is estimated from three or more runs on each side, joined by commas, or from at least three other runs of the
    study in the folder. Two runs alone show no difference. Targets of one run are compared round by round. p50 and p99
    of latency are compared too, if both sides have enough operations; between runs that takes three runs a side.
    Differences in the environment are printed below.

    --ab needs no earlier runs: both sides are measured in each of many short rounds, in one run, until each row is
    decided or the time is over. A side is a directory, a device or an engine, written with a slash, or the name of a
    target of STUDY. Two directories or devices need no study. `assay compare RUN` shows such a run again.

    With --fail-if-slower 5% the exit code is 1 if a row is significantly slower and its median fell by more than 5 %.
    It is also 1 if a result is missing or incomplete in the second run, or has become cached or impossible there: a
    broken benchmark must not pass. It is 3 if there are too few runs for a judgement, or if --ab decided no row.

    Example: `assay compare 20261121 last`, `assay compare last --by target`, `assay compare a1,a2,a3 b1,b2,b3`,
    `assay compare a b --fail-if-slower 5%`, `assay compare --ab /mnt/a /mnt/b`
    """
    allowed = None if fail_if_slower is None else _parse_percent(fail_if_slower)
    if junit is not None and allowed is None:
        raise AssayError("--junit writes the result of --fail-if-slower, which is missing", "add --fail-if-slower 5%")
    page = None if output is None else OutputFile(output, PAGE_MARK, force)
    checks = None if junit is None else OutputFile(junit, JUNIT_MARK, force, "--junit")
    check_one_printed(json=as_json, output=page, junit=checks)
    if ab is None:
        _refuse_ab_options({"--study": study, "--time": time, "--destroy": destroy, "--budget": budget})
        found = _compare_runs(runs or [], by, out, latencies=as_json or page is not None)
    else:
        if runs or by is not None:
            raise AssayError("--ab measures two sides now, and takes no stored runs", "leave out the runs and --by")
        found = _measure_sides(ab, study, time, allowed, out, destroy, budget)
    if checks is not None and allowed is not None:
        _write_junit(found, allowed, checks)
    printed = any(file is not None and file.prints for file in (page, checks))
    _output(found, allowed, everything, as_json, page, printed)
    if allowed is not None:
        raise typer.Exit(_exit_code(found, allowed))


def _refuse_ab_options(words: dict[str, object]) -> None:
    for name, value in words.items():
        if value:
            raise AssayError(f"{name} works only with --ab A B", "leave it out, or name two sides with --ab")


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
    from assay.cli.ab import measure
    from assay.cli.ab_text import sides_outcome
    from assay.run.analysis import analyse_store

    with measure(sides, study, time, allowed, out, destroy, budget) as store:
        if store.current_status() == "interrupted":
            from assay.cli.run import print_stopped

            raise typer.Exit(print_stopped(store))
        return sides_outcome(analyse_store(store))


def _output(
    what: "RunsComparison | SidesOutcome",
    allowed: float | None,
    everything: bool,
    as_json: bool,
    page: OutputFile | None,
    printed: bool,
) -> None:
    """Write the page and print the comparison; if `printed`, a file goes to standard output instead."""
    from assay.model.result.comparison import RunsComparison

    answer = None if isinstance(what, RunsComparison) else what
    found = what if isinstance(what, RunsComparison) else what.comparison
    if page is not None:
        _write_page(found, page)
    if as_json:
        _print_json(found, answer, allowed)
    elif not printed:
        _print_text(found, answer, everything)
    if page is not None and not page.prints:
        note(f"wrote {page.path}")


def _print_text(found: "RunsComparison", answer: "SidesOutcome | None", everything: bool) -> None:
    from assay.cli.compare_text import print_comparison

    if answer is None:
        print_comparison(found, everything)
        return
    from assay.cli.ab_text import print_answer, print_sides

    print_sides(answer)
    print_comparison(found, everything)
    print_answer(answer)


def _print_json(found: "RunsComparison", answer: "SidesOutcome | None", allowed: float | None) -> None:
    value = _json(found, allowed)
    if answer is not None:
        from assay.cli.ab_text import answer_json

        value["ab"] = answer_json(answer)
    print_json(value)


def _exit_code(what: "RunsComparison | SidesOutcome", allowed: float) -> int:
    """Print the result of --fail-if-slower; return the exit code."""
    from assay.model.result.comparison import RunsComparison

    if isinstance(what, RunsComparison):
        return _runs_exit_code(what, allowed)
    from assay.cli.ab_text import gate_code

    return gate_code(what, allowed)


def _write_junit(what: "RunsComparison | SidesOutcome", allowed: float, file: OutputFile) -> None:
    from assay.analyse.runs import gate
    from assay.model.result.comparison import RunsComparison
    from assay.report.formats.junit import junit_text

    if isinstance(what, RunsComparison):
        result = gate(what, allowed)
        text = junit_text(what, result, result.slower, result.unjudged, allowed)
    else:
        from assay.cli.ab_text import not_judged, slower_rows

        result = gate(what.comparison, allowed)
        text = junit_text(what.comparison, result, slower_rows(what, result), not_judged(what, result), allowed)
    file.write(text)
    if not file.prints:
        note(f"wrote {file.path}")


def _parse_percent(text: str) -> float:
    match = _PERCENT.fullmatch(text.strip())
    if not match or float(match[1]) >= 100:
        raise AssayError(f"--fail-if-slower {text!r} is not a percentage below 100", "write --fail-if-slower 5%")
    return float(match[1]) / 100


def _compare_runs(runs: list[str], by: str | None, out: Path, latencies: bool) -> "RunsComparison | SidesOutcome":
    from assay.analyse.runs import compare_targets
    from assay.run.analysis import load_analysis
    from assay.run.between_runs import compare_with_history

    if by is not None and by not in BY:
        raise AssayError(f"--by {by!r} is unknown", "write --by target")
    if len(runs) > 2:
        hint = "name two, or join the runs of a side by commas; `assay history STUDY` shows all runs of a study"
        raise AssayError(f"{len(runs)} runs are named", hint)
    if not runs:
        raise AssayError("no run is named", "name two runs, or two sides to measure with --ab A B")
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


def _refuse_twice(side: "list[RunAnalysis]") -> None:
    """Raise an error if a side names a run twice: one day would count as several observations."""
    known: set[tuple[str, float]] = set()
    for one in side:
        if (one.run.id, one.run.created_at) in known:
            raise AssayError(f"run {one.run.id} is named more than once on a side", "name each run once")
        known.add((one.run.id, one.run.created_at))


def _stored_answer(run: str, out: Path) -> "SidesOutcome":
    """Return the outcome of a stored run of two sides."""
    from assay.cli.ab_text import sides_outcome
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


def _write_page(found: "RunsComparison", page: OutputFile) -> None:
    from assay.report.comparison_page import comparison_document
    from assay.report.html import render_html

    page.write(render_html(comparison_document(found)))


def _runs_exit_code(found: "RunsComparison", allowed: float) -> int:
    """Print the result of --fail-if-slower for stored runs on standard error; return the exit code."""
    from assay.analyse.runs import MORE_RUNS_HINT, gate, undetectable_count
    from assay.cli.compare_text import note_unjudged

    result = gate(found, allowed)
    for row in result.slower:
        note(f"slower: {row.name}: {100 * (1 - row.comparison.ratio):.1f} %, more than {100 * allowed:g} %")
    for line in result.lost:
        note(f"broken: {line}")
    note_unjudged(result.unjudged)
    if few := undetectable_count(found, allowed):
        note(
            f"note: {few:,} of {len(found.rows):,} rows may be slower by more than {100 * allowed:g} % undetected:"
            " the runs differ too much from day to day"
        )
    if result.is_undecided and not result.lost:
        note("error: these runs cannot be judged: the day-to-day variation of this study is unknown")
        note(f"hint: {MORE_RUNS_HINT}")
        return EXIT_REFUSED
    return EXIT_INCOMPLETE if result.slower or result.lost else EXIT_OK


def _json(found: "RunsComparison", allowed: float | None) -> dict[str, Any]:
    value: dict[str, Any] = {
        "before": found.before,
        "after": found.after,
        "runs_before": found.runs[0],
        "runs_after": found.runs[1],
        "other_runs": found.known_runs,
        "typical_difference": found.typical,
        "rows": [_row_json(row) for row in found.rows],
        "uncompared": found.uncompared,
        "environment_differences": found.differences,
    }
    if allowed is not None:
        from assay.analyse.runs import gate

        result = gate(found, allowed)
        names = [row.name for row in result.slower]
        unjudged = [str(row) for row in result.unjudged]
        broken = [str(one) for one in result.lost]
        value["gate"] = {"allowed": allowed, "slower": names, "broken": broken, "not_judged": unjudged}
    return value


def _row_json(row: "ComparedRow") -> dict[str, Any]:
    """Return a row for programs: rates in `unit`, differences as shares of the rate or latency before."""
    pair = row.comparison
    return {
        "target_before": pair.base,
        "target_after": pair.other,
        "workload": pair.workload,
        "operation": pair.operation,
        "axes": pair.axes,
        "what": row.what,
        "unit": "operations/s" if row.counted else "bytes/s",
        "before": _side_json(row.before),
        "after": _side_json(row.after),
        **_difference_json(pair),
        "p50": None if row.p50 is None else _difference_json(row.p50),
        "p99": None if row.p99 is None else _difference_json(row.p99),
        "caveat": pair.caveat,
    }


def _difference_json(pair: "Comparison") -> dict[str, Any]:
    return {
        "difference": pair.ratio - 1,
        "difference_low": None if pair.low is None else pair.low - 1,
        "difference_high": None if pair.high is None else pair.high - 1,
        "effect": pair.effect,
        "p": pair.p,
        "p_adjusted": pair.p_adjusted,
        "p_own": pair.p_own,
        "likeness": pair.likeness,
        "sure_low": None if pair.sure_low is None else pair.sure_low - 1,
        "sure_high": None if pair.sure_high is None else pair.sure_high - 1,
        "observations": pair.unit,
        "significant": pair.separable,
        "too_few_repeats": pair.has_too_few,
    }


def _side_json(side: "ComparedSide") -> dict[str, Any]:
    found = {**side.rate.model_dump(), "verdict": str(side.verdict)}
    for name, item in (("p50", side.p50), ("p99", side.p99)):
        low, high = (None, None) if item is None else item.interval
        found |= {f"{name}_ns": None if item is None else item.value, f"{name}_low_ns": low, f"{name}_high_ns": high}
        found |= {f"{name}_standing": None if item is None else str(item.quality)}
    return found
