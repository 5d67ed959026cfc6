"""Profiles, bounds and emulated accelerators."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.needs.outcome import NeedOutcome, NeedStatus
from assay.model.base import AssayError
from assay.model.study.kinds import kinds
from assay.plan.load import load_study
from assay.rooms.fit.commands.text import answer_lines, ground_lines, need_text
from assay.rooms.fit.model.bound import parse_latency_bound
from assay.rooms.fit.model.profile import Accelerator
from assay.rooms.fit.work.accelerators import Delivery, busy_share, course_of
from assay.rooms.fit.work.answer import FitAnswer
from assay.rooms.fit.work.load import RateLoad, find_study
from assay.rooms.fit.work.place import FitPlace, place_of_target
from assay.rooms.fit.work.profiles import find_profile, profile_names, shipped_profile
from assay.rooms.fit.work.search import RatePlan
from assay.rooms.fit.work.study import choose_amount, fit_study, fit_text, requirements_of

PLACES = {
    "files": place_of_target("/x", "x", {"kind": "file", "path": "/x/assay-measure"}),
    "objects": place_of_target("s3://bucket", "bucket", {"kind": "s3", "bucket": "bucket"}),
}


@pytest.mark.parametrize("name", profile_names())
def test_each_profile_makes_a_study_and_names_its_source(name: str) -> None:
    profile = shipped_profile(name)
    assert profile.profile == name
    assert all(re.match("https?://", source.url) for source in profile.sources)
    assert ground_lines(profile, "") and all(need_text(need) for need in profile.requires)
    for kind, place in PLACES.items():
        if profile.work(place.work) is None:
            with pytest.raises(AssayError, match="needs files"):
                requirements_of(profile, place)
            continue
        needs = requirements_of(profile, place)
        assert needs, kind
        for speed in (1e6, 1e8, 1e11):
            amount = choose_amount(profile, place, speed, 10**12)
            loaded = load_study(fit_text(fit_study(profile, place, needs, amount), ["assay"]).encode(), "/")
            assert loaded.study is not None, loaded.problems


@pytest.mark.parametrize("name", [name for name in profile_names() if shipped_profile(name).data])
def test_amounts_follow_the_speed_and_are_stated(name: str) -> None:
    profile = shipped_profile(name)
    amounts = [choose_amount(profile, PLACES["files"], speed, None) for speed in (1e3, 1e7, 1e13)]
    assert all("stand for" in amount.words for amount in amounts)
    assert len({str(amount.fields) for amount in amounts}) >= 2


@pytest.mark.parametrize(
    ("text", "percent", "limit"),
    [("p99<2ms", 99, 2e6), ("p50 < 500us", 50, 5e5), (" p99.9<=1.5ms ", 99.9, 1.5e6), ("p95≤1s", 95, 1e9)],
)
def test_bounds_are_read(text: str, percent: float, limit: float) -> None:
    assert parse_latency_bound(text) == (percent, limit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p99", "is not a bound"),
        ("p99<2", "is not a duration|no unit"),
        ("p99>2ms", "an upper one"),
        ("p100<1ms", "is not a percentile"),
        ("p0<1ms", "is not a percentile"),
        ("max<5ms", "cannot be held"),
        ("mean<5ms", "is not a percentile"),
        ("p99<0ms", "not above 0"),
        ("", "is not a bound"),
    ],
)
def test_wrong_bounds_are_refused(text: str, message: str) -> None:
    with pytest.raises(AssayError, match=message) as caught:
        parse_latency_bound(text)
    assert caught.value.hint


PROFILE = """
profile: app
about: an application
question: Is it fast enough?
sources: [{title: A, url: https://a.example, read: 2026-12-01, statement: so}]
requires: [{operation: write, measure: p99, below: 10ms}]
files: {operations: [write], file_size: 1MiB, record_size: 4KiB, sync: o_dsync}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("below: 10ms", "below: 10", "no unit"),
        ("below: 10ms", "at_least: 10ms", "upper bound"),
        ("measure: p99", "measure: p100", "percentile"),
        ("measure: p99", "measure: speed", "not a measure"),
        ("operation: write", "operation: wite", "not an operation"),
        ("operation: write", "operation: read", "the work does no read"),
        ("operation: write", "operation: write, kind: read", "no operations of kind read"),
        # O_DSYNC is no call that takes time of its own.
        ("operation: write", "operation: write, kind: sync", "no operations of kind sync"),
        ("files:", "file:", "file"),
        ("url: https://a.example", "url: a.example", "url"),
        ("measure: p99, below: 10ms", "measure: throughput, at_least: 10", "throughput"),
    ],
)
def test_faults_of_own_profiles_name_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(PROFILE)
    assert find_profile(str(path)).profile == "app"
    assert old in PROFILE
    path.write_text(PROFILE.replace(old, new))
    with pytest.raises(AssayError, match=rf"app.yaml:\d+: .*{message}"):
        find_profile(str(path))


def test_faults_of_own_work_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(PROFILE.replace("record_size", "record_sze"))
    with pytest.raises(AssayError, match=r"app.yaml: files: .*unknown key `record_sze`"):
        find_profile(str(path))


