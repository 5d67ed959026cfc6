"""What the live view knows at a moment, by a clock that is moved by hand."""

import pytest
from builders import hdr, make_case
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.histograms import Histogram
from assay.cli.live import rate_history as courses
from assay.cli.live.rate_history import MAX_BINS, Bins, PhaseHistory, Rate
from assay.cli.live.state import LatestLatency, State
from assay.model.result.ceiling import CeilingShare
from assay.run.listener import HostInterval, Stretch, TimeLeft

SECOND = 10**9
CASE = make_case(file_size=1, record_size=1)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def heard(at: float, moved: float, host: str = "", seconds: float = 1.0, counted: bool = False) -> HostInterval:
    """An interval from `at` seconds on in which so many bytes were moved by half as many operations."""
    return HostInterval(host, done(at, moved, seconds), counted)


def done(at: float, moved: float, seconds: float = 1.0) -> Stretch:
    start = round(at * SECOND)
    return Stretch(start, start + round(seconds * SECOND), moved, moved / 2)


def test_rates_are_those_of_the_last_interval_and_of_the_last_minute() -> None:
    course = PhaseHistory()
    for second in range(100):
        course.add(heard(second, 100.0 if second < 70 else 400.0))
    assert course.seconds == 60.0
    now, lately = course.rates()
    assert now == Rate(400.0, 200.0)
    assert lately == pytest.approx(Rate((30 * 100 + 30 * 400) / 60, (30 * 50 + 30 * 200) / 60))


def test_seconds_of_which_the_engine_says_nothing_count_as_nothing_done() -> None:
    course = PhaseHistory()
    course.add(heard(1, 100.0))
    course.add(heard(4, 300.0))
    now, lately = course.rates()
    assert (now.bytes, lately.bytes) == (300.0, 80.0)
    assert course.columns(10) == [0.0, 100.0, 0.0, 0.0, 300.0]


def test_what_long_operations_did_before_they_ended_counts_where_it_was_done() -> None:
    course = PhaseHistory()
    course.add(heard(0, 100.0))
    course.add(heard(4, 50.0)._replace(earlier=(done(1, 150.0, seconds=3.0),)))
    now, lately = course.rates()
    assert (now.bytes, lately.bytes) == (50.0, 60.0)
    assert course.columns(10) == pytest.approx([100.0, 50.0, 50.0, 50.0, 50.0])


def test_hosts_add_up_though_their_intervals_end_at_other_times() -> None:
    course = PhaseHistory()
    course.add(heard(0, 100.0, "a"))
    course.add(heard(0, 300.0, "b", seconds=2.0))
    course.add(heard(1, 200.0, "a"))
    course.add(heard(2, 600.0, "a"))
    now, lately = course.rates()
    assert now.bytes == 600.0 + 150.0
    assert lately.bytes == 300.0 + 150.0
    # Of the third second nothing is known of one of them.
    assert course.columns(10) == [100.0 + 150.0, 200.0 + 150.0]


def test_a_host_that_falls_silent_while_others_speak_has_ended_nothing() -> None:
    course = PhaseHistory()
    course.add(heard(0, 80.0, "a"))
    for second in range(4):
        course.add(heard(second, 10.0, "b"))
    assert course.by_host()[0][1].bytes == 80.0, "it may be late"
    course.add(heard(4, 10.0, "b"))
    (_, now, lately), _ = course.by_host()
    assert (now.bytes, lately.bytes) == (0.0, 16.0)
    assert course.columns(10) == [90.0, 10.0, 10.0, 10.0, 10.0]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 1000)), min_size=1, max_size=600), st.integers(1, 300))
def test_a_course_of_any_length_keeps_its_sum(parts: list[tuple[int, int]], most: int) -> None:
    bins, at = Bins(), 0
    for length, amount in parts:
        bins.add(Stretch(at, at + length, float(amount), 0.0))
        at += length
    assert len(bins._bins) <= MAX_BINS
    assert sum(part.bytes for part in bins._bins) == pytest.approx(sum(amount for _, amount in parts))
    assert 1 <= len(bins.columns(most, at, counted=False)) <= most
    whole = bins._length * len(bins._bins)
    drawn = bins.columns(MAX_BINS, whole, counted=False)
    assert sum(drawn) * bins._length / 1e9 == pytest.approx(sum(amount for _, amount in parts))


