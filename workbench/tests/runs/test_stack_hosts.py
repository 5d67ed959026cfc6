"""A stack of `assay deploy` as a source of hosts, at moto's server: clients, its storage as the target, its price."""

import getpass
import os
import re
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from cloud_server import INTERRUPTION, CloudServer, cloud_server
from host_runs import study as hosts_study
from host_runs import two_hosts
from in_process import run_here
from killing import command_of, engines_of
from paths import REPOSITORY
from run_tools import needs_engine, only_run
from ssh_tools import Sshd

from assay.contract.messages import Event, PhaseStartEvent
from assay.model.base import EXIT_OK, EXIT_USAGE, AssayError
from assay.model.result.environment import INSTANCES
from assay.model.site.host import Host
from assay.model.study.hosts import Hosts, HostTool
from assay.rooms.deploy.work.stack_hosts import stack_document
from assay.run import lost_hosts
from assay.run.context import RunContext
from assay.run.executor import _ProgressReporter
from assay.site.inventory.site import InventorySite
from assay.site.other_site import find_site
from assay.store import RunStore

STUDY = REPOSITORY / "studies" / "nfs-scaling" / "study.yaml"
NAME = "lab1"
UP = ("up", "nfs-gp3", "--set", "volumes=4", "--clients", "4", "--login", "t3.small", "--name", NAME, "--yes")


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudServer]:
    folder = tmp_path_factory.mktemp("cloud")
    with cloud_server(folder) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        made = run_here(folder, "deploy", *UP)
        assert made.returncode == EXIT_OK, made.stderr
        yield server


pytestmark = pytest.mark.usefixtures("cloud")


def test_a_stack_is_hosts_storage_and_design(tmp_path: Path) -> None:
    site = find_site(NAME, tmp_path)
    assert site.hosts == {"stack": NAME}
    assert site.storage is not None and site.design is not None
    (server,) = site.storage.servers
    assert site.storage.mount == f"{server}:/export"
    assert site.addresses["storage1"] == server
    assert set(site.addresses) == {"storage1", "login1", *(f"client{number}" for number in range(1, 5))}
    assert (site.design.book, site.design.design) == ("aws-eu-west-1", "nfs-gp3")
    assert site.design.hosts == {"c6in.2xlarge": 4, "t3.small": 1}
    assert site.note == ""


def test_a_study_of_a_box_is_checked_and_planned_on_a_stack(tmp_path: Path) -> None:
    few = run_here(tmp_path, "check", STUDY, "--on", NAME)
    assert few.returncode == EXIT_USAGE
    assert "the study needs 8 hosts, and has 4: client1, client2, client3, client4" in few.stderr
    assert "--set hosts=1,2,4" in few.stderr
    words = ("--on", NAME, "--set", "hosts=1,2,4")
    checked = run_here(tmp_path, "check", STUDY, *words)
    assert checked.returncode == EXIT_OK
    assert "\n    client4: admin@10." in checked.stdout and "client4 can generate load; not " in checked.stderr
    plan = run_here(tmp_path, "plan", STUDY.parent, *words)
    assert "nfs-gp3 volumes=4" in plan.stdout and "4 x c6in.2xlarge" in plan.stdout
    assert "/export/assay" in plan.stdout and "server1" not in plan.stdout


def test_a_study_may_name_a_stack_itself(tmp_path: Path) -> None:
    study = {
        **yaml.safe_load(STUDY.read_text()),
        "hosts": {"stack": NAME, "region": "eu-west-1", "hosts": "client[1-2]"},
        "workloads": {"w": {"operations": ["write"], "hosts": 2, "file_size": "1MiB", "record_size": "64KiB"}},
    }
    del study["testbed"]
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    assert run_here(tmp_path, "check", "study.yaml").returncode == EXIT_OK
    study["hosts"] = {"stack": "nosuch"}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    refused = run_here(tmp_path, "check", "study.yaml")
    assert "there is no stack nosuch in eu-west-1" in refused.stderr


def test_what_aws_refuses_is_named_and_secrets_are_not(cloud: CloudServer, tmp_path: Path) -> None:
    cloud.fail("DescribeStacks", "ExpiredToken", message="The security token included in the request is expired")
    refused = run_here(tmp_path, "check", STUDY, "--on", NAME)
    assert refused.returncode != EXIT_OK
    assert "expired" in refused.stderr
    assert "planted" not in refused.stderr.lower()
    with pytest.raises(AssayError, match="there is no region"):
        stack_document(NAME, "eu-nowhere-1")


