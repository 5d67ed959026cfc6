"""What studies may ask of targets behind MPI-IO, and what becomes of it in jobs."""

from typing import Any

import pytest
from plan_tools import load, study

from assay.kinds.handler import handler_of
from assay.launch import machine_checks
from assay.model.base import AssayError
from assay.model.study.kinds import kinds
from assay.plan.expand import expand
from assay.plan.jobs import plan_job

HINTS = {"cb_nodes": 8, "romio_no_indep_rw": True}
TARGETS = {"scratch": {"kind": "mpiio", "path": "/scratch/assay", "prefix": "ufs", "hints": HINTS}}
WORK = {"operations": ["write"], "file_size": "1MiB", "record_size": "64KiB", "cache": "keep", "layout": "shared"}


def changed(**work: Any) -> dict[str, Any]:
    """A study on one directory behind MPI-IO."""
    return {"targets": TARGETS, "launcher": "mpirun", "workloads": {"w": {**WORK, **work}}}


def wrong(**changes: Any) -> list[str]:
    """What is wrong with it, each thing in one line."""
    return [f"{problem.message}; {problem.hint}" for problem in load({"study": "mpi", **changes}).problems]


def test_a_workload_reaches_the_job_and_its_hints_go_before_the_targets() -> None:
    asked = study(**changed(collective=True, pointer="individual", cb_nodes=[1, 2], striping_unit="1MiB"))
    jobs = [plan_job(asked, case, 1).job for case in expand(asked).cases]
    assert [job.target.hints for job in jobs] == [
        {"cb_nodes": count, "romio_no_indep_rw": "true", "striping_unit": "1048576"} for count in ("1", "2")
    ]
    first = jobs[0].target.model_dump(mode="json")
    assert (first["kind"], first["prefix"], first["collective"]) == ("mpiio", "ufs", True)
    assert (first["pointer"], first["atomic"]) == ("individual", False)


def test_blocks_in_a_view_may_be_parts_of_records_or_hold_several() -> None:
    """Then the library scatters each record, and for the engine a rank's part is one block."""
    work = {"file_size": "1MiB", "tasks_per_host": 4}
    viewed = study(**changed(view="vector", block_size=["16KiB", "128KiB"], **work))
    plain = study(**changed(block_size="128KiB", **work))
    jobs = [plan_job(asked, case, 1).job for asked in (plain, viewed) for case in expand(asked).cases]
    found = [(job.target.view.value, job.target.piece_bytes, job.block_size_bytes) for job in jobs]
    assert found == [*(("none", None, 128 << 10), ("vector", 16 << 10, 256 << 10), ("vector", 128 << 10, 128 << 10))]


@pytest.mark.parametrize(
    ("work", "message"),
    [
        ({"view": "vector"}, "but their size is not set"),
        ({"view": "vector", "layout": "separate", "block_size": "64KiB"}, "a view is of a file that all ranks share"),
        ({"view": "vector", "block_size": "24KiB"}, "record_size 64KiB is not a multiple of block_size 24KiB"),
        ({"view": "vector", "block_size": "16KiB", "file_size": "1100KiB"}, "file_size 1100KiB is not a multiple of"),
        ({"view": "vector", "block_size": "64KiB", "pointer": "shared"}, "must all see the same"),
        (
            {"view": "subarray", "block_size": "128KiB", "operations": ["write", "random_read"]},
            "accesses the parts of others",
        ),
        ({"pointer": "shared", "layout": "separate"}, "only of a file that they share"),
        ({"pointer": "shared", "verify": True}, "depends on which rank comes first"),
        ({"pointer": "shared", "collective": True, "queue_depth": 2}, "no nonblocking collective operations"),
        ({"pointer": "shared", "runtime": "1s"}, "goes once over the file"),
        ({"pointer": "shared", "operations": ["read"], "reorder": "lane"}, "no rank has a part of its own"),
        ({"pointer": "shared", "operations": ["write", "backward_read"]}, "not as backward_read does"),
    ],
)
def test_views_and_the_shared_pointer_have_rules(work: dict[str, Any], message: str) -> None:
    faults = expand(study(**changed(**work))).faults
    assert any(message in fault.message for fault in faults), faults
    ordered = {"pointer": "shared", "collective": True, "block_size": "64KiB", "verify": True}
    assert not expand(study(**changed(**ordered))).faults


def test_left_out_the_target_decides() -> None:
    asked = study(**changed())
    (case,) = expand(asked).cases
    assert plan_job(asked, case, 1).job.target.hints == {"cb_nodes": "8", "romio_no_indep_rw": "true"}


@pytest.mark.parametrize(
    ("work", "message"),
    [
        ({"lanes": [1, 2]}, "a rank of MPI has one lane, and target scratch is reached through MPI; leave lanes out"),
        ({"collective": True, "operations": ["random_mix"]}, "random_mix is a mix; write collective: false"),
        ({"collective": True, "rate": "10/s"}, "start when all ranks are there, not at a rate; leave rate out"),
    ],
)
def test_what_ranks_cannot_do_is_refused(work: dict[str, Any], message: str) -> None:
    (found,) = wrong(**changed(**work))
    assert message in found


def test_no_rank_without_a_launcher() -> None:
    (found,) = wrong(**{**changed(), "launcher": "ssh"})
    assert "whose ranks only mpirun or srun can start; add a line" in found


def test_what_only_mpi_io_has_is_for_no_other_target() -> None:
    disk = {"disk": {"kind": "file", "path": "/var/tmp/assay"}}
    (found,) = wrong(targets=disk, workloads={"w": {**WORK, "cb_nodes": 4}})
    assert "cb_nodes is for targets behind MPI-IO, and target disk is a directory; remove it" in found


def test_all_kinds_say_whether_they_are_behind_mpi() -> None:
    assert [word for word, kind in kinds().items() if kind.through_mpi] == ["mpiio"]


def test_what_is_below_is_measured_as_a_directory() -> None:
    target = study(**changed()).targets["scratch"]
    assert target.plain_target("own").model_dump()["kind"] == "file"


class Hands:
    """Claims and cleans; keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def directory(self, *words: str) -> Any:
        self.asked.append(words)
        return []


def test_it_is_claimed_and_cleaned_as_a_directory() -> None:
    hands, keeper = Hands(), handler_of(study(**changed()).targets["scratch"])
    keeper.claim(hands)  # type: ignore[arg-type]
    keeper.clean("c0001-r1", hands)  # type: ignore[arg-type]
    assert hands.asked == [("/scratch/assay",), ("/scratch/assay", "c0001-r1")]


def test_without_its_engine_it_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise AssayError("assay-engine-mpi was not found", "build it")

    monkeypatch.setattr(machine_checks, "find_mpi_engine", missing)
    asked = study(**changed(cb_nodes=[1, 2]))
    (fault,) = machine_checks.mpi_faults(asked, expand(asked).cases)
    assert fault.path == ("targets", "scratch")
    assert fault.message == "it is reached through MPI, and assay-engine-mpi was not found"
    assert fault.hint == "build it"
