"""A stack of `assay deploy` as a source of hosts, at moto's server: clients, its storage as the target, its price."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cloud_server import CloudServer, cloud_server
from in_process import run_here
from paths import REPOSITORY

from assay.model.base import EXIT_OK, EXIT_USAGE, AssayError
from assay.rooms.deploy.work.stack_hosts import stack_document
from assay.site.other_site import find_site

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
    assert site.design.hosts == {"c6in.2xlarge": 4}
    assert site.note == "the price book aws-eu-west-1 has no price of t3.small: not in the cost"


def test_a_study_of_a_box_is_checked_and_planned_on_a_stack(tmp_path: Path) -> None:
    few = run_here(tmp_path, "check", STUDY, "--on", NAME)
    assert few.returncode == EXIT_USAGE
    assert "the study needs 8 hosts, and has 4: client1, client2, client3, client4" in few.stderr
    assert "--set hosts=1,2,4" in few.stderr
    words = ("--on", NAME, "--set", "hosts=1,2,4")
    assert run_here(tmp_path, "check", STUDY, *words).returncode == EXIT_OK
    plan = run_here(tmp_path, "plan", STUDY, *words)
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
