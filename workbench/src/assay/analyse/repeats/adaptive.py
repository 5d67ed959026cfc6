"""Decides when a case is known precisely enough to skip its remaining repeats."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.repeats import MIN_BEFORE_STOP


def is_precise(values: Sequence[float], within: float, least: int = MIN_BEFORE_STOP) -> bool:
    """Whether both ends of the 95 % interval of a rate are as close to the median as required.

    Checking the interval after each repeat and stopping at the first narrow one favours values that agree by chance, so
    that the final interval covers the truth in less than 95 % of cases. A minimum number of values before the first
    stop keeps this effect small (Chow and Robbins, "On the asymptotic theory of fixed-width sequential confidence
    intervals for the mean", Annals of Mathematical Statistics 36, 1965; Starr, "The performance of a sequential
    procedure for the fixed-width interval estimation of the mean", same journal, 37, 1966).

    Args:
        values: One value for each repeat, in any unit.
        within: Greatest allowed distance of either end from the median, as a share of the median: 0.05 is 5 %.
        least: Minimum number of values; with fewer the result is False.
    """
    if len(values) < max(least, 2):
        return False
    reach = estimate(values).relative_reach
    return reach is not None and reach <= within


def case_reach(case: Case, samples: Iterable[Sample], least: int = MIN_BEFORE_STOP) -> float | None:
    """Return how precisely a case is known: the greatest `Estimate.relative_reach` of its measured operations.

    A repeat in which an operation failed has no value for that operation and does not count towards `least`. It does
    not keep a case from being precise enough: the result is called incomplete anyway, and more repeats would not change
    that. An operation that fails in every repeat is never precise enough, so its case gets all the repeats allowed.

    Args:
        case: The case.
        samples: All samples of the case so far.
        least: Minimum number of usable repeats of each operation.

    Returns:
        A share of the median; None if an operation has too few usable repeats, or rates that are not above 0.
    """
    rates: dict[int, list[float]] = defaultdict(list)
    for sample in usable(samples):
        rates[sample.phase].append(sample.rate)
    if len(rates) < len(case.operations) or any(len(values) < max(least, 2) for values in rates.values()):
        return None
    reaches = [estimate(values).relative_reach for values in rates.values()]
    return max((reach for reach in reaches if reach is not None), default=None) if None not in reaches else None


def is_case_precise(case: Case, samples: Iterable[Sample], within: float, least: int = MIN_BEFORE_STOP) -> bool:
    """Whether every measured operation of a case is known precisely enough; see `enough` and `case_reach`."""
    reach = case_reach(case, samples, least)
    return reach is not None and reach <= within
