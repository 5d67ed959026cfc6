"""What several engines did, put together: exact sums, one axis of time, and hosts that did not do their part."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders import hdr
from hypothesis import given
from hypothesis import strategies as st
from rank_tools import EPOCH_NS, MS, RECORD, Made, events, phase_end, rank, together

from assay.analyse import histograms
from assay.analyse.ranks import HostsProgress, Rank, host_done_at, samples_from_ranks
from assay.analyse.samples import samples_from_log, sort_events
from assay.contract.messages import ByeEvent, ErrorSampleEvent, Watch
from assay.model.result.sample import Sample

LANES = st.tuples(st.integers(0, 20 * MS), st.integers(30 * MS, 400 * MS), st.integers(0, 300))
HOSTS = st.lists(
    st.builds(
        Made,
        lanes=st.lists(LANES, min_size=1, max_size=4).map(tuple),
        start=st.integers(10**12, 10**12 + 10 * MS),
        offset=st.integers(-(10**9), 10**15),
        interval=st.sampled_from([10 * MS, 50 * MS, 1000 * MS]),
    ),
    min_size=1,
    max_size=5,
)


def merged(every: Sequence[Made]) -> Sample:
    (found,) = samples_from_ranks("c0001", 1, together(every))
    return found


@given(HOSTS)
def test_totals_are_sums_and_the_time_is_from_the_first_start_to_the_last_end(every: list[Made]) -> None:
    sample = merged(every)
    assert (sample.status, sample.ops) == ("done", sum(made.ops for made in every))
    assert sample.bytes == sample.read_bytes == sample.verified_bytes == sample.ops * RECORD
    assert sum(share.ops for share in sample.hosts) == sample.ops
    begin = min(made.start for made in every)
    assert sample.elapsed_ns == max(made.start - begin + made.length for made in every)
    assert sample.throughput == pytest.approx(sample.bytes * 1e9 / sample.elapsed_ns)
    starts = [made.start + start for made in every for start, _, _ in made.lanes]
    ends = [made.start + end for made in every for _, end, _ in made.lanes]
    assert sample.skew_ns == max(starts) - min(starts)
    assert sample.finish_spread_ns == max(ends) - min(ends)
    assert sample.clock_uncertainty_ns == 1000 * len(every)


@given(HOSTS)
def test_no_window_has_more_than_the_whole_and_shares_add_up_at_the_stonewall(every: list[Made]) -> None:
    sample = merged(every)
    begin = min(made.start for made in every)
    first = min(made.start - begin + end for made in every for _, end, _ in made.lanes)
    assert sample.first_finisher is not None
    until_first = sample.first_finisher * first / 1e9
    assert until_first <= sample.bytes * (1 + 1e-9)
    assert sum(share.stonewall_bytes for share in sample.hosts) == pytest.approx(until_first, abs=len(every))
    for share, made in zip(sample.hosts, every, strict=True):
        assert 0 <= share.stonewall_bytes <= share.bytes
        # Known to within what the host did in the interval in which the moment lies.
        moment = first - (made.start - begin)
        low, high = (side * made.interval for side in (math.floor(moment / made.interval), moment // made.interval + 1))
        assert made.done_by(low) * RECORD - 1 <= share.stonewall_bytes <= made.done_by(high) * RECORD + 1
    latest = max(made.start - begin + start for made in every for start, _, _ in made.lanes)
    if first <= latest:
        assert sample.steady is None
    elif sample.steady is not None:
        assert sample.steady * (first - latest) / 1e9 <= sample.bytes * (1 + 1e-9)


@given(HOSTS, st.lists(st.integers(-(10**11), 10**15), min_size=5, max_size=5))
def test_what_clocks_show_does_not_matter_once_it_is_known(every: list[Made], offsets: list[int]) -> None:
    others = [replace(made, offset=offset) for made, offset in zip(every, offsets, strict=False)]
    assert merged(others) == merged(every)


@given(st.lists(st.lists(st.integers(1000, 10**10), min_size=1, max_size=60), min_size=1, max_size=5))
def test_percentiles_are_those_of_all_latencies_together(latencies: list[list[int]]) -> None:
    every = [Made(((0, 100 * MS, len(values)),), latencies=tuple(values)) for values in latencies]
    sample = merged(every)
    pooled = [value for values in latencies for value in values]
    assert sample.histogram is not None
    ours, theirs = histograms.decode(sample.histogram), histograms.decode(hdr(pooled))
    assert ours.total == len(pooled)
    assert histograms.curve(ours) == histograms.curve(theirs)
    assert (sample.latency["min"], sample.latency["max"]) == (min(pooled), max(pooled))
    assert sample.latency["mean"] == pytest.approx(sum(pooled) / len(pooled))
    ordered = sorted(pooled)
    for name, percent in histograms.PERCENTILES.items():
        exact = ordered[max(1, math.ceil(percent / 100 * len(ordered) * (1 - 1e-12))) - 1]
        assert exact * (1 - 1e-9) <= sample.latency[name] <= exact * 1.001 + 1


@given(HOSTS)
def test_one_host_of_a_group_of_one_is_as_an_engine_alone(every: list[Made]) -> None:
    made = replace(every[0], offset=0)
    (alone,) = samples_from_log("c0001", 1, sort_events(events(made)))
    one = merged([made])
    assert one.hosts[0].ops == made.ops
    # Not the windows that lanes mark: they are interpolated in a group, and counted by an engine alone.
    same = {"throughput", "iops", "ops", "elapsed_ns", "latency", "histogram", "skew_ns", "started_at"}
    assert one.model_dump(include=same) == alone.model_dump(include=same)


@given(st.integers(0, 500 * MS), LANES)
def test_what_was_done_by_a_moment_never_shrinks_and_ends_exact(moment: int, lane: tuple[int, int, int]) -> None:
    made = Made((lane,), interval=10 * MS)
    one = rank(made)
    intervals, end = one.log.intervals[0], phase_end(made)
    before, now = host_done_at(intervals, end, moment), host_done_at(intervals, end, moment + MS)
    assert before <= now <= (made.ops, made.ops * RECORD) == host_done_at(intervals, end, made.length)
    assert host_done_at(intervals, end, 0) == host_done_at(intervals, end, -MS) == (0, 0)
    assert HostsProgress([end], [intervals], [5 * MS]).done_at(moment + 5 * MS) == before
    assert abs(before[0] - made.done_by(moment)) <= made.ops * 10 * MS / (lane[1] - lane[0]) + 1


PLAIN = Made(((0, 200 * MS, 100), (0, 190 * MS, 100)))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_host_that_falls_silent_makes_the_phase_crashed_and_keeps_the_others_figures(place: int) -> None:
    ranks = together([PLAIN] * 3)
    ranks[place] = rank(PLAIN, f"h{place + 1}", 3, end=False)
    (sample,) = samples_from_ranks("c0001", 1, ranks)
    assert sample.status == "crashed" and sample.ops == 0
    assert [share.status for share in sample.hosts] == ["crashed" if at == place else "done" for at in range(3)]
    assert [share.ops for share in sample.hosts] == [0 if at == place else 200 for at in range(3)]


def test_a_host_that_never_spoke_counts_and_none_at_all_gives_nothing() -> None:
    ranks = [*together([PLAIN] * 2), Rank("h3", 0, None, sort_events([]))]
    (sample,) = samples_from_ranks("c0001", 1, ranks)
    assert sample.status == "crashed"
    assert [(share.host, share.status) for share in sample.hosts] == [("h1", "done"), ("h2", "done"), ("h3", "crashed")]
    assert sample.hosts[2].uncertainty_ns is None
    assert samples_from_ranks("c0001", 1, [Rank("h1", 0, None, sort_events([]))] * 2) == ()


def _with(one: Rank, **changes: object) -> Rank:
    one.log.ends[0] = one.log.ends[0].model_copy(update=changes)
    return one


@pytest.mark.parametrize(
    ("statuses", "whole"),
    [
        (("done", "time_limit"), "time_limit"),
        (("time_limit", "stopped"), "stopped"),
        (("failed", "stopped"), "failed"),
        (("done", "done"), "done"),
    ],
)
def test_the_worst_status_is_the_status(statuses: tuple[str, str], whole: str) -> None:
    sample = merged([replace(PLAIN, status=status) for status in statuses])
    assert sample.status == whole
    assert tuple(share.status for share in sample.hosts) == statuses
    assert sample.ops == 400


def test_a_phase_that_one_host_skipped_has_no_figures() -> None:
    ranks = together([PLAIN, replace(PLAIN, status="skipped")])
    _with(ranks[1], lanes=[])
    (sample,) = samples_from_ranks("c0001", 1, ranks)
    assert sample.status == "skipped"
    assert [share.status for share in sample.hosts] == ["done", "skipped"]


ERROR = {
    "event": "error_sample",
    "phase": 0,
    "lane": 0,
    "kind": "fault",
    "action": "read",
    "object": "f0",
    "offset": 0,
    "length": RECORD,
    "fault": {"domain": "os", "code": 5},
    "message": "Input/output error",
}


def test_failures_are_added_up_by_kind_and_name_the_host() -> None:
    ranks = together([PLAIN] * 3)
    for one in ranks[1:]:
        one.log.errors[0] = [ErrorSampleEvent.model_validate(ERROR)]
    (sample,) = samples_from_ranks("c0001", 1, ranks)
    (tally,) = sample.errors
    assert (tally.name, tally.count) == ("EIO", 2)
    assert tally.example.startswith("h2: ")
    assert [share.failed_operations for share in sample.hosts] == [0, 1, 1]


def test_resources_are_added_up_and_a_machine_with_several_hosts_has_its_cpus_once() -> None:
    every = [replace(PLAIN, boot_id="a", cpus=8), replace(PLAIN, boot_id="a", cpus=8), replace(PLAIN, boot_id="b")]
    sample = merged(every)
    assert (sample.cpu_user_ns, sample.cpu_system_ns) == (9 * MS, 15 * MS)
    assert sample.device_read_bytes == sample.bytes
    assert (sample.host_busy_ns, sample.host_idle_ns, sample.host_stolen_ns) == (300, 600, 9)
    assert sample.cpus == 12
    assert merged([replace(made, boot_id="") for made in every]).cpus == 20
    ranks = together(every)
    unknown = ranks[1].log.ends[0].resources.model_copy(update={"read_bytes": None, "host": None})
    _with(ranks[1], resources=unknown)
    (partly,) = samples_from_ranks("c0001", 1, ranks)
    assert (partly.device_read_bytes, partly.host_busy_ns) == (None, None)
    assert partly.device_write_bytes == 0


def _watch(longest: int, away: int | None, interval: int = 5 * MS) -> Watch:
    lateness = {"min_ns": 0, "mean_ns": longest / 2, "max_ns": longest, "histogram": hdr([0, longest]), "count": 2}
    tail = {f"p{name}_ns": longest for name in ("50", "90", "99", "999", "9999")}
    times = {"elapsed_ns": 100 * MS, "stalls": 1, "stalled_ns": longest, "longest_ns": longest, "cpu_ns": MS}
    return Watch.model_validate({"interval_ns": interval, "lateness": lateness | tail, "away_ns": away, **times})


def test_what_the_watchers_of_all_hosts_saw_is_added_up_and_the_longest_stall_is_the_longest() -> None:
    def watched(first: Watch | None, second: Watch | None) -> Sample:
        ranks = together([PLAIN] * 2)
        for one, watch in zip(ranks, (first, second), strict=True):
            _with(one, watch=watch)
        return samples_from_ranks("c0001", 1, ranks)[0]

    seen = watched(_watch(10 * MS, 2 * MS), _watch(30 * MS, 3 * MS)).watch
    assert seen is not None
    assert (seen.elapsed_ns, seen.stalls, seen.stalled_ns, seen.longest_ns) == (200 * MS, 2, 40 * MS, 30 * MS)
    assert (seen.away_ns, seen.lateness["max"]) == (5 * MS, 30 * MS)
    half = watched(_watch(10 * MS, None), _watch(30 * MS, 3 * MS)).watch
    assert half is not None and half.away_ns is None
    assert watched(_watch(10 * MS, 0), None).watch is None
    assert watched(_watch(10 * MS, 0), _watch(10 * MS, 0, interval=MS)).watch is None


def test_the_wall_clock_is_the_first_starters() -> None:
    late = replace(PLAIN, start=PLAIN.start + 7 * MS, offset=-(10**9))
    for every in ([PLAIN, late], [late, PLAIN]):
        assert merged(every).started_at == pytest.approx((EPOCH_NS + 5 * MS) / 1e9, abs=1e-6)


def test_how_the_rate_went_is_that_of_all() -> None:
    sample = merged([Made(((0, 1000 * MS, 1000),)), Made(((0, 1000 * MS, 3000),))])
    assert sample.course is not None
    assert sample.course.mean == pytest.approx(4000 * RECORD)
    assert sample.course.intervals >= 18


def test_unmeasured_phases_have_no_sample() -> None:
    heard = [*events(PLAIN), ByeEvent(event="bye", status="ok", max_rss_bytes=0, at_ns=0)]
    (sample,) = samples_from_ranks("c0001", 1, [Rank("h1", 0, 0, sort_events(heard))])
    assert sample.phase == 0
    hello = heard[0].model_copy(deep=True)  # type: ignore[attr-defined]
    hello.job.phases[0] = hello.job.phases[0].model_copy(update={"measured": False})
    assert samples_from_ranks("c0001", 1, [Rank("h1", 0, 0, sort_events([hello, *heard[1:]]))]) == ()
