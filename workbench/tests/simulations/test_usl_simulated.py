"""The universal scalability law: the intervals hold what was put in as often as they say."""

import math

import numpy as np
import pytest
from soak import times
from usl_tools import DOUBLING, MANY, fit, measured

TRIES = times(40, 500)


@pytest.mark.parametrize("hosts", [DOUBLING, MANY], ids=["4 numbers", "8 numbers"])
@pytest.mark.parametrize("repeats", [3, 6])
def test_intervals_hold_what_was_put_in(repeats: int, hosts: tuple[int, ...]) -> None:
    random = np.random.default_rng(7)
    held, fits, false, named, peaks = [], [], [], [], []
    for contention, coherency in ((0.0, 0.0), (0.05, 0.0), (0.3, 0.0), (0.05, 0.002), (0.02, 0.01), (0.0, 0.02)):
        for seed in range(TRIES):
            law = fit(measured(random, hosts, contention, coherency, 0.03, repeats), seed)
            for item, true in ((law.rate, 100.0), (law.contention, contention), (law.coherency, coherency)):
                held.append(item.low <= true <= item.high)
            fits.append(law.fits)
            if not coherency:
                false.append(law.peak is not None)
            elif coherency >= 0.01:
                peak = math.sqrt((1 - contention) / coherency)
                named.append(law.peak is not None)
                if law.peak is not None:
                    peaks.append(law.peak.low <= peak <= law.peak.high)
    # Of 95 % intervals at least 90 % hold it.
    assert np.mean(held) >= 0.9
    assert np.mean(named) >= 0.8
    assert np.mean(peaks) >= 0.9
    assert np.mean(fits) >= 0.97
    # A peak that is not there is reported in at most 5 of 100.
    assert np.mean(false) <= 0.05


def test_a_total_that_grows_in_step_has_neither_contention_nor_coherency_nor_a_peak() -> None:
    random = np.random.default_rng(3)
    for seed in range(TRIES):
        law = fit(measured(random, MANY, 0.0, 0.0, 0.02, 4), seed)
        assert law.contention.value < 0.02 and law.coherency.value < 0.002
        assert law.peak is None


def test_a_total_that_stays_level_has_no_peak_before_its_end() -> None:
    random = np.random.default_rng(5)
    level = {1: 35.0, 2: 70.0, 4: 117.0, 6: 118.0, 8: 118.0}
    for seed in range(TRIES):
        law = fit({count: list(rate * np.exp(random.normal(0, 0.05, 4))) for count, rate in level.items()}, seed)
        assert law.falls or law.peak is None or law.peak.value > 6
