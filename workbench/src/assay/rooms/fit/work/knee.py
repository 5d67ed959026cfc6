"""The rate at which a share of operations crosses what is allowed, from shares that were measured at several rates.

Near the knee the share of operations that take longer than a bound rises by a power of the rate: in a queue of
utilisation r the share p that waits longer than the bound falls exponentially with 1 - r (Kingman, "The single server
queue in heavy traffic", 1961), so that d ln p / d ln r = ln(1/p) r / (1 - r). The odds of the share are therefore
fitted as a line over the logarithm of the rate. Repeats differ by more than independent operations would; Pearson's
dispersion says by how much (McCullagh and Nelder, Generalized Linear Models, section 4.5). The interval of the
crossing is Fieller's.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.analyse.estimate import student_t
from assay.analyse.statistics.shares import Exceeding

MAX_ODDS = 30
"""Shares with odds of more than this many times the allowed ones say nothing about the crossing."""
MIN_REACH = 0.1
"""So far from the crossing rates are used in any case, as a difference of logarithms."""
MIN_REPEATS = 4
MIN_SLOPE = 0.5
MIN_WEIGHT = 1.0
"""Repeats with a smaller variance than this, in operations, say nothing about how repeats differ."""
WIDENING = 1.4
"""Factor of the interval, without which it holds the knee of simulated queues in about 85 of 100 searches only: few
repeats seldom have one of the rare long queues, and rates are chosen by what was measured."""
MAX_ITERATIONS = 40

Array = npt.NDArray[np.float64]


class Knee(NamedTuple):
    """Where the share is as great as allowed.

    Attributes:
        rate: Operations per second.
        low: Lower end of its 95 % interval; None if it has none.
        high: Upper end of its 95 % interval; None if it has none.
        slope: Change of the logarithm of the odds with that of the rate.
    """

    rate: float
    low: float | None
    high: float | None
    slope: float


def fit_knee(shares: Mapping[float, Sequence[Exceeding]], allowed_share: float, capacity_per_s: float) -> Knee | None:
    """Return where the share is as great as allowed; None if too little was measured near it.

    The slope has a normal prior: that of a queue with this capacity, with the same value as its deviation.

    Args:
        shares: Operations per second -> one share for each repeat.
        allowed_share: The allowed share.
        capacity_per_s: The most operations per second.
    """
    odds = allowed_share / (1 - allowed_share)
    rows = [
        (math.log(rate), each.over, each.ops)
        for rate, repeats in shares.items()
        if (sum(one.over for one in repeats) + 0.5)
        < MAX_ODDS * odds * (sum(one.ops - one.over for one in repeats) + 0.5)
        for each in repeats
        if each.ops
    ]
    if len(rows) < MIN_REPEATS or not any(over for _, over, _ in rows):
        return None
    places, over, ops = (np.array(column, float) for column in zip(*rows, strict=True))
    centre = float(places[np.argmin(np.abs(np.log((over + 0.5) / (ops + 1) / allowed_share)))])
    use = min(math.exp(centre) / capacity_per_s, 0.99)
    prior_slope = max(3.0, -math.log(allowed_share) * use / (1 - use))
    near = np.abs(places - centre) <= max(MIN_REACH, math.log(MAX_ODDS) / prior_slope)
    places, over, ops = places[near], over[near], ops[near]
    if len(places) < MIN_REPEATS:
        return None
    columns = np.stack([np.ones_like(places), places - centre], axis=1)
    line, variance, freedom = _fit_line(columns, over, ops, math.log(odds), prior_slope)
    if line[1] < MIN_SLOPE:
        return None
    crossing = (math.log(odds) - line[0]) / line[1]
    low, high = _fieller(line[0] - math.log(odds), line[1], variance, WIDENING * student_t(freedom))
    ends = [None if end is None else _exp(centre + end) for end in (low, high)]
    return Knee(_exp(centre + crossing), ends[0], ends[1], float(line[1]))


def _exp(value: float) -> float:
    return math.exp(min(max(value, -50.0), 50.0))


def _fit_line(columns: Array, over: Array, ops: Array, start: float, prior_slope: float) -> tuple[Array, Array, float]:
    """Return intercept and slope of the odds' logarithm, their covariance, and its degrees of freedom; by Newton."""
    prior, middle = np.diag([1e-9, prior_slope**-2]), np.array([0.0, prior_slope])
    line, dispersion, freedom = np.array([start, prior_slope]), 1.0, 1.0
    for iteration in range(2 * MAX_ITERATIONS):
        share = 1 / (1 + np.exp(-np.clip(columns @ line, -30, 30)))
        weight = ops * share * (1 - share)
        if iteration == MAX_ITERATIONS:
            # Before the line fits, its misfit would count as dispersion.
            near = weight >= MIN_WEIGHT
            squares = (over - ops * share)[near] ** 2 / weight[near]
            freedom = max(1.0, float(near.sum()) - 2)
            dispersion = max(1.0, float(squares.sum()) / freedom)
        curvature = columns.T @ (columns * weight[:, None]) / dispersion + prior
        step = np.linalg.solve(curvature, columns.T @ (over - ops * share) / dispersion - prior @ (line - middle))
        # Longer steps may leave the range in which the curve is like a parabola.
        line = line + step / max(1.0, abs(step[0]), abs(step[1]) / (prior_slope / 2))
    return line, np.linalg.inv(curvature), freedom


def _fieller(height: float, slope: float, variance: Array, quantile: float) -> tuple[float | None, float | None]:
    """Return the interval of the place where a line is 0; None if it has none."""
    square = quantile**2
    a = slope**2 - square * variance[1, 1]
    b = height * slope - square * variance[0, 1]
    c = height**2 - square * variance[0, 0]
    if a <= 0:
        # The slope may be 0, so that the line may be 0 anywhere.
        return None, None
    root = math.sqrt(max(0.0, b * b - a * c))
    return (-b - root) / a, (-b + root) / a
