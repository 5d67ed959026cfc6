"""Sets of files: how many there are, what they must obey, what the engine is told, and how long they take."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import backend, load, study, written

from assay.model.study.case import Case
from assay.plan.capability_check import unsupported
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.plan.expand import expand
from assay.plan.jobs import plan_job

SHARES = {"nas": {"kind": "file", "path": "/tmp/a", "shares": ["/tmp/b", "/tmp/c", "/tmp/d"]}}


def set_of(**changes: Any) -> dict[str, Any]:
    """A small right study on a set of files, as written."""
    return written(**{"w_total_files": 100, "w_cache": "keep", **changes})


def cases(**changes: Any) -> tuple[Case, ...]:
    loaded = load(set_of(**changes))
    assert loaded.study is not None, loaded.problems
    found = expand(loaded.study)
    assert not found.faults, found.faults
    return found.cases


def job(**changes: Any) -> dict[str, Any]:
    loaded = load(set_of(**changes))
    assert loaded.study is not None, loaded.problems
    (case, *_) = expand(loaded.study).cases
    told: dict[str, Any] = plan_job(loaded.study, case, 1).job.model_dump(mode="json", exclude_none=True)
    return told


def said(**changes: Any) -> list[str]:
    """What is wrong with a study: one line each."""
    loaded = load(set_of(**changes))
    faults = [problem.message for problem in loaded.problems]
    return faults if loaded.study is None else faults + [fault.message for fault in expand(loaded.study).faults]


def estimate(**changes: Any) -> StudyEstimate:
    loaded = load(set_of(repeats=1, **changes))
    assert loaded.study is not None, loaded.problems
    return estimate_study(loaded.study, expand(loaded.study).cases)


@given(total=st.integers(1, 10**6), lanes=st.integers(1, 64), hosts=st.integers(1, 8))
def test_every_file_is_some_lanes(total: int, lanes: int, hosts: int) -> None:
    if total < lanes * hosts:
        return
    (case,) = cases(w_total_files=total, w_lanes=lanes, w_hosts=hosts, hosts=[f"h{number}" for number in range(hosts)])
    found = case.parameters
    assert found.files is not None
    assert found.files * lanes * hosts + found.lanes_with_extra_file == found.all_files == total
    assert 0 <= found.lanes_with_extra_file < lanes * hosts


@pytest.mark.parametrize(
    ("scale", "files", "width"), [(1, 280_000, 840), (0.1, 28_000, 84), (0.5, 140_000, 420), (0.0001, 28, 1)]
)
def test_one_factor_scales_files_and_directories(scale: float, files: int, width: int) -> None:
    (case,) = cases(w_total_files=280_000, w_width=840, w_depth=1, w_scale=scale)
    assert (case.parameters.all_files, case.parameters.width) == (files, width)
    assert case.parameters.directory_count == width


def test_deeper_trees_keep_as_many_files_in_a_directory() -> None:
    (case,) = cases(w_total_files=100_000, w_width=10, w_depth=3, w_scale=8)
    assert (case.parameters.all_files, case.parameters.directory_count) == (800_000, 8000)
    assert cases(w_files=50, w_total_files=None, w_scale=0.1, w_lanes=3)[0].parameters.all_files == 15


def test_a_factor_may_be_an_axis() -> None:
    found = cases(w_scale=[0.1, 1, 10], w_total_files=1000)
    assert [case.parameters.all_files for case in found] == [100, 1000, 10_000]
    assert [case.axes for case in found] == [{"scale": 0.1}, {"scale": 1.0}, {"scale": 10.0}]


def test_the_engine_is_told_how_many_lanes_have_one_more() -> None:
    told = job(w_total_files=103, w_lanes=4, w_depth=1, w_width=5, w_layout="shared")
    assert told["tree"] == {"files": 25, "more": 3, "inner": False, "depth": 1, "width": 5}
    assert (told["file_size_bytes"], told["record_size_bytes"], told["direct"]) == (2**20, 4096, False)
    assert "sizes" not in told


def test_order_and_cache_are_those_of_sets() -> None:
    phases = job(w_operations=["read", "random_read"], w_file_order="random", w_cache="limit", w_memory_limit="1GiB")
    told = [(phase["operation"], phase["file_order"], phase["cache_before"]) for phase in phases["phases"]]
    assert told == [
        ("prepare", "sequential", "keep"),
        ("read", "random", "keep"),
        ("random_read", "random", "keep"),
    ]


@pytest.mark.parametrize(
    ("written_as", "sizes", "largest"),
    [
        ({"64KiB": 60, "1MiB": 40}, "listed", 2**20),
        ("64KiB:60,1MiB:40", "listed", 2**20),
        ("uniform 4KiB..1MiB", "range", 2**20),
        ("4KiB..1MiB", "log2", 2**20),
    ],
)
def test_sizes_reach_the_engine(written_as: Any, sizes: str, largest: int) -> None:
    data = set_of(w_file_sizes=written_as)
    del data["workloads"]["w"]["file_size"]
    loaded = load(data)
    assert loaded.study is not None, loaded.problems
    (case,) = expand(loaded.study).cases
    told = plan_job(loaded.study, case, 1).job
    assert told.sizes is not None and told.sizes.distribution == sizes
    assert told.file_size_bytes == case.parameters.file_size == largest
    assert 4096 <= case.parameters.sizes.mean < largest


def test_lanes_take_turns_among_shares() -> None:
    told = job(targets=SHARES, w_layout="shared", w_lanes=16)
    assert told["target"]["root"] == "/tmp/a" and told["target"]["shares"] == ["/tmp/b", "/tmp/c", "/tmp/d"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"w_queue_depth": 4}, "a lane has one operation in flight, not 4"),
        ({"w_method": "io_uring"}, "plain calls, not by io_uring"),
        ({"w_preallocate": True}, "nothing is preallocated"),
        ({"w_cache": "evict"}, "cannot be taken out of the cache one by one"),
        ({"w_operations": ["read", "stride_read"]}, "stride_read works on one file, not on a set of files"),
        ({"w_operations": ["fread"], "w_sync": "fsync"}, "fread works on one file"),
        ({"w_file_size": 0}, "files of 0B have no record"),
        ({"w_files": 5}, "files and total_files both set the size or number of files"),
        ({"w_file_sizes": "4KiB..8KiB"}, "file_size and file_sizes both set the size or number of files"),
        ({"w_total_files": 3, "w_lanes": 4}, "3 files are fewer than the 4 lanes"),
        ({"w_total_files": 100, "w_width": 200, "w_depth": 1}, "makes 200 directories for 100 files"),
        ({"w_scale": 0.001, "w_lanes": 2}, "one file is fewer than the 2 lanes"),
        ({"w_scale": 0}, "0 is out of range"),
        ({"w_scale": "half"}, "is not a number"),
        ({"w_file_order": "backwards"}, "is not allowed here"),
        ({"w_file_sizes": "64KiB"}, "is one size, not several"),
        ({"w_file_sizes": "uniform 64KiB"}, "has no two bounds"),
        ({"w_total_files": [None, 5]}, "a set of files needs a number in every case"),
        ({"w_total_files": None, "w_depth": 2}, "depth is for a set of files, but the number of files is not set"),
        ({"w_total_files": None, "w_file_order": "random"}, "file_order is for a set of files"),
        ({"w_total_files": 10**12, "w_file_size": "100GiB"}, "a lane would have 1,000,000,000,000 files"),
        ({"targets": {"d": {"kind": "file", "path": "/tmp/a", "shares": ["/tmp/a"]}}}, "is already target `d`"),
        ({"targets": {"d": {"kind": "file", "path": "/tmp/a", "shares": ["/tmp/a/b"]}}}, "are nested"),
        ({"targets": {"d": {"kind": "file", "path": "/tmp/a", "shares": "/tmp/b"}}}, "is not a list of directories"),
        (
            {"targets": SHARES, "w_total_files": None, "w_layout": "shared"},
            "a shared file cannot be in several directories",
        ),
    ],
)
def test_what_cannot_be_is_said_in_one_line(changes: dict[str, Any], message: str) -> None:
    found = said(**changes)
    assert any(message in line for line in found), found
    assert all("\n" not in line for line in found)


def test_bounds_between_sizes_have_no_direct() -> None:
    assert any("O_DIRECT needs" in line for line in said(w_cache="direct", w_file_size=0, w_file_sizes="4KiB..8KiB"))


@pytest.mark.parametrize("size", ["1MB", {"4KiB": 1, "1000B": 1}])
def test_what_direct_needs_is_asked_of_each_size(size: Any) -> None:
    changes: Mapping[str, Any] = {"w_file_size": size} if isinstance(size, str) else {"w_file_sizes": size}
    data = set_of(w_cache="direct", **changes)
    if "w_file_sizes" in changes:
        del data["workloads"]["w"]["file_size"]
    loaded = load(data)
    assert loaded.study is not None, loaded.problems
    (case,) = expand(loaded.study).cases
    able = backend(direct_alignment_bytes=512, file_sets=True)
    assert [broken.hint for broken in unsupported(case, able)] == ["use multiples of 512B, or cache: drop or keep"]


def test_a_kind_without_sets_is_refused() -> None:
    (case,) = cases(w_operations=["read"])
    wrong = [broken.message for broken in unsupported(case, backend(file_sets=False))]
    assert wrong == ["a file target has no sets of files"]
    assert not unsupported(case, backend(file_sets=True))


def test_a_workload_says_itself_that_it_is_on_a_set() -> None:
    plain = load(written(defaults={"files": 5, "depth": 1, "width": 3, "scale": 2})).study
    assert plain is not None and plain.workloads["w"].axis("files").values() == (None,)
    own = load(written(defaults={"files": 5, "depth": 1, "width": 3}, w_total_files=60)).study
    assert own is not None
    values = [own.workloads["w"].axis(name).values() for name in ("files", "total_files", "depth", "width")]
    assert values == [(None,), (60,), (1,), (3,)]


def test_bytes_are_those_of_all_files() -> None:
    found = estimate(w_operations=["read", "rewrite"], w_file_size="1MB", w_total_files=103, w_lanes=4)
    assert (found.written, found.read) == (2 * 103 * 10**6, 103 * 10**6)
    assert found.peak_space["disk"] >= 103 * 10**6


def test_opening_many_small_files_takes_longer_than_one_large_one() -> None:
    many = estimate(w_operations=["read"], w_file_size="4KiB", w_total_files=100_000, w_cache="drop")
    one = estimate(w_operations=["read"], w_file_size="400MiB", w_total_files=1, w_cache="drop")
    assert many.seconds > 5 * one.seconds


def test_ten_million_files_are_not_listed() -> None:
    """Case, job and estimate hold numbers only: as many objects as with ten files."""
    import tracemalloc

    def held(files: int) -> int:
        tracemalloc.start()
        estimate(w_total_files=files, w_file_size=0, w_file_sizes="uniform 1KiB..1MiB", w_lanes=16)
        job(w_total_files=files, w_lanes=16)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few = held(100)
    assert held(10**7) < 2 * few


def test_other_studies_stay_as_they_are() -> None:
    found = study(w_lanes=2)
    (case,) = expand(found).cases
    assert not case.parameters.is_on_set and case.parameters.all_files == 0
    told = plan_job(found, case, 1).job
    assert told.tree is None and told.sizes is None and case.parameters.data_set_bytes == 2 << 20


MIX = "read:40,write:20,create:15,stat:10,unlink:15"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"w_operations": ["file_mix"]},
            "file_mix consists of read, write, create, stat, unlink, but mix is not set",
        ),
        ({"w_operations": ["file_mix"], "w_mix": "get:50,put:50"}, "but mix is get:50,put:50"),
        ({"w_operations": ["random_mix"], "w_mix": "read:90,write:10"}, "mix is for file_mix and object_mix"),
        ({"w_operations": ["read"], "w_mix": "read:100"}, "mix is for file_mix and object_mix"),
        ({"w_operations": ["file_mix"], "w_mix": MIX, "w_read_percent": 30}, "read_percent is for random_mix"),
        ({"w_operations": ["file_mix"], "w_mix": MIX, "w_total_files": None}, "but the number of files is not set"),
        (
            {"w_operations": ["file_mix"], "w_mix": "read:80,create:10,delete:10"},
            "`delete` cannot be a part of file_mix",
        ),
    ],
)
def test_a_mix_of_files_has_shares_of_its_own(changes: dict[str, Any], words: str) -> None:
    left = {name: value for name, value in set_of(**changes).items() if value is not None}
    loaded = load(left)
    found = [problem.message for problem in loaded.problems]
    found += [] if loaded.study is None else [fault.message for fault in expand(loaded.study).faults]
    assert any(words in one for one in found), found


def test_what_comes_after_a_mix_of_files_finds_them_all() -> None:
    phases = job(w_operations=["write", "file_mix", "read", "file_mix"], w_mix=MIX)["phases"]
    assert [phase["operation"] for phase in phases] == ["write", "file_mix", "prepare", "read", "file_mix"]
    assert phases[1]["mix"] == {"read": 40, "write": 20, "create": 15, "stat": 10, "unlink": 15}


def test_the_estimate_of_a_mix_of_files_goes_by_its_shares() -> None:
    (all_read,) = estimate(w_operations=["file_mix"], w_mix="read:100").cases
    (half,) = estimate(w_operations=["file_mix"], w_mix="read:25,write:25,stat:50").cases
    made = half.written - all_read.written
    assert all_read.read == 2 * (half.read + made) and abs(half.read - made) <= 1
