"""What the live view knows at a moment, by a clock that is moved by hand."""

import pytest
from builders import hdr
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.histograms import Histogram
from assay.cli.live import course as courses
from assay.cli.live.course import MOST_BINS, Bins, PhaseCourse, Rate
from assay.cli.live.state import State, Tail
from assay.model.result.ceiling import Binding
from assay.model.study.case import Case
from assay.model.study.parameters import Parameters
from assay.run.listener import Heard, TimeLeft

SECOND = 10**9
CASE = Case(
    id="c0001",
    target="disk",
    workload="grid",
    operations=("read",),
    parameters=Parameters(file_size=1, record_size=1),
    axes={},
    label="disk / grid",
)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def heard(at: float, moved: float, host: str = "", seconds: float = 1.0, counted: bool = False) -> Heard:
    """An interval from `at` seconds on in which so many bytes were moved by half as many operations."""
    start = round(at * SECOND)
    return Heard(host, start, start + round(seconds * SECOND), moved, moved / 2, counted)


def test_rates_are_those_of_the_last_interval_and_of_the_last_minute() -> None:
    course = PhaseCourse()
    for second in range(100):
        course.add(heard(second, 100.0 if second < 70 else 400.0))
    assert course.now == Rate(400.0, 200.0)
    assert course.seconds == 60.0
    assert course.lately == pytest.approx(Rate((30 * 100 + 30 * 400) / 60, (30 * 50 + 30 * 200) / 60))


def test_hosts_add_up_though_their_intervals_end_at_other_times() -> None:
    course = PhaseCourse()
    course.add(heard(0, 100.0, "a"))
    course.add(heard(0, 300.0, "b", seconds=2.0))
    course.add(heard(1, 200.0, "a"))
    assert course.now.bytes == 200.0 + 150.0
    assert course.lately.bytes == 150.0 + 150.0
    assert course.columns(10) == [100.0 + 150.0, 200.0 + 150.0]


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 1000)), min_size=1, max_size=600), st.integers(1, 300))
def test_a_course_of_any_length_keeps_its_mean(parts: list[tuple[int, int]], most: int) -> None:
    bins, at = Bins(), 0
    for length, amount in parts:
        bins.add(Heard("", at, at + length, float(amount), 0.0, counted=False))
        at += length
    every = bins.columns(MOST_BINS, counted=False, hosts=1)
    assert 1 <= len(every) <= MOST_BINS
    assert None not in every
    total = sum(part[0] for part in bins._bins)
    assert total == pytest.approx(sum(amount for _, amount in parts))
    assert sum(part[2] for part in bins._bins) == at
    assert 1 <= len(bins.columns(most, counted=False, hosts=1)) <= most
    (whole,) = bins.columns(1, counted=False, hosts=1)
    assert whole == pytest.approx(total * 1e9 / at)


def test_what_nobody_has_heard_of_is_unknown_not_zero() -> None:
    bins = Bins()
    bins.add(heard(0, 5.0))
    bins.add(heard(3, 0.0))
    assert bins.columns(10, counted=False, hosts=1) == [5.0, None, None, 0.0]


def test_only_the_last_minute_is_remembered_interval_by_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "LATELY_NS", 10 * SECOND)
    course = PhaseCourse()
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
    assert (state.done, state.failed, state.outcome, state.course.now.bytes) == (2, 1, "errors", 7.0)
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

    def limits(moved: float, ops: float) -> Binding:
        asked.append((moved, ops))
        return Binding(name="device read", unit="bytes/s", value=200.0, measured=moved, share=moved / 200, how="")

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
    assert isinstance(first, Tail) and first.p50 == pytest.approx(9000, rel=0.002)
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
