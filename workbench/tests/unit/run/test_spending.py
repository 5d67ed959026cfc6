"""Limits of what a run asks of services: they hold for all of its repeats together."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from plan_tools import first_case, object_written

from assay.plan.jobs import plan_job
from assay.run.costs.spending import ChargeTracker, ServiceCharge, charge_of_repeat, limits_of

TARGET = {"kind": "dynamodb", "endpoint": "http://127.0.0.1:8000", "table": "abc"}


def job_with(**limits: int) -> Any:
    study, case = first_case(**object_written(targets={"t": {**TARGET, **limits}}))
    return plan_job(study, case, 1).job


def interval(phase: int, ops: int, errors: int = 0) -> dict[str, Any]:
    counts = {"operation": "put", "ops": ops, "bytes": 0, "errors": errors, "latency": None}
    return {"event": "interval", "phase": phase, "index": 0, "start_ns": 0, "end_ns": 1, "operations": [counts]}


def test_a_phase_that_was_cut_off_counts_by_its_operations() -> None:
    text = "".join(json.dumps(event) + "\n" for event in (interval(0, 7, 2), interval(0, 1), interval(1, 5)))
    assert charge_of_repeat(text, hosts=False) == ServiceCharge(15, 0.0)
    assert charge_of_repeat("", hosts=False) == ServiceCharge() == charge_of_repeat("no event\n", hosts=False)


@given(
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 400)), max_size=6),
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.integers(1, 5),
)
def test_what_is_left_is_shared_and_never_more_than_the_limit(
    spent: list[tuple[int, float]], requests: int, units: int, engines: int
) -> None:
    job = job_with(max_requests=requests, max_capacity_units=units).model_copy(update={"ranks": engines})
    spending = ChargeTracker(("t", ServiceCharge(*one)) for one in spent)
    if spending.exhausted_limit("t", job.target, engines):
        left = min(requests - sum(one[0] for one in spent), int(units - sum(one[1] for one in spent)))
        assert left < engines
        return
    limited = spending.limited_job(job, "t").target
    assert engines * limited.max_requests + sum(one[0] for one in spent) <= requests
    assert engines * limited.max_capacity_units + sum(one[1] for one in spent) <= units


def test_a_target_without_limits_is_left_as_it_is() -> None:
    job = job_with()
    spending = ChargeTracker([("t", ServiceCharge(10**9, 1e9))])
    assert spending.limited_job(job, "t") == job and spending.exhausted_limit("t", job.target, 1) == ""
    assert limits_of(job.target) == {"max_requests": None, "max_capacity_units": None}


def test_the_limit_that_is_used_up_is_named() -> None:
    spending = ChargeTracker([("t", ServiceCharge(100, 3.5))])
    assert spending.exhausted_limit("t", job_with(max_requests=100).target, 1) == (
        "max_requests of target t, 100: it is used up, and a run keeps its limits"
    )
    assert "max_capacity_units" in spending.exhausted_limit("t", job_with(max_capacity_units=3).target, 1)
    assert spending.exhausted_limit("other", job_with(max_requests=100).target, 1) == ""
