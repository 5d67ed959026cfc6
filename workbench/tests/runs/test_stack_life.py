"""Stacks from their creation to their end, at moto's server over HTTP.

What moto lacks is in the head of `support/cloud_server.py`. Of a template's placement groups, wait conditions and
schedules nothing is tried here: moto skips them.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cloud_server import KEYS, TOKEN, CloudServer, cloud_server
from in_process import run_here
from killed_client import run_killed
from life_template import STACK_TEMPLATE, with_volume
from soak import times

from assay.model import extras
from assay.model.base import EXIT_LEFT
from assay.rooms.deploy.work.life import creation

PASSWORD = "hunter2-planted"
Deploy = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudServer]:
    with cloud_server(tmp_path_factory.mktemp("cloud")) as server:
        yield server


@pytest.fixture
def server(running: CloudServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CloudServer:
    running.reset()
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ASSAY_STACKS", str(tmp_path / "stacks"))
    # Fewer attempts than usual: the pauses between them double.
    monkeypatch.setenv("AWS_RETRY_MODE", "standard")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setattr(creation, "POLL_SECONDS", 0.0)
    (tmp_path / "t.yaml").write_text(STACK_TEMPLATE)
    return running


@pytest.fixture
def deploy(server: CloudServer, tmp_path: Path) -> Deploy:
    """`assay deploy WORDS`; whatever it prints has none of the planted secrets."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = run_here(tmp_path, "deploy", *words)
        assert not [each for each in SECRETS if each in done.stdout + done.stderr]
        assert "Traceback" not in done.stderr
        return done

    return run


SECRETS = (*KEYS.values(), TOKEN, PASSWORD)
UP = ("up", "--template", "t.yaml", "--name", "nfs1", "--yes", "--parameter", f"Password={PASSWORD}")


def left_in(server: CloudServer) -> list[str]:
    """What exists in the cloud of any stack."""
    stacks = [each["StackName"] for each in server.client("cloudformation").describe_stacks()["Stacks"]]
    found = server.client("ec2").describe_instances(
        Filters=[{"Name": "instance-state-name", "Values": ["pending", "running", "stopped"]}]
    )
    instances = [each["InstanceId"] for group in found["Reservations"] for each in group["Instances"]]
    volumes = [each["VolumeId"] for each in server.client("ec2").describe_volumes()["Volumes"]]
    buckets = [each["Name"] for each in server.client("s3").list_buckets()["Buckets"]]
    return [*stacks, *instances, *volumes, *buckets]


def test_a_stack_is_made_shown_and_removed(server: CloudServer, deploy: Deploy, tmp_path: Path) -> None:
    made = deploy(*UP, "--expires", "2h", "--budget", "50")
    assert made.returncode == 0, made.stderr
    for text in ("2 x c6in.large", "account 123456789012", "until then at most", "storage1", ":/export", "down nfs1"):
        assert text in made.stdout
    assert "create complete" in made.stderr
    again = deploy(*UP)
    assert again.returncode == 0 and "is up already" in again.stderr
    assert server.requests().count("CreateStack") == 1
    shown = json.loads(deploy("status", "nfs1", "--json").stdout)
    assert [host["role"] for host in shown["hosts"]] == ["storage", "client", "client"]
    assert {host["type"] for host in shown["hosts"]} == {"c6in.xlarge", "c6in.large"}
    assert all(host["address"] for host in shown["hosts"]) and 0 < shown["seconds_left"] <= 7200
    assert float(shown["per_hour"]) > 0 and shown["clients_running"] == shown["clients_wanted"] == 2
    assert "CREATE_COMPLETE" in deploy("list").stdout
    audited = deploy("audit")
    assert audited.returncode == 0 and audited.stdout.count("c6in.large") == 2
    ended = deploy("down", "nfs1")
    assert ended.returncode == 0 and "nothing of it is left" in ended.stdout
    assert left_in(server) == [] and not (tmp_path / "stacks").exists()
    assert deploy("list").stdout == "" and deploy("audit").stdout == ""
    assert "there is no stack nfs1" in deploy("status", "nfs1").stderr


