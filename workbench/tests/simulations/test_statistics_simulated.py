"""What is promised of intervals, comparisons and change points, held against simulated measurements of a known truth.

Every simulation has its seed, so that it gives the same figures each time.
"""

from collections.abc import Callable

import numpy as np
import pytest
from builders import make_case, row_of
from noise import Floats, heavy, wandering
from soak import times

from assay.analyse.compare import compare_rounds
from assay.analyse.course import IntervalRate, course
from assay.analyse.estimate import estimate
from assay.analyse.repeats.adaptive import is_precise
from assay.analyse.statistics.changes import change_points
from assay.model.result.result import Comparison, Estimate, ResultRow

Noise = Callable[[np.random.Generator, tuple[int, ...], float], Floats]

TRUE = 500e6
TRIALS = times(1000, 4000)
PAIRS = times(200, 1000)
MAX_CALLED = times(20, 50)
"""Of the pairs: where 5 of 100 are called, more than 20 of 200 are in one of a thousand simulations."""
SERIES = times(100, 400)
STUDIES = times(40, 2000)
MAX_WRONG = times(6, 120)
"""Of the studies: where 5 of 100 are wrong, more than 6 of 40 are in one of a thousand simulations."""
ROWS = 6
REPEATS = 10
SEEDS = {"coverage": 20260101, "adaptive": 20260102, "same": 20260103, "slower": 20260104, "course": 20260105}
SEEDS |= {"decided": 20261123, "power": 20261124}
SEED_CHANGES = 20260106


def _normal(random: np.random.Generator, shape: tuple[int, ...], sigma: float) -> Floats:
    return 1 + sigma * random.standard_normal(shape)


def _log_normal(random: np.random.Generator, shape: tuple[int, ...], sigma: float) -> Floats:
    return np.exp(sigma * random.standard_normal(shape))


def _heavy_tailed(random: np.random.Generator, shape: tuple[int, ...], sigma: float) -> Floats:
    """Student's t with 3 degrees of freedom on the logarithms, scaled to that standard deviation."""
    return np.exp(sigma * heavy(random, shape))


def _alike(autocorrelation: float) -> Noise:
    return lambda random, shape, sigma: np.exp(sigma * wandering(random, shape, autocorrelation))


def _two_valued(random: np.random.Generator, shape: tuple[int, ...], sigma: float) -> Floats:
    """A machine that is at one of two speeds in each repeat."""
    return np.where(random.random(shape) < 0.5, 1.0, 0.6)


NOISES: dict[str, Noise] = {"normal": _normal, "log-normal": _log_normal, "heavy-tailed": _heavy_tailed}
WILD: dict[str, Noise] = {**NOISES, "alike 0.5": _alike(0.5), "alike 0.8": _alike(0.8), "two-valued": _two_valued}


def covered(found: Estimate) -> bool:
    assert found.low is not None and found.high is not None
    return found.low <= TRUE <= found.high


@pytest.mark.parametrize("n", [3, 4, 5, 10])
@pytest.mark.parametrize("sigma", [0.03, 0.1])
@pytest.mark.parametrize("noise", ["normal", "log-normal"])
def test_the_interval_covers_the_truth_in_93_to_97_of_100(noise: str, sigma: float, n: int) -> None:
    random = np.random.default_rng(SEEDS["coverage"] + n)
    values = (TRUE * NOISES[noise](random, (TRIALS, n), sigma)).tolist()
    assert 0.93 <= np.mean([covered(estimate(row)) for row in values]) <= 0.97


@pytest.mark.parametrize("sigma", [0.03, 0.1])
@pytest.mark.parametrize("noise", ["normal", "log-normal"])
def test_the_interval_covers_the_truth_in_90_of_100_where_its_width_decides_when_to_stop(
    noise: str, sigma: float
) -> None:
    random = np.random.default_rng(SEEDS["adaptive"])
    series = (TRUE * NOISES[noise](random, (TRIALS, 30), sigma)).tolist()
    counts = [next((n for n in range(1, 30) if is_precise(values[:n], 0.05)), 30) for values in series]
    hits = [covered(estimate(values[:n])) for values, n in zip(series, counts, strict=True)]
    assert np.mean(hits) >= 0.90
    assert min(counts) >= 8 and np.median(counts) == (8 if sigma == 0.03 else 23)


def rows(values: Floats) -> list[ResultRow]:
    """One row for each line of values."""
    lines = enumerate(values.tolist())
    return [row_of(make_case(f"c{n:04}", axes={"record_size": 4096 * (n + 1)}), rates) for n, rates in lines]


def compared(random: np.random.Generator, noise: str, slowdown: float) -> tuple[Comparison, ...]:
    """Two runs of six rows whose true rates differ; of the second run the first row is slower."""
    true = TRUE * np.geomspace(1, 4, ROWS)[:, None]
    before, after = (true * NOISES[noise](random, (ROWS, REPEATS), 0.03) for _ in range(2))
    after[0] *= 1 - slowdown
    return compare_rounds(list(zip(rows(before), rows(after), strict=True)))


@pytest.mark.parametrize("noise", list(NOISES))
def test_any_difference_is_called_in_at_most_5_of_100_pairs_of_equal_runs(noise: str) -> None:
    random = np.random.default_rng(SEEDS["same"])
    called = [any(pair.separable for pair in compared(random, noise, 0.0)) for _ in range(PAIRS)]
    assert sum(called) <= MAX_CALLED


