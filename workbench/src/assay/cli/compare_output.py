"""What `assay compare` and `assay ab` print and write about a comparison, and the exit code that it gives."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_OK, EXIT_REFUSED, AssayError
from assay.terminal.output import note, print_blocks, print_json
from assay.terminal.output_file import JUNIT_MARK, PAGE_MARK, OutputFile, check_one_printed

if TYPE_CHECKING:
    from assay.cli.ab.text import SidesOutcome
    from assay.model.result.comparison import ComparedRow, ComparedSide, JointRuns, RunsComparison
    from assay.model.result.result import Comparison
    from assay.report.view import RunView

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?) ?%")
FAIL_IF_SLOWER = typer.Option(
    None, "--fail-if-slower", metavar="PERCENT", help="Exit with 1 if a row is slower by more than this."
)
JUNIT = typer.Option(None, "--junit", metavar="FILE", help="Write the result of --fail-if-slower as JUnit XML, too.")
EVERYTHING = typer.Option(False, "--all", help="All rows; a large study's are otherwise only those with a difference.")


class ComparisonOutput:
    """Where a comparison goes.

    Attributes:
        allowed: Greatest slowdown that `--fail-if-slower` lets pass, as a share; None without that option.
    """

    def __init__(
        self,
        fail_if_slower: str | None,
        junit: Path | None,
        everything: bool,
        as_json: bool,
        output: Path | None,
        force: bool,
    ) -> None:
        """Check the options of a command, each as the user has written it.

        Raises:
            AssayError: One is wrong, or two contradict each other.
        """
        self.allowed = None if fail_if_slower is None else _parse_percent(fail_if_slower)
        if junit is not None and self.allowed is None:
            raise AssayError(
                "--junit writes the result of --fail-if-slower, which is missing", "add --fail-if-slower 5%"
            )
        self._everything, self._as_json = everything, as_json
        self._page = None if output is None else OutputFile(output, PAGE_MARK, force)
        self._checks = None if junit is None else OutputFile(junit, JUNIT_MARK, force, "--junit")
        check_one_printed(json=as_json, output=self._page, junit=self._checks)

    @property
    def has_latencies(self) -> bool:
        """Whether latencies are shown, which take longer to compare."""
        return self._as_json or self._page is not None

    def write(self, found: "RunsComparison | SidesOutcome") -> None:
        """Print a comparison, and write its files.

        Raises:
            typer.Exit: With `--fail-if-slower`: with its exit code.
        """
        if self._checks is not None and self.allowed is not None:
            _write_junit(found, self.allowed, self._checks)
        printed = any(file is not None and file.prints for file in (self._page, self._checks))
        _output(found, self.allowed, self._everything, self._as_json, self._page, printed)
        if self.allowed is not None:
            raise typer.Exit(_exit_code(found, self.allowed))

    def write_joint(self, views: "Mapping[str, RunView]", found: "JointRuns") -> None:
        """Print several runs side by side, and write the page.

        Args:
            views: The runs by name.
            found: The same runs, compared with the first one.
        """
        from assay.report.document import Heading
        from assay.report.html import render_html
        from assay.report.joint import joint_document

        document = joint_document(views, found)
        if self._page is not None:
            self._page.write(render_html(document))
        if self._as_json:
            print_json(found.model_dump(mode="json"))
        elif self._page is None or not self._page.prints:
            shown = document.sections[1:]
            print_blocks(*(block for one in shown for block in (Heading(one.title, one.id), *one.blocks)))
        if self._page is not None and not self._page.prints:
            note(f"wrote {self._page.path}")


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
    from assay.cli.ab.text import print_answer, print_sides

    print_sides(answer)
    print_comparison(found, everything)
    print_answer(answer)


def _print_json(found: "RunsComparison", answer: "SidesOutcome | None", allowed: float | None) -> None:
    value = _json(found, allowed)
    if answer is not None:
        from assay.cli.ab.text import answer_json

        value["ab"] = answer_json(answer)
    print_json(value)


def _exit_code(what: "RunsComparison | SidesOutcome", allowed: float) -> int:
    """Print the result of --fail-if-slower; return the exit code."""
    from assay.model.result.comparison import RunsComparison

    if isinstance(what, RunsComparison):
        return _runs_exit_code(what, allowed)
    from assay.cli.ab.text import gate_code

    return gate_code(what, allowed)


def _write_junit(what: "RunsComparison | SidesOutcome", allowed: float, file: OutputFile) -> None:
    from assay.analyse.runs import gate
    from assay.model.result.comparison import RunsComparison
    from assay.report.formats.junit import junit_text

    if isinstance(what, RunsComparison):
        result = gate(what, allowed)
        text = junit_text(what, result, result.slower, result.unjudged, allowed)
    else:
        from assay.cli.ab.text import not_judged, slower_rows

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
        "typical_difference": found.typical_difference,
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
        "unit": "operations/s" if row.is_counted else "bytes/s",
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
        "autocorrelation": pair.autocorrelation,
        "simultaneous_low": None if pair.simultaneous_low is None else pair.simultaneous_low - 1,
        "simultaneous_high": None if pair.simultaneous_high is None else pair.simultaneous_high - 1,
        "observations": pair.unit,
        "significant": pair.separable,
        "too_few_repeats": pair.has_too_few,
    }


def _side_json(side: "ComparedSide") -> dict[str, Any]:
    found = {**side.rate.model_dump(), "verdict": str(side.verdict)}
    for name, item in (("p50", side.p50), ("p99", side.p99)):
        low, high = (None, None) if item is None else item.interval
        found |= {f"{name}_ns": None if item is None else item.value, f"{name}_low_ns": low, f"{name}_high_ns": high}
        found |= {f"{name}_quality": None if item is None else str(item.quality)}
    return found
