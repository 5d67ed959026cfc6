"""What to do next, from what the run left open: each step with the command for it."""

import math
import shlex
from collections import Counter

from assay.analyse.more_repeats import more_repeats
from assay.model.result.verdict import Verdict
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.document import Mono, Text
from assay.report.first.caveats import commonest, held, not_sound
from assay.report.view import View

_MANY = 10
"""What keeps fewer than one in so many results out is not worth a step of its own."""


def steps(view: View, answered: set[Verdict]) -> list[Text]:
    """Up to three, the most useful first.

    Args:
        view: The run.
        answered: Verdicts that are part of the answer.
    """
    run = view.run
    said: list[Text] = []
    if run.finished < run.planned and run.status in ("interrupted", "stopped"):
        staged = " --stage" if run.stages else ""
        said.append(("Finish it: ", Mono(f"assay run {run.id} --resume{staged}")))
    said += _settle(view)
    said += _against(view, answered)
    if run.prices is None:
        said.append(("Add ", Mono("prices:"), " to the study, and the report says what each target costs."))
    said.append(("Run it on other days, too, and see whether it holds: ", Mono(f"assay history {run.study}")))
    said.append(("Look at one result: ", Mono(f"assay show {run.id} {_case(view)}")))
    return said[:3]


def _against(view: View, answered: set[Verdict]) -> list[Text]:
    """What helps against the verdict that keeps most results out, which is the one that a reader is told to mind."""
    bad = [*not_sound(view, answered), *held(view, answered)]
    common = commonest(bad)
    if common is None or _MANY * len(bad) < len(view.analysis.rows):
        return []
    verdict, count = common
    each = [{finding.remedy for finding in row.findings if finding.verdict is verdict} for row in bad]
    remedies = Counter(remedy for found in each for remedy in found)
    if not remedies:
        return []
    text, helped = max(remedies.items(), key=lambda item: (item[1], item[0]))
    which = numbers.plural(count, "result") if helped == count else f"{helped:,} of {numbers.plural(count, 'result')}"
    return [f"Against what makes {which} {verdict}: {text}"]


def _settle(view: View) -> list[Text]:
    """The command that adds repeats for what is undecided, and how long that takes."""
    run = view.run
    if not run.status.startswith("complete"):
        return []
    more = more_repeats(view.analysis.rows, view.analysis.decisions, run.created_at)
    if not more.repeats:
        return []
    would = "get the fewest repeats that can show a difference" if more.few else "would likely be decided"
    what = f"{numbers.plural(more.points, 'undecided comparison')} {would}"
    if run.blocks is not None:
        return _longer(view, run.blocks.seconds + more.seconds, what)
    command = Mono(f"assay run {run.id} --resume --settle")
    return [(f"With more repeats, in at most {about_duration(more.seconds)}, {what}: ", command)]


def _longer(view: View, seconds: float, what: str) -> list[Text]:
    """The command that compares two sides for longer: its rounds are planned from the beginning."""
    words = shlex.split(view.run.command)
    if words[:2] != ["assay", "compare"]:
        return []
    kept = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if "--time" not in (before, word) and not word.startswith("--time=")
    ]
    whole = math.ceil(seconds)
    command = Mono(shlex.join([*kept, "--time", f"{whole}s"]))
    return [(f"In {about_duration(whole)}, {what}: ", command)]


def _case(view: View) -> str:
    return next((case.id for case in view.analysis.cases), "")
