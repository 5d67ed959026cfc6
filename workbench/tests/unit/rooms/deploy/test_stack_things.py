"""What services list under the tags of Assay, and what a machine records of its stacks."""

import datetime as dt
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from assay.model.base import AssayError
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.hosts import launch_failure, read_host
from assay.rooms.deploy.work.life.inventory import find_tagged, instance_thing, volume_thing
from assay.rooms.deploy.work.life.records import StackJournal, StackRecord, advance, all_records, find_records

TAGS = [{"Key": "assay:stack", "Value": "nfs1"}, {"Key": "assay:expires", "Value": "2026-11-30T20:00:00"}]
OTHER = [{"Key": "assay:stack", "Value": "nfs2"}]
ARN = "arn:aws:{}:eu-west-1:123456789012:{}"
NOW = dt.datetime(2026, 11, 30, 21, tzinfo=dt.UTC)


class ScriptedCloud:
    """Answers of services, by operation; others have nothing."""

    region = "eu-west-1"

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers

    def pages(self, service: str, operation: str, key: str, **_: Any) -> list[Any]:
        found = self.answers.get(f"{service}.{operation}", [])
        if isinstance(found, Exception):
            raise found
        return list(found)

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        found = self.answers.get(f"{service}.{operation}.{next(iter(arguments.values()))}")
        if isinstance(found, Exception):
            raise found
        if found is None:
            raise CloudError(FaultKind.MISSING, "not there")
        return found


def tagged(answers: Mapping[str, Any], stack: str = "") -> Any:
    return find_tagged(cast("Cloud", ScriptedCloud(answers)), stack)


def by_arn(*arns: str) -> list[dict[str, Any]]:
    return [{"ResourceARN": arn, "Tags": TAGS} for arn in arns]


def test_each_service_decides_what_exists_and_not_the_memory_of_the_tagging_api() -> None:
    running = {"InstanceId": "i-1", "InstanceType": "c6in.large", "State": {"Name": "running"}, "Tags": TAGS}
    ended = {**running, "InstanceId": "i-2", "State": {"Name": "terminated"}}
    answers = {
        "ec2.describe_instances": [{"Instances": [running, ended]}],
        "ec2.describe_volumes": [
            {"VolumeId": "vol-1", "VolumeType": "gp3", "Size": 100, "State": "available", "Tags": TAGS}
        ],
        "efs.describe_file_systems": [{"FileSystemId": "fs-1", "Tags": OTHER, "SizeInBytes": {"Value": 6144}}],
        "resourcegroupstaggingapi.get_resources": by_arn(
            *(ARN.format("ec2", f"instance/{name}") for name in ("i-1", "i-2", "i-3")),
            "arn:aws:s3:::there",
            "arn:aws:s3:::gone",
            ARN.format("dynamodb", "table/t"),
            ARN.format("logs", "log-group:/assay/nfs1"),
            ARN.format("sagemaker", "notebook-instance/n"),
            ARN.format("cloudformation", "stack/nfs1/1"),
        ),
        "s3.head_bucket.there": {"BucketRegion": "eu-west-1"},
        "dynamodb.describe_table.t": {"Table": {"TableStatus": "ACTIVE"}},
        "logs.describe_log_groups": [{"logGroupName": "/assay/nfs1x"}],
    }
    found = tagged(answers)
    ids = {each.thing.id for each in found.found}
    assert ids == {"i-1", "vol-1", "fs-1", "there", "t", ARN.format("sagemaker", "notebook-instance/n")}
    assert {each.thing.id for each in tagged(answers, "nfs2").found} == {"fs-1"}
    (volume,) = (each for each in found.found if each.thing.id == "vol-1")
    assert volume.is_expired(NOW) and volume.stack == "nfs1"


def test_a_service_that_may_not_be_queried_hides_no_other() -> None:
    denied = CloudError(FaultKind.NO_RIGHT, "no")
    volume = {"VolumeId": "vol-1", "Size": 1, "Tags": TAGS}
    found = tagged({"fsx.describe_file_systems": denied, "ec2.describe_volumes": [volume]})
    assert [each.thing.id for each in found.found] == ["vol-1"] and found.unanswered == (denied,)
    buckets = by_arn("arn:aws:s3:::closed", "arn:aws:s3:::open")
    answers = {"resourcegroupstaggingapi.get_resources": buckets, "s3.head_bucket.closed": denied}
    closed, opened = tagged({**answers, "s3.head_bucket.open": {"BucketRegion": "x"}}).found
    assert "not looked at" in closed.thing.note and opened.thing.id == "open"
    with pytest.raises(CloudError):
        tagged({"ec2.describe_volumes": CloudError(FaultKind.EXPIRED_CREDENTIALS, "ended")})


def test_states_that_cost_nothing() -> None:
    instance = {"InstanceId": "i", "InstanceType": "c6in.large"}
    for state, what in (("running", "1 x c6in.large"), ("stopped", "c6in.large, stopped")):
        thing = instance_thing({**instance, "State": {"Name": state}})
        assert thing is not None and thing.what == what and bool(thing.items) == (state == "running")
    assert instance_thing({**instance, "State": {"Name": "shutting-down"}}) is None
    spot = instance_thing({**instance, "State": {"Name": "running"}, "InstanceLifecycle": "spot"})
    assert spot is not None and spot.term == "spot"
    volume = volume_thing({"VolumeId": "v", "VolumeType": "io2", "Size": 10, "Iops": 500, "State": "in-use"})
    assert volume is not None and [item.dimension for item in volume.items] == ["volume-capacity", "volume-iops"]
    assert volume_thing({"VolumeId": "v", "Size": 10, "State": "deleting"}) is None


