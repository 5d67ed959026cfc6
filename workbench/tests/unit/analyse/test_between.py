"""How much runs of a study differ by themselves."""

import math

import numpy as np
import pytest

from assay.analyse.run_variation import Key, RunVariation, run_variation

SEED = 20261123


def runs(seed: int, rows: int = 100, count: int = 11, sigma: float = 0.03) -> dict[Key, list[float]]:
    """Medians of rows that vary from run to run, and were never changed."""
    drawn = 1e8 * np.exp(np.random.default_rng(SEED + seed).normal(0, sigma, (rows, count)))
    return {("disk", str(row)): values for row, values in enumerate(drawn.tolist())}


def known(series: dict[Key, list[float]]) -> RunVariation:
    found = run_variation(series)
    assert found is not None
    return found


def test_days_that_are_normal_stretch_nothing() -> None:
    found = [known(runs(seed)) for seed in range(40)]
    assert sum(one.error_factor > 1 for one in found) <= 6
    assert max(one.error_factor for one in found) < 1.3
    assert np.mean([one.variances["disk", "0"] for one in found]) == pytest.approx(0.03**2, rel=0.2)
    assert found[0].run_count == 11 and 0.06 < found[0].typical < 0.11


def test_what_stood_out_once_is_what_may_stand_out_again() -> None:
    series = runs(1)
    series["disk", "7"][5] *= 2.5
    stretched = known(series)
    assert stretched.error_factor > 2
    # The same in another row of the next run is no change: it does not reach the farthest that is known.
    error = stretched.error_factor * math.sqrt(stretched.variances["disk", "3"] * 2)
    assert math.log(1.5) / error < 4


@pytest.mark.parametrize(("before", "after", "level"), [(6, 5, True), (9, 2, False)])
def test_a_new_level_counts_as_one_when_it_lasted_for_four_runs(before: int, after: int, level: bool) -> None:
    series = runs(2, rows=20)
    series["disk", "0"] = [*series["disk", "0"][:before], *(1.5 * value for value in series["disk", "0"][-after:])]
    assert (known(series).variances["disk", "0"] < 0.05**2) is level


def test_too_few_runs_tell_nothing() -> None:
    assert run_variation(runs(3, count=2)) is None
