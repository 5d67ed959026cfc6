"""Where totals bend: the intervals hold what was put in as often as they say."""

import math

import numpy as np
import pytest
from bend_tools import DOUBLING, MANY, TRIES, Curve, bend_of, measured, sharp


def smooth(contention: float, coherency: float) -> Curve:
    return lambda hosts: hosts / (1 + contention * (hosts - 1) + coherency * hosts * (hosts - 1))


def half(contention: float, coherency: float) -> float:
    """Where 1 + contention (N - 1) + coherency N (N - 1) = 2."""
    if not coherency:
        return 1 + 1 / contention
    linear = contention - coherency
    return (-linear + math.sqrt(linear**2 + 4 * coherency * (1 + contention))) / (2 * coherency)


@pytest.mark.parametrize("hosts", [DOUBLING, MANY], ids=["4 numbers", "8 numbers"])
@pytest.mark.parametrize("repeats", [3, 5])
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_intervals_hold_what_was_put_in(hosts: tuple[int, ...], repeats: int, noise: float) -> None:
    random = np.random.default_rng(11)
    truths = [(sharp(bend), bend, True) for bend in (2.0, 3.3, 5.0)]
    truths += [(smooth(*law), half(*law), False) for law in ((0.3, 0.0), (0.02, 0.02), (0.0, 0.05))]
    held, kinds, found_bends = [], [], []
    for curve, true, corner in truths:
        for seed in range(TRIES):
            found = bend_of(measured(random, hosts, curve, noise, repeats), seed)
            if true <= 0.9 * hosts[-2]:
                found_bends.append(found.at is not None)
            if found.at is not None:
                held.append(found.at.low <= true <= found.at.high)
                kinds.append(found.is_sharp is corner)
    # Of 95 % intervals at least 90 % hold it, and which curve it was is named right almost always.
    assert np.mean(held) >= 0.9
    assert np.mean(kinds) >= 0.97
    assert np.mean(found_bends) >= 0.9