def test_nothing_measured_is_no_yes() -> None:
    assert FitAnswer(shipped_profile("etcd"), (), 1, 0).answer is NeedStatus.UNDECIDED


def test_jobs_take_their_bytes_over_the_throughput() -> None:
    profile = shipped_profile("checkpoint")
    needs = requirements_of(profile, PLACES["files"])
    outcomes = tuple((need, NeedOutcome(NeedStatus.YES, 1e9)) for need in needs)
    lines = answer_lines(FitAnswer(profile, outcomes, 1, 6), "/x")
    assert any("Llama 3 8B" in line and line.endswith("write 105 s, read 105 s") for line in lines)
    unknown = ((needs[0], NeedOutcome(NeedStatus.UNDECIDED, why="the place is gone")),)
    lines = answer_lines(FitAnswer(profile, unknown, 1, 0), "/x")
    assert lines[1].endswith("; not measured: the place is gone") and len(lines) == 2


def test_an_unknown_profile_has_a_hint() -> None:
    with pytest.raises(AssayError, match="no profile `ectd`") as caught:
        find_profile("ectd")
    assert "`etcd`" in caught.value.hint


H100 = Accelerator.model_validate({"step": "200ms", "batch": 100, "sample": "100kB", "prefetch": 2})


def course(*rates: float) -> list[Delivery]:
    return [Delivery(0.05, rate * 0.05) for rate in rates]


def test_accelerators_are_busy_as_far_as_they_get_data() -> None:
    """One uses 50 MB/s."""
    assert busy_share(course(*[80e6] * 40), H100, 1) == 1
    assert busy_share(course(*[25e6] * 40), H100, 1) == pytest.approx(0.5)
    assert busy_share(course(*[80e6] * 40), H100, 4) == pytest.approx(0.4)
    assert busy_share([], H100, 1) == 0


def test_what_is_read_ahead_bridges_a_short_stall_and_not_a_long_one() -> None:
    """Two batches, 20 MB, last 0.4 s."""
    short, long = (busy_share(course(*[200e6] * 20, *[0.0] * stalled, *[200e6] * 20), H100, 1) for stalled in (8, 40))
    assert short == 1
    assert long == pytest.approx((80 - 32) / 80)


def test_intervals_in_which_nothing_ended_are_time_without_data() -> None:
    """50 MB/s are demanded; 5 MB come in the first of ten intervals, and again in the sixth."""
    tenth = 100_000_000
    bursts = [(0, tenth, 5_000_000), (5 * tenth, 6 * tenth, 5_000_000)]
    found = course_of(bursts, 10 * tenth)
    assert sum(each.seconds for each in found) == pytest.approx(1)
    assert busy_share(found, H100, 1) == pytest.approx(0.2)
    assert course_of([], 5 * tenth) == [Delivery(0.5, 0)]


def dlio_utilisation(bytes_per_s: float, steps: int) -> float:
    """As MLPerf Storage computes it of DLIO: time of computing over the whole, from the first batch on.

    A batch is read after the one before, as soon as there is room for it; a step needs its whole batch.
    """
    batch_s, step_s = H100.batch * H100.sample / bytes_per_s, H100.step / 1e9
    starts: list[float] = []
    read = 0.0
    for number in range(steps):
        freed = starts[number - H100.prefetch] if number >= H100.prefetch else 0.0
        read = max(read, freed) + batch_s
        starts.append(max(read, starts[-1] + step_s if starts else 0.0))
    return steps * step_s / (starts[-1] + step_s - starts[0])


@given(st.floats(5e6, 500e6))
def test_accelerators_are_as_busy_as_dlio_says(rate: float) -> None:
    """With batches as a whole there, and as a flow here, the two differ by one batch of the hundred at most."""
    seconds = 100 * max(0.2, H100.batch * H100.sample / rate)
    flow = busy_share(course(*[rate] * round(seconds / 0.05)), H100, 1)
    assert flow == pytest.approx(dlio_utilisation(rate, 100), abs=0.015)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=40), st.integers(1, 8))
def test_a_busy_share_is_a_share(rates: list[float], count: int) -> None:
    share = busy_share(course(*rates), H100, count)
    assert 0 <= share <= 1
    assert share <= sum(rates) / len(rates) / (H100.bytes_per_s * count) + 1e-9


def test_studies_of_a_search_have_arrivals_of_their_own() -> None:
    load, plan = RateLoad("random_read", 4096, 16), RatePlan((100.0, 101.0), 2, 0.1, 0.2)
    studies = [find_study(PLACES["files"], load, plan, 0.3, 2) for _ in range(3)]
    assert len({each["seed"] for each in studies}) == 3
    loaded = load_study(fit_text(studies[0], ["assay"]).encode(), "/")
    assert loaded.study is not None and loaded.study.seed == studies[0]["seed"]


def test_places_are_files_or_objects() -> None:
    assert {place.work for place in PLACES.values()} == {"files", "objects"}
    assert all(isinstance(place, FitPlace) for place in PLACES.values())
    assert place_of_target("/dev/x", "x", {"kind": "device", "path": "/dev/x"}).has_files is False
    assert "dynamodb" in kinds()
