import itertools
from functools import partial

import pytest
from counted import calls_of
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load, study, written
from soak import times

from assay.model.study.parameters import Parameters
from assay.model.study.study import MAX_CASES, MAX_JOBS
from assay.plan.expand import count_cases, expand

TWO = {"disk": {"kind": "file", "path": "/tmp/a"}, "memory": {"kind": "file", "path": "/dev/shm/a"}}
AXES = {
    "file_size": st.lists(st.sampled_from(["1MiB", "2MiB", "4MiB", "8MB"]), min_size=1, unique=True),
    "record_size": st.lists(st.sampled_from(["4KiB", "8KiB", "64KiB"]), min_size=1, unique=True),
    "lanes": st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True),
    "queue_depth": st.lists(st.integers(1, 8), min_size=1, max_size=4, unique=True),
    "sync": st.lists(st.sampled_from(["none", "fsync", "fdatasync"]), min_size=1, unique=True),
}


def test_repeats_of_all_cases_together_are_bounded():
    axis = {"from": 1, "to": 1000, "step": 1}
    assert not expand(study(w_stride=axis, repeats=1000)).faults
    axis["to"] = 1001
    (fault,) = expand(study(w_stride=axis, repeats=1000)).faults
    assert fault.path == ("repeats",)
    assert "1,001,000" in fault.message and f"{MAX_JOBS:,}" in fault.message
    assert not expand(study(w_stride=axis, w_where="stride <= 1000", repeats=1000)).faults


@pytest.mark.parametrize(("record", "depth", "fits"), [(28672, 4096, True), (28673, 4096, False), (1, 4096, True)])
def test_buffers_are_counted_in_whole_pages(record, depth, fits):
    found = expand(study(w_record_size=record, w_file_size="8GiB", w_lanes=512, w_queue_depth=depth))
    assert bool(found.faults) is not fits
    if record < 4096:
        memory = {"w_cache": "limit", "w_memory_limit": "64MiB"}
        (fault,) = expand(study(w_record_size=record, w_lanes=4, w_queue_depth=depth, **memory)).faults
        assert "128MiB" in fault.hint


@given(st.fixed_dictionaries({}, optional=AXES))
def test_the_cases_are_the_product_of_the_axes_each_once(axes):
    found = study(targets=TWO, **{f"w_{field}": values for field, values in axes.items()})
    expansion = expand(found)
    expected = 2
    for values in axes.values():
        expected *= len(values)
    assert not expansion.faults
    assert len(expansion.cases) == expected == count_cases(found, found.workloads["w"])
    assert len({(case.target, *case.axes.values()) for case in expansion.cases}) == expected
    assert [case.id for case in expansion.cases] == [f"c{number:04d}" for number in range(1, expected + 1)]


@given(st.integers(1, 6), st.integers(1, 3))
def test_zipped_axes_advance_together(length, others):
    lanes, depths = list(range(1, length + 1)), list(range(10, 10 + length))
    found = study(
        w_lanes=lanes, w_queue_depth=depths, w_stride=list(range(1, others + 1)), w_zip=[["queue_depth", "lanes"]]
    )
    cases = expand(found).cases
    assert len(cases) == length * others == count_cases(found, found.workloads["w"])
    assert {(case.axes["lanes"], case.axes["queue_depth"]) for case in cases} == set(zip(lanes, depths, strict=True))


def test_the_last_axis_moves_fastest():
    cases = expand(study(w_lanes=[1, 2], w_queue_depth=[3, 4])).cases
    assert [tuple(case.axes.values()) for case in cases] == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_case_has_all_parameters_and_a_label():
    (case,) = expand(study(w_record_size=["64KiB"], w_runtime="5s")).cases
    assert case.parameters == Parameters(file_size=2**20, record_size=65536, runtime=5 * 10**9)
    assert case.axes == {"record_size": 65536}
    assert case.label == "disk / w / record_size=64KiB"


def test_cases_are_what_pydantic_would_have_made():
    for case in expand(study(w_record_size=["4KiB", "8KiB"], w_rate=[None, "5/s"], w_verify=[True, False])).cases:
        assert type(case).model_validate(case.model_dump()) == case


def test_where_and_exclude_leave_out_with_their_reason():
    found = study(
        targets=TWO,
        w_file_size=["64KiB", "1MiB"],
        w_record_size=["4KiB", "1MiB"],
        w_where="record_size <= file_size",
        w_exclude={"slow": {"when": "record_size == 4KiB and target == 'disk'", "why": "takes an hour"}},
    )
    expansion = expand(found)
    assert not expansion.faults
    assert len(expansion.cases) + len(expansion.excluded) == 8
    reasons = {(item.target, item.rule, item.reason) for item in expansion.excluded}
    assert reasons == {
        ("disk", "where", "not record_size <= file_size"),
        ("memory", "where", "not record_size <= file_size"),
        ("disk", "slow", "takes an hour"),
    }


