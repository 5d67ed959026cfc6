"""Strong scaling: `total_size` is shared out among all lanes, and what contradicts it is said in one line."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load, written

from assay.model.study.case import Case
from assay.plan.expand import expand
from assay.plan.jobs import plan_job

MIB = 1 << 20


def strong(**changes: Any) -> dict[str, Any]:
    """A small right study of 64 MiB in all, as written."""
    data = written(**{"w_total_size": "64MiB", **changes})
    if "w_file_size" not in changes:
        del data["workloads"]["w"]["file_size"]
    return data


def cases(**changes: Any) -> tuple[Case, ...]:
    loaded = load(strong(**changes))
    assert loaded.study is not None, loaded.problems
    found = expand(loaded.study)
    assert not found.faults, found.faults
    return found.cases


def said(data: dict[str, Any]) -> list[str]:
    loaded = load(data)
    faults = [problem.message for problem in loaded.problems]
    return faults if loaded.study is None else faults + [fault.message for fault in expand(loaded.study).faults]


def test_more_lanes_have_less_each_and_the_total_stays() -> None:
    found = cases(w_lanes=[1, 2, 4], w_hosts=[1, 2], hosts="h[1-2]")
    assert {case.parameters.data_set_bytes for case in found} == {64 * MIB}
    sizes = {(case.parameters.lanes, case.parameters.hosts): case.parameters.file_size for case in found}
    assert sizes == {(lanes, hosts): 64 * MIB // lanes // hosts for lanes in (1, 2, 4) for hosts in (1, 2)}


def test_the_engine_is_told_the_lanes_part() -> None:
    loaded = load(strong(w_lanes=4))
    assert loaded.study is not None
    (case,) = expand(loaded.study).cases
    assert plan_job(loaded.study, case, 1).job.model_dump(mode="json")["file_size_bytes"] == 16 * MIB


def test_a_shared_file_is_the_total() -> None:
    found = cases(w_lanes=[1, 3], w_layout="shared")
    assert [case.parameters.file_size for case in found] == [64 * MIB] * 2
    assert {case.parameters.data_set_bytes for case in found} == {64 * MIB}


@given(
    total=st.integers(1, 2**40), lanes=st.integers(1, 64), hosts=st.integers(1, 8), record=st.sampled_from([512, 4096])
)
def test_nothing_is_left_over_but_less_than_a_record_of_each_lane(
    total: int, lanes: int, hosts: int, record: int
) -> None:
    if total < record * lanes * hosts:
        return
    names = [f"h{number}" for number in range(hosts)]
    (case,) = cases(w_total_size=total, w_lanes=lanes, w_hosts=hosts, w_record_size=record, hosts=names)
    assert case.parameters.file_size % record == 0
    assert 0 <= total - case.parameters.data_set_bytes < record * lanes * hosts


def test_a_size_among_the_defaults_gives_way_to_the_workloads_own() -> None:
    data = strong(defaults={"file_size": "1MiB"})
    assert said(data) == []
    weak = written(defaults={"total_size": "1GiB"})
    assert said(weak) == []
    loaded = load(weak)
    assert loaded.study is not None and expand(loaded.study).cases[0].parameters.total_size is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"w_file_size": "1MiB"}, "file_size and total_size both set the size or number of files"),
        ({"w_total_size": "4KiB", "w_lanes": 4}, "total_size 4KiB has no record of 4KiB for each of 4 lanes"),
        (
            {"w_file_sizes": "4KiB..8KiB", "w_total_files": 10},
            "file_sizes and total_size both set the size or number of files",
        ),
        ({"w_total_files": 10, "w_cache": "keep"}, "the size of a set of files follows from its files"),
        ({"w_operations": ["create"], "w_files": 10}, "total_size is for operations on data"),
    ],
)
def test_what_contradicts_it_is_said_in_one_line(changes: dict[str, Any], message: str) -> None:
    data = strong(**changes)
    if "create" in changes.get("w_operations", ()):
        del data["workloads"]["w"]["record_size"]
    found = said(data)
    assert sum(message in line for line in found) == 1, found
    assert all("\n" not in line for line in found)
