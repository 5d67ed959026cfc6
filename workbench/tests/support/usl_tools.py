"""Totals after the universal scalability law, with noise, and the law that is fitted to them."""

from collections.abc import Sequence

import numpy as np

from assay.analyse.growth.usl import Law, fit_law

DOUBLING = (1, 2, 4, 8)


MANY = (1, 2, 3, 4, 6, 8, 12, 16)


def total(hosts: int, rate: float, contention: float, coherency: float) -> float:
    return rate * hosts / (1 + contention * (hosts - 1) + coherency * hosts * (hosts - 1))


def measured(
    random: np.random.Generator, hosts: Sequence[int], contention: float, coherency: float, noise: float, repeats: int
) -> dict[int, list[float]]:
    """Totals with noise that is a factor, for a host that reaches 100 alone."""
    return {
        count: list(total(count, 100.0, contention, coherency) * np.exp(random.normal(0, noise, repeats)))
        for count in hosts
    }


def fit(rates: dict[int, list[float]], seed: int = 1) -> Law:
    law = fit_law(rates, seed)
    assert law is not None
    return law