@pytest.mark.parametrize("design", times(("beegfs",), ("beegfs", "efs-elastic", "nfs-gp3", "orangefs", "s3")))
def test_the_stack_of_a_design_comes_up_and_leaves_nothing(
    design: str, server: CloudServer, deploy: Deploy, tmp_path: Path
) -> None:
    """Templates of servers are too long for a request: they go through a bucket, which is gone afterwards."""
    made = deploy("up", design, "--clients", "2", "--name", "nfs1", "--yes")
    assert made.returncode == 0, made.stderr
    assert not [each for each in left_in(server) if each.startswith("assay-template-")]
    hosts = json.loads(deploy("status", "nfs1", "--json").stdout)["hosts"]
    assert [host["role"] for host in hosts].count("client") == 2
    assert deploy("down", "nfs1").returncode == 0
    assert left_in(server) == [] and not (tmp_path / "stacks").exists()


def test_a_bucket_for_a_template_goes_with_the_stack_after_a_kill(
    server: CloudServer, deploy: Deploy, tmp_path: Path
) -> None:
    words = ("up", "beegfs", "--name", "nfs1", "--yes")
    # The requests are: identity, stack, zones, quota, bucket, tags, object, CreateStack.
    assert killed(tmp_path, 7, "after", *words) == -9
    assert [each for each in left_in(server) if each.startswith("assay-template-")]
    assert deploy("down", "nfs1").returncode == 0
    assert left_in(server) == [] and not (tmp_path / "stacks").exists()


def test_nothing_is_made_without_a_yes_or_within_no_budget(server: CloudServer, deploy: Deploy) -> None:
    asked = deploy(*(word for word in UP if word != "--yes"))
    assert asked.returncode == 3 and "add --yes" in asked.stderr and "an hour" in asked.stdout
    limited = deploy(*UP, "--budget", "0.10")
    assert limited.returncode == 3 and "more than the budget" in limited.stderr
    assert "CreateStack" not in server.requests()


def test_what_is_left_of_a_stack_has_a_price_and_an_exit_code(
    server: CloudServer, deploy: Deploy, tmp_path: Path
) -> None:
    (tmp_path / "t.yaml").write_text(with_volume())
    assert deploy(*UP, "--expires", "1h").returncode == 0
    ended = deploy("down", "nfs1")
    assert ended.returncode == EXIT_LEFT
    # Moto makes it a gp2, whatever the template says: 100 GiB for a day of a month of 730 hours.
    assert "left of stack nfs1: 1 thing, 0.362 USD a day" in ended.stdout
    assert "recorded only" in deploy("list").stdout and "100 GiB gp2" in deploy("audit").stdout
    assert "is deleted" in deploy("status", "nfs1").stdout
    (volume,) = server.client("ec2").describe_volumes()["Volumes"]
    server.client("ec2").delete_volume(VolumeId=volume["VolumeId"])
    assert deploy("down", "nfs1").returncode == 0
    assert not (tmp_path / "stacks").exists()


def test_a_bucket_is_not_emptied_unless_it_is_said(server: CloudServer, deploy: Deploy) -> None:
    assert deploy(*UP, "--parameter", "Size=large").returncode == 0
    store = server.client("s3")
    (bucket,) = [each["Name"] for each in store.list_buckets()["Buckets"]]
    store.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    for body in (b"1", b"2"):
        store.put_object(Bucket=bucket, Key="x", Body=body)
    store.create_multipart_upload(Bucket=bucket, Key="y")
    refused = deploy("down", "nfs1")
    assert refused.returncode == 3 and f"bucket {bucket} has 3 objects" in refused.stderr
    assert "DeleteStack" not in server.requests() and bucket in left_in(server)
    assert deploy("down", "nfs1", "--with-data").returncode == 0
    assert left_in(server) == []


