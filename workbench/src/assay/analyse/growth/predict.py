"""Predicts the total of a number of hosts, and the number of hosts for a total, or says that measurements cannot."""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.growth.forecast import MIN_REACH, draw_totals, repeat_noise
from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.shapes import ShapesOf, shapes
from assay.analyse.growth.totals import Range

if TYPE_CHECKING:
    from assay.analyse.growth.totals import Array

MIN_POINTS = 3
"""Minimum number of different host counts: through two, every curve can be drawn."""
MAX_WIDTH = 0.25
"""A prediction is an answer if its 95 % interval is at most this wide, as a share of the prediction."""
MAX_FACTOR = 4.0
"""At most so many times the most hosts measured are predicted, and not fewer than the fewest hosts divided by it."""
MAX_MISFIT = 0.1
"""If a measured total is further from every curve, as a share, and further than repeats vary, no curve is right."""
GROWTH_SHARE = 1.1
"""A total that is predicted to be above the greatest measured one by this factor still grows."""
MAX_HOST_COUNTS = 60
"""Host counts that are considered to find how many a rate needs."""


class Reason(StrEnum):
    """Why there is no prediction."""

    FEW_COUNTS = "few_counts"
    NO_RATE = "no_rate"
    TOO_FAR = "too_far"
    NOISY = "noisy"
    STILL_GROWS = "still_grows"
    CURVES_DISAGREE = "curves_disagree"
    NO_CURVE_FITS = "no_curve_fits"
    SEVERAL_RESULTS = "several_results"
    MAYBE_CACHED = "maybe_cached"


class Basis(StrEnum):
    """What a prediction rests on."""

    MEASURED = "measured"
    """The total was measured with this number of hosts."""
    LIMIT = "limit"
    """A known limit cuts the total off."""
    LEVEL = "level"
    """The measured totals have stopped growing."""
    CURVE = "curve"
    """The curves through the measured totals, which have not ended there."""


class Prediction(NamedTuple):
    """The total of a number of hosts, or of a size of data.

    Attributes:
        number: Number of hosts, or bytes or number of files.
        total: The median and its 95 % interval in the unit of the rates, also where it is too wide to be an answer;
            None if nothing can be said.
        cause: Why it is no answer; None if it is one.
        basis: None if nothing can be said.
        limit: The tightest known limit at that number of hosts.
        measure: Number of hosts to measure, so that there would be an answer; None if that is not what is missing.
    """

    number: int
    total: Range | None
    cause: Reason | None
    basis: Basis | None
    limit: KnownLimit | None = None
    measure: int | None = None

    @property
    def width(self) -> float:
        """Width of the interval as a share of the total."""
        return 0.0 if self.total is None else (self.total.high - self.total.low) / self.total.value

    @property
    def is_answer(self) -> bool:
        """Whether it is an answer, and not `no`."""
        return self.cause is None

    def holds(self, total: float) -> bool:
        """Whether the interval holds a total; also of an interval that is too wide to be an answer."""
        return self.total is not None and self.total.low <= total <= self.total.high


class HostsNeeded(NamedTuple):
    """The number of hosts whose total reaches a rate.

    Attributes:
        rate: In the unit of the rates.
        fewest: Fewer hosts do not reach it, with 97.5 % confidence; None if no number up to `farthest` reaches it.
        likely: The median; None if more than half of the plausible curves never reach it up to `farthest`.
        enough: So many reach it, with 97.5 % confidence; None if no number up to `farthest` does.
        cause: Why there is no answer; None if `enough` is at most 25 % more than `fewest` or one more, or if the rate
            is out of reach.
        limit: A known limit below the rate; None if there is none.
        highest: Upper end of the interval of the greatest total up to `farthest`.
        farthest: The most hosts that were considered.
    """

    rate: float
    fewest: int | None
    likely: int | None
    enough: int | None
    cause: Reason | None
    limit: KnownLimit | None
    highest: float
    farthest: int

    @property
    def is_out_of_reach(self) -> bool:
        """No number of hosts reaches the rate."""
        return self.cause is None and self.fewest is None


def predict(
    rates: Mapping[int, Sequence[float]],
    counts: Sequence[int],
    limits: Sequence[KnownLimit] = (),
    seed: int = 1,
    shapes_of: ShapesOf = shapes,
) -> list[Prediction]:
    """Return the prediction for each number of hosts.

    Args:
        rates: Number of hosts -> rate of each repeat.
        counts: Numbers of hosts, measured or not.
        limits: Known limits of the total, in the unit of the rates.
        seed: The same seed gives the same intervals.
        shapes_of: The curves; those of sizes have sizes in place of host counts.
    """
    if reason := missing(rates):
        return [Prediction(count, None, reason, None) for count in counts]
    near = [count for count in counts if _is_near(rates, count)]
    found = {count: Prediction(count, None, Reason.TOO_FAR, None, measure=nearest(rates, count)) for count in counts}
    if near:
        draws = draw_totals(rates, near, limits, seed, shapes_of)
        fits = draws.misfit <= _allowed_misfit(rates)
        for place, count in enumerate(near):
            one = _prediction(rates, count, (draws.totals[:, place], draws.uncut[:, place]), limits)
            found[count] = one if fits else Prediction(count, None, Reason.NO_CURVE_FITS, None, one.limit)
    return [found[count] for count in counts]


def missing(rates: Mapping[int, Sequence[float]]) -> Reason | None:
    """Return what totals lack for any prediction; None if nothing is missing.

    Args:
        rates: Number of hosts -> rate of each repeat.
    """
    if len(rates) < MIN_POINTS:
        return Reason.FEW_COUNTS
    return Reason.NO_RATE if not all(rates.values()) or min(chain.from_iterable(rates.values())) <= 0 else None