def test_gateways_and_each_public_address_cost_once() -> None:
    """The address that EC2 gives an interface is counted with it, an elastic one by itself, used or not."""
    given = {"PublicIp": "192.0.2.1", "IpOwnerId": "amazon"}
    elastic = {"PublicIp": "192.0.2.2", "AllocationId": "eipalloc-1", "IpOwnerId": "123456789012"}
    interfaces = [
        {"NetworkInterfaceId": f"eni-{place}", "TagSet": TAGS, **({"Association": each} if each else {})}
        for place, each in enumerate((given, elastic, None))
    ]
    addresses = [
        {"PublicIp": "192.0.2.2", "AllocationId": "eipalloc-1", "AssociationId": "eipassoc-1", "Tags": TAGS},
        {"PublicIp": "192.0.2.3", "AllocationId": "eipalloc-2", "Tags": TAGS},
    ]
    gateways = [
        {"NatGatewayId": name, "State": state, "Tags": TAGS}
        for name, state in (("nat-1", "available"), ("n", "deleted"))
    ]
    answers = {
        "ec2.describe_network_interfaces": interfaces,
        "ec2.describe_addresses": addresses,
        "ec2.describe_nat_gateways": gateways,
    }
    found = {each.thing.id: [item.item for item in each.thing.items] for each in tagged(answers).found}
    assert found == {
        "eni-0": ["public-ipv4"],
        "eni-1": [],
        "eni-2": [],
        "eipalloc-1": ["public-ipv4"],
        "eipalloc-2": ["public-ipv4-idle"],
        "nat-1": ["nat-gateway"],
    }


def test_a_spot_instance_that_aws_took_back_is_known() -> None:
    answer = {
        "InstanceId": "i-1",
        "InstanceType": "c6in.large",
        "InstanceLifecycle": "spot",
        "State": {"Name": "terminated"},
        "StateReason": {"Code": "Server.SpotInstanceTermination", "Message": "Server.SpotInstanceTermination: price"},
        "Placement": {"AvailabilityZone": "eu-west-1a"},
        "Tags": [{"Key": "Name", "Value": "client1"}, {"Key": "assay:role", "Value": "client"}],
    }
    host = read_host(answer)
    assert host.is_interrupted and host.is_spot and host.state == "terminated"
    assert (host.name, host.role, host.zone, host.address) == ("client1", "client", "eu-west-1a", "")
    by_user = {"Code": "Client.UserInitiatedShutdown", "Message": "Client.UserInitiatedShutdown: by user"}
    assert not read_host({**answer, "StateReason": by_user}).is_interrupted


def test_the_newest_failed_launch_of_a_group_says_why_it_is_short() -> None:
    failed = {"StatusCode": "Failed", "StatusMessage": "We currently do not have sufficient c6in.large capacity"}
    old = {"StatusCode": "Failed", "StatusMessage": "Max spot instance count exceeded MaxSpotInstanceCountExceeded"}
    assert launch_failure([{"StatusCode": "Successful"}, failed, old])[0] == "capacity"
    assert launch_failure([{"StatusCode": "InProgress"}]) == (None, "")


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_STACKS", str(tmp_path / "stacks"))
    return tmp_path / "stacks"


def test_a_stack_is_recorded_until_nothing_is_left(stacks: Path) -> None:
    journal = StackJournal("1", "eu-west-1", "nfs1")
    assert journal.read() is None and not stacks.exists()
    record = journal.write(StackRecord("nfs1", "1", "eu-west-1", "r", "token"))
    assert advance(journal, record, stack_id="arn:x", phase="created").stack_id == "arn:x"
    other = StackJournal("2", "us-east-1", "nfs1")
    other.write(StackRecord("nfs1", "2", "us-east-1", "r", "token", expires="e"))
    assert [each.stack_id for each in all_records()] == ["arn:x", ""]
    assert [each.account for each in find_records("nfs1", "us-east-1")] == ["2"] and not find_records("nfs2")
    assert (stacks / "1" / "eu-west-1" / "nfs1").stat().st_mode & 0o777 == 0o600
    journal.forget()
    assert journal.read() is None and [each.expires for each in all_records()] == ["e"]
    other.forget()
    assert not stacks.exists()


def test_a_record_that_was_cut_short_or_changed_is_no_stack(stacks: Path) -> None:
    journal = StackJournal("1", "eu-west-1", "nfs1")
    journal.write(StackRecord("nfs1", "1", "eu-west-1", "r", "token"))
    file = stacks / "1" / "eu-west-1" / "nfs1"
    whole = file.read_text()
    file.write_text(whole[:-20])
    assert journal.read() is None
    line = json.loads(whole)
    file.write_text(json.dumps({**line, "details": {**line["details"], "region": 5}}) + "\n")
    assert journal.read() is None


def test_what_cannot_be_recorded_is_not_made(stacks: Path) -> None:
    stacks.write_text("a file")
    with pytest.raises(AssayError) as refused:
        StackJournal("1", "eu-west-1", "nfs1").write(StackRecord("nfs1", "1", "eu-west-1", "r", "token"))
    assert "ASSAY_STACKS" in refused.value.hint