@pytest.mark.parametrize("noise", list(NOISES))
def test_a_row_that_is_10_percent_slower_is_found_in_at_least_95_of_100(noise: str) -> None:
    random = np.random.default_rng(SEEDS["slower"])
    found = [compared(random, noise, 0.1)[0] for _ in range(times(100, 250))]
    assert np.mean([pair.separable and pair.ratio < 1 for pair in found]) >= 0.95


def decided(
    random: np.random.Generator, noise: str, count: int, faster: float, looks: tuple[int, ...]
) -> tuple[bool, bool, int]:
    """A study of so many points at two targets that is looked at again and again, until all points have decided.

    The other target is faster at each fifth point.

    Returns:
        Whether a difference was called that is none, whether all true ones were found, and the repeats that it took.
    """
    true = TRUE * np.geomspace(1, 100, count)[:, None]
    base, other = (true * WILD[noise](random, (count, looks[-1]), 0.03) for _ in range(2))
    other[::5] *= 1 + faster
    called = np.zeros(count, bool)
    wrong, taken = False, looks[-1]
    for repeats in looks:
        pairs = list(zip(rows(base[:, :repeats]), rows(other[:, :repeats]), strict=True))
        found = compare_rounds(pairs, looks=len(looks))
        called = np.array([pair.separable for pair in found])
        right = [faster > 0 and number % 5 == 0 and pair.ratio > 1 for number, pair in enumerate(found)]
        wrong |= bool((called & ~np.array(right)).any())
        if faster and called[::5].all():
            taken = repeats
            break
    return wrong, bool(called[::5].all()), taken


@pytest.mark.parametrize("count", [1, 6, 24])
@pytest.mark.parametrize("noise", list(WILD))
def test_a_study_that_stops_when_it_has_decided_decides_wrongly_in_at_most_5_of_100(noise: str, count: int) -> None:
    random = np.random.default_rng(SEEDS["decided"] + count)
    wrong = [decided(random, noise, count, 0.0, (5, 7, 10, 14, 20))[0] for _ in range(STUDIES)]
    assert sum(wrong) <= MAX_WRONG


@pytest.mark.parametrize("noise", list(NOISES))
def test_a_study_of_many_points_finds_10_percent_at_3_percent_of_noise_in_9_of_10(noise: str) -> None:
    random = np.random.default_rng(SEEDS["power"])
    found = [decided(random, noise, 70, 0.1, (5, 6, 8, 11, 16)) for _ in range(times(10, 200))]
    assert np.mean([all_found for _, all_found, _ in found]) >= 0.9
    assert np.median([repeats for _, _, repeats in found]) <= (16 if noise == "heavy-tailed" else 8)
    assert sum(wrong for wrong, _, _ in found) <= max(1, 0.05 * len(found))


@pytest.mark.parametrize(
    ("autocorrelation", "share", "coverage"), [(0.0, 1.0, 0.93), (0.5, 1 / 3, 0.9), (0.8, 1 / 9, 0.8)]
)
def test_effective_size_and_batch_means_see_that_intervals_resemble_their_neighbours(
    autocorrelation: float, share: float, coverage: float
) -> None:
    """The effective share is (1 - r) / (1 + r). With r = 0.8 batches of 20 intervals still resemble each other."""
    random = np.random.default_rng(SEEDS["course"])
    shares, hits = [], []
    for _ in range(SERIES):
        rates = TRUE * (1 + 0.05 * wandering(random, 200, autocorrelation))
        found = course([IntervalRate(n * 10**9, (n + 1) * 10**9, rate) for n, rate in enumerate(rates.tolist())])
        assert found is not None and found.effective is not None and found.low is not None and found.high is not None
        shares.append(found.effective / 200)
        hits.append(found.low <= TRUE <= found.high)
    assert np.median(shares) == pytest.approx(share, rel=0.3)
    assert coverage <= np.mean(hits) <= 0.98


@pytest.mark.parametrize("count", [8, 12, 30, 60])
@pytest.mark.parametrize("noise", list(NOISES))
def test_a_series_without_a_change_shows_one_in_at_most_3_of_100(noise: str, count: int) -> None:
    random = np.random.default_rng(SEED_CHANGES)
    series = NOISES[noise](random, (SERIES, count), 0.03)
    assert np.mean([bool(change_points(values)) for values in series]) <= 0.03


@pytest.mark.parametrize("count", [30, 120])
def test_a_series_that_wanders_seldom_shows_a_change(count: int) -> None:
    random = np.random.default_rng(SEED_CHANGES)
    assert np.mean([bool(change_points(wandering(random, count, 0.5))) for _ in range(times(150, 300))]) <= 0.15


@pytest.mark.parametrize(
    ("levels", "changes"),
    [
        ([100] * 20 + [50] * 40, [20]),
        ([100] * 5 + [70] * 5, [5]),
        ([100] * 25 + [50] * 10 + [100] * 25, [25, 35]),
        ([100] * 20 + [80] * 20 + [60] * 20, [20, 40]),
        ([100] * 500 + [80] * 500, [500]),
    ],
)
def test_changes_are_found_where_they_are(levels: list[float], changes: list[int]) -> None:
    random = np.random.default_rng(SEED_CHANGES)
    near = 0
    for _ in range(50):
        values = np.array(levels) * _normal(random, (len(levels),), 0.03)
        places = [point.at for point in change_points(values)]
        near += len(places) == len(changes) and all(
            abs(place - true) <= 1 for place, true in zip(places, changes, strict=True)
        )
    assert near >= 47
