"""What two sides in turns can find in the rounds that there are: held against the comparison itself."""

import math

import numpy as np
import pytest
from builders import make_case, row_of

from assay.analyse.blocks import decisions, detectable_difference, ratio_deviations, side_state
from assay.model.result.result import ResultRow
from assay.model.study.blocks import LOOK_ROUNDS, Blocks

BLOCKS, RUNS, SIGMA = Blocks(base="A", other="B", seconds=60), 40, 0.08


def rows(seed: int, rounds: int, slower: float, count: int) -> list[ResultRow]:
    random = np.random.default_rng(seed)
    return [
        row_of(
            make_case(f"{side}{number}", side, axes={"record_size": 4096 * (number + 1)}),
            (5e8 * level * np.exp(SIGMA * random.standard_normal(rounds))).tolist(),
        )
        for number in range(count)
        for side, level in (("A", 1.0), ("B", 1 / (1 + slower)))
    ]


def found(rounds: int, slower: float, count: int) -> float:
    """Share of the points at which the other side is called slower."""
    points = [
        point
        for seed in range(RUNS)
        for decision in decisions(rows(seed, rounds, slower, count), BLOCKS)
        for point in decision.points
    ]
    return sum(side_state(point, "B") == "slower" for point in points) / len(points)


@pytest.mark.parametrize(("rounds", "count"), [(20, 1), (50, 1), (13, 4), (32, 4)])
def test_what_is_called_findable_is_mostly_found_and_half_of_it_seldom(rounds: int, count: int) -> None:
    least = detectable_difference(SIGMA * math.sqrt(2), rounds, count, len(LOOK_ROUNDS))
    assert found(rounds, least, count) >= 0.65
    assert found(rounds, least / 2, count) <= 0.4


def test_more_rounds_find_less_and_noise_and_more_rows_need_more() -> None:
    by_rounds = [detectable_difference(0.03, rounds, 1, 8) for rounds in (2, 5, 8, 13, 20, 32, 50, 80, 120)]
    assert by_rounds == sorted(by_rounds, reverse=True) and math.isinf(by_rounds[0])
    assert detectable_difference(0.06, 32, 1, 8) > 1.9 * detectable_difference(0.03, 32, 1, 8)
    assert detectable_difference(0.03, 120, 16, 8) > detectable_difference(0.03, 120, 1, 8)


def test_rounds_tell_how_much_they_differ_without_what_stood_still_for_a_moment() -> None:
    known = rows(1, 50, 0.1, 2)
    cases = [row.case.id for row in known]
    for one in ratio_deviations(known, BLOCKS, cases):
        assert abs(one / (SIGMA * math.sqrt(2)) - 1) < 0.4
    assert len(ratio_deviations(known, BLOCKS, cases[:2])) == 1 and ratio_deviations(known, BLOCKS, []) == []
    few = rows(1, 2, 0.1, 1)
    assert ratio_deviations(few, BLOCKS, [row.case.id for row in few]) == []
    rates = [5e8 * (1 + 0.01 * (number % 3)) for number in range(20)]
    stalled = [rates[0] / 50, *rates[1:]]
    pair = [row_of(make_case(side, side), values) for side, values in (("A", rates[::-1]), ("B", stalled))]
    (one,) = ratio_deviations(pair, BLOCKS, ["A", "B"])
    assert one < 0.1
