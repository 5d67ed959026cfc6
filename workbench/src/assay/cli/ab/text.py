"""The outcome of a run of two sides in turns: in words, as JSON and as an exit code."""

from typing import Any, NamedTuple

from assay.analyse.blocks import SideState, side_state
from assay.analyse.decide import MAX_NEEDED
from assay.analyse.runs import Gate, UnjudgedRow, compare_targets, gate
from assay.cli.compare_text import note_unjudged
from assay.model.base import EXIT_INCOMPLETE, EXIT_OK, EXIT_REFUSED
from assay.model.result.comparison import ComparedRow, RunsComparison
from assay.model.result.decision import PointDecision
from assay.model.result.result import RunAnalysis
from assay.model.study.blocks import LOOK_ROUNDS, Blocks
from assay.model.units import about_duration
from assay.report.numbers import difference_text, plural
from assay.report.summary.sentences import difference_bound
from assay.terminal.output import note, print_line

SHOWN_ROWS = 12
"""Undecided rows beyond this number are only counted."""
TOO_WIDE = 100
"""An interval whose upper end is more than this many times its lower end is too wide to show a difference."""


class SidesOutcome(NamedTuple):
    """The outcome of a comparison of two sides.

    Attributes:
        comparison: The comparison of all rows.
        points: (workload, operation, axes) -> decision at that point.
        blocks: How the run was to be measured and judged.
        sides: Name -> description of the side.
        rounds: Number of measured rounds.
        seconds: Time that they took.
    """

    comparison: RunsComparison
    points: dict[object, PointDecision]
    blocks: Blocks
    sides: dict[str, str]
    rounds: int
    seconds: float

    def point(self, row: ComparedRow) -> PointDecision:
        """Return the run's decision for a row."""
        pair = row.comparison
        return self.points[pair.workload, pair.operation, tuple(pair.axes.items())]

    def outcome(self, row: ComparedRow) -> SideState:
        """Return the outcome of a row for the other side: faster, slower, equal, open or no result."""
        return side_state(self.point(row), self.blocks.other)

    def rows_with(self, outcome: SideState) -> list[ComparedRow]:
        """Return the rows with this outcome."""
        return [row for row in self.comparison.rows if self.outcome(row) == outcome]


def sides_outcome(run: RunAnalysis) -> SidesOutcome:
    """Return the outcome of a run; it must have two sides (`blocks`)."""
    assert run.run.blocks is not None
    rounds = max((job.repeat for job in run.jobs), default=0)
    seconds = sum(job.seconds for job in run.jobs)
    points: dict[object, PointDecision] = {
        (one.workload, one.operation, tuple(point.axes.items())): point for one in run.decisions for point in one.points
    }
    return SidesOutcome(compare_targets(run), points, run.run.blocks, _sides(run), rounds, seconds)


def _sides(run: RunAnalysis) -> dict[str, str]:
    """Return the description of each side: its engine and its path, where it has them."""
    assert run.run.blocks is not None
    paths, versions = {place.target: place.path for place in run.run.places}, run.run.versions
    found = {}
    for name in (run.run.blocks.base, run.run.blocks.other):
        sha = versions.get(f"engine_sha256 {name}", "")
        engine = f"assay-engine {versions.get(f'assay-engine {name}', '')}, sha256 {sha[:12]}" if sha else ""
        found[name] = ", at ".join(words for words in (engine, paths.get(name, "")) if words)
    return found


def print_sides(answer: SidesOutcome) -> None:
    """Print the two sides, a line each."""
    width = max(map(len, answer.sides))
    for name, words in answer.sides.items():
        print_line(f"{name.ljust(width)}  {words}".rstrip())


def print_answer(answer: SidesOutcome) -> None:
    """Print the rounds, and which rows are equal, undecided or without a result, with reasons."""
    equal, undecided = answer.rows_with("equal"), answer.rows_with("open")
    within, other = f"{100 * answer.blocks.within:g} %", answer.blocks.other
    print_line(f"{plural(answer.rounds, 'round')} in {about_duration(answer.seconds)}, each with both sides in turns")
    if equal:
        print_line(f"equal within {within}: {plural(len(equal), 'row')}")
    for row in undecided[:SHOWN_ROWS]:
        print_line(f"undecided: {row.what}: {_undecided_words(answer, row)}")
    if len(undecided) > SHOWN_ROWS:
        print_line(f"undecided: {plural(len(undecided) - SHOWN_ROWS, 'row')} more")
    if words := _no_difference(undecided):
        print_line(words)
    without_result = answer.rows_with("no result")
    for row in without_result[:SHOWN_ROWS]:
        print_line(f"no result: {row.what}: {answer.point(row).why}")
    if not undecided and len(without_result) < len(answer.comparison.rows):
        every = "every row" if not without_result else "every other row"
        print_line(f"decided: {every} shows whether {other} is faster, slower, or equal within {within}")


