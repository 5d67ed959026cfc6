"""A comparison of runs as text, in the style of Go's benchstat."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby

from assay.analyse.between import LEAST_RUNS
from assay.analyse.runs import HOW_TO_TELL, Unjudged, geometric_means
from assay.cli.output import note, say
from assay.model.result.comparison import ComparedRow, RunName, RunsComparison
from assay.model.result.environment import EnvironmentDifference
from assay.model.result.result import Estimate
from assay.model.study.repeats import LEAST_COMPARED
from assay.model.units import about_rate
from assay.report import numbers
from assay.report.latencies import latency_rows, latency_words

FIRST_ROWS = 40
FIRST_DIFFERENCES = 12
FIRST_LATENCIES = 8
MOST_PERCENT = 11
"""A ratio from this on is written as a factor."""
FIRST_UNJUDGED = 3
"""With more rows that were not judged for the same reason, one of them stands for all."""
NOTHING = "~"

Cells = tuple[str, ...]

_NUMBERS = ("95 % interval", "p", "effect", "n", "")


def print_comparison(found: RunsComparison, everything: bool) -> None:
    """Print a table for each pair of targets, what could not be compared, and what differs in the environment.

    Args:
        found: The comparison.
        everything: Also of more than `FIRST_ROWS` rows all; otherwise those with a difference or a caveat come first.
    """
    one = found.before.id == found.after.id
    if one:
        say(f"run     {run_words(found.before)}")
    else:
        for name, run, count in zip(("before", "after"), (found.before, found.after), found.runs, strict=True):
            say(f"{name:7} {run_words(run)}{f', the last of {count}' if count > 1 else ''}")
    for run in dict.fromkeys((found.before, found.after)):
        if run.disturbed:
            say(f"machine {run.id}: something else than the storage had a part in it; see `assay show {run.id}`")
    shown = list(found.rows) if everything else _first(found.rows)
    for (base, other), rows in groupby(shown, key=lambda row: (row.comparison.base, row.comparison.other)):
        say(f"\n{base if base == other else f'{other} against {base}'}")
        _print_table(list(rows), [row for row in found.rows if _pair(row) == (base, other)])
    say("")
    if len(shown) < len(found.rows):
        say(f"{len(found.rows) - len(shown)} more rows without a significant difference: --all")
    _print_summary(found)
    _print_latencies(found, everything)
    _print_differences(found.differences, one)


def run_words(run: RunName) -> str:
    """Such as `20261121-211503-quickstart (complete, 2026-11-21 21:15 UTC)`."""
    return f"{run.id} ({run.status}, {datetime.fromtimestamp(run.created_at, UTC):%Y-%m-%d %H:%M} UTC)"


def _pair(row: ComparedRow) -> tuple[str, str]:
    return row.comparison.base, row.comparison.other


def _first(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """At most so many rows, in their order; those worth a look, then others."""
    worth = sorted(range(len(rows)), key=lambda place: not (rows[place].comparison.separable or _remarks(rows[place])))
    return [rows[place] for place in sorted(worth[:FIRST_ROWS])]


def _print_table(rows: Sequence[ComparedRow], every: Sequence[ComparedRow]) -> None:
    base, other = _pair(rows[0])
    names = ("before", "after") if base == other else (base, other)
    lines = [("", *names, f"vs {names[0]}", *_NUMBERS), *map(_cells, rows), *_means(every)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [
            cell.ljust(width) if column in (0, len(widths) - 1) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        say(f"{cells[0]}  | {cells[1]} | {'  '.join(cells[2:])}".rstrip())


def _cells(row: ComparedRow) -> Cells:
    pair = row.comparison
    interval = "" if pair.low is None or pair.high is None else f"{_change(pair.low)} to {_change(pair.high)}"
    return (
        row.what,
        _estimate(row.before.rate, row.metadata),
        _estimate(row.after.rate, row.metadata),
        _change(pair.ratio) if pair.separable else NOTHING,
        interval,
        _p(pair.p_adjusted),
        "" if pair.effect is None else f"{pair.effect:+.2f}",
        f"{pair.n_base}" if pair.n_base == pair.n_other else f"{pair.n_base}+{pair.n_other}",
        _remarks(row),
    )


def _estimate(rate: Estimate, metadata: bool) -> str:
    reach = "?" if rate.reach is None else f"{100 * rate.reach:.0f}%"
    return f"{about_rate(rate.median, metadata)} ± {reach:>3}"


def _change(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.1f}%" if ratio < MOST_PERCENT else f"x {numbers.significant(ratio)}"


def _p(p: float | None) -> str:
    return "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _remarks(row: ComparedRow) -> str:
    """Why the figures should be taken with care; empty if nothing speaks against them."""
    few = "too few repeats" if row.comparison.too_few and row.comparison.unit == "repeat" else ""
    return "; ".join(words for words in (row.comparison.caveat, few) if words)


def _means(rows: Iterable[ComparedRow]) -> list[Cells]:
    """A line for bytes and one for metadata operations, whose rates have no common mean."""
    lines = []
    every = list(rows)
    for metadata in (False, True):
        means = geometric_means([row for row in every if row.metadata == metadata])
        if means:
            before, after, count = means
            name = f"geometric mean of {count} {'row' if count == 1 else 'rows'}"
            rates = (about_rate(rate, metadata) + " " * 6 for rate in (before, after))
            lines.append((name, *rates, _change(after / before), "", "", "", "", ""))
    return lines


def _print_summary(found: RunsComparison) -> None:
    counted = [row.comparison for row in found.rows if not row.no_result]
    differ = [pair for pair in counted if pair.separable]
    slower = sum(pair.ratio < 1 for pair in differ)
    same = len(counted) - len(differ)
    counts = f"{len(differ) - slower} faster, {slower} slower, {same} without a significant difference (~)"
    none = len(found.rows) - len(counted)
    counts += f", {none} with a side that is cached, impossible or incomplete" if none else ""
    say(f"{numbers.plural(len(found.rows), 'row')}: {counts}")
    if found.before.id != found.after.id:
        _print_knowledge(found)
    few = sum(row.comparison.too_few and row.comparison.unit == "repeat" for row in found.rows)
    if few:
        say(f"{few} of them have fewer than {LEAST_COMPARED} repeats on a side: no difference is called there")
    for row in found.uncompared:
        say(f"not compared: {row.name}: {row.reason}")


def _print_latencies(found: RunsComparison, everything: bool) -> None:
    """How many rows have a longer or shorter p50 and p99, and which."""
    for name, rows in latency_rows(found).items():
        say(f"{name} of latency: {latency_words(found, name)}")
        different = [row for row in rows if row.pair.separable]
        for row in different if everything else different[:FIRST_LATENCIES]:
            interval = (
                f" ({_change(row.pair.low)} to {_change(row.pair.high)})" if row.pair.low and row.pair.high else ""
            )
            caveat = f"; {row.pair.caveat}" if row.pair.caveat else ""
            times = f"{numbers.latency(row.before)} -> {numbers.latency(row.after)}"
            say(f"  {row.name}: {times}, {_change(row.pair.ratio)}{interval}, p {_p(row.pair.p_adjusted)}{caveat}")
        if len(different) > FIRST_LATENCIES and not everything:
            say(f"  and {len(different) - FIRST_LATENCIES} more: --all")


def _print_knowledge(found: RunsComparison) -> None:
    """What tells a change from chance."""
    if min(found.runs) >= LEAST_RUNS:
        say(f"each run counts as one: {found.runs[0]} before, {found.runs[1]} after")
    elif found.typical is not None:
        words = f"two runs of a typical row are less than {f'{100 * found.typical:.2g} %'} apart in 95 of 100 cases"
        say(f"{found.known_runs} runs of this study, all but those after, tell what chance does: {words}")
    else:
        say("two runs alone do not tell a change from what days do, so that no difference is called")
        say(f"to find out: {HOW_TO_TELL}")


def _print_differences(differences: Sequence[EnvironmentDifference], one: bool) -> None:
    if one:
        return
    matter = [difference for difference in differences if difference.matters]
    if not matter:
        say("nothing that commonly changes results differs in the environment")
        return
    say("\nIn the environment these differ, which commonly changes results:")
    print_differences(matter)


def print_differences(differences: Sequence[EnvironmentDifference]) -> None:
    """Print one line each, the first ones."""
    for item in differences[:FIRST_DIFFERENCES]:
        before, after = item.before or "(not recorded)", item.after or "(not recorded)"
        say(f"  {item.section} {item.name}: {before} -> {after}")
    if len(differences) > FIRST_DIFFERENCES:
        say(f"  and {len(differences) - FIRST_DIFFERENCES} more: assay env --diff RUN RUN")


def note_unjudged(rows: Iterable[Unjudged]) -> None:
    """Say on standard error what was not judged; rows with the same reason in one line if they are many."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        by_reason.setdefault(row.why, []).append(row.row)
    for why, names in by_reason.items():
        if len(names) <= FIRST_UNJUDGED:
            for name in names:
                note(f"not judged: {name}: {why}")
        else:
            note(f"not judged: {len(names):,} rows, the first {names[0]}: {why}")