def lead_to(folder: Path, nodes: dict[Host, Sshd]) -> None:
    """Let ssh find an sshd at the address of each of these hosts, and nothing at all others of the stack."""
    config = folder / "ssh_config"
    head = config.read_text().partition("Host 10.")[0]
    places = [
        f"Host {host.address}\n  HostName 127.0.0.1\n  Port {node.port}\n  IdentityFile {node.folder}/user\n"
        for host, node in nodes.items()
    ]
    config.with_suffix(".new").write_text(head + "".join(places) + "Host 10.*\n  HostName 127.0.0.1\n  Port 1\n")
    config.with_suffix(".new").replace(config)


def below(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for one in found:
        found += engines_of(one)
    return found


def take_back_in_second_repeat(patch: pytest.MonkeyPatch, cloud: CloudServer, node: Sshd, gone: Host) -> list[int]:
    """Let AWS take a host back, and all its processes die, as soon as a phase of the second repeat has begun there.

    Returns:
        The numbers of the repeats that were begun.
    """
    begun: list[int] = []
    begin, on_event = RunStore.begin_attempt, _ProgressReporter.on_event

    def begin_attempt(self: RunStore, case: str, repeat: int, job: Mapping[str, Any]) -> int:
        begun.append(repeat)
        return begin(self, case, repeat, job)

    def end_in_phase(self: _ProgressReporter, host: str, event: Event) -> None:
        on_event(self, host, event)
        if begun == [1, 2] and host == gone.name and isinstance(event, PhaseStartEvent) and command_of(node.pid):
            cloud.interrupt(str(gone.instance))
            for pid in below(node.pid):
                os.kill(pid, signal.SIGKILL)

    patch.setattr(RunStore, "begin_attempt", begin_attempt)
    patch.setattr(_ProgressReporter, "on_event", end_in_phase)
    return begun


def current_hosts(folder: Path) -> dict[str, Host]:
    """Each client by the name that the stack gives it now."""
    hosts = InventorySite(Hosts(known_by=HostTool(tool="stack", name=NAME)), folder).inventory().hosts
    return {name: host for name, host in hosts.items() if name.startswith("client")}


@needs_engine
def test_a_client_that_aws_takes_back_is_replaced_and_its_repeat_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cloud: CloudServer
) -> None:
    """Last in this file, since it changes the stack."""
    with two_hosts(tmp_path, monkeypatch) as (first, second):
        work, before = tmp_path / "work", current_hosts(tmp_path)
        gone, stays = before["client1"], before["client2"]
        lead_to(tmp_path, {gone: first, stays: second})
        begun = take_back_in_second_repeat(monkeypatch, cloud, first, gone)
        # Two clients are the second sshd then.
        pause = lost_hosts._pause

        def lead_to_new_host(context: RunContext, seconds: float) -> bool:
            now = current_hosts(tmp_path)
            # The stack counts its clients anew.
            assert now["client1"].instance == stays.instance
            lead_to(tmp_path, {stays: second, now["client4"]: second})
            return pause(context, min(seconds, 0.1))

        monkeypatch.setattr(lost_hosts, "_pause", lead_to_new_host)
        hosts = f'hosts: {{stack: {NAME}, hosts: "client[1-2]", user: {getpass.getuser()}}}'
        file = Path(hosts_study(work, hosts, hosts=2, runtime="1s", repeats=3))
        place = f"nowhere: {{kind: file, path: {tmp_path}/data}}"
        file.write_text(re.sub("nowhere: .*", place, file.read_text()))
        done = run_here(work, "run", file)
        assert done.returncode == EXIT_OK, done.stderr
        new = current_hosts(tmp_path)["client4"].instance
        assert f"AWS took back the spot instance client1 ({gone.instance})" in done.stderr
        with RunStore.open(only_run(work)) as store:
            info, attempts = store.info(), store.attempts()
            assert [job.status for job in store.jobs()] == ["ok"] * 3
            assert store.entries() == [] and not (tmp_path / "data").exists()
        assert [(one.repeat, one.status) for one in attempts] == [(1, "ok"), (2, "lost"), (2, "ok"), (3, "ok")]
        assert begun == [1, 2, 2, 3]
        (loss,) = info.host_losses
        assert (loss.host, loss.instance, loss.repeat, loss.replaced_by) == ("client1", gone.instance, 2, new)
        assert loss.code == INTERRUPTION
        assert info.environment[INSTANCES] == {"client1": gone.instance, "client2": stays.instance}
        assert info.environment[f"{INSTANCES} (resumed)"] == {"client1": new}
        assert loss.sentence in " ".join(run_here(work, "show", "last").stdout.split())
