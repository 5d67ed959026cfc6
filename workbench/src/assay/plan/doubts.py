"""What a study cannot tell, whatever is measured."""

from collections.abc import Iterable

from assay.model.study.case import Case
from assay.model.study.repeats import LEAST_BEFORE_LOOK, LEAST_COMPARED
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.plan.estimate import StudyEstimate

LEAST_INTERVAL = 3
"""Fewer repeats give no interval worth the name."""


def doubts(study: Study, cases: Iterable[Case], estimate: StudyEstimate) -> tuple[str, ...]:
    """Where the study cannot answer its question, a line each with what to do; nothing if it can.

    Args:
        study: The study.
        cases: All of it, in the order of the estimate.
        estimate: Of these cases.
    """
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
    sent = ((case, item.requests * study.repeats) for case, item in zip(cases, estimate.cases, strict=True))
    return (*found, *beyond_limits(study, sent))


def beyond_limits(study: Study, requests: Iterable[tuple[Case, float]]) -> tuple[str, ...]:
    """A line for each target that would get more requests than it may.

    Args:
        study: The study.
        requests: Cases, and how many requests all repeats of each are to send.
    """
    planned: dict[str, float] = {}
    for case, count in requests:
        planned[case.target] = planned.get(case.target, 0.0) + count
    found = []
    for name, count in planned.items():
        most = getattr(study.targets[name], "max_requests", None)
        if most is not None and count > most:
            found.append(
                f"target {name}: about {count:,.0f} requests are planned, max_requests is {most:,}: some repeats will"
                " not be done"
            )
    return tuple(found)
