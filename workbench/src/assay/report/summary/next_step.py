"""The next step after a run, with the command for it."""

import math
import shlex
from itertools import pairwise
from pathlib import Path

from assay.analyse.machine import busy_text
from assay.analyse.needs.answers import need_answers
from assay.analyse.needs.outcome import NeedStatus
from assay.analyse.repeats.more_repeats import more_repeats
from assay.model.result.verdict import OWN_SPEED, Verdict
from assay.model.study.needs import TIME
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.document import Mono, Text
from assay.report.summary.caveats import (
    lower_bound_rows,
    most_frequent_verdict,
    remedy_of,
    targets_without_rate,
    unusable_rows,
)
from assay.report.view import RunView

CONVERTED = ("fio", "iozone", "ior", "mdtest", "elbencho", "warp")
"""Tools whose command lines `assay study from` converts."""


def next_step(view: RunView, answered: set[Verdict]) -> Text:
    """Return the most useful next step.

    Args:
        view: The run.
        answered: Verdicts that are part of the answer, and so no reason for a step.
    """
    run = view.run
    if run.imports:
        return _after_import(view)
    if run.lost_server is not None:
        return ("Measure on another stack: ", Mono(run.command))
    if run.finished < run.planned and run.status in ("interrupted", "stopped"):
        staged = " --stage" if run.stages else ""
        return ("Finish it: ", Mono(f"assay run {run.id} --resume{staged}{_out(view)}"))
    if unmeasured := targets_without_rate(view):
        case = next((case.id for case in view.analysis.cases if case.target in unmeasured), "")
        have = "has" if len(unmeasured) == 1 else "have"
        return (
            f"See why {numbers.listing(unmeasured)} {have} no result: ",
            Mono(f"assay show {run.id} {case}{_out(view)}"),
        )
    bad = [*unusable_rows(view, answered), *lower_bound_rows(view, answered)]
    if (common := most_frequent_verdict(bad)) is not None and 2 * len(bad) > len(view.analysis.rows):
        which = f"{common[1]:,} {'result is' if common[1] == 1 else 'results are'} {common[0]}"
        case = next(row.case.id for row in bad if common[0] in row.verdicts)
        return (
            f"{which[0].upper()}{which[1:]}. {remedy_of(bad)} Why: ",
            Mono(f"assay show {run.id} {case}{_out(view)}"),
        )
    if busy_text(run.controls) and view.analysis.machine is not None:
        return ("Repeat it on an idle machine: ", Mono(run.command))
    for step in (*_settle(view), *_unknown_needs(view)):
        return step
    again = ("Repeat it on another day: ", Mono(run.command), "; then compare: ")
    return (*again, Mono(f"assay history {run.study}{_out(view)}"))


def _after_import(view: RunView) -> Text:
    """Return how to measure the same work with Assay if the tool's command is known, else where all figures are."""
    for one in view.run.imports:
        words = one.command.split()
        if one.tool.lower() in CONVERTED and words and Path(words[0]).name == one.tool.lower():
            again = Mono(f"assay study from {one.tool.lower()} {shlex.quote(one.command)}")
            return ("Measure the same work with Assay, repeated and checked; a study of this command: ", again)
    case = view.analysis.rows[0].case.id if view.analysis.rows else ""
    what = "See every figure as it is printed in the file, and which checks could not run: "
    return (what, Mono(f"assay show {shlex.quote(view.run.id)} {case}{_out(view)}"))


def _out(view: RunView) -> str:
    """Return the option for the folder of runs, as the run's own command has it; empty if it has none."""
    words = shlex.split(view.run.command)
    for before, word in pairwise(words):
        if before == "--out":
            return f" --out {shlex.quote(word)}"
    return next((f" {shlex.quote(word)}" for word in words if word.startswith("--out=")), "")


def _unknown_needs(view: RunView) -> list[Text]:
    """Return the step that repeats the study more often, since that narrows the intervals of undecided needs.

    Where other programs may be why a command took too long, its interval is beyond the limit already.
    """
    noisy = [
        (answer.need, one.outcome, one.row)
        for answer in need_answers(view.run.needs, view.analysis.rows)
        for one in answer.results
        if one.outcome.status is NeedStatus.UNDECIDED and one.outcome.value is not None and one.row.verdict in OWN_SPEED
    ]
    if not noisy:
        return []
    if all(need.measure == TIME and (outcome.low or 0.0) >= need.limit for need, outcome, _ in noisy):
        return [("Repeat it on an idle machine: ", Mono(view.run.command))]
    repeats = 4 * max((row.rate.n for _, _, row in noisy if row.rate is not None), default=5)
    what = numbers.plural(len(noisy), "undecided need")
    return [(f"{repeats:,} repeats may decide {what}{_whole(view, repeats)}: ", Mono(_again(view, repeats)))]


def _settle(view: RunView) -> list[Text]:
    """Return the step that adds repeats for undecided comparisons, with the time it takes."""
    run = view.run
    if not run.status.startswith("complete"):
        return []
    more = more_repeats(view.analysis.rows, view.analysis.decisions, run.created_at)
    if not more.repeats:
        return []
    would = "get the fewest repeats that can show a difference" if more.has_too_few else "would likely be decided"
    what = f"{numbers.plural(more.point_count, 'undecided comparison')} {would}"
    if run.blocks is not None:
        return _longer(view, run.blocks.seconds + more.seconds, what)
    command = Mono(f"assay run {run.id} --resume --settle{_out(view)}")
    return [(f"With more repeats, in at most {about_duration(more.seconds)}, {what}: ", command)]


def _again(view: RunView, repeats: int) -> str:
    """Return the command of the run with this number of repeats."""
    words = shlex.split(view.run.command)
    if words[:2] != ["assay", "run"]:
        words = ["assay", "run", "STUDY"]
    words = [word for word in words if word not in ("--quiet", "--resume")]
    return _with_option(words, "--repeats", str(repeats))


def _with_option(words: list[str], option: str, value: str) -> str:
    """Return a command with an option set to a value, in place of any value that it had."""
    rest = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if option not in (before, word) and not word.startswith(f"{option}=")
    ]
    return shlex.join([*rest, option, value])


def _whole(view: RunView, repeats: int) -> str:
    """Return how long the whole study would take with so many repeats, at the speed of this run; empty if unknown."""
    samples = [sample for row in view.analysis.rows for sample in row.samples if sample.has("started_at")]
    if not samples or not view.run.finished:
        return ""
    first = min(sample.started_at for sample in samples)
    span = max(sample.started_at for sample in samples) - first
    seconds = span / view.run.finished * repeats * len(view.analysis.cases)
    return f", for which the whole study takes about {about_duration(seconds)}" if seconds >= 1 else ""


def _longer(view: RunView, seconds: float, what: str) -> list[Text]:
    """Return the step that compares two sides again and for longer, since the rounds are planned before they begin."""
    words = shlex.split(view.run.command)
    if words[:2] != ["assay", "ab"]:
        return []
    whole = math.ceil(seconds)
    command = Mono(_with_option(words, "--time", f"{whole}s"))
    return [(f"In {about_duration(whole)}, {what}: ", command)]
