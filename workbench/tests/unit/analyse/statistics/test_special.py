"""What Assay computes by itself, held against scipy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from assay.analyse.statistics.least_squares import nonnegative_least_squares
from assay.analyse.statistics.special import (
    digamma,
    fisher_tail,
    student_quantile,
    student_tail,
    tetragamma,
    trigamma,
)

FREEDOM = st.floats(-1, 6).map(lambda power: 10**power) | st.integers(1, 1_000_000)
PLACE = st.floats(-6, 8).map(lambda power: 10**power)


@given(PLACE)
def test_derivatives_of_the_logarithm_of_gamma(x: float) -> None:
    # Near its zero at 1.46 only the absolute error can be small.
    assert digamma(x) == pytest.approx(special.psi(x), rel=1e-13, abs=1e-13)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-12)
    assert tetragamma(x) == pytest.approx(special.polygamma(2, x), rel=1e-12)


@given(FREEDOM, st.floats(-6, 3).map(lambda power: 10**power))
@settings(max_examples=300)
def test_tail_of_student(freedom: float, t: float) -> None:
    expected = special.stdtr(freedom, -t)
    assume(expected > 1e-290)
    assert student_tail(freedom, t) == pytest.approx(expected, rel=1e-9)


@given(FREEDOM, st.floats(-12, math.log10(0.5)).map(lambda power: 10**power), st.booleans())
@settings(max_examples=300)
def test_quantile_of_student(freedom: float, tail: float, upper: bool) -> None:
    share = 1 - tail if upper else tail
    found = student_quantile(freedom, share)
    assume(abs(found) < 1e100)
    # The quantile is right where its tail is; scipy's own inverse is off by 1e-8 in places.
    assert special.stdtr(freedom, -abs(found)) == pytest.approx(min(share, 1 - share), rel=1e-8)
    assert (found > 0) == (share > 0.5) or found == 0


def test_quantiles_that_tables_print() -> None:
    for freedom, expected in ((1, 12.706), (4, 2.776), (30, 2.042), (1e6, 1.960)):
        assert student_quantile(freedom, 0.975) == pytest.approx(expected, abs=5e-4)
        assert student_quantile(freedom, 0.025) == pytest.approx(-student_quantile(freedom, 0.975), rel=1e-13)


def test_ends() -> None:
    assert student_tail(3, 0) == 0.5
    assert student_tail(3, math.inf) == student_tail(1e6, 1e200) == 0
    assert student_tail(3, 1e-200) == 0.5
    assert student_quantile(3, 0.5) == 0
    assert student_quantile(3, 1) == math.inf == -student_quantile(3, 0)
    assert fisher_tail(3, 5, 0) == 1
    assert fisher_tail(3, 5, math.inf) == 0


@given(st.integers(1, 2000), st.integers(1, 2000), st.floats(-4, 4).map(lambda power: 10**power))
@settings(max_examples=300)
def test_tail_of_fisher(between: int, within: int, ratio: float) -> None:
    expected = special.fdtrc(between, within, ratio)
    assume(expected > 1e-290)
    assert fisher_tail(between, within, ratio) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.booleans())
@settings(max_examples=300)
def test_least_squares_above_zero(seed: int, rows: int, unknowns: int, alike: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix, right = rng.normal(size=(rows, unknowns)), rng.normal(size=rows)
    if alike:
        matrix[:, -1] = matrix[:, 0]
    found = nonnegative_least_squares(matrix, right)
    assert (found >= 0).all()
    _, distance = optimize.nnls(matrix, right)
    assert np.linalg.norm(matrix @ found - right) == pytest.approx(distance, rel=1e-9, abs=1e-9)


def test_least_squares_of_nothing() -> None:
    assert nonnegative_least_squares(np.zeros((3, 2)), np.ones(3)).tolist() == [0, 0]
    assert nonnegative_least_squares(np.ones((3, 1)), -np.ones(3)).tolist() == [0]
