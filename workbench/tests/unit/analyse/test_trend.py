"""Rates that rise or fall over the rounds of a run."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from builders import make_case, row_of
from noise import wandering
from soak import times

from assay.analyse.anomalies.notes import notes
from assay.analyse.anomalies.trend import MIN_ROUNDS, Trend, trend_notes, trends
from assay.model.result.result import ResultRow

RUNS = times(200, 2000)


def row(rates: Sequence[float], target: str = "disk", number: int = 1, first: int = 1) -> ResultRow:
    return row_of(make_case(f"c{number:04}", target), rates, first=first)


def noisy(
    random: np.random.Generator, rows: int, rounds: int, autocorrelation: float, drift: float = 0.0
) -> list[ResultRow]:
    """Rates with 5 % of noise that resembles the one before, on a level that moves by `drift` in all."""
    noise = wandering(random, (rows, rounds), autocorrelation)
    level = np.linspace(0, math.log1p(drift), rounds)
    rates = 1e8 * np.exp(level + 0.05 * noise)
    return [row(rates[number].tolist(), number=number) for number in range(rows)]


def test_a_level_that_falls_is_told_with_its_figures() -> None:
    rows = [row([100.0, 96.5, 92.8, 89.1, 85.0], number=1), row([10.0, 9.6, 9.3, 8.9, 8.5], number=2)]
    (found,) = trends(rows)
    assert found == Trend("disk", pytest.approx(-0.15, abs=0.01), found.p, 5, 2, 2)
    assert found.p < 0.01
    (note,) = trend_notes(rows)
    assert note.startswith("On disk the rates fell by 15 % over the 5 rounds of the run (2 of 2 results went that way")
    (note,) = trend_notes([row([100.0, 104.0, 108.0, 113.0, 118.0])])
    assert "rose by 18 %" in note


@pytest.mark.parametrize(
    "rates",
    [
        [100.0] * 8,
        [100.0, 99.0, 98.0, 97.0, 96.0],
        [100.0, 80.0, 100.0, 80.0, 100.0, 80.0],
        [100.0, 50.0, 60.0, 110.0, 90.0],
        [100.0, 80.0, 60.0][: MIN_ROUNDS - 1],
        [],
    ],
)
def test_what_does_not_move_or_not_far_is_no_trend(rates: list[float]) -> None:
    assert trends([row(rates)]) == ()


def test_each_target_is_looked_at_by_itself() -> None:
    falling, level = [100.0, 95.0, 90.0, 85.0, 80.0, 76.0], [50.0, 51.0, 50.0, 49.0, 50.0, 51.0]
    rows = [row(falling, "worn", 1), row(level, "new", 2), row(level[::-1], "new", 3)]
    assert [item.target for item in trends(rows)] == ["worn"]


def test_one_odd_result_decides_nothing() -> None:
    flat = [50.0, 51.0, 50.0, 49.0, 50.0, 51.0]
    rows = [row([100.0, 50.0, 25.0, 12.0, 6.0, 3.0], number=1), row(flat, number=2), row(flat[::-1], number=3)]
    assert trends(rows) == ()


def test_cases_that_were_known_earlier_and_repeats_that_failed_leave_the_common_rounds() -> None:
    falling = [100.0, 96.0, 92.0, 88.0, 85.0, 81.0]
    late = row(falling[1:], number=3, first=2)
    (found,) = trends([row(falling, number=1), row(falling[:4], number=2), late])
    assert (found.rounds, found.cases) == (4, 2)
    failed = late.model_copy(update={"samples": tuple(s.model_copy(update={"status": "failed"}) for s in late.samples)})
    assert trends([failed]) == ()


@pytest.mark.parametrize("rounds", [4, 6, 12])
@pytest.mark.parametrize(("rows", "autocorrelation"), [(1, 0.0), (1, 0.5), (12, 0.5)])
def test_runs_without_a_trend_get_no_note(rows: int, autocorrelation: float, rounds: int) -> None:
    random = np.random.default_rng(13)
    seen = sum(bool(trends(noisy(random, rows, rounds, autocorrelation))) for _ in range(RUNS))
    # 5 in 100, and three standard deviations of so many runs.
    assert seen <= 0.05 * RUNS + 3 * math.sqrt(0.05 * 0.95 * RUNS)


@pytest.mark.parametrize("rounds", [5, 8])
def test_a_loss_of_15_percent_is_seen_in_a_dozen_results(rounds: int) -> None:
    random = np.random.default_rng(14)
    seen = sum(bool(trends(noisy(random, 12, rounds, 0.0, drift=-0.15))) for _ in range(RUNS))
    assert seen >= 0.9 * RUNS


def test_it_is_among_the_notes_of_a_run() -> None:
    found = notes([row([1e8 * 0.95**repeat for repeat in range(6)])], {})
    assert any("the rates fell by 23 %" in note for note in found)
