"""What to do next, from what the run left open: each step with the command for it."""

from collections import Counter
from collections.abc import Sequence

from assay.analyse.decide import MOST_NEEDED, TOO_FEW
from assay.model.result.decision import Outcome
from assay.model.result.verdict import Verdict
from assay.model.units import about_duration
from assay.report import numbers
from assay.report.claims import Claim
from assay.report.document import Mono, Text
from assay.report.first.caveats import commonest, held, not_sound
from assay.report.view import View

_MANY = 10
"""What keeps fewer than one in so many results out is not worth a step of its own."""


def steps(view: View, found: Sequence[Claim], answered: set[Verdict]) -> list[Text]:
    """Up to three, the most useful first.

    Args:
        view: The run.
        found: What it claims.
        answered: Verdicts that are part of the answer.
    """
    run = view.run
    said: list[Text] = []
    if run.finished < run.planned and run.status in ("interrupted", "stopped"):
        staged = " --stage" if run.stages else ""
        said.append(("Finish it: ", Mono(f"assay run {run.id} --resume{staged}")))
    said += _settle(view, found)
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


def _settle(view: View, found: Sequence[Claim]) -> list[Text]:
    """How many repeats would likely tell what is open, and how long the study takes with so many."""
    points = [point for claim in found for point in claim.of(Outcome.OPEN)]
    few = all(point.why == TOO_FEW for point in points)
    counts = [point.needs for point in points if point.needs is not None and point.needs <= MOST_NEEDED]
    if not counts:
        return []
    what, most = numbers.plural(len(counts), "open point"), max(counts)
    command = Mono(_again(view, most))
    if few:
        return [(f"Fewer than {most:,} repeats show nothing of {what}: ", command)]
    return [(f"About {most:,} repeats of each case would likely tell {what}{_whole(view, most)}: ", command)]


def _again(view: View, repeats: int) -> str:
    """The command of the run, with so many repeats."""
    words = view.run.command.split()
    if words[:2] != ["assay", "run"]:
        words = ["assay", "run", "STUDY"]
    kept = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if word not in ("--quiet", "--resume", "--repeats") and before != "--repeats"
    ]
    return " ".join((*kept, "--repeats", str(repeats)))


def _whole(view: View, repeats: int) -> str:
    """How long the whole study takes with so many repeats, as long as each took here; empty if that is not known."""
    samples = [sample for row in view.analysis.rows for sample in row.samples]
    if not samples or not view.run.finished:
        return ""
    begun = min(sample.started_at for sample in samples)
    over = max(sample.started_at for sample in samples) - begun
    seconds = over / view.run.finished * repeats * len(view.analysis.cases)
    return f", for which the whole study takes about {about_duration(seconds)}" if seconds >= 1 else ""


def _case(view: View) -> str:
    return next((case.id for case in view.analysis.cases), "")
