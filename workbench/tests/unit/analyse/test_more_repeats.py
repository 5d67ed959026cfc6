"""Repeats are added to the cases of undecided points, to no others, and within a sensible time."""

import numpy as np
from builders import make_row
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.analyse.compare import compare
from assay.analyse.decide import MAX_NEEDED, decide
from assay.analyse.repeats.more_repeats import MIN_LIMIT_SECONDS, ExtraRepeats, more_repeats
from assay.model.result.decision import PointOutcome, TargetDecision
from assay.model.result.result import ResultRow

BEGUN = 1_795_288_503.0


def rows_of(seed: int, sizes: int, ratio: float, sigma: float, count: int) -> list[ResultRow]:
    """Two targets at some sizes; at each other one of them they differ clearly."""
    chance = np.random.default_rng(seed)
    found = []
    for place in range(sizes):
        for target in ("disk", "memory"):
            middle = 100e6 * (ratio if target == "memory" else 1.0) * (20.0 if place % 2 and target == "memory" else 1)
            rates = [float(middle * factor) for factor in np.exp(chance.normal(0, sigma, count))]
            found.append(make_row(target, rates, size=4096 << place))
    return found


def lacking(rows: list[ResultRow]) -> tuple[ExtraRepeats, tuple[TargetDecision, ...]]:
    decisions = decide(rows, compare(rows))
    return more_repeats(rows, decisions, BEGUN), decisions


def id_of(rows: list[ResultRow], target: str, axes: dict[str, object]) -> str:
    return next(row.case.id for row in rows if row.case.target == target and row.case.axes == axes)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 999),
    st.integers(1, 6),
    st.sampled_from([1.0, 1.06, 1.5, 4.0]),
    st.sampled_from([0.005, 0.05, 0.4]),
    st.integers(3, 14),
)
def test_cases_of_undecided_points_and_no_others_get_what_those_need(
    seed: int, sizes: int, ratio: float, sigma: float, count: int
) -> None:
    rows = rows_of(seed, sizes, ratio, sigma, count)
    more, decisions = lacking(rows)
    opened = [point for one in decisions for point in one.points_with(PointOutcome.OPEN)]
    mendable = [point for point in opened if point.needs is not None and point.needs <= MAX_NEEDED]
    mine = {id_of(rows, target, dict(point.axes)) for point in mendable for target in ("disk", "memory")}
    assert set(more.repeats) <= mine and all(added > 0 for added in more.repeats.values())
    assert more.point_count + more.too_long_count + more.unsettled_count == len(opened)
    settled = [
        point
        for point in mendable
        if all(
            more.repeats.get(id_of(rows, target, dict(point.axes)), 0) + count >= (point.needs or 0)
            for target in ("disk", "memory")
        )
    ]
    assert len(settled) >= more.point_count
    assert (more.seconds > 0) == bool(more.repeats)


def test_where_all_is_decided_nothing_is_added() -> None:
    assert not lacking(rows_of(1, 2, 20.0, 0.01, 8))[0].repeats


def test_what_would_take_too_long_is_left_and_counted() -> None:
    rows = [
        row.model_copy(
            update={"samples": tuple(one.model_copy(update={"elapsed_ns": int(100e9)}) for one in row.samples)}
        )
        for row in rows_of(3, 5, 1.02, 0.3, 5)
    ]
    more, _ = lacking(rows)
    measured = sum(sample.elapsed_ns / 1e9 for row in rows for sample in row.samples)
    assert more.too_long_count and more.seconds <= more.overhead_s + 1.25 * max(measured, MIN_LIMIT_SECONDS)
