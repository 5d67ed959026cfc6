"""Totals of several repeats at several numbers of hosts, as curves are fitted to them and as chance may have it."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.estimate import student_t
from assay.analyse.statistics.special import fisher_tail

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST_FREEDOM = 4
"""Repeats beyond one of each number of hosts, all together: with fewer nobody knows how much they vary."""
MOST_OFF = 0.02
"""A curve that is further from a point than this, and further than repeats vary, does not describe the total."""
SURE = 0.01
"""Probability below which repeats that vary by chance do not explain how far the points are from the curve."""
DRAWS = 2000
_NORMAL = 1.959963984540054


class Range(NamedTuple):
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


class Totals:
    """Logarithms of rates.

    Attributes:
        counts: Numbers of hosts, ascending.
        weights: Repeats of each.
        means: Mean of the logarithms of each.
        freedom: Degrees of freedom of `noise`.
        noise: Variance of a repeat's logarithm, pooled over all numbers.
    """

    def __init__(self, rates: Mapping[int, Sequence[float]]) -> None:
        """Arguments as of `usable`, which must have said yes."""
        import numpy as np

        self.counts = np.array(sorted(rates), float)
        self.logs = [np.log(np.array(rates[int(count)], float)) for count in self.counts]
        self.weights = np.array([len(several) for several in self.logs], float)
        self.means = np.array([several.mean() for several in self.logs])
        self.freedom = sum(len(several) - 1 for several in self.logs)
        self.noise = sum(float(((several - several.mean()) ** 2).sum()) for several in self.logs) / self.freedom

    def drawn(self, seed: int) -> "Array":
        """Means as they might have been; draws x numbers of hosts.

        What is drawn are the repeats' distances from the mean of their number of hosts, pooled over all numbers, since
        three or four repeats are too few to draw from; they are widened for the means that were taken from the same
        repeats, and by Student's t for their number (B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap,
        1993, chapters 9 and 13).

        Args:
            seed: The same gives the same draws.
        """
        import numpy as np

        random = np.random.default_rng(seed)
        alone = student_t(self.freedom) / _NORMAL
        pool = np.concatenate(
            [
                (several - several.mean()) * math.sqrt(len(several) / (len(several) - 1))
                for several in self.logs
                if len(several) > 1
            ]
        )
        errors = [random.choice(pool, (DRAWS, int(count))).mean(axis=1) for count in self.weights]
        return self.means + alone * np.column_stack(errors)

    def chance(self, distances: "Array", parameters: int) -> float:
        """Probability that points are so far from a curve if only the repeats vary (F test for lack of fit).

        Args:
            distances: Of the means from the curve.
            parameters: Of the curve, fewer than numbers of hosts.
        """
        freedom = len(self.counts) - parameters
        between = float((self.weights * distances**2).sum())
        return fisher_tail(freedom, self.freedom, between / freedom / self.noise) if self.noise > 0 else 0.0


def usable(rates: Mapping[int, Sequence[float]], least: int) -> bool:
    """Whether curves can be fitted: enough numbers of hosts and repeats, and no rate of 0.

    Args:
        rates: Number of hosts -> rate of each repeat.
        least: Numbers of hosts that it takes.
    """
    freedom = sum(len(several) - 1 for several in rates.values())
    return len(rates) >= least and freedom >= LEAST_FREEDOM and min(chain.from_iterable(rates.values())) > 0


def interval(value: float, draws: "Array") -> Range:
    """The value with the interval that holds 95 of 100 draws, and itself."""
    import numpy as np

    low, high = (max(0.0, float(end)) for end in np.percentile(draws, [2.5, 97.5], method="nearest"))
    return Range(value, min(low, value), max(high, value))
