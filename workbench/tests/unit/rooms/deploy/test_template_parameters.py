"""What CloudFormation refuses of a person who launches a template, by patterns, ranges and rules."""

import re
from ipaddress import ip_network

import pytest
from stack_templates import NAMES, Values, template

from assay.rooms.deploy.commands.template import plan_of
from assay.rooms.deploy.work.templates.build import build_template
from assay.rooms.deploy.work.templates.plan import HostOptions
from assay.rooms.deploy.work.templates.render import template_yaml

CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ExpiryTime": (
        ("2026-12-31T18:00:00", "2027-01-01T00:00:59"),
        *[("2026-12-31 18:00:00", "2026-12-31T18:00", "2026-12-31T18:00:00Z", "2026-13-01T00:00:00", "31.12.2026", "")],
    ),
    "Owner": (("ann", "ann@example.org", "hpc-team_2"), ("", "ann smith", "a'b", "$(id)", "a\nb")),
    "RunName": (("scaling-1", "2026.w48"), ("", "-a", "a b", "a/b", "x" * 64, "${AWS::Region}")),
    "VpcId": (("", "vpc-1a2b3c4d", "vpc-0123456789abcdef0"), ("vpc-", "subnet-1a2b3c4d", "vpc-XYZ12345", "default")),
    "SubnetId": (("", "subnet-0123456789abcdef0"), ("vpc-1a2b3c4d", "subnet-1", "subnet-1a2b3c4d,subnet-1a2b3c4e")),
    "SecurityGroupId": (("", "sg-0123456789abcdef0"), ("sg-", "default")),
    "AvailabilityZone": (("", "eu-west-1b", "us-gov-west-1a"), ("eu-west-1", "b", "eu-west-1b,eu-west-1c")),
    "AllowedCidr": (
        ("10.0.0.0/8", "10.0.0.0/8 172.31.0.0/16"),
        ("", "10.0.0.0", "10.0.0/8", "all", "999.9.9.9/99", "*", "10.0.0.0/8,"),
    ),
    "ProxyUrl": (
        ("", "http://10.0.0.9:3128", "https://proxy.example.org"),
        ("proxy:3128", 'http://a"b', "http://a b", "http://$x"),
    ),
    "LoginCidr": (
        ("", "192.0.2.7/32"),
        ("192.0.2.7", "me", "256.0.2.7/32", "192.0.2.7/33", "192.0.2.0/24,198.51.100.0/24"),
    ),
    "KeyName": (("", "ann", "Ann's key".replace("'", "")), ("a;b", "a\nb", "$(id)")),
    "LoginUser": (("admin", "ec2-user", "_svc"), ("", "Admin", "a b", "root;id", "1a", "a" * 33)),
    "SpotMaxPrice": (("", "0.25", "1", "12.5"), ("0", "0.0", "-1", "free", "0,25", "1e3")),
    "PlacementGroupName": (("", "hpc", "my group"), ("a/b", "$x")),
    "BudgetEmail": (("", "ann@example.org"), ("ann", "ann@example", "a b@c.de", "@example.org")),
    "PermissionsBoundary": (
        ("", "arn:aws:iam::123456789012:policy/assay-boundary", "arn:aws-us-gov:iam::aws:policy/x/Y+=,.@_-1"),
        ("assay-boundary", "arn:aws:iam::123456789012:role/x", "arn:aws:iam::1:policy/x", "arn:aws:iam::aws:policy/"),
    ),
    "ClientInstanceType": (
        ("c6in.2xlarge", "m7i-flex.large", "u-6tb1.metal"),
        ("", "c6in", "large", "c6in.2xlarge ", "m7g.large", "a1.large"),
    ),
}
"""Parameter -> values that it takes, and values that it refuses."""