def to_measure(rates: Mapping[int, Sequence[float]], count: int) -> int:
    """Return the number of hosts to measure for a prediction of `count` hosts, which is at most a half more."""
    if count <= max(rates):
        return count
    return min(count, max(math.ceil(math.sqrt(max(rates) * count)), math.ceil(count / 1.5)))


def nearest(rates: Mapping[int, Sequence[float]], count: int) -> int:
    """Return the number of hosts closest to the measured ones that must be measured before `count` is not too far."""
    return math.ceil(count / MAX_FACTOR) if count > max(rates) else math.floor(count * MAX_FACTOR)


def hosts_needed(
    rates: Mapping[int, Sequence[float]], rate: float, limits: Sequence[KnownLimit] = (), seed: int = 1
) -> HostsNeeded:
    """Return how many hosts it takes until the total of all reaches a rate.

    Args:
        rates: Number of hosts -> rate of each repeat.
        rate: In the unit of the rates.
        limits: Known limits of the total, in the unit of the rates.
        seed: The same seed gives the same answer.
    """
    import numpy as np

    farthest = int(MAX_FACTOR * max(rates, default=0))
    below = min((limit for limit in limits if not limit.grows and limit.value < rate), key=_fixed, default=None)
    if reason := missing(rates):
        return HostsNeeded(rate, None, None, None, reason, below, 0.0, farthest)
    counts = sorted({round(count) for count in np.geomspace(1, farthest, MAX_HOST_COUNTS)} | set(rates))
    draws = draw_totals(rates, counts, limits, seed)
    if draws.misfit > _allowed_misfit(rates):
        return HostsNeeded(rate, None, None, None, Reason.NO_CURVE_FITS, below, 0.0, farthest)
    totals = draws.totals
    reached = np.maximum.accumulate(totals, axis=1) >= rate
    fewest, likely, enough = (
        next((count for count, share in zip(counts, reached.mean(axis=0), strict=True) if share >= least), None)
        for least in (0.025, 0.5, 0.975)
    )
    is_narrow = fewest is not None and enough is not None and enough <= max(fewest + 1, (1 + MAX_WIDTH) * fewest)
    reason = None if is_narrow or fewest is None else _reason_wide(rates, totals[:, -1])
    highest = float(np.percentile(totals.max(axis=1), 97.5))
    return HostsNeeded(rate, fewest, likely, enough, reason, below, highest, farthest)


def _allowed_misfit(rates: Mapping[int, Sequence[float]]) -> float:
    """Return how far totals may be from a curve that describes them: as storage and repeats vary."""
    noise = _noise(rates) or 0.0
    return max(MAX_MISFIT, 4 * noise / math.sqrt(min(len(several) for several in rates.values())))


def _noise(rates: Mapping[int, Sequence[float]]) -> float | None:
    import numpy as np

    return repeat_noise([np.log(np.array(several, float)) for several in rates.values()])


def _is_near(rates: Mapping[int, Sequence[float]], count: int) -> bool:
    return min(rates) / MAX_FACTOR <= count <= MAX_FACTOR * max(rates)


def _fixed(limit: KnownLimit) -> float:
    return limit.value


def _tightest(limits: Sequence[KnownLimit], count: int) -> KnownLimit | None:
    return min(limits, key=lambda limit: limit.at(count), default=None)


def _prediction(
    rates: Mapping[int, Sequence[float]], count: int, draws: "tuple[Array, Array]", limits: Sequence[KnownLimit]
) -> Prediction:
    import numpy as np

    totals, uncut = draws
    low, middle, high = (float(end) for end in np.percentile(totals, [2.5, 50, 97.5]))
    limit = _tightest(limits, count)
    found = Prediction(count, Range(middle, low, high), None, _basis(rates, uncut, middle, count, limit), limit)
    if count in rates:
        return found._replace(basis=Basis.MEASURED)
    if found.width <= MAX_WIDTH:
        return found
    return found._replace(cause=_reason_wide(rates, totals), measure=to_measure(rates, count))


def _basis(
    rates: Mapping[int, Sequence[float]], uncut: "Array", middle: float, count: int, limit: KnownLimit | None
) -> Basis:
    """Return what a prediction rests on; a limit counts where most curves end above it or close below it."""
    if limit is not None and (float((uncut >= MIN_REACH * limit.at(count)).mean()) >= 0.5):
        return Basis.LIMIT
    return Basis.LEVEL if count > max(rates) and middle < GROWTH_SHARE * _greatest(rates) else Basis.CURVE


def _greatest(rates: Mapping[int, Sequence[float]]) -> float:
    """Return the greatest total that was measured: the mean over its repeats."""
    return max(math.fsum(several) / len(several) for several in rates.values())


def _reason_wide(rates: Mapping[int, Sequence[float]], totals: "Array") -> Reason:
    """Return why an interval is wide: the repeats vary, the end of growth is unknown, or else the curves differ."""
    import numpy as np

    noise = _noise(rates)
    repeats = sum(len(several) for several in rates.values()) / len(rates)
    if noise is not None and 2 * 1.96 * noise / math.sqrt(repeats) > MAX_WIDTH / 2:
        return Reason.NOISY
    still = float(np.median(totals)) >= GROWTH_SHARE * _greatest(rates)
    return Reason.STILL_GROWS if still else Reason.CURVES_DISAGREE
