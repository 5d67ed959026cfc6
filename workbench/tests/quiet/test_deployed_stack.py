"""A stack from its creation to its end: `deploy up`, hosts set up, `run --on`, a report with costs, `deploy down`.

The cloud is moto's server; its instances are hosts in namespaces (see `stack_box`), which do what their user data says.
"""

import contextlib
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cloud_server import CloudServer, cloud_server
from in_process import run_here
from killed_client import run_killed
from nfs_tools import boxes_below
from page_text import text_of_page
from paths import REPOSITORY
from run_tools import ASSAY, only_run
from soak import times
from stack_box import StackHost, instances_of, stack_hosts
from testbed_tools import assert_soon

from assay.model.base import EXIT_OK
from assay.rooms.deploy.work.life import creation
from assay.store import RunStore

NAME = "lab1"
STUDY = REPOSITORY / "studies" / "nfs-scaling"
CLIENTS = times(4, 8)
SMALL = ("--set", "hosts=1,2,4", "--set", "file_size=4MiB", "--repeats", "2")
"""Of the study, which as it is moves 12 GB; `make soak` runs it as it is once."""
MEASURE = ("run", STUDY, "--on", NAME)
UP = (
    *("deploy", "up", "nfs-gp3", "--set", "volumes=1", "--clients", CLIENTS, "--name", NAME, "--yes"),
    # The kernel here has no arrays, and the hosts no further users.
    *("--parameter", "PoolLayout=single", "--parameter", "LoginUser=root", "--parameter", "Mpi=none"),
)
DOWN = ("deploy", "down", NAME, "--yes")
KILLED_REQUEST = 10
"""Of the requests to AWS of a command that is killed: it has changed something by then."""


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudServer]:
    with cloud_server(tmp_path_factory.mktemp("cloud")) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        patch.setattr(creation, "POLL_SECONDS", 0.0)
        yield server


def must(folder: Path, *words: object) -> str:
    """What a command prints that must succeed."""
    done = run_here(folder, *words)
    assert done.returncode == EXIT_OK, f"{words}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def left_in(cloud: CloudServer) -> list[str]:
    """What the cloud still has that is charged."""
    ec2 = cloud.client("ec2")
    stacks = cloud.client("cloudformation").describe_stacks()["Stacks"]
    volumes = ec2.describe_volumes()["Volumes"]
    addresses = ec2.describe_addresses()["Addresses"]
    return [*map(str, [*stacks, *volumes, *addresses]), *map(str, instances_of(cloud, NAME))]


@dataclass(frozen=True)
class Cycle:
    """What a cycle has left behind: hosts as they were, the run, and what the cloud still has."""

    hosts: list[StackHost]
    run: Path
    report: str
    left: list[str]


def one_cycle(cloud: CloudServer, folder: Path, sizes: tuple[str, ...] = SMALL, killed: str = "") -> Cycle:
    """Make a stack, measure on it, report, and remove it; the command `killed` is killed first, and then repeated."""
    measure = (*MEASURE, *sizes)
    up = tuple(map(str, UP))
    if killed == "up":
        assert run_killed(folder, KILLED_REQUEST, "after", up) == -signal.SIGKILL
    must(folder, *up)
    with stack_hosts(folder, cloud, NAME) as hosts:
        if killed == "run":
            kill_measuring(folder, measure)
        must(folder, *measure, *(("--resume",) if killed == "run" else ()))
    must(folder, "report", "last")
    if killed == "down":
        assert run_killed(folder, KILLED_REQUEST, "after", DOWN) == -signal.SIGKILL
    must(folder, *DOWN)
    run = only_run(folder)
    return Cycle(hosts, run, (run / "report.html").read_text(), left_in(cloud))


def kill_measuring(folder: Path, measure: tuple[object, ...]) -> None:
    """Start the study, and kill it when the first results are stored."""
    command = [ASSAY, *map(str, measure)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert_soon(lambda: process.poll() is not None or has_results(folder), lambda: "nothing is measured")
        assert process.poll() is None
        process.kill()


def has_results(folder: Path) -> bool:
    """Whether a case of a run is stored."""
    with contextlib.suppress(Exception), RunStore.open(only_run(folder)) as store:
        return len(list(store.jobs())) > 2
    return False


@pytest.fixture(scope="module")
def cycle(cloud: CloudServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cycle]:
    """A stack that was made, measured and removed."""
    folder = tmp_path_factory.mktemp("cycle")
    with boxes_below(folder):
        yield one_cycle(cloud, folder, times(SMALL, ()))


def test_hosts_set_themselves_up_by_their_user_data(cycle: Cycle) -> None:
    assert [host.instance.role for host in cycle.hosts] == ["storage", *("client",) * CLIENTS]
    for host in cycle.hosts:
        assert host.role["state"] == "done"
        assert '"Status": "SUCCESS"' in host.signals


def test_the_study_is_measured_on_the_stack(cycle: Cycle) -> None:
    with RunStore.open(cycle.run) as store:
        assert {job.status for job in store.jobs()} == {"ok"}
        assert store.info().status == "complete"
        hosts = {case.id: case.axes["hosts"] for case in store.cases()}
        rates = {hosts[sample.case]: sample.throughput for sample in store.samples() if sample.operation == "read"}
    # A client's link has less than a third of the server's.
    assert rates[4] > 1.5 * rates[1]


def test_the_report_has_what_the_run_cost(cycle: Cycle) -> None:
    text = text_of_page(cycle.report)
    assert f"{CLIENTS} x c6in.2xlarge" in text
    (cost,) = re.findall(r"This run\s+([0-9.]+) USD for ", text)
    assert float(cost) > 0
    assert "nfs-gp3 volumes=1" in text


def test_nothing_is_left_of_the_stack(cycle: Cycle) -> None:
    assert cycle.left == []


@pytest.mark.skipif(times(True, False), reason="make soak has nine cycles more, of which three are killed")
@pytest.mark.parametrize("number", range(9))
def test_cycles_leave_nothing(cloud: CloudServer, tmp_path: Path, number: int) -> None:
    """Each killed cycle is killed in another command."""
    killed = ("up", "run", "down")[number] if number < 3 else ""
    with boxes_below(tmp_path):
        assert one_cycle(cloud, tmp_path, killed=killed).left == []
