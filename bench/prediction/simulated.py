"""Totals of curves that are made up, with noise: how often predictions hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import Prediction, predict

Random = np.random.Generator
Curve = Callable[[float], float]
GRIDS = ((1, 2, 4, 8), (2, 4, 8), (1, 2, 4, 6, 8, 12, 16), (1, 2, 3, 4))
FACTORS = (1.5, 2, 3)
"""Hosts that are predicted, over the most hosts that are measured."""


class Truth(NamedTuple):
    """A curve; `limit` is the limit that is known, in the unit of the curve, and `cuts` whether totals end there."""

    curve: Curve
    limit: float = math.inf
    cuts: bool = False


def law(random: Random, most: int) -> Truth:
    """The universal scalability law, with contention or coherency, both or neither."""
    contention = random.choice([0.0, random.uniform(0.005, 0.3)])
    coherency = random.choice([0.0, 1 / (most * _log_uniform(random, 0.4, 8)) ** 2])
    return Truth(lambda hosts: hosts / (1 + contention * (hosts - 1) + coherency * hosts * (hosts - 1)))


def sharp(random: Random, most: int) -> Truth:
    """In step, then flat, from a bend on that is within or beyond the measured numbers."""
    bend = most * _log_uniform(random, 0.2, 6)
    return Truth(lambda hosts: min(hosts, bend))


def smooth(random: Random, most: int) -> Truth:
    """A power of the number of hosts that gradually becomes flat."""
    bend, corner, power = (most * _log_uniform(random, 0.2, 6), random.uniform(1.5, 6), random.uniform(0.75, 1))
    return Truth(lambda hosts: hosts**power / (1 + (hosts / bend) ** (corner * power)) ** (1 / corner))


def known_link(random: Random, most: int) -> Truth:
    """A link that is known, of which 85 to 100 % are reached."""
    limit, reach = most * _log_uniform(random, 0.3, 3), random.uniform(0.85, 1)
    power = random.choice([1.0, random.uniform(0.8, 1)])
    return Truth(lambda hosts: min(hosts**power, limit * reach), limit, True)


def other_limit(random: Random, most: int) -> Truth:
    """A link that is known, but something unknown ends the total at 40 to 85 % of it."""
    limit, reach = most * _log_uniform(random, 0.3, 3), random.uniform(0.4, 0.85)
    return Truth(lambda hosts: min(hosts, limit * reach), limit)


FAMILIES: dict[str, Callable[[Random, int], Truth]] = {
    "universal scalability law": law,
    "sharp bend": sharp,
    "gradual bend": smooth,
    "ends at a known link": known_link,
    "a link is known, but something else ends it": other_limit,
}


class Simulated(NamedTuple):
    """One prediction; `actual` is what another measurement finds there."""

    family: str
    factor: float
    repeats: int
    prediction: Prediction
    actual: float


def simulate(count: int, seed: int) -> Iterator[Simulated]:
    """Yield the predictions of `count` made-up studies of each family.

    Repeats: 1, 3 or 5, with noise of 1, 3 or 5 %; totals are 0, 1 or 2 % off their curve.
    """
    for number, (family, make) in enumerate(FAMILIES.items()):
        random = np.random.default_rng([seed, number])
        for _ in range(count):
            yield from _study(family, make, random)


def _study(family: str, make: Callable[[Random, int], Truth], random: Random) -> Iterator[Simulated]:
    counts = GRIDS[random.integers(len(GRIDS))]
    truth = make(random, counts[-1])
    repeats, noise, apart = (
        int(random.choice([1, 3, 5])),
        random.choice([0.01, 0.03, 0.05]),
        random.choice([0, 0.01, 0.02]),
    )

    def measure(hosts: int) -> list[float]:
        errors = np.exp(random.normal(0, apart) + random.normal(0, noise, repeats))
        most = truth.limit if truth.cuts else math.inf
        return [float(value) for value in np.minimum(truth.curve(hosts) * errors, most)]

    asked = [round(factor * counts[-1]) for factor in FACTORS]
    limits = () if math.isinf(truth.limit) else (KnownLimit("link", truth.limit, False, ""),)
    rates = {hosts: measure(hosts) for hosts in counts}
    for factor, found in zip(FACTORS, predict(rates, asked, limits), strict=True):
        yield Simulated(family, factor, repeats, found, float(np.mean(measure(found.number))))


def _log_uniform(random: Random, low: float, high: float) -> float:
    return float(np.exp(random.uniform(math.log(low), math.log(high))))
