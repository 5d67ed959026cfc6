"""Slurm and Open MPI in a box, for root and for its ordinary users."""

import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import run_here
from nfs_tools import box_of, boxes_below
from testbed_tools import inside, said

from assay.model.base import AssayError
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.users import FIRST_ID

HOSTS = """
  node[1-3]: {roles: [client], servers: [{kind: slurm, options: {cpus: "4"}}, {kind: openmpi}]}
shared: /shared
users: [alice, bob]
"""


@pytest.fixture(scope="module")
def box() -> Iterator[RunningBox]:
    # Users of the box read its configuration of ssh; the folders that pytest makes are root's alone.
    with tempfile.TemporaryDirectory(prefix="assay-slurm-box-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with boxes_below(folder), box_of(folder, HOSTS, "srun", "mpirun", "ssh") as running:
            yield running


def as_user(box: RunningBox, host: str, user: str, *words: str) -> str:
    command = [*box.enter_as(host, user), "sh", "-c", 'cd && exec "$@"', "sh", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_srun_starts_processes_on_all_nodes(box: RunningBox) -> None:
    assert sorted(said(box, "node1", "srun", "-N3", "hostname").split()) == ["node1", "node2", "node3"]
    told = said(box, "node2", "sinfo", "--Node", "--noheader", "--format=%N %P %c").splitlines()
    assert told == [f"node{number} compute* 4" for number in (1, 2, 3)]


def test_mpirun_finds_the_hosts_of_the_box_and_the_nodes_of_a_job(box: RunningBox) -> None:
    mpirun = ["mpirun.openmpi", "--allow-run-as-root", "--map-by", "node"]
    assert Counter(said(box, "node2", *mpirun, "-np", "6", "hostname").split()) == dict.fromkeys(
        ("node1", "node2", "node3"), 2
    )
    salloc = ["salloc", "--quiet", "-N2", "--ntasks-per-node=3", *mpirun, "hostname"]
    assert sorted(Counter(said(box, "node1", *salloc).split()).values()) == [3, 3]


def test_users_of_a_box_are_ordinary_ones_with_homes_in_common(box: RunningBox) -> None:
    ids = as_user(box, "node1", "alice", "id", "-u").strip(), as_user(box, "node1", "bob", "id", "-u").strip()
    assert ids[0] != ids[1]
    assert min(map(int, ids)) >= FIRST_ID
    as_user(box, "node1", "alice", "touch", "mine")
    assert as_user(box, "node3", "alice", "ls").split() == ["mine"]
    assert as_user(box, "node3", "alice", "pwd").strip() == "/shared/home/alice"
    denied = [*box.enter_as("node1", "bob"), "ls", "/shared/home/alice"]
    assert subprocess.run(denied, capture_output=True, check=False).returncode != 0
    assert "CapEff:\t0000000000000000" in as_user(box, "node1", "alice", "cat", "/proc/self/status")
    assert "alice" not in Path("/etc/passwd").read_text()


def test_users_submit_jobs_and_go_from_host_to_host(box: RunningBox) -> None:
    told = as_user(box, "node2", "alice", "srun", "-N3", "sh", "-c", "echo $(hostname) $(id -un) $PWD")
    assert sorted(told.splitlines()) == [f"node{number} alice /shared/home/alice" for number in (1, 2, 3)]
    assert as_user(box, "node1", "alice", "ssh", "node3", "hostname; id -un").split() == ["node3", "alice"]
    spread = as_user(box, "node1", "alice", "mpirun.openmpi", "-np", "3", "--map-by", "node", "hostname")
    assert sorted(spread.split()) == ["node1", "node2", "node3"]


def test_the_command_goes_on_as_a_user(box: RunningBox) -> None:
    told = run_here(Path.cwd(), "testbed", "exec", "--box", box.name, "node1", "--user", "carol", "--", "true")
    assert told.returncode == 2
    assert f"box {box.name} has no user carol" in told.stderr
    assert "alice" in told.stderr
    with pytest.raises(AssayError, match="has no user carol"):
        box.enter_as("node1", "carol")


def test_a_node_that_is_stopped_and_started_comes_back(box: RunningBox) -> None:
    (server,) = (one for one in box.host("node3").servers if one.kind == "slurm")
    box.stop_server("node3", server)
    box.start_server("node3", server)
    assert "node3" in said(box, "node1", "srun", "-w", "node3", "hostname")


def test_what_nothing_runs_of_cannot_be_stopped(box: RunningBox) -> None:
    (server,) = (one for one in box.host("node1").servers if one.kind == "openmpi")
    with pytest.raises(AssayError, match="openmpi on node1 has no process to stop"):
        box.stop_server("node1", server)


def test_the_machine_has_nothing_of_it(box: RunningBox) -> None:
    own = {str(Path("/proc/self/ns", name).readlink()) for name in ("pid", "net")}
    for host in box.hosts:
        ids = inside(box, host.name, "sh", "-c", "readlink /proc/self/ns/pid /proc/self/ns/net").stdout.split()
        assert not set(ids) & own
    assert not Path("/run/munge/munge.socket.2").exists()
    assert not Path("/run/slurm/conf").exists()
