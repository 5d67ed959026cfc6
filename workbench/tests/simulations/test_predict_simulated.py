"""Predictions of made-up curves: the intervals of answers hold another measurement as often as they say."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from bend_tools import sharp
from soak import times
from usl_tools import total

from assay.analyse.growth.known_limits import KnownLimit
from assay.analyse.growth.predict import MAX_WIDTH, predict

STUDIES = times(40, 500)
HOSTS = (1, 2, 4, 8)
Curve = Callable[[float], float]


def flattening(random: np.random.Generator) -> tuple[Curve, float]:
    """A sharp bend within or beyond the measured hosts; no limit is known."""
    return sharp(math.exp(random.uniform(math.log(2), math.log(32)))), math.inf


def at_link(random: np.random.Generator) -> tuple[Curve, float]:
    """A link that is known, of which 85 to 100 % are reached."""
    limit = math.exp(random.uniform(math.log(3), math.log(20)))
    return sharp(limit * random.uniform(0.85, 1)), limit


def contended(random: np.random.Generator) -> tuple[Curve, float]:
    """The universal scalability law, with contention and coherency."""
    contention, peak = random.uniform(0.01, 0.3), random.uniform(6, 40)
    return lambda hosts: total(int(hosts), 1.0, contention, 1 / peak**2), math.inf


@pytest.mark.parametrize("make", [flattening, at_link, contended], ids=lambda make: make.__name__)
def test_answers_hold_another_measurement(make: Callable[[np.random.Generator], tuple[Curve, float]]) -> None:
    random = np.random.default_rng(17)
    inside: list[bool] = []
    for _ in range(STUDIES):
        curve, limit = make(random)

        def measure(hosts: int, curve: Curve = curve, limit: float = limit) -> list[float]:
            return [float(rate) for rate in np.minimum(limit, curve(hosts) * np.exp(random.normal(0, 0.02, 3)))]

        limits = () if math.isinf(limit) else (KnownLimit("link", limit, False, ""),)
        for found in predict({hosts: measure(hosts) for hosts in HOSTS}, [12, 16, 24], limits):
            if found.cause is None and found.total is not None:
                assert found.width <= MAX_WIDTH
                actual = float(np.mean(measure(found.number)))
                inside.append(found.total.low <= actual <= found.total.high)
    assert len(inside) >= STUDIES / 4
    assert np.mean(inside) >= 0.9
