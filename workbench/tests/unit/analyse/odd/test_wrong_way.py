"""Axes that go the wrong way."""

import pytest
from builders import make_case, row_of
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.anomalies.falling import fall_notes
from assay.model.result.result import ResultRow
from assay.model.result.verdict import Verdict

CLOSE = (0.98, 1.0, 1.01, 0.99, 1.02)


def rows(axis: str, speeds: dict[int, float], target: str = "memory") -> list[ResultRow]:
    return [
        row_of(make_case(f"{target}-{value}", target, axes={axis: value}), [middle * each for each in CLOSE])
        for value, middle in speeds.items()
    ]


def test_more_in_flight_that_do_much_less_are_named_with_both_numbers() -> None:
    (note,) = fall_notes(rows("queue_depth", {1: 2800e6, 4: 392e6, 16: 1080e6}))
    assert note.startswith("Slower at a higher queue depth: ")
    for word in ("queue depth: read on memory", "392 MB/s at 4", "2.8 GB/s at 1", "7.14×"):
        assert word in note


@pytest.mark.parametrize(
    ("axis", "speeds"),
    [
        ("queue_depth", {1: 100e6, 4: 400e6, 16: 390e6}),
        ("queue_depth", {1: 100e6, 4: 70e6}),
        ("file_size", {1 << 20: 900e6, 1 << 30: 100e6}),
    ],
)
def test_what_grows_stays_or_has_no_direction_is_no_note(axis: str, speeds: dict[int, float]) -> None:
    assert fall_notes(rows(axis, speeds)) == []


def test_overlapping_intervals_are_no_note() -> None:
    wide = [
        row_of(make_case(f"c{depth}", "disk", axes={"queue_depth": depth}), [middle * each for each in (0.3, 1, 1.9)])
        for depth, middle in ((1, 300e6), (2, 150e6))
    ]
    assert fall_notes(wide) == []


def test_the_worst_comes_first_and_results_that_are_none_do_not_count() -> None:
    some = rows("lanes", {1: 300e6, 2: 100e6}, "disk") + rows("lanes", {1: 900e6, 2: 100e6}, "memory")
    assert ["memory" in note for note in fall_notes(some)] == [True, False]
    cached = [row.model_copy(update={"verdict": Verdict.CACHED}) for row in some]
    assert fall_notes(cached) == []


@given(st.dictionaries(st.integers(1, 64), st.floats(1e6, 1e10), min_size=2, max_size=6))
def test_a_series_that_never_falls_is_never_noted(speeds: dict[int, float]) -> None:
    rising = dict(zip(sorted(speeds), sorted(speeds.values()), strict=True))
    assert fall_notes(rows("queue_depth", rising)) == []
