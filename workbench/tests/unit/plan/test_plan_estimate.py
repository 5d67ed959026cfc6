import pytest
from hypothesis import given
from hypothesis import strategies as st
from paths import REPOSITORY
from plan_tools import load, object_written, study, written

from assay.plan.estimate import (
    CONTROL_SECONDS,
    CONTROL_SHARE,
    JOB_SECONDS,
    PHASE_SECONDS,
    StudyEstimate,
    _brief,
    estimate_study,
    with_controls,
)
from assay.plan.expand import expand
from assay.plan.speeds import STORAGE
from assay.plan.study_warnings import study_warnings

MIB = 2**20


def estimate(measured=None, **changes):
    found = study(**changes)
    return estimate_study(found, expand(found).cases, measured)


def test_bytes_of_once_over_the_data():
    found = estimate(w_operations=["write", "rewrite", "read"], w_lanes=2, repeats=5)
    assert (found.written, found.read, found.jobs) == (5 * 4 * MIB, 5 * 2 * MIB, 5)
    assert found.peak_space == {"disk": 2 * MIB}


def test_a_shared_file_is_one_file():
    assert estimate(w_lanes=2, w_layout="shared").peak_space == {"disk": MIB}


def test_preparation_is_written_too():
    found = estimate(w_operations=["read"], repeats=1)
    assert (found.written, found.read) == (MIB, MIB)


def test_a_limited_write_and_the_preparation_of_the_rest_are_the_data_once():
    found = estimate(w_file_size="1GiB", w_operations=["write", "read"], w_time_limit="1s", repeats=1)
    assert found.written == 2**30
    assert found.read < 2**30