@pytest.mark.parametrize("name", CASES)
def test_values_are_refused_by_pattern(name: str) -> None:
    expression = template("nfs-gp3")["Parameters"][name]["AllowedPattern"]
    right, wrong = CASES[name]
    # CloudFormation takes a pattern for the whole value.
    assert [each for each in right if not re.fullmatch(expression, each)] == []
    assert [each for each in wrong if re.fullmatch(expression, each)] == []


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_values_that_are_taken(name: str) -> None:
    for each, body in template(name)["Parameters"].items():
        if "Default" not in body or body["Type"].startswith("AWS::"):
            continue
        value = body["Default"]
        assert value in body.get("AllowedValues", [value]), each
        assert re.fullmatch(body.get("AllowedPattern", ".*"), str(value)), each
        if body["Type"] == "Number":
            assert body.get("MinValue", value) <= value <= body.get("MaxValue", value), each


@pytest.mark.parametrize("name", NAMES)
def test_only_what_nobody_else_can_know_must_be_typed(name: str) -> None:
    typed = {each for each, body in template(name)["Parameters"].items() if "Default" not in body}
    joined = {"VpcId", "SubnetId", "ManagementAddress", "SecurityGroupId"} if "ManagementAddress" in typed else set()
    paper = {"CLUSTERNAME", "LOGINIP", "SUBNETID", "SECURITYGROUP", "KEYPAIR"} if "KEYPAIR" in typed else set()
    assert typed == {"RunName", "Owner", "ExpiryTime"} | joined | paper


@pytest.mark.parametrize(
    ("vpc", "subnet", "is_taken"),
    [
        ("", "", True),
        ("vpc-1a2b3c4d", "subnet-1a2b3c4d", True),
        ("vpc-1a2b3c4d", "", False),
        ("", "subnet-1a2b3c4d", False),
    ],
)
def test_network_is_whole(vpc: str, subnet: str, is_taken: bool) -> None:
    document = template("nfs-gp3")
    (assertion,) = document["Rules"]["NetworkIsWhole"]["Assertions"]
    assert Values(document, VpcId=vpc, SubnetId=subnet).holds(assertion["Assert"]) is is_taken


@pytest.mark.parametrize(
    ("kind", "has_iops", "has_throughput"),
    [("gp3", True, True), ("io2", True, False), ("io1", True, False), ("gp2", False, False), ("st1", False, False)],
)
def test_only_types_that_take_them_get_iops_and_throughput(kind: str, has_iops: bool, has_throughput: bool) -> None:
    made = Values(template("nfs-gp3"), VolumeType=kind).resources()
    disk = made["StorageLaunchTemplate"]["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"][1]["Ebs"]
    assert ("Iops" in disk, "Throughput" in disk) == (has_iops, has_throughput)
    assert disk["VolumeSize"] == "2329" and disk["DeleteOnTermination"] is True


def test_spot_and_placement_group_are_there_if_asked_for() -> None:
    def data(**given: str) -> dict[str, object]:
        made = Values(template("nfs-gp3"), **given).resources()
        found: dict[str, object] = made["ClientLaunchTemplate"]["Properties"]["LaunchTemplateData"]
        return found

    assert "InstanceMarketOptions" not in data() and data()["Placement"] == {"GroupName": "<PlacementGroup>"}
    spot = data(SpotMaxPrice="0.25", UsePlacementGroup="no")
    assert spot["InstanceMarketOptions"]["SpotOptions"]["MaxPrice"] == "0.25"  # type: ignore[index]
    assert "Placement" not in spot
    joined = Values(template("nfs-gp3"), PlacementGroupName="hpc").resources()
    assert "PlacementGroup" not in joined and data(PlacementGroupName="hpc")["Placement"] == {"GroupName": "hpc"}


@pytest.mark.parametrize("kind", ["STANDARD_IA", "GLACIER"])
def test_objects_are_not_removed_before_their_class_changes(kind: str) -> None:
    document = template("s3-tiered")
    days = {name: int(document["Parameters"][name]["Default"]) for name in ("TransitionDays", "ObjectExpirationDays")}
    assert days["ObjectExpirationDays"] > days["TransitionDays"] >= 30
    made = Values(document, StorageClass=kind).resources()["Bucket"]["Properties"]
    moves = [each for each in made["LifecycleConfiguration"]["Rules"] if "Transitions" in each]
    assert [each["Transitions"][0]["StorageClass"] for each in moves] == [kind]


