"""The course of a phase: which intervals count, and what is read from them."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from builders import hdr
from hypothesis import example, given
from hypothesis import strategies as st

from assay.analyse.course import (
    IntervalRate,
    course,
    course_of,
    effective_size,
    opening_burst,
    whole_intervals,
    with_latencies,
)
from assay.analyse.statistics.changes import change_points
from assay.contract._generated import Operation
from assay.contract.messages import IntervalEvent, PhaseEndEvent, Window
from assay.model.base import AssayError
from assay.model.result.course import Course, Segments

S = 10**9
MB = 10**6


def counts(kind: str, ops: int, amount: int) -> dict[str, Any]:
    return {"operation": kind, "ops": ops, "bytes": amount, "errors": 0}


def event(index: int, amount: int = 100 * MB, **changes: Any) -> IntervalEvent:
    """An interval of one second in which `amount` bytes were read, in operations of a megabyte."""
    fields: dict[str, Any] = {
        "event": "interval",
        "phase": 0,
        "index": index,
        "start_ns": index * S,
        "end_ns": (index + 1) * S,
        "operations": [counts("read", amount // MB, amount)],
    }
    return IntervalEvent.model_validate(fields | changes)


def window(start: float, end: float) -> Window:
    return Window(start_ns=int(start * S), end_ns=int(end * S), ops=1, bytes=1)


def rates(values: list[float], length: int = S) -> list[IntervalRate]:
    return [IntervalRate(n * length, (n + 1) * length, value) for n, value in enumerate(values)]


def found(values: list[float], data_set: int | None = None) -> Course:
    answer = course(rates(values), data_set)
    assert answer is not None
    return answer


def test_a_burst_that_ends_within_the_first_interval_is_seen() -> None:
    later = [9.5, 10.5, 9.0, 10.0, 11.0]
    burst = opening_burst(0, rates([340.0, *later]))
    assert burst is not None
    assert (burst.at_ns, burst.before, burst.after) == (S, 340.0, 10.0)
    # Lanes start a little after the phase, so that its first interval is no whole one.
    after = [interval._replace(start_ns=interval.start_ns + S, end_ns=interval.end_ns + S) for interval in rates(later)]
    assert opening_burst(340.0, after) == burst


@pytest.mark.parametrize(
    "values",
    [
        [30.0, 10.0, 10.0, 10.0, 10.0, 11.0],
        [340.0, 10.0, 10.0, 10.0, 10.0],
        [340.0, 10.0, 10.0, 300.0, 10.0, 10.0],
        [340.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ],
    ids=["not much faster", "few intervals", "fast later, too", "nothing later"],
)
def test_other_beginnings_are_no_burst(values: list[float]) -> None:
    assert opening_burst(0, rates(values)) is None


def test_only_whole_intervals_in_which_every_lane_worked_count() -> None:
    events = [event(n, (n + 1) * MB) for n in range(6)]
    before, got = whole_intervals(events, window(0.4, 4.9), counted=False)
    assert [interval.start_ns for interval in got] == [1 * S, 2 * S, 3 * S]
    assert [interval.rate for interval in got] == [2 * MB, 3 * MB, 4 * MB]
    assert before == MB


def test_parts_of_an_interval_are_added_up_and_silence_is_a_rate_of_zero() -> None:
    events = [event(0), event(2, 50 * MB), event(3), event(2, 7 * MB)]
    _, got = whole_intervals(events, window(0, 4), counted=False)
    assert [interval.rate / MB for interval in got] == [100, 0, 57, 100]


def earlier(first: int, behind: int, ops: float) -> dict[str, Any]:
    return {"from": first, "to": behind, "ops": ops, "bytes": ops * MB}


def test_what_was_under_way_counts_where_it_was_done() -> None:
    # One operation took from the middle of the second 1 to the middle of the second 4: a sixth, a third twice, a sixth.
    long = event(4, MB, earlier=[earlier(1, 2, 1 / 6), earlier(2, 4, 1 / 3)])
    events = [event(0, 3 * MB), event(1, 2 * MB), long, event(5, 7 * MB)]
    for counted, unit in ((False, MB), (True, 1)):
        before, got = whole_intervals(events, window(1, 6), counted=counted)
        assert before == 3 * unit
        assert [interval.rate / unit for interval in got] == pytest.approx([2 + 1 / 6, 1 / 3, 1 / 3, 1 / 6, 7])


def test_what_ended_behind_the_steady_time_counts_in_it_by_its_part() -> None:
    before, got = whole_intervals([event(3, MB, earlier=[earlier(0, 3, 0.3)])], window(1, 3), counted=False)
    assert before == pytest.approx(0.3 * MB)
    assert [interval.rate for interval in got] == pytest.approx([0.3 * MB, 0.3 * MB])


@given(st.lists(st.tuples(st.integers(0, 9 * S), st.integers(1, 5 * S)), min_size=1, max_size=30))
def test_nothing_is_lost_or_counted_twice(spans: list[tuple[int, int]]) -> None:
    events = []
    for start, length in spans:
        end = start + length
        first, last = start // S, end // S
        parts = [earlier(n, n + 1, (min(end, (n + 1) * S) - max(start, n * S)) / length) for n in range(first, last)]
        events.append(event(last, MB, earlier=parts))
    before, got = whole_intervals(events, window(0, 15), counted=False)
    assert before == 0
    assert sum(interval.rate for interval in got) == pytest.approx(len(spans) * MB)


@pytest.mark.parametrize("part", [earlier(2, 3, 1), earlier(1, 1, 1), earlier(0, 10**9, 1)])
def test_what_is_not_earlier_is_one_clear_error(part: dict[str, Any]) -> None:
    with pytest.raises(AssayError, match="which are not earlier"):
        whole_intervals([event(2, MB, earlier=[part])], window(0, 3), counted=False)


def test_the_last_interval_is_left_out_if_it_is_shorter() -> None:
    events = [event(0), event(1), event(2, 10 * MB, end_ns=2 * S + S // 10)]
    _, got = whole_intervals(events, window(0, 2.1), counted=False)
    assert [interval.rate / MB for interval in got] == [100, 100]


def test_reads_writes_and_contents_are_added_and_metadata_counts_operations() -> None:
    every = [counts("read", 100, 100 * MB), counts("write", 3, 6 * MB), counts("create", 5, MB)]
    events = [event(n, operations=every) for n in range(2)]
    assert whole_intervals(events, window(0, 2), counted=False)[1][0].rate == 107 * MB
    assert whole_intervals(events, window(0, 2), counted=True)[1][0].rate == 108


def test_nothing_is_said_without_a_steady_time_or_with_less_than_two_intervals() -> None:
    end = {"steady": window(0, 1.5)}
    assert course_of([event(0), event(1)], PhaseEndEvent.model_construct(**end), None, False) is None
    assert course_of([event(0), event(1)], PhaseEndEvent.model_construct(steady=None), None, False) is None
    assert course_of([], PhaseEndEvent.model_construct(**end), None, False) is None
    assert course([]) is None and course(rates([1.0])) is None


def test_passes_count_from_the_start_of_the_phase() -> None:
    """250 MB are read in the first 2.5 s, of which the first second is not steady; then memory answers."""
    events = [event(0), event(1), *(event(n, 400 * MB) for n in range(2, 6))]
    end = PhaseEndEvent.model_construct(operation=Operation.read, steady=window(0.5, 6))
    got = course_of(events, end, 250 * MB, counted=False)
    assert got is not None and (got.first_pass, got.later_passes) == (100 * MB, 400 * MB)
    assert got.intervals == 5 and got.interval_ns == S
    whole = course_of(events, end, 10**12, counted=False)
    assert whole is not None and (whole.first_pass, whole.later_passes) == (None, None)
    early = course_of(events, end, 50 * MB, counted=False)
    assert early is not None and (early.first_pass, early.later_passes) == (None, None)


def test_few_intervals_have_a_mean_and_a_variation_only() -> None:
    got = found([90.0, 100.0, 110.0, 100.0])
    assert (got.intervals, got.mean) == (4, 100.0)
    assert got.variation == pytest.approx(math.sqrt(200 / 3) / 100)
    assert (got.range_share, got.slope_share, got.effective, got.low, got.high, got.changes) == (*[None] * 5, ())


def test_range_and_slope_are_those_of_five_equal_windows() -> None:
    """SNIA's numbers: 20 % between the best and the worst round, and what the line through the rounds gains."""
    got = found([80.0, 90.0, 100.0, 110.0, 120.0])
    assert got.range_share == pytest.approx(0.4) and got.slope_share == pytest.approx(0.4)
    got = found([120.0, 120.0, 110.0, 110.0, 100.0, 100.0, 90.0, 90.0, 80.0, 80.0])
    assert got.range_share == pytest.approx(0.4) and got.slope_share == pytest.approx(-0.4)
    got = found([100.0, 110.0, 100.0, 90.0, 100.0])
    assert got.range_share == pytest.approx(0.2) and got.slope_share == pytest.approx(-0.08)