def test_mixes_are_split_by_their_percentage():
    found = estimate(w_operations=["write", "random_mix"], w_read_percent=75, repeats=1)
    assert (found.written, found.read) == (MIB + MIB // 4, 3 * MIB // 4)


def test_the_time_follows_the_stated_assumption():
    found = estimate(w_operations=["write"], repeats=1)
    assert found.seconds == pytest.approx(
        JOB_SECONDS + PHASE_SECONDS + 256 * STORAGE.operation + MIB / STORAGE.bandwidth
    )
    assert found.max_seconds is None
    assert "100 us per operation" in found.assumptions[0]


def test_runtime_gives_time_and_bound():
    found = estimate(w_operations=["write", "rewrite"], w_runtime="5s", repeats=2)
    assert found.seconds == pytest.approx(found.max_seconds)
    once = JOB_SECONDS + 2 * (PHASE_SECONDS + 5)
    assert found.seconds == pytest.approx(2 * once * (1 + CONTROL_SHARE))


def test_a_rate_bounds_the_bytes():
    found = estimate(w_operations=["write"], w_rate="100/s", w_runtime="10s", repeats=1)
    assert found.written == 1000 * 4096


def test_one_unbounded_phase_leaves_no_bound():
    assert estimate(w_time_limit=[None, "1s"]).max_seconds is None


def test_null_targets_write_nothing():
    found = estimate(targets={"n": {"kind": "null", "latency": {"distribution": "fixed", "time": "1ms"}}})
    assert (found.written, found.read, found.peak_space) == (0, 0, {})
    assert found.seconds > 3 * 512e-3


def test_kept_files_add_up():
    assert estimate(output={"keep_files": True}, w_lanes=[1, 2], repeats=2).peak_space == {"disk": 6 * MIB}


def names(**changes):
    data = written(w_files=1000, repeats=1, **changes)
    del data["workloads"]["w"]["record_size"]
    found = load(data).study
    return estimate_study(found, expand(found).cases)


def test_metadata_counts_contents_names_and_blocks():
    found = names(w_operations=["create", "unlink"], w_file_size="1KiB", w_lanes=2)
    assert (found.written, found.read) == (2 * 1000 * 1024, 0)
    # A file of 1 KiB takes a block; so does the one directory.
    assert found.peak_space == {"disk": 2 * 1000 * 4096 + 4096}
    changes = 2 * 2000 * STORAGE.change / 2 + 2000 * 1024 / STORAGE.bandwidth
    assert found.seconds == pytest.approx(JOB_SECONDS + 2 * PHASE_SECONDS + changes)
    assert "to change a name" in found.assumptions[1]


def test_metadata_prepares_and_reads_cold_names():
    warm, cold = (names(w_operations=["stat"], w_file_size="1KiB", w_cache=cache) for cache in ("keep", "drop"))
    assert warm.written == cold.written == 1000 * 1024
    assert cold.seconds > warm.seconds


def test_metadata_is_bounded_where_every_phase_is():
    assert names(w_operations=["create", "stat"], w_file_size=0, w_time_limit="1s").max_seconds is not None
    assert names(w_operations=["create", "unlink"], w_file_size=0, w_time_limit="1s").max_seconds is None
    looks = names(w_operations=["stat", "readdir"], w_file_size=0, w_runtime="2s")
    once = JOB_SECONDS + 1000 * STORAGE.change + 2 * (PHASE_SECONDS + 2)
    assert looks.seconds == pytest.approx(once * (1 + CONTROL_SHARE))


def test_measured_seconds_replace_the_assumption():
    found = estimate({"c0001": 10.0, "c0002": 20.0}, w_lanes=[1, 2], repeats=3)
    assert found.seconds == pytest.approx(with_controls(90))
    assert not found.assumptions


def test_controls_are_counted_from_when_one_fits_in():
    short = CONTROL_SECONDS / CONTROL_SHARE
    assert with_controls(0.9 * short) == 0.9 * short
    assert with_controls(100 * short) == pytest.approx(100 * short * (1 + CONTROL_SHARE))


@given(st.integers(1, 5), st.integers(1, 5))
def test_totals_are_sums_over_cases_and_repeats(lanes, repeats):
    found = estimate(w_lanes=list(range(1, lanes + 1)), repeats=repeats)
    assert found.written == repeats * sum(item.written for item in found.cases)
    assert found.seconds == pytest.approx(with_controls(repeats * sum(item.seconds for item in found.cases)))


def test_the_quickstart_takes_at_most_three_minutes_whatever_the_disk():
    loaded = load((REPOSITORY / "studies/quickstart/study.yaml").read_text())
    found = estimate_study(loaded.study, expand(loaded.study).cases)
    assert found.seconds <= 120
    assert found.max_seconds is not None and found.max_seconds <= 180
    assert found.written <= 70e9
    grid = loaded.study.workloads["grid"]
    assert (grid.file_size.count(), grid.record_size.count(), loaded.study.repeats) == (3, 4, 16)
    optional = [name for name, workload in loaded.study.workloads.items() if workload.optional]
    assert optional == ["dropped", "limited"]


@pytest.mark.parametrize(("most", "warned"), [(99, True), (100, False)])
def test_a_plan_of_more_requests_than_a_table_may_get_says_so(most: int, warned: bool) -> None:
    target = {"kind": "dynamodb", "endpoint": "http://127.0.0.1:8000", "table": "abc", "max_requests": most}
    made = load(object_written(targets={"t": target}, w_object_size="1KiB", w_objects=10, repeats=5)).study
    assert made is not None
    cases = expand(made).cases
    (said,) = study_warnings(made, cases, estimate_study(made, cases)) or ("",)
    expected = "target t: about 100 requests are planned, max_requests is 99: some repeats will be left out"
    assert said == (expected if warned else "")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1e-3, "1 ms"), (999.6e-6, "1 ms"), (999.4e-6, "999 us"), (1e-6, "1 us"), (0.9996, "1.0 s"), (0.25, "250 ms")],
)
def test_a_short_time_has_no_exponent(seconds: float, words: str) -> None:
    assert _brief(seconds) == words


def test_a_bound_far_above_the_estimate_says_what_would_have_to_happen() -> None:
    about = {"jobs": 1, "seconds": 60, "min_seconds": 60, "max_seconds": 100, "written": 0, "read": 0}
    near = StudyEstimate(**about, peak_space={}, cases=(), assumptions=())
    assert near.time_text == "about 1 min, at most 1 min 40 s"
    far = near.model_copy(update={"max_seconds": 2350})
    assert far.time_text == "about 1 min, at most 39 min 10 s if every phase takes all of its time limit"
