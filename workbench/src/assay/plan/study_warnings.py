"""Questions that a study cannot answer, whatever is measured."""

from collections.abc import Iterable

from assay.model.study.case import Case
from assay.model.study.repeats import MIN_BEFORE_LOOK, MIN_COMPARED
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.plan.estimate import StudyEstimate

MIN_INTERVAL = 3
"""Fewest repeats for a useful confidence interval."""


def study_warnings(study: Study, cases: Iterable[Case], estimate: StudyEstimate) -> tuple[str, ...]:
    """Return why the study cannot answer its question, one line each with a remedy; empty if it can.

    Args:
        study: The study.
        cases: All its cases, in the order of the estimate.
        estimate: Estimate of these cases.
    """
    repeating, found = study.repeating, []
    count = f"{repeating.max} {'repeat' if repeating.max == 1 else 'repeats'}"
    if len(study.targets) > 1 and repeating.max < MIN_COMPARED:
        found.append(
            f"{count} cannot show which target is faster, however far apart they are: leave `repeats` out, or write"
            f" {MIN_BEFORE_LOOK} or more"
        )
    elif repeating.max < MIN_INTERVAL:
        verb = "gives" if repeating.max == 1 else "give"
        found.append(f"{count} {verb} no useful confidence interval: write {MIN_INTERVAL} or more, better 8")
    least = estimate.min_seconds
    if repeating.time is not None and least > repeating.time / 1e9:
        limit = about_duration(repeating.time / 1e9)
        found.append(
            f"the {repeating.min} repeats made in any case take about {about_duration(least)}, longer than"
            f" the {limit} that the study has for all of them: use fewer cases, or shorter ones"
        )
    requests = ((case, item.requests * study.repeats) for case, item in zip(cases, estimate.cases, strict=True))
    return (*found, *request_limit_warnings(study, requests))


def request_limit_warnings(study: Study, requests: Iterable[tuple[Case, float]]) -> tuple[str, ...]:
    """Return a line for each target that would get more requests than its `max_requests`.

    Args:
        study: The study.
        requests: Cases, each with the number of requests that all its repeats send.
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
                " be left out"
            )
    return tuple(found)
