"""Repeats whose noise has a known form."""

import math
from collections.abc import Callable

import numpy as np
from noise import Floats, wandering
from noise import heavy as heavy_tailed


def independent(chance: np.random.Generator, count: int) -> Floats:
    return chance.normal(0, 0.03, count)


def skewed(chance: np.random.Generator, count: int) -> Floats:
    """Even as logarithms."""
    drawn = chance.lognormal(0, 0.5, count)
    return 0.03 * (drawn - math.exp(0.125)) / 0.604


def heavy(chance: np.random.Generator, count: int) -> Floats:
    return 0.03 * heavy_tailed(chance, count)


def alike(correlation: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda chance, count: 0.03 * wandering(chance, count, correlation)


def drifting(chance: np.random.Generator, count: int) -> Floats:
    course = np.log(1 - 0.15 * np.linspace(0, 1, count))
    drifted: Floats = independent(chance, count) + course - course.mean()
    return drifted
