"""Merging is exact, and percentiles are those of one histogram that recorded everything."""

import random

import numpy as np
import pytest
from builders import hdr
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.analyse import histograms
from assay.model.base import AssayError

PERCENTS = [0.0, 25.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0]
latency_lists = st.lists(st.integers(1, 3_000_000_000_000), min_size=1, max_size=60)


def pooled(values: list[int]) -> histograms.Histogram:
    return histograms.decode(hdr(values))


def test_sixteen_merged_lanes_equal_one_pooled_histogram() -> None:
    random.seed(16)
    lanes = [[int(random.lognormvariate(11 + lane / 8, 1.0)) for _ in range(5000)] for lane in range(16)]
    merged = histograms.merge([pooled(lane) for lane in lanes])
    one = pooled([value for lane in lanes for value in lane])
    assert histograms.percentiles(merged, PERCENTS).tolist() == histograms.percentiles(one, PERCENTS).tolist()
    assert histograms.summary(merged) == histograms.summary(one)
    assert histograms.curve(merged) == histograms.curve(one)
    assert histograms.encode(merged) == histograms.encode(one)


@settings(max_examples=times(60, 600))
@given(st.lists(latency_lists, min_size=1, max_size=16))
def test_merging_loses_nothing(lanes: list[list[int]]) -> None:
    merged = histograms.merge([pooled(lane) for lane in lanes])
    one = pooled([value for lane in lanes for value in lane])
    assert merged.first == one.first
    assert merged.counts.tolist() == one.counts.tolist()


@settings(max_examples=times(60, 600))
@given(latency_lists, latency_lists)
def test_what_was_added_can_be_taken_away(some: list[int], others: list[int]) -> None:
    left = histograms.subtract_part(pooled(some + others), pooled(others))
    assert left.total == len(some)
    assert histograms.summary(left) == histograms.summary(pooled(some))


def test_only_a_part_can_be_taken_away() -> None:
    for part in ([5, 5], [4], [10**9]):
        with pytest.raises(AssayError, match="is not contained in the one"):
            histograms.subtract_part(pooled([5]), pooled(part))


@settings(max_examples=times(60, 600))
@given(latency_lists, st.floats(0.01, 100.0))
def test_percentiles_are_order_statistics_to_three_digits(values: list[int], percent: float) -> None:
    found = int(histograms.percentiles(pooled(values), [percent])[0])
    exact = int(np.percentile(values, percent, method="inverted_cdf"))
    assert exact <= found <= exact * 1.001 + 1


@settings(max_examples=times(60, 600))
@given(latency_lists)
def test_encoding_is_read_back_by_the_package_and_by_us(values: list[int]) -> None:
    first = pooled(values)
    text = histograms.encode(first)
    again = histograms.decode(text)
    assert again.first == first.first
    assert again.counts.tolist() == first.counts.tolist()
    theirs = HdrHistogram.decode(text)
    assert theirs.get_total_count() == len(values)
    assert theirs.get_value_at_percentile(100.0) == int(histograms.percentiles(first, [100.0])[0])


def test_999_per_mille_of_a_thousand_is_the_999th() -> None:
    values = [1000] * 999 + [50_000]
    assert histograms.percentiles(pooled(values), [99.9])[0] == 1000
    assert histograms.percentiles(pooled(values), [99.91])[0] > 49_000


def test_curve_ends_at_the_greatest_latency_and_never_falls() -> None:
    random.seed(3)
    histogram = pooled([int(random.lognormvariate(12, 1)) for _ in range(10_000)])
    points = histograms.curve(histogram)
    assert points[0][0] == 0.0 and points[-1] == (100.0, float(histograms.percentiles(histogram, [100.0])[0]))
    assert [value for _, value in points] == sorted(value for _, value in points)
    assert len(points) < 60


def test_an_empty_histogram_has_neither_percentiles_nor_curve() -> None:
    empty = pooled([])
    assert empty.total == 0
    assert histograms.summary(empty) == {}
    assert histograms.curve(empty) == ()
    assert histograms.merge([empty, pooled([5])]).total == 1
    assert histograms.decode(histograms.encode(empty)).total == 0


@pytest.mark.parametrize("text", ["", "no histogram", "AAAA", hdr([1, 2, 3])[:-8]])
def test_a_broken_histogram_is_one_clear_error(text: str) -> None:
    with pytest.raises(AssayError, match="histogram cannot be read"):
        histograms.decode(text)


def test_different_resolutions_are_not_merged() -> None:
    coarse = HdrHistogram(1, 1_000_000, 2)
    coarse.record_value(100)
    with pytest.raises(AssayError, match="resolution"):
        histograms.merge([pooled([100]), histograms.decode(coarse.encode().decode())])
