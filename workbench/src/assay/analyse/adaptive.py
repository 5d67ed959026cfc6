"""When a case is known well enough, so that the rest of its repeats can be left out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from assay.analyse.estimate import estimate
from assay.analyse.usable import usable
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.repeats import LEAST_BEFORE_STOP


def enough(values: Sequence[float], within: float, least: int = LEAST_BEFORE_STOP) -> bool:
    """Whether a rate is known well enough: neither end of its 95 % interval is further from the median than wanted.

    Looking at the interval after each repeat and stopping at the first narrow one favours sets of values that happen
    to agree, so that the last interval covers the truth less often than 95 % of the time: the least number of values
    before a stop keeps that small (Chow and Robbins, "On the asymptotic theory of fixed-width sequential confidence
    intervals for the mean", Annals of Mathematical Statistics 36, 1965; Starr, "The performance of a sequential
    procedure for the fixed-width interval estimation of the mean", same journal, 37, 1966).

    Args:
        values: One per repeat, any unit.
        within: Greatest distance of either end, as a share of the median: 0.05 is 5 %.
        least: With fewer values the answer is no.
    """
    if len(values) < max(least, 2):
        return False
    reach = estimate(values).reach
    return reach is not None and reach <= within


def case_reach(case: Case, samples: Iterable[Sample], least: int = LEAST_BEFORE_STOP) -> float | None:
    """How well a case is known: the greatest `Estimate.reach` of its measured operations.

    A repeat in which an operation failed has no value for it and does not count towards `least`. It does not bar the
    case from being known well enough either: the result is called incomplete in any case, and more repeats would not
    mend that. An operation that fails in each repeat is never known, so that its case is repeated as often as allowed.

    Args:
        case: The case.
        samples: Of this case, of all repeats so far.
        least: Fewest usable repeats that each operation needs.

    Returns:
        A share of the median; None if an operation has fewer usable repeats, or a rate that is not above 0.
    """
    rates: dict[int, list[float]] = defaultdict(list)
    for sample in usable(samples):
        rates[sample.phase].append(sample.rate)
    if len(rates) < len(case.operations) or any(len(values) < max(least, 2) for values in rates.values()):
        return None
    reaches = [estimate(values).reach for values in rates.values()]
    return max((reach for reach in reaches if reach is not None), default=None) if None not in reaches else None


def case_enough(case: Case, samples: Iterable[Sample], within: float, least: int = LEAST_BEFORE_STOP) -> bool:
    """Whether every measured operation of a case is known well enough; arguments as in `enough` and `case_reach`."""
    reach = case_reach(case, samples, least)
    return reach is not None and reach <= within
