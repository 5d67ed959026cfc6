"""Bounds of a share of operations, such as those slower than a limit, from several repeats.

Operations of one repeat share its stalls, so that they count for less than as many independent ones. The bounds are
those of Korn and Graubard for proportions from clusters ("Confidence Intervals for Proportions with Small Expected
Number of Positive Counts Estimated from Survey Data", Survey Methodology 24, 1998, pages 193-201): Clopper and
Pearson's exact binomial bounds with an effective number of operations. That is the number of operations, divided by
the design effect (the variance between repeats over that of independent operations, at least 1), and by the squared
ratio of Student's t for so few repeats to that for so many operations.
"""

from collections.abc import Sequence
from typing import NamedTuple

from assay.analyse.estimate import student_t
from assay.analyse.statistics.special import beta_share

TAIL = 0.025
"""Chance of a wrong bound, on each side of a 95 % interval."""


class Exceeding(NamedTuple):
    """How many of a repeat's operations exceed a limit.

    Attributes:
        over: Operations that exceed it.
        ops: All operations.
    """

    over: int
    ops: int


class EffectiveShare(NamedTuple):
    """A share of operations that is known as well as if it came from independent operations.

    Attributes:
        share: The share, from 0 to 1.
        ops: Effective number of independent operations.
    """

    share: float
    ops: float

    def is_below(self, limit: float) -> bool:
        """Whether the true share is below `limit`, with at most 2.5 % chance of an error."""
        count = self.share * self.ops
        return self.ops > count and beta_share(self.ops - count, count + 1, 1 - limit) < TAIL

    def is_above(self, limit: float) -> bool:
        """Whether the true share is above `limit`, with at most 2.5 % chance of an error."""
        count = self.share * self.ops
        return count > 0 and beta_share(count, self.ops - count + 1, limit) < TAIL


def effective_share(repeats: Sequence[Exceeding]) -> EffectiveShare:
    """Return the share over all repeats with its effective number of operations.

    Args:
        repeats: One for each repeat. With fewer than two, nothing is known about how repeats differ: the effective
            number is 0.
    """
    ops = sum(each.ops for each in repeats)
    count = len(repeats)
    if count < 2 or ops < 2:
        return EffectiveShare(sum(each.over for each in repeats) / ops if ops else 0.0, 0.0)
    share = sum(each.over for each in repeats) / ops
    independent = share * (1 - share) / ops
    between = count / (count - 1) * sum((each.over - share * each.ops) ** 2 for each in repeats) / ops**2
    design_effect = max(1.0, between / independent) if independent > 0 else 1.0
    few = (student_t(ops - 1.0) / student_t(count - 1.0)) ** 2
    return EffectiveShare(share, ops * few / design_effect)