def test_a_workload_runs_on_the_targets_it_names():
    assert {case.target for case in expand(study(targets=TWO, w_targets=["memory"])).cases} == {"memory"}


@pytest.mark.parametrize("top", [10**9, 2**62])
def test_a_huge_study_is_counted_not_expanded(top):
    found = study(w_file_size={"from": 2**20, "to": 2**20 + top - 1, "step": 1})
    assert calls_of(partial(expand, found)) < 10_000
    (fault,) = expand(found).faults
    assert f"{top:,}" in fault.message
    assert fault.path == ("workloads", "w", "file_size")


def grid(strides, **changes):
    """A study of a hundred times as many cases as strides."""
    axes = {"w_lanes": {"from": 1, "to": 100, "step": 1}, "w_stride": {"from": 1, "to": strides, "step": 1}}
    return study(**axes, **changes)


def test_the_limit_itself_is_allowed(monkeypatch):
    most = times(1000, MAX_CASES)
    monkeypatch.setattr("assay.plan.expand.MAX_CASES", most)
    assert len(expand(grid(most // 100)).cases) == most
    assert expand(grid(most // 100, w_queue_depth=[1, 2])).faults


def test_a_case_is_planned_in_few_calls_however_many_there_are():
    strides = times(8, 100)
    few, many = (grid(count, w_where="record_size <= file_size") for count in (2, strides))
    assert len(expand(many).cases) == 100 * strides
    calls = [calls_of(partial(expand, found)) for found in (few, many)]
    # 10,000 of them take a second where 2.3 million calls do.
    assert calls[1] / (100 * strides) < 500
    assert calls[1] < 1.05 * strides / 2 * calls[0]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"w_record_size": "2MiB"}, "record_size"),
        ({"w_record_size": "1MiB", "w_layout": "shared", "w_lanes": 2}, "record_size"),
        ({"w_lanes": 1024, "w_queue_depth": 4096, "w_record_size": "64KiB"}, "queue_depth"),
        ({"w_lanes": 1024, "w_queue_depth": 4096, "w_record_size": "16KiB"}, "lanes"),
        ({"w_lanes": 64, "w_file_size": 2**57}, "file_size"),
        ({"w_method": "sync", "w_queue_depth": 2}, "queue_depth"),
        ({"w_runtime": "1s", "w_time_limit": "1s"}, "time_limit"),
        ({"w_cache": "limit"}, "cache"),
        ({"w_cache": "limit", "w_memory_limit": "64MiB"}, "memory_limit"),
        ({"w_memory_limit": "1GiB"}, "memory_limit"),
        ({"w_operations": ["fread"]}, "cache"),
        ({"w_operations": ["fread"], "w_cache": "keep", "w_sync": "o_sync"}, "sync"),
        ({"w_operations": ["fread"], "w_cache": "keep", "w_method": "io_uring"}, "method"),
        ({"w_operations": ["fread"], "w_cache": "keep", "w_queue_depth": 2}, "queue_depth"),
    ],
)
def test_rules_name_the_field_to_mend(changes, field):
    (fault,) = expand(study(**changes)).faults
    assert fault.path == ("workloads", "w", field)
    assert fault.hint


def test_a_common_memory_limit_belongs_to_the_limit_cases_only():
    cases = expand(study(w_cache=["direct", "limit"], w_memory_limit="128MiB")).cases
    assert [(case.parameters.cache, case.parameters.memory_limit) for case in cases] == [
        ("direct", None),
        ("limit", 128 << 20),
    ]


def test_a_broken_rule_is_told_once_with_the_number_of_cases():
    (fault,) = expand(study(w_file_size=["64KiB", "128KiB"], w_record_size=["4KiB", "1MiB", "2MiB"])).faults
    assert fault.message.endswith("(4 cases)")


def test_what_where_removes_breaks_no_rule():
    found = study(w_file_size=["64KiB", "1MiB"], w_record_size=["4KiB", "1MiB"], w_where="record_size <= file_size")
    assert not expand(found).faults


@pytest.mark.parametrize("where", ["record_size > file_size", "rate > 5/s", "record_size + 1"])
def test_a_condition_that_fails_is_located(where):
    loaded = load(written(w_where=where))
    (fault,) = expand(loaded.study).faults
    problem = loaded.source.problem(fault)
    assert (problem.line, problem.column) == loaded.source.values["workloads", "w", "where"]


def test_numbering_goes_on_over_workloads():
    data = written(w_lanes=[1, 2])
    data["workloads"]["v"] = data["workloads"]["w"]
    cases = expand(load(data).study).cases
    assert [(case.id, case.workload) for case in cases] == [
        ("c0001", "w"),
        ("c0002", "w"),
        ("c0003", "v"),
        ("c0004", "v"),
    ]
    assert all(one.label != other.label for one, other in itertools.combinations(cases, 2))
