"""What a study says of the null target and of intervals, in the job."""

import pytest
from plan_tools import first_case

from assay.plan.jobs import plan_job


def test_a_script_for_the_null_target_goes_into_the_job():
    null = {
        "kind": "null",
        "latency": {"distribution": "fixed", "time": "1ms"},
        "changes": [{"at_op": 5, "latency": {"distribution": "exponential", "mean": "2ms"}, "lane": 1}],
        "vary_percent": 7,
        "clock_step": "2s",
        "ceilings": {"read": "1GB/s"},
    }
    found, case = first_case(targets={"n": null})
    target = plan_job(found, case, 1).job.target.model_dump(mode="json")
    assert target["changes"] == [
        {"at_op": 5, "lane": 1, "latency": {"distribution": "exponential", "mean_ns": 2 * 10**6}}
    ]
    assert (target["vary_percent"], target["clock_step_ns"], target["stalls"]) == (7, 2 * 10**9, [])
    # What the target cannot exceed is for the judge, not for the engine.
    assert "ceilings" not in target
    assert plan_job(*first_case(targets={"n": {"kind": "null"}}), 1).job.target.clock_step_ns == 0


@pytest.mark.parametrize(
    ("runtime", "interval"),
    [(None, 1000), ("100s", 1000), ("20s", 1000), ("10s", 500), ("1s", 50), ("999ms", 50), ("1ms", 50)],
)
def test_an_interval_that_is_left_open_is_a_twentieth_of_the_runtime(runtime, interval):
    more = {"w_runtime": runtime} if runtime else {}
    assert plan_job(*first_case(w_operations=["read"], **more), 1).job.interval_ns == interval * 10**6
    stated = first_case(w_operations=["read"], output={"interval": "10ms"}, **more)
    assert plan_job(*stated, 1).job.interval_ns == 10**7
