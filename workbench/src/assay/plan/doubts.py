"""What a study cannot tell, whatever is measured."""

from assay.model.study.repeats import LEAST_BEFORE_LOOK, LEAST_COMPARED
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.plan.estimate import StudyEstimate

LEAST_INTERVAL = 3
"""Fewer repeats give no interval worth the name."""


def doubts(study: Study, estimate: StudyEstimate) -> tuple[str, ...]:
    """Where the study cannot answer its question, a line each with what to do; nothing if it can."""
    repeating, found = study.repeating, []
    count = f"{repeating.most} {'repeat' if repeating.most == 1 else 'repeats'}"
    if len(study.targets) > 1 and repeating.most < LEAST_COMPARED:
        found.append(
            f"{count} cannot show which target is faster, however far apart they are: leave `repeats` out, or write"
            f" {LEAST_BEFORE_LOOK} or more"
        )
    elif repeating.most < LEAST_INTERVAL:
        found.append(f"{count} give no interval worth the name: {LEAST_INTERVAL} are the least, 8 are better")
    least = estimate.least_seconds
    if repeating.time is not None and least > repeating.time / 1e9:
        limit = about_duration(repeating.time / 1e9)
        found.append(
            f"the {repeating.least} repeats that are made in any case take about {about_duration(least)}, longer than"
            f" the {limit} that the study has for all of them: use fewer cases, or shorter ones"
        )
    return tuple(found)