def test_windows_are_equal_whatever_the_number_of_intervals() -> None:
    """A straight line gains 4/5 of its height from the first fifth's middle to the last's."""
    for count in (5, 7, 13, 101):
        line = [100.0 + 50.0 * (n + 0.5) / count for n in range(count)]
        got = found(line)
        assert got.slope_share == pytest.approx(0.8 * 50 / 125, rel=0.03)


def test_a_change_has_its_time_and_its_levels() -> None:
    high, low = [200.0, 202.0, 198.0, 201.0, 199.0], [100.0, 101.0, 99.0, 100.5, 99.5]
    got = course([IntervalRate(n * S // 2 + S, (n + 1) * S // 2 + S, rate) for n, rate in enumerate(high + low)])
    assert got is not None
    (change,) = got.changes
    assert (change.at_ns, change.before, change.after) == (3 * S + S // 2, 200.0, 100.0)
    assert change.p < 0.01


def test_the_interval_of_the_mean_is_that_of_batches() -> None:
    assert found([100.0, 104.0] * 4).low is None
    got = found([100.0, 104.0] * 10)
    assert (got.low, got.high) == (pytest.approx(102.0), pytest.approx(102.0))
    got = found([100.0] * 10 + [104.0] * 10)
    deviation = 2 * math.sqrt(10 / 9)
    assert got.low is not None and got.high is not None
    assert got.high - 102.0 == 102.0 - got.low == pytest.approx(2.262157 * deviation / math.sqrt(10))


def test_effective_size() -> None:
    assert effective_size(np.array([1.0, 2.0] * 10)) == 20
    assert effective_size(np.full(7, 3.0)) == 7
    assert effective_size(np.array([1.0] * 10 + [2.0] * 10)) < 4


def test_a_phase_that_stands_still_is_no_error() -> None:
    got = found([0.0] * 20)
    assert (got.mean, got.variation, got.changes, got.range_share) == (0.0, 0.0, (), None)


@example([0.0, 0.0, 1.0, 1.0, 5e-324], None)
@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=60), st.one_of(st.none(), st.integers(-(10**9), 10**13)))
def test_any_series_has_a_course(values: list[float], data_set: int | None) -> None:
    got = found(values, data_set)
    assert got == found(values, data_set)
    assert (got.first_pass is None) == (got.later_passes is None)
    numbers = [number for number in got.model_dump(exclude={"changes", "segments"}).values() if number is not None]
    numbers += got.segments.rates if got.segments is not None else ()
    assert all(math.isfinite(number) for number in numbers)
    if got.effective is not None:
        assert 0 < got.effective <= len(values) and got.range_share is not None and got.range_share >= 0
    times = [change.at_ns for change in got.changes]
    assert times == sorted(set(times))


@given(st.lists(st.floats(1, 1e3), min_size=0, max_size=80), st.integers(-40, 40), st.integers(2, 4))
def test_change_points_do_not_depend_on_the_unit(values: list[float], power: int, least: int) -> None:
    places = [point.at for point in change_points(values, least)]
    assert [point.at for point in change_points([math.ldexp(value, power) for value in values], least)] == places
    ends = [0, *places, len(values)]
    assert not places or all(after - before >= least for before, after in pairwise(ends))


def test_change_points_of_equal_values_and_of_two_levels_without_noise() -> None:
    assert change_points([0.1 + 0.2, 0.3] * 20) == ()
    assert change_points([5.0] * 100) == ()
    assert [point.at for point in change_points([1.0, 1.0, 2.0, 2.0], least=2)] == [2]
    assert [point.at for point in change_points([1.0] * 300 + [2.0] * 41 + [1.0] * 300)] == [300, 341]


def test_one_stall_is_no_change_and_hides_none() -> None:
    random = np.random.default_rng(20260107)
    flat = (100 + random.standard_normal(60)).tolist()
    stalled = [*flat[:30], 0.0, *flat[31:]]
    assert change_points(stalled) == ()
    step = [value * (1.0 if place < 40 else 0.9) for place, value in enumerate(stalled)]
    assert [point.at for point in change_points(step)] == [40]


@pytest.mark.parametrize(("index", "length"), [(1, S // 2), (7, 1)])
def test_a_last_interval_that_ends_with_the_phase_does_not_change_the_length(index: int, length: int) -> None:
    last = event(index, end_ns=index * S + length)
    end = index + length / S
    _, after = whole_intervals([*(event(n) for n in range(index)), last], window(0, end), counted=False)
    assert [item.rate for item in after] == [100 * MB] * index
    _, alone = whole_intervals([last], window(0, end), counted=False)
    assert len(alone) == index


def test_latencies_and_failures_belong_to_the_second_in_which_their_interval_ends() -> None:
    fast, slow = {"latency": hdr([1000] * 1500)}, {"latency": hdr([9000] * 1499 + [90_000] * 20)}
    parts = [
        event(0, start_ns=0, end_ns=S // 2, operations=[{**counts("read", 9, 9), "errors": 5}]),
        event(1, start_ns=S // 2, end_ns=S, operations=[counts("read", 9, 9) | fast]),
        event(2, start_ns=S, end_ns=3 * S // 2, operations=[{**counts("read", 9, 9), "errors": 2} | fast]),
        event(3, start_ns=3 * S // 2, end_ns=2 * S, operations=[{**counts("write", 9, 9), "errors": 3} | slow]),
        event(4, start_ns=2 * S, end_ns=5 * S // 2, operations=[counts("read", 9, 9) | {"latency": hdr([7])}]),
        event(5, start_ns=5 * S // 2, end_ns=3 * S, operations=[counts("read", 9, 9) | {"latency": hdr([8])}]),
        event(6, start_ns=4 * S, end_ns=9 * S // 2, operations=[{**counts("read", 9, 9), "errors": 7}]),
    ]
    segments = with_latencies(Segments(length_ns=S, rates=(1.0, 1.0, 1.0), start_ns=S // 2), parts)
    assert segments.errors == (2, 3, 0), "what ends before the first and after the last second is in none"
    assert segments.p50[0] == pytest.approx(1000, rel=0.002)
    assert segments.p50[1] == pytest.approx(9000, rel=0.002)
    assert segments.p99[1] == pytest.approx(90_000, rel=0.002)
    assert segments.p99[2] is None, "one operation tells no 99th percentile"


def test_seconds_begin_where_the_first_whole_interval_does() -> None:
    answer = course(rates([1.0] * 9)[2:])
    assert answer is not None and answer.segments is not None
    assert answer.segments.start_ns == 2 * S
