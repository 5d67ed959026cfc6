"""Hosts that a tool knows: `hosts: {terraform: ...}`, `{ansible: ...}`, `{stack: ...}`, `{parallelcluster: ...}`."""

import json
import stat
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from plan_tools import study
from pydantic import TypeAdapter, ValidationError

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.study.hosts import Hosts, HostsField, HostTool
from assay.run.study_hosts import copy_study_files
from assay.site.choose import site_of
from assay.site.inventory.machines import programs
from assay.site.inventory.site import InventorySite

NFS = {"store": {"kind": "nfs", "servers": "10.0.0.9", "export": "/export"}}
OUTPUTS = {
    "client_ips": {"sensitive": False, "type": "dynamic", "value": ["10.0.0.1", "10.0.0.2"]},
    "nfs_server_ip": {"sensitive": False, "type": "string", "value": "10.0.0.9"},
    "admin_password": {"sensitive": True, "type": "string", "value": "geheim"},
}


def hosts(written: object) -> Hosts:
    adapter: TypeAdapter[Hosts] = TypeAdapter(Annotated[Hosts, HostsField()])
    return adapter.validate_python(written)


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ({"terraform": "infra", "user": "ubuntu"}, HostTool(tool="terraform", name="infra", user="ubuntu")),
        ({"stack": "lab1", "region": "us-gov-west-1"}, HostTool(tool="stack", name="lab1", region="us-gov-west-1")),
        ({"parallelcluster": "hpc"}, HostTool(tool="parallelcluster", name="hpc")),
        ({"ansible": "hosts.ini", "hosts": "@clients"}, HostTool(tool="ansible", name="hosts.ini")),
    ],
)
def test_a_study_names_what_knows_its_hosts(written: dict[str, Any], known: HostTool) -> None:
    read = hosts(written)
    assert read.known_by == known
    assert (read.inventory, read.is_allocated, read.is_described) == (None, False, True)
    assert not study(targets=NFS, hosts=written).is_local


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"stack": "lab", "terraform": "x"}, "terraform and stack are named"),
        ({"hosts": "a"}, "no inventory file and no tool"),
        ({"stack": "-lab"}, "`-lab` is no name of a stack"),
        ({"stack": 3}, "3 is no name of a stack"),
        ({"parallelcluster": "--help"}, "is no name of a cluster"),
        ({"stack": "lab", "region": "Ireland"}, "`Ireland` is no region"),
        ({"inventory": "x", "region": "eu-west-1"}, "there is no field `region` in hosts"),
        ({"terraform": "x", "user": "-oProxyCommand=x"}, "is no user"),
        ({"terraform": ""}, "is no file or folder of Terraform"),
    ],
)
def test_what_is_wrong_with_it_is_reported(written: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        hosts(written)


def program(folder: Path, name: str, answer: object, code: int = 0) -> Path:
    """A program that prints its answer and writes down how it was called."""
    folder.mkdir(exist_ok=True)
    (folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    file = folder / name
    file.write_text(
        f'#!/bin/sh\necho "$PWD $*" >> {folder}/calls\ncat {folder}/answer >&{2 if code else 1}\nexit {code}\n'
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return folder / "calls"


def stored(tmp_path: Path, written: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Clients that come up from a run's folder, without what the study named, and what the folder has of them."""
    named, run = study(targets=NFS, hosts=written), tmp_path / "run"
    run.mkdir()
    site_of(named, tmp_path).check_ready(2)
    copy_study_files(named, tmp_path, run)
    state = site_of(named, run, is_run_folder=True).up(lambda _: None)
    return [f"{host.user or ''}@{host.address}" for host in state.clients], yaml.safe_load(
        (run / "inventory").read_text()
    )


def test_a_file_of_outputs_is_read_and_its_secrets_stay_there(tmp_path: Path) -> None:
    (tmp_path / "outputs.json").write_text(json.dumps(OUTPUTS))
    clients, kept = stored(tmp_path, {"terraform": "outputs.json", "user": "ubuntu"})
    assert clients == ["ubuntu@10.0.0.1", "ubuntu@10.0.0.2"]
    assert set(kept["hosts"]) == {"client-0", "client-1", "nfs-server"}
    assert "geheim" not in str(kept)


def test_a_folder_has_a_state_or_a_program_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = program(tmp_path / "bin", "tofu", OUTPUTS)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "infra").mkdir()
    assert stored(tmp_path, {"terraform": "infra"})[0] == ["@10.0.0.1", "@10.0.0.2"]
    assert set(calls.read_text().splitlines()) == {f"{tmp_path}/infra output -no-color -json"}
    calls.unlink()
    instance = {"private_ip": "10.1.0.7"}
    resource = {"mode": "managed", "type": "aws_instance", "name": "c", "instances": [{"attributes": instance}]}
    state = {"version": 4, "terraform_version": "1.9.5", "outputs": {}, "resources": [resource]}
    (tmp_path / "infra" / "terraform.tfstate").write_text(json.dumps(state))
    site = site_of(study(targets=NFS, hosts={"terraform": "infra"}), tmp_path)
    assert [host.address for host in site.up(lambda _: None).clients] == ["10.1.0.7"]
    workspace = tmp_path / "infra" / "terraform.tfstate.d" / "dev"
    workspace.mkdir(parents=True)
    (workspace / "terraform.tfstate").write_text(json.dumps(state).replace("10.1.0.7", "10.1.0.8"))
    (tmp_path / "infra" / ".terraform").mkdir()
    (tmp_path / "infra" / ".terraform" / "environment").write_text("dev\n")
    site = site_of(study(targets=NFS, hosts={"terraform": "infra"}), tmp_path)
    assert [host.address for host in site.up(lambda _: None).clients] == ["10.1.0.8"]
    assert not calls.exists()


def refusal(tmp_path: Path, written: dict[str, Any]) -> AssayError:
    with pytest.raises(AssayError) as refused:
        site_of(study(targets=NFS, hosts=written), tmp_path).check_ready(1)
    return refused.value


def test_why_a_program_gives_no_hosts_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "infra").mkdir()
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)
    absent = refusal(tmp_path, {"terraform": "infra"})
    assert "neither terraform nor tofu is in PATH" in absent.message
    assert absent.exit_code == EXIT_REFUSED
    assert "pcluster, the program of AWS ParallelCluster" in refusal(tmp_path, {"parallelcluster": "hpc"}).message
    monkeypatch.undo()
    program(tmp_path / "bin", "terraform", "╷\n│ Error: Backend initialization required\n│ more\n", code=1)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    failed = refusal(tmp_path, {"terraform": "infra"})
    assert failed.message == "`terraform output` failed: Error: Backend initialization required"
    assert failed.hint == "run `terraform init` in infra"
    program(tmp_path / "bin", "pcluster", '{"message": "Cluster hpc does not exist."}', code=1)
    assert refusal(tmp_path, {"parallelcluster": "hpc"}).message.endswith("failed: Cluster hpc does not exist.")
    assert "nosuch.json" in refusal(tmp_path, {"terraform": "nosuch.json"}).message
    (tmp_path / "a.yaml").write_text("plugin: aws_ec2\nregions: [eu-west-1]\n")
    (tmp_path / "script").write_text("#!/usr/bin/env python3\nimport json\n")
    for name in ("a.yaml", "script", "infra"):
        assert "ansible-inventory -i INVENTORY --list" in refusal(tmp_path, {"ansible": name}).hint
    (tmp_path / "hosts").write_text("a\nb\n")
    assert "no JSON of terraform" in refusal(tmp_path, {"terraform": "hosts"}).message


def test_ansible_takes_plain_lines_as_its_own(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a ansible_user=u\nb[1:2]\n")
    assert stored(tmp_path, {"ansible": "hosts"})[0] == ["u@a", "@b1", "@b2"]


def test_the_nodes_of_a_cluster_come_from_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = {"nodeType": "ComputeNode", "queueName": "q", "state": "running"}
    head = {"nodeType": "HeadNode", "publicIpAddress": "3.4.5.6", "privateIpAddress": "10.0.0.4", "state": "running"}
    listed = [head, {**node, "privateIpAddress": "10.0.0.5"}, {**node, "privateIpAddress": "10.0.0.6"}]
    calls = program(tmp_path / "bin", "pcluster", {"instances": listed, "nextToken": None})
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    clients, kept = stored(tmp_path, {"parallelcluster": "hpc", "region": "eu-west-1", "user": "ec2-user"})
    assert clients == ["ec2-user@10.0.0.5", "ec2-user@10.0.0.6"]
    assert kept["hosts"]["q-1"]["jump"] == "ec2-user@3.4.5.6"
    assert "--cluster-name hpc --region eu-west-1" in calls.read_text()


def test_a_stack_is_asked_through_the_room_that_knows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tags = [{"Key": "assay:role", "Value": "client"}]
    instances = [{"State": {"Name": "running"}, "PrivateIpAddress": f"10.0.0.{n}", "Tags": tags} for n in (4, 5)]
    outputs = [{"OutputKey": "LoginUser", "OutputValue": "admin"}]
    stacks = [{"StackName": "lab1", "StackStatus": "CREATE_COMPLETE", "Outputs": outputs}]
    asked: list[tuple[str, str]] = []

    def answer(name: str, region: str) -> bytes:
        asked.append((name, region))
        return json.dumps({"Stacks": stacks, "Reservations": [{"Instances": instances}]}).encode()

    monkeypatch.setattr(programs, "hook", lambda name: {"stack_document": answer}[name])
    assert stored(tmp_path, {"stack": "lab1", "region": "eu-west-1"})[0] == ["admin@10.0.0.4", "admin@10.0.0.5"]
    assert set(asked) == {("lab1", "eu-west-1")}
    site = InventorySite(hosts({"stack": "lab1", "hosts": "client2"}), tmp_path)
    assert [host.name for host in site.up(lambda _: None).clients] == ["client2"]
    stacks[0]["StackStatus"] = "DELETE_IN_PROGRESS"
    assert refusal(tmp_path, {"stack": "lab1"}).message == "stack lab1: the stack is in the state DELETE_IN_PROGRESS"