def _no_difference(undecided: list[ComparedRow]) -> str:
    """Return how large the difference may be in rows that show none; empty if no row bounds it."""
    bounds = [(row.comparison.simultaneous_low, row.comparison.simultaneous_high) for row in undecided]
    known = [(low, high) for low, high in bounds if low is not None and high is not None and low <= 1 <= high]
    sized = [(low, high) for low, high in known if low > 0 and high <= TOO_WIDE * low]
    if not sized:
        return ""
    most = max(max(1 / low, high) for low, high in sized)
    return f"no difference found in {plural(len(sized), 'row')}: {difference_bound(most)}"


def _undecided_words(answer: SidesOutcome, row: ComparedRow) -> str:
    """Return the range of an undecided row's difference, and how many more rounds would likely decide it."""
    pair = row.comparison
    if pair.simultaneous_low is None or pair.simultaneous_high is None:
        return "too few rounds on a side"
    point = answer.point(row)
    if point.needs is None:
        return f"{_range_words(answer, row)}; {point.why}"
    if point.needs > MAX_NEEDED:
        return f"{_range_words(answer, row)}; it would take more than {MAX_NEEDED:,} rounds"
    more = f" ({about_duration(point.seconds)} more)" if point.seconds else ""
    return f"{_range_words(answer, row)}; about {point.needs} rounds{more} would likely decide it"


def _range_words(answer: SidesOutcome, row: ComparedRow) -> str:
    """Return the range of the difference from the interval that holds for all rows at once."""
    pair = row.comparison
    assert pair.simultaneous_low is not None and pair.simultaneous_high is not None
    if pair.simultaneous_high > TOO_WIDE * pair.simultaneous_low:
        return f"too noisy to compare {answer.blocks.other}: the rounds differ too much"
    low, high = difference_text(pair.simultaneous_low), difference_text(pair.simultaneous_high)
    return f"{answer.blocks.other} is {low} to {high}"


def gate_code(answer: SidesOutcome, allowed: float) -> int:
    """Print the result of --fail-if-slower on standard error; return the exit code."""
    result = gate(answer.comparison, allowed)
    slow = slower_rows(answer, result)
    for row in slow:
        note(f"slower: {row.name}: {100 * (1 - row.comparison.ratio):.1f} %, more than {100 * allowed:g} %")
    for line in result.lost:
        note(f"broken: {line}")
    note_unjudged(not_judged(answer, result))
    if slow or result.lost:
        return EXIT_INCOMPLETE
    if not any(answer.rows_with(outcome) for outcome in ("faster", "slower", "equal")):
        note("error: no row is decided, so --fail-if-slower cannot be checked")
        more = (
            "give more time with --time" if answer.rounds < LOOK_ROUNDS[-1] else "make the repeats of the study longer"
        )
        note(f"hint: {more}, or stop other load on this machine")
        return EXIT_REFUSED
    return EXIT_OK


def slower_rows(answer: SidesOutcome, result: Gate) -> list[ComparedRow]:
    """Return the rows that the gate finds slower and that the rounds have decided to be slower."""
    return [row for row in result.slower if answer.outcome(row) == "slower"]


def not_judged(answer: SidesOutcome, result: Gate) -> list[UnjudgedRow]:
    """Return the rows that the gate could not judge, and the undecided rows, which cannot show a slowdown either."""
    known = {row.name for row in answer.comparison.rows if row.comparison.has_too_few}
    undecided = (row for row in answer.rows_with("open") if row.name not in known)
    more = [
        UnjudgedRow(row.name, f"undecided: {_range_words(answer, row)}; {answer.point(row).why}") for row in undecided
    ]
    return [*result.unjudged, *more]


def answer_json(answer: SidesOutcome) -> dict[str, Any]:
    """Return the outcome for programs; times in seconds."""
    kinds: tuple[SideState, ...] = ("faster", "slower", "equal", "open", "no result")
    return {
        "sides": answer.sides,
        "rounds": answer.rounds,
        "seconds": answer.seconds,
        "equal_within": answer.blocks.within,
        **{kind.replace(" ", "_"): [row.name for row in answer.rows_with(kind)] for kind in kinds},
    }
