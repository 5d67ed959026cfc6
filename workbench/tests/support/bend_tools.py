"""Totals that bend at a known number of hosts, with noise, and the bend that is found."""

from collections.abc import Callable, Sequence

import numpy as np
from soak import times

from assay.analyse.growth.bend import Bend, find_bend

DOUBLING = (1, 2, 4, 8)


MANY = (1, 2, 3, 4, 6, 8, 12, 16)


TRIES = times(25, 300)


Curve = Callable[[float], float]


def sharp(bend: float) -> Curve:
    return lambda hosts: min(hosts, bend)


def measured(
    random: np.random.Generator, hosts: Sequence[int], curve: Curve, noise: float, repeats: int
) -> dict[int, list[float]]:
    return {number: list(1e8 * curve(number) * np.exp(random.normal(0, noise, repeats))) for number in hosts}


def bend_of(rates: dict[int, list[float]], seed: int = 1) -> Bend:
    found = find_bend(rates, seed)
    assert found is not None
    return found
