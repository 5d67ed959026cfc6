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
    said += _settle(found)
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


def _settle(found: Sequence[Claim]) -> list[Text]:
    """How many repeats would likely tell what is open, and how long they take."""
    few = all(point.why == TOO_FEW for claim in found for point in claim.of(Outcome.OPEN))
    counts: list[int] = []
    seconds: dict[object, float] = {}
    for claim in found:
        for decision in claim.decisions:
            for point in decision.of(Outcome.OPEN):
                if point.needs is not None and point.needs <= MOST_NEEDED:
                    counts.append(point.needs)
                    # A repeat of a case has all of its operations.
                    key = decision.workload, tuple(point.axes.items())
                    seconds[key] = max(seconds.get(key, 0.0), point.seconds or 0.0)
    if not counts:
        return []
    what, most = numbers.plural(len(counts), "open point"), max(counts)
    command = Mono(f"assay run STUDY --repeats {most}")
    if few:
        return [(f"Fewer than {most:,} repeats show nothing of {what}: ", command)]
    time = f", some {about_duration(sum(seconds.values()))} more," if sum(seconds.values()) else ""
    return [(f"About {most:,} repeats{time} would likely tell {what}: ", command)]


def _case(view: View) -> str:
    return next((case.id for case in view.analysis.cases), "")