def test_a_failed_stack_says_what_its_host_said_and_frees_its_name(server: CloudServer, deploy: Deploy) -> None:
    words = [word.replace("nfs1", "fails1") for word in UP]
    failed = deploy(*words)
    assert failed.returncode == 1
    assert "host storage1 reported a failure" in failed.stderr and "mdadm: no devices found" in failed.stderr
    assert "down fails1" in failed.stderr and "nothing new" not in failed.stderr
    assert deploy("status", "fails1").returncode == 1
    again = deploy(*words)
    assert "blocks the name" in again.stderr and server.requests().count("CreateStack") == 2
    assert deploy("down", "fails1").returncode == 0 and left_in(server) == []


REFUSALS = {
    "expired": ("GetCallerIdentity", "ExpiredToken", "have expired"),
    "wrong keys": ("GetCallerIdentity", "InvalidClientTokenId", "does not accept"),
    "no right": ("CreateStack", "AccessDenied", "lack the right cloudformation:CreateStack"),
    "quota": ("CreateStack", "LimitExceededException", "a quota of the account"),
    "capability": ("CreateStack", "InsufficientCapabilitiesException", "template"),
    "taken": ("CreateStack", "AlreadyExistsException", "the name is taken"),
    "region": ("DescribeStacks", "OptInRequired", "region cannot be used"),
    "throttled": ("CreateStack", "Throttling", "limits the rate"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_named_and_leave_nothing(case: str, server: CloudServer, deploy: Deploy, tmp_path: Path) -> None:
    action, code, text = REFUSALS[case]
    server.fail(action, code, 10, f"refused {KEYS['AWS_SECRET_ACCESS_KEY']}")
    refused = deploy(*UP)
    assert refused.returncode == 3 and text in refused.stderr and "hint: " in refused.stderr
    server.heal()
    assert left_in(server) == [] and not (tmp_path / "stacks").exists()


def test_throttling_is_waited_out(server: CloudServer, deploy: Deploy) -> None:
    for action in ("CreateStack", "DescribeStackEvents", "DeleteStack", "GetResources"):
        server.fail(action, "Throttling", 1, "Rate exceeded")
    assert deploy(*UP).returncode == 0 and deploy("down", "nfs1").returncode == 0
    assert server.requests().count("CreateStack") == 2


def test_a_command_that_loses_its_credentials_says_that_the_stack_goes_on(server: CloudServer, deploy: Deploy) -> None:
    server.fail("DescribeStackEvents", "ExpiredToken", 1)
    lost = deploy(*UP)
    assert lost.returncode == 3 and "have expired" in lost.stderr and "the stack goes on" in lost.stderr
    assert deploy(*UP).returncode == 0 and server.requests().count("CreateStack") == 1
    server.fail("DescribeFileSystems", "AccessDenied", 1)
    ended = deploy("down", "nfs1")
    assert ended.returncode == 0 and "not looked for" in ended.stderr


def test_stacks_of_others_and_of_other_regions_are_left_alone(server: CloudServer, deploy: Deploy) -> None:
    foreign = "Resources: {B: {Type: AWS::S3::Bucket}}"
    server.client("cloudformation").create_stack(StackName="nfs1", TemplateBody=foreign)
    for words in (UP, ("down", "nfs1"), ("status", "nfs1")):
        refused = deploy(*words)
        assert refused.returncode == 3 and "was not made by Assay" in refused.stderr
    assert "DeleteStack" not in server.requests() and deploy("list").stdout == ""
    assert deploy(*(word.replace("nfs1", "nfs2") for word in UP), "--region", "us-east-1").returncode == 0
    elsewhere = deploy("status", "nfs2", "--region", "eu-west-1")
    assert elsewhere.returncode == 3 and "add --region us-east-1" in elsewhere.stderr
    assert deploy("status", "nfs2").returncode == 0, "the region is the recorded one"
    assert deploy("down", "nfs2").returncode == 0
    assert "there is no region" in deploy("list", "--region", "eu-west-9").stderr


def test_a_stack_that_ended_by_itself_is_known_and_forgotten(
    server: CloudServer, deploy: Deploy, tmp_path: Path
) -> None:
    assert deploy(*UP).returncode == 0
    server.client("cloudformation").delete_stack(StackName="nfs1")
    gone = deploy("status", "nfs1")
    assert gone.returncode == 1 and "this machine did not delete it" in gone.stdout
    assert deploy("down", "nfs1").returncode == 0 and not (tmp_path / "stacks").exists()


def test_a_deletion_that_fails_says_what_holds_it_and_what_it_costs(server: CloudServer, deploy: Deploy) -> None:
    assert deploy(*(word.replace("nfs1", "sticks1") for word in UP)).returncode == 0
    failed = deploy("down", "sticks1")
    assert failed.returncode == EXIT_LEFT
    assert "Vpc (AWS::EC2::VPC) failed: it is in use" in failed.stderr and "remove what uses it" in failed.stderr
    assert "left of stack sticks1" in failed.stdout and "c6in.large" in failed.stdout


def test_a_stack_of_a_colleague_is_not_deleted_without_a_yes(server: CloudServer, deploy: Deploy) -> None:
    assert deploy(*UP, "--owner", "ann").returncode == 0
    refused = deploy("down", "nfs1")
    assert refused.returncode == 3 and "belongs to ann" in refused.stderr
    assert deploy("down", "nfs1", "--yes").returncode == 0 and left_in(server) == []


def test_without_boto3_the_command_that_installs_it_is_named(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    refused = deploy("list")
    assert refused.returncode == 3 and "pip install 'assay[deploy]'" in refused.stderr


def test_missing_credentials_are_said(server: CloudServer, deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    refused = deploy("list")
    assert refused.returncode == 3 and "no credentials for AWS" in refused.stderr and "aws sso login" in refused.stderr


UP_REQUESTS, DOWN_REQUESTS = 10, 10
"""Requests of `up` with this template, and the first ones of `down`, up to the first looks for what is left."""
POINTS = [
    ("up", 4, "before"),
    *(("up", number, "after") for number in range(1, UP_REQUESTS + 1)),
    *(("down", number, "after") for number in range(1, DOWN_REQUESTS + 1)),
]
FEW = [("up", 8, "after"), ("down", 5, "after")]


def killed(folder: Path, number: int, moment: str, *words: str) -> int:
    return run_killed(folder, number, moment, ("deploy", *words))


@pytest.mark.parametrize(("command", "number", "moment"), times(FEW, POINTS))
def test_after_a_kill_at_any_request_the_next_command_finishes_or_removes_it(
    command: str, number: int, moment: str, server: CloudServer, deploy: Deploy, tmp_path: Path
) -> None:
    if command == "up":
        assert killed(tmp_path, number, moment, *UP) == -9
        for file in (tmp_path / "stacks").rglob("*/*/*"):
            assert not [each for each in SECRETS if each in file.read_text()]
        if number % 2 == 0:
            finished = deploy(*UP)
            assert finished.returncode == 0, finished.stderr
            assert [each["StackStatus"] for each in server.client("cloudformation").describe_stacks()["Stacks"]] == [
                "CREATE_COMPLETE"
            ]
            assert server.requests().count("CreateStack") == 1
    else:
        assert deploy(*UP).returncode == 0
        assert killed(tmp_path, number, moment, "down", "nfs1") == -9
    ended = deploy("down", "nfs1")
    # Before anything was recorded there is no stack that could be removed.
    assert ended.returncode == 0 or (ended.returncode == 3 and command == "up" and number < 4), ended.stderr
    assert left_in(server) == [] and not (tmp_path / "stacks").exists()