@given(st.integers(1, 50), st.integers(1, 2000), st.integers(1, 100))
def test_a_steady_course_is_drawn_flat_at_any_width(length: int, count: int, most: int) -> None:
    bins = Bins()
    for number in range(count):
        bins.add(Stretch(number * length, (number + 1) * length, float(length), 0.0))
    assert bins.columns(most, count * length, counted=False) == pytest.approx(
        [1e9] * len(bins.columns(most, count * length, counted=False))
    )


def test_only_the_last_minute_is_remembered_interval_by_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "RECENT_NS", 10 * SECOND)
    course = PhaseHistory()
    for second in range(10_000):
        course.add(heard(second, 1.0))
    assert len(course.hosts[""]._recent) == 10


def test_a_phase_begins_anew_and_a_repeat_stays_to_be_seen_when_it_has_ended() -> None:
    state = State(4, 1, TimeLeft(1.0), Clock())
    state.begin(CASE, 2)
    state.phase("write", lambda _bytes, _ops: None)
    state.interval(heard(0, 100.0))
    state.phase("read", lambda _bytes, _ops: None)
    assert not state.course.hosts
    state.interval(heard(0, 7.0))
    state.finish("errors")
    assert (state.done, state.failed, state.outcome, state.course.rates()[0].bytes) == (2, 1, "errors", 7.0)
    state.begin(CASE, 3)
    assert (state.outcome, state.operation, state.course.hosts) == ("", "", {})


def test_silence_is_told_after_three_intervals_and_three_seconds_but_not_after_the_end() -> None:
    clock = Clock()
    state = State(4, 0, TimeLeft(1.0), clock)
    state.begin(CASE, 1)
    clock.now += 60
    assert state.silent() == 0.0, "nothing is to be heard before a phase"
    state.phase("read", lambda _bytes, _ops: None)
    state.interval(heard(0, 1.0, seconds=2.0))
    clock.now += 6.0
    assert state.silent() == 0.0
    clock.now += 0.5
    assert state.silent() == 6.5
    state.interval(heard(2, 1.0, seconds=0.05))
    assert state.silent() == 0.0
    clock.now += 3.5
    assert state.silent() == 3.5
    state.finish("ok")
    assert state.silent() == 0.0


def test_the_limit_is_asked_with_the_rate_of_the_last_minute() -> None:
    asked = []

    def limits(moved: float, ops: float) -> CeilingShare:
        asked.append((moved, ops))
        return CeilingShare(name="device read", unit="bytes/s", value=200.0, measured=moved, share=moved / 200, how="")

    state = State(4, 0, TimeLeft(1.0), Clock())
    state.begin(CASE, 1)
    state.phase("read", limits)
    assert state.binding() is None and not asked, "nothing was heard yet"
    state.interval(heard(0, 100.0))
    state.interval(heard(1, 200.0))
    found = state.binding()
    assert found is not None and found.share == 0.75
    assert asked == [(150.0, 75.0)]


def test_latencies_are_of_all_hosts_and_are_read_four_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.analyse import histograms

    clock, read, decode, took = Clock(), [], histograms.decode, 0.0

    def counting(text: str) -> Histogram:
        read.append(text)
        clock.now += took
        return decode(text)

    monkeypatch.setattr(histograms, "decode", counting)
    state = State(4, 0, TimeLeft(1.0), clock)
    state.begin(CASE, 1)
    state.phase("read", lambda _bytes, _ops: None)
    assert state.tail() is None
    state.interval(heard(0, 1.0, "a")._replace(latencies=(hdr([1000] * 99),)))
    state.interval(heard(0, 1.0, "b")._replace(latencies=(hdr([9000] * 101),)))
    first = state.tail()
    assert isinstance(first, LatestLatency) and first.p50 == pytest.approx(9000, rel=0.002)
    for _ in range(20):
        clock.now += 0.01
        state.interval(heard(1, 1.0, "b")._replace(latencies=(hdr([1000] * 500),)))
        assert state.tail() == first
    assert len(read) == 2
    clock.now += 0.1
    took = 0.1
    second = state.tail()
    assert second is not None and second.p50 == pytest.approx(1000, rel=0.002)
    assert len(read) == 4
    # Reading took 0.2 s: it may take a fiftieth of the time.
    clock.now += 9.7
    state.tail()
    assert len(read) == 4
    clock.now += 0.2
    state.tail()
    assert len(read) == 6


def test_latencies_that_nobody_can_read_are_left_out() -> None:
    state = State(4, 0, TimeLeft(1.0), Clock())
    state.begin(CASE, 1)
    state.phase("read", lambda _bytes, _ops: None)
    state.interval(heard(0, 1.0)._replace(latencies=("no histogram",)))
    assert state.tail() is None
