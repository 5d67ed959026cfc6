"""The stages of a study: which axis grows, which cases belong to which, and what is refused."""

from typing import Any

import pytest
from plan_tools import load, written

from assay.plan.expand import expand
from assay.plan.stages import stages_of


def stages(**changes: Any) -> list[tuple[str, int, int]]:
    """Axis, number and how many cases of each stage."""
    loaded = load(written(**changes))
    assert loaded.study is not None, loaded.problems
    return [(stage.axis, stage.value, len(stage.cases)) for stage in stages_of(expand(loaded.study).cases)]


def test_hosts_grow_before_lanes_and_the_fewest_come_first() -> None:
    hosts = {"hosts": "h[1-8]", "w_hosts": [8, 1, 4]}
    assert stages(**hosts, w_lanes=[1, 2]) == [("hosts", 1, 2), ("hosts", 4, 2), ("hosts", 8, 2)]
    assert stages(w_lanes=[4, 2]) == [("lanes", 2, 1), ("lanes", 4, 1)]
    tasks = stages(hosts="h[1-2]", w_hosts=2, w_tasks_per_host=[1, 4], launcher="mpirun", w_lanes=[1, 2])
    assert tasks == [("tasks_per_host", 1, 2), ("tasks_per_host", 4, 2)]


def test_a_workload_that_does_not_grow_has_its_stage() -> None:
    data = written(hosts="h[1-4]", w_hosts=[1, 4])
    data["workloads"]["other"] = {**data["workloads"]["w"], "hosts": 2}
    loaded = load(data)
    assert loaded.study is not None
    found = [(stage.value, [case.workload for case in stage.cases]) for stage in stages_of(expand(loaded.study).cases)]
    assert found == [(1, ["w"]), (2, ["other"]), (4, ["w"])]


def test_each_case_is_in_one_stage() -> None:
    loaded = load(written(hosts="h[1-8]", w_hosts=[1, 2, 8], w_record_size=["4KiB", "64KiB"], w_lanes=[1, 3]))
    assert loaded.study is not None
    cases = expand(loaded.study).cases
    staged = [case.id for stage in stages_of(cases) for case in stage.cases]
    assert sorted(staged) == sorted(case.id for case in cases)


def test_without_growth_there_are_none() -> None:
    assert stages() == [] and stages(w_record_size=["4KiB", "64KiB"]) == []


@pytest.mark.parametrize(
    ("written_as", "efficiency", "cost"),
    [({"efficiency": "70%"}, 0.7, None), ({"efficiency": "62.5 %", "cost": "10.50 USD"}, 0.625, "10.50 USD")],
)
def test_a_rule_is_read(written_as: dict[str, str], efficiency: float, cost: str | None) -> None:
    prices = {"book": "aws-eu-west-1-2016", "designs": {"disk": {"design": "nfs-instance-store"}}}
    study = load(written(stages=written_as, prices=prices)).study
    assert study is not None and study.stages is not None
    assert (study.stages.efficiency, study.stages.cost) == (pytest.approx(efficiency), cost)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"efficiency": "0%"}, "out of range"),
        ({"efficiency": "101%"}, "out of range"),
        ({"efficiency": 0.7}, "is not a share"),
        ({"cost": "10"}, "is not an amount of money"),
        ({"accept": "yes"}, "unknown key `accept`"),
        (None, "it is empty"),
        ("70%", "is not a mapping"),
    ],
)
def test_other_rules_are_refused_in_a_line(rule: object, message: str) -> None:
    loaded = load(written(stages=rule))
    assert any(message in problem.message for problem in loaded.problems), loaded.problems
