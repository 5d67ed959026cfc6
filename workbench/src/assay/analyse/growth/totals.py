"""Holds totals of several repeats at several host counts, for fitting curves and for a bootstrap."""

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

MIN_FREEDOM = 4
"""Minimum number of repeats beyond the first of each host count, all together: with fewer the variation is unknown."""
MAX_DEVIATION = 0.02
"""A curve further from a point than this, and further than repeats vary, does not describe the total."""
SIGNIFICANCE = 0.01
"""Below this probability, chance variation of repeats does not explain the distances from the curve."""
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
        counts: Host counts, ascending.
        weights: Number of repeats for each host count.
        means: Mean of the logarithms for each host count.
        freedom: Degrees of freedom of `noise`.
        noise: Variance of a repeat's logarithm, pooled over all host counts.
    """

    def __init__(self, rates: Mapping[int, Sequence[float]]) -> None:
        """Compute the means; the rates must be `usable`."""
        import numpy as np

        self.counts = np.array(sorted(rates), float)
        self.logs = [np.log(np.array(rates[int(count)], float)) for count in self.counts]
        self.weights = np.array([len(several) for several in self.logs], float)
        self.means = np.array([several.mean() for several in self.logs])
        self.freedom = sum(len(several) - 1 for several in self.logs)
        self.noise = sum(float(((several - several.mean()) ** 2).sum()) for several in self.logs) / self.freedom

    def bootstrap_means(self, seed: int) -> "Array":
        """Return bootstrap draws of the means, an array of draws x host counts.

        Drawn are the repeats' distances from the mean of their host count, pooled over all host counts, since three or
        four repeats are too few to draw from. The distances are widened for the means taken from the same repeats, and
        by Student's t for their number (B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993,
        chapters 9 and 13).

        Args:
            seed: The same seed gives the same draws.
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
        """Return the probability that points lie so far from a curve if only repeats vary (F test for lack of fit).

        Args:
            distances: Distances of the means from the curve.
            parameters: Number of parameters of the curve, fewer than host counts.
        """
        freedom = len(self.counts) - parameters
        between = float((self.weights * distances**2).sum())
        return fisher_tail(freedom, self.freedom, between / freedom / self.noise) if self.noise > 0 else 0.0


def can_fit(rates: Mapping[int, Sequence[float]], least: int) -> bool:
    """Whether curves can be fitted: enough host counts and repeats, and no rate of 0.

    Args:
        rates: Number of hosts -> rate of each repeat.
        least: Minimum number of host counts.
    """
    freedom = sum(len(several) - 1 for several in rates.values())
    return len(rates) >= least and freedom >= MIN_FREEDOM and min(chain.from_iterable(rates.values())) > 0


def interval(value: float, draws: "Array") -> Range:
    """Return the value with the interval that contains 95 of 100 draws and the value itself."""
    import numpy as np

    low, high = (max(0.0, float(end)) for end in np.percentile(draws, [2.5, 97.5], method="nearest"))
    return Range(value, min(low, value), max(high, value))
