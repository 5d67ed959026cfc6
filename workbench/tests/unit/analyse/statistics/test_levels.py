"""Intervals of repeats that resemble their neighbours, and results with two values."""

import numpy as np
from builders import make_case, make_sample
from level_tools import alike, drifting, heavy, independent, skewed

from assay.analyse.estimate import estimate
from assay.analyse.statistics.autocorrelation import autocorrelation_notes, known_autocorrelation
from assay.analyse.statistics.levels import MIN_VALUES, levels
from assay.judge.answer import NotEvaluated
from assay.judge.rules import MAX_UNCERTAINTY, unstable
from assay.model.result.evidence import Evidence
from assay.model.result.verdict import Finding, Verdict


def test_few_results_do_not_tell_how_much_repeats_resemble_each_other() -> None:
    chance = np.random.default_rng(1)
    rows = [[float(value) for value in np.exp(independent(chance, 5))] for _ in range(100)]
    assert known_autocorrelation(rows[:1]) is None
    assert known_autocorrelation([]) is None
    found = known_autocorrelation(rows)
    assert found is not None and found < 0.25


def test_two_values_are_told_from_noise() -> None:
    two = wrong = 0
    for seed in range(300):
        chance = np.random.default_rng(seed)
        count = int(chance.integers(MIN_VALUES, 30))
        fast = chance.random(count) < 0.5
        fast[:3], fast[3:6] = True, False
        rates = np.where(fast, 9e8, 5.4e8) * np.exp(independent(chance, count))
        found = levels([float(rate) for rate in rates])
        two += bool(found) and sum(level.count for level in found) == count
        for draw in (independent, skewed, heavy, alike(0.8), drifting):
            wrong += bool(levels([float(value) for value in np.exp(5 * draw(chance, count))]))
    assert two >= 0.9 * 300
    assert wrong <= 0.01 * 1500


def test_the_interval_of_two_values_holds_both() -> None:
    rates = [9e8, 5.4e8, 9.1e8, 5.5e8, 9.0e8, 5.4e8, 9.1e8, 9.0e8, 5.5e8, 9.05e8]
    found = estimate(rates)
    assert [level.count for level in found.levels] == [4, 6]
    assert found.low is not None and found.high is not None
    assert found.low <= 5.5e8 and found.high >= 9e8


def evidence(rates: list[float], within: float | None = None) -> Evidence:
    case = make_case()
    samples = tuple(make_sample(case.id, repeat, rate) for repeat, rate in enumerate(rates, start=1))
    return Evidence(
        case=case,
        operation="read",
        samples=samples,
        usable=samples,
        place=None,
        memory_bytes=None,
        estimate=estimate(rates),
        planned=len(samples),
        within=within,
    )


def noisy(count: int, sigma: float) -> list[float]:
    return [float(rate) for rate in 1e8 * np.exp(np.random.default_rng(count).normal(0, sigma, count))]


def test_unstable_can_be_cured_by_repeats() -> None:
    """Where a limit of the scatter called a true spread of 12 % in 95 of 100 cases, the more often it was repeated."""
    few = unstable(evidence(noisy(4, 0.3)))
    assert isinstance(few, Finding) and few.verdict is Verdict.UNSTABLE
    assert "uncertain by" in few.text
    assert few.numbers["repeats_needed"] > 4
    assert unstable(evidence(noisy(60, 0.3))) is None
    assert unstable(evidence(noisy(5, 0.05))) is None
    assert isinstance(unstable(evidence(noisy(2, 0.05))), NotEvaluated)
    wide = unstable(evidence([25e6, 1900e6]))
    assert isinstance(wide, Finding) and "very uncertain" in wide.text


def test_what_the_study_asks_for_counts_if_it_is_more() -> None:
    asked = unstable(evidence(noisy(8, 0.1), within=0.02))
    assert isinstance(asked, Finding) and "2 % was requested" in asked.text
    assert unstable(evidence(noisy(8, 0.1), within=0.5)) is None
    assert MAX_UNCERTAINTY < 0.5


def test_two_values_are_named() -> None:
    found = unstable(evidence([9e8, 5.4e8, 9.1e8, 5.5e8, 9.0e8, 5.4e8, 9.1e8, 9.0e8, 5.5e8, 9.05e8]))
    assert isinstance(found, Finding)
    assert "two levels: 4 of about 545 MB/s and 6 of about 902 MB/s" in found.text


def test_a_reader_is_told_what_the_intervals_allow_for() -> None:
    assert (
        autocorrelation_notes(None, [])
        == ()
        == autocorrelation_notes(0.05, [5] * 40)
        == autocorrelation_notes(None, [1, 1])
    )
    (unknown,) = autocorrelation_notes(None, [4, 3])
    assert unknown.startswith("From 2 results of at most 4 repeats it is not known")
    (known,) = autocorrelation_notes(0.5, [10] * 40)
    assert "correlated (about 0.5" in known and "with 10 repeats their standard errors are 1.8 times as large" in known