def test_an_existing_network_is_left_as_it_is() -> None:
    made = Values(template("beegfs-volumes"), VpcId="vpc-1a2b3c4d", SubnetId="subnet-1a2b3c4d").resources()
    kinds = {body["Type"] for body in made.values()}
    assert not kinds & {"AWS::EC2::VPC", "AWS::EC2::NatGateway", "AWS::EC2::Subnet", "AWS::EC2::EIP"}
    assert made["ClusterSecurityGroup"]["Properties"]["VpcId"] == "vpc-1a2b3c4d"
    assert made["Clients"]["Properties"]["VPCZoneIdentifier"] == ["subnet-1a2b3c4d"]


def test_servers_with_fixed_addresses_reach_packages_from_a_public_subnet() -> None:
    document = template("beegfs-volumes")
    given = {"VpcId": "vpc-1a2b3c4d", "SubnetId": "subnet-1a2b3c4d", "AssignPublicAddress": "yes"}
    made = Values(document, **given).resources()
    association = made["Metadata1Association"]["Properties"]
    assert association == {
        "AllocationId": "<Metadata1Address.AllocationId>",
        "NetworkInterfaceId": "<Metadata1Interface>",
    }
    assert made["Metadata1"]["Metadata"] == {"MadeAfter": "<Metadata1Association>"}
    for other in ({**given, "AssignPublicAddress": "no"}, {"AssignPublicAddress": "yes"}):
        assert not {"Metadata1Address", "Metadata1Association"} & Values(document, **other).resources().keys()


def test_all_private_ranges_may_mount_in_an_existing_network() -> None:
    """That of a default VPC, 172.31.0.0/16, is among them."""
    networks = [ip_network(each) for each in template("nfs-gp3")["Parameters"]["AllowedCidr"]["Default"].split()]
    assert networks == [ip_network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    own, existing = ({}, {"VpcId": "vpc-1a2b3c4d", "SubnetId": "subnet-1a2b3c4d"})
    for given, clients in ((own, "10.42.0.0/16"), (existing, "*")):
        made = Values(template("fsx-openzfs"), **given).resources()["FileSystem"]["Properties"]
        (exports,) = made["OpenZFSConfiguration"]["RootVolumeConfiguration"]["NfsExports"]
        assert [each["Clients"] for each in exports["ClientConfigurations"]] == [clients]


@pytest.mark.parametrize(
    ("kind", "is_placed"), [("t3.large", False), ("t3a.nano", False), ("t4g.xlarge", False), ("c6in.2xlarge", True)]
)
def test_burstable_clients_are_not_in_the_placement_group(kind: str, is_placed: bool) -> None:
    made = Values(template("nfs-gp3"), ClientInstanceType=kind).resources()
    placed = {
        name for name, body in made.items() if "Placement" in body.get("Properties", {}).get("LaunchTemplateData", {})
    }
    assert placed == {"StorageLaunchTemplate", *(["ClientLaunchTemplate"] if is_placed else [])}


def test_clients_have_the_processors_of_the_image() -> None:
    of_arm = template("nfs-instance-store")["Parameters"]
    assert of_arm["ImageId"]["Default"].endswith("/arm64")
    for name in ("ClientInstanceType", "LoginInstanceType"):
        expression = of_arm[name]["AllowedPattern"]
        assert re.fullmatch(expression, "m7g.large") and not re.fullmatch(expression, "m7i.large")


def test_what_an_update_cannot_change_and_what_is_charged_by_the_byte_is_said() -> None:
    for name in set(NAMES) - {"nfs-aws-2016"}:
        parameters = template(name)["Parameters"]
        assert "cannot change" in parameters["ClientCount"]["Description"]
        assert parameters["ClientCount"]["MaxValue"] * len('"0123456789":"",') + len("{}") <= 4096
        assert "/dev/xvda" in parameters["ImageId"]["Description"]
        assert "in their place" in parameters["SpotMaxPrice"]["Description"]
    elastic = build_template(plan_of("efs-elastic", [], "", HostOptions()))
    assert "each GB that is read or written" in elastic["Description"]
    assert "each GB that is read or written" not in template("efs-one-zone")["Description"]


def test_the_first_zone_is_written_as_people_write_it() -> None:
    assert "!GetAZs ''" in template_yaml(template("nfs-gp3"))
