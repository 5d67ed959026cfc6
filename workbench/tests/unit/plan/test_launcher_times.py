"""What launchers and MPI add to each repeat, in the plan and in its assumptions."""

from typing import Any

import pytest
from plan_tools import study

from assay.plan.estimate import LAUNCHED_SECONDS, MPI_SECONDS, StudyEstimate, estimate_study
from assay.plan.expand import expand

MPIIO = {
    "targets": {"scratch": {"kind": "mpiio", "path": "/scratch/assay"}},
    "w_cache": "keep",
    "w_layout": "shared",
    "launcher": "mpirun",
}


def estimate(**changes: Any) -> StudyEstimate:
    found = study(**{"hosts": "n[1-4]", "w_hosts": 4, "w_runtime": "1s", "repeats": 9, **changes})
    return estimate_study(found, expand(found).cases)


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_a_launcher_takes_its_time_in_each_repeat(launcher: str) -> None:
    alone, launched = estimate(), estimate(launcher=launcher)
    more = launched.cases[0].seconds - alone.cases[0].seconds
    assert more == pytest.approx(LAUNCHED_SECONDS)
    assert launched.seconds >= alone.seconds + 9 * LAUNCHED_SECONDS
    assert launched.max_seconds is not None and alone.max_seconds is not None
    assert launched.max_seconds >= alone.max_seconds + 9 * LAUNCHED_SECONDS
    assert f"{launcher}: {LAUNCHED_SECONDS} s a repeat to start the engines and to end them." in launched.assumptions
    assert not any("to start the engines" in line for line in alone.assumptions)


def test_mpi_comes_on_top_and_is_said_of_the_target() -> None:
    found, launched = estimate(**MPIIO, w_operations=["write"]), estimate(launcher="mpirun", w_operations=["write"])
    assert found.cases[0].seconds == pytest.approx(launched.cases[0].seconds + MPI_SECONDS)
    assert found.assumptions[-1] == f"scratch: {MPI_SECONDS} s more a repeat for MPI_Init and MPI_Finalize."


def test_what_was_measured_has_the_start_in_it() -> None:
    found = study(hosts="n[1-4]", launcher="srun", repeats=2)
    cases = expand(found).cases
    seen = estimate_study(found, cases, {case.id: 4.7 for case in cases})
    assert seen.seconds == pytest.approx(2 * 4.7 * len(cases), rel=0.06)
    assert not any("to start the engines" in line for line in seen.assumptions)
