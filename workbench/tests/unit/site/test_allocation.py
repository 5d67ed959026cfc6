"""The hosts of a job of a scheduler, as each scheduler tells them."""

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import TypeAdapter

from assay.model.base import AssayError
from assay.model.study.hosts import Hosts, HostsField
from assay.site.allocation import AllocationSite, current_scheduler

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_JOB_NODELIST": "gpu[01-03],cpu7",
    "SLURM_JOB_PARTITION": "compute",
    "SLURM_CLUSTER_NAME": "box",
}


def hosts(environment: dict[str, str]) -> list[tuple[str, str]]:
    standing = AllocationSite(environment).up(lambda _line: None)
    return [(host.name, host.kind) for host in standing.clients]


def test_slurm_names_a_node_set() -> None:
    assert hosts(SLURM) == [("gpu01", "slurm"), ("gpu02", "slurm"), ("gpu03", "slurm"), ("cpu7", "slurm")]
    told = AllocationSite(SLURM).up(lambda _line: None).server_facts["allocation"]
    assert told == {
        "scheduler": "Slurm",
        "job": "4711",
        "cluster": "box",
        "partition": "compute",
        "nodes": "gpu[01-03],cpu7",
    }


def test_pbs_lsf_and_grid_engine_name_a_file_or_the_hosts(tmp_path: Path) -> None:
    file = tmp_path / "nodes"
    file.write_text("n2\nn2\nn1\nn1\n")
    assert hosts({"PBS_JOBID": "1.server", "PBS_NODEFILE": str(file)}) == [("n2", "ssh"), ("n1", "ssh")]
    file.write_text("a 4\nb 4\n")
    assert hosts({"LSB_JOBID": "9", "LSB_DJOB_HOSTFILE": str(file)}) == [("a", "ssh"), ("b", "ssh")]
    file.write_text("a 4 all.q@a UNDEFINED\nb 4 all.q@b 0,0:0,1\n")
    assert hosts({"JOB_ID": "9", "PE_HOSTFILE": str(file)}) == [("a", "ssh"), ("b", "ssh")]
    assert hosts({"LSB_JOBID": "9", "LSB_HOSTS": "a a b b"}) == [("a", "ssh"), ("b", "ssh")]
    assert hosts({"LSB_JOBID": "9", "LSB_MCPU_HOSTS": "a 4 b 4 "}) == [("a", "ssh"), ("b", "ssh")]


def test_outside_of_a_job_nothing_is_known_and_nothing_comes_up() -> None:
    site = AllocationSite({"SLURM_JOB_NODELIST": "n1"})
    site.check(64)
    with pytest.raises(AssayError, match="does not run in a job of a scheduler"):
        site.up(lambda _line: None)
    assert current_scheduler({"PBS_JOBID": "1"}) is None


def test_too_small_a_job_is_refused_before_anything_is_touched() -> None:
    with pytest.raises(AssayError, match="needs 5 hosts, and has 4"):
        AllocationSite(SLURM).check(5)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(AssayError, match=r"PBS_NODEFILE: .*: no such file or directory"):
        hosts({"PBS_JOBID": "1", "PBS_NODEFILE": str(tmp_path / "none")})
    with pytest.raises(AssayError, match="SLURM_JOB_NODELIST"):
        hosts({"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-"})
    (tmp_path / "nodes").write_text("n1\n-oProxyCommand=x\n")
    with pytest.raises(AssayError, match="PBS_NODEFILE: `-oProxyCommand=x` is not a host name"):
        hosts({"PBS_JOBID": "1", "PBS_NODEFILE": str(tmp_path / "nodes")})
    (tmp_path / "nodes").write_text("".join(f"n{number}\n" for number in range(5000)))
    with pytest.raises(AssayError, match="PBS_NODEFILE: has 5000 hosts"):
        hosts({"PBS_JOBID": "1", "PBS_NODEFILE": str(tmp_path / "nodes")})


@pytest.mark.parametrize("told", ["nid[001033,001644]", "ip-0A000104,ip-0A00011E", "nid[0000001033-0000001034]"])
def test_numbers_of_nodes_have_as_many_digits_as_they_like(told: str) -> None:
    assert len(hosts({"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": told})) == 2


@pytest.mark.parametrize(
    "told",
    [
        {"LSB_HOSTS": "batch3 c1 c1 c2 c2"},
        {"LSB_MCPU_HOSTS": "batch3 1 c1 42 c2 42 "},
    ],
)
def test_a_node_on_which_jobs_only_start_is_told_of_and_can_be_left_out(told: dict[str, str]) -> None:
    said: list[str] = []
    site = AllocationSite({"LSB_JOBID": "9", **told})
    assert [host.name for host in site.up(said.append).clients] == ["batch3", "c1", "c2"]
    assert said[-1] == "note: batch3 has one slot, the others more: if jobs only start there, write allocation!batch3"
    written = TypeAdapter(Annotated[Hosts, HostsField()]).validate_python("allocation!batch3")
    assert written.is_allocated and written.excluded_hosts == ("batch3",)
    said.clear()
    site = AllocationSite({"LSB_JOBID": "9", **told}, written.excluded_hosts)
    assert [host.name for host in site.up(said.append).clients] == ["c1", "c2"]
    assert len(said) == 1


def test_who_is_left_out_must_be_there() -> None:
    with pytest.raises(AssayError, match="hosts: cpu8 is not a host of the allocation"):
        AllocationSite(SLURM, ("cpu8",)).check(1)
    assert Hosts(nodes=("allocation",)).excluded_hosts == ()
    assert not Hosts(nodes=("allocation2!x",)).is_allocated
