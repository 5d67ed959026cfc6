"""What the templates make costs what the price books say, is charged by use, or is free; nothing is forgotten."""

import functools
from decimal import Decimal
from typing import Any

import pytest
from stack_templates import NAMES, SAMPLE, template

from assay.model.money.price import PriceBook
from assay.rooms.deploy.commands.stack_output import sum_text
from assay.rooms.deploy.model.priced import Prices, Thing
from assay.rooms.deploy.work.life import charges
from assay.rooms.deploy.work.life.charges import FREE, book_of, fsx, price_things
from assay.rooms.deploy.work.life.planned import planned_things
from assay.rooms.deploy.work.life.resolve import Resolver
from assay.rooms.deploy.work.life.template import all_values, parse_template

REGIONS = ("eu-west-1", "us-east-1")
PRICED = {
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::DynamoDB::Table",
    "AWS::EC2::EIP",
    "AWS::EC2::Instance",
    "AWS::EC2::NatGateway",
    "AWS::EFS::FileSystem",
    "AWS::FSx::FileSystem",
}
BY_USE = {"AWS::DLM::LifecyclePolicy", "AWS::FSx::Volume", "AWS::S3::Bucket"}
FREE_IN_PART = {"AWS::EC2::VPCEndpoint"}
"""Types of which the templates make a free kind, and others cost: endpoints of gateways, and of interfaces."""
UNPRICED = {"eu-west-1": {"c7gn.xlarge", "m6g.large"}, "us-east-1": {"m6g.large"}}
"""Region -> types of hosts in these templates for which no price was found, or which only a test chooses."""
OWN: dict[str, str] = {}
EXISTING = {"VpcId": "vpc-0123456789abcdef0", "SubnetId": "subnet-0123456789abcdef0"}
PUBLIC = {**EXISTING, "AssignPublicAddress": "yes"}


@functools.cache
def made(name: str, **chosen: str) -> tuple[Thing, ...]:
    document = template(name)
    given = {key: "x" for key, body in document["Parameters"].items() if "Default" not in body}
    values = {key: each for key, each in {**given, **SAMPLE, **chosen}.items() if key in document["Parameters"]}
    return tuple(planned_things(Resolver(document, all_values(document, values), SAMPLE)))


def book(region: str) -> PriceBook:
    found = book_of(region)
    assert found is not None
    return found


def row(region: str, dimension: str, item: str) -> Decimal:
    found = book(region).row(dimension, item).price
    assert found is not None
    return found


def test_each_type_of_resource_is_priced_or_charged_by_use_or_free() -> None:
    kinds = {body["Type"] for name in NAMES for body in template(name)["Resources"].values()}
    assert kinds >= PRICED | BY_USE
    assert kinds - PRICED - BY_USE - FREE_IN_PART <= FREE
    assert not FREE & (PRICED | BY_USE | FREE_IN_PART)


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("chosen", [OWN, PUBLIC], ids=["own network", "public addresses"])
def test_the_price_of_each_template_is_known(region: str, chosen: dict[str, str]) -> None:
    for name in NAMES:
        for each in price_things(made(name, **chosen), book(region)).things:
            types = {item.item for item in each.thing.items}
            assert not each.note or types & UNPRICED[region], (name, each.note)


@pytest.mark.parametrize("region", REGIONS)
def test_a_network_of_its_own_is_a_gateway_and_its_address(region: str) -> None:
    own, given = (price_things(made("nfs-gp3", **chosen), book(region)) for chosen in (OWN, EXISTING))
    assert own.hour - given.hour == row(region, "gateway", "nat-gateway") + row(region, "address", "public-ipv4")
    assert own.has_use and not own.has_unknown and given.is_complete
    assert sum_text(own).endswith(" USD an hour, and what is charged by use") and "at least" not in sum_text(own)
    assert sum_text(given).endswith(" USD an hour") and sum_text(price_things(made("nfs-gp3"), None)).startswith(
        "at least"
    )


def test_each_public_address_is_counted() -> None:
    """Servers with fixed addresses have elastic ones, the others and the clients those that EC2 gives them."""
    for name, count in (("beegfs-volumes", 1 + 4 + 8 + 1), ("orangefs", 2 + 1), ("nfs-gp3", 1 + 1)):
        found = [item for each in made(name, **PUBLIC) for item in each.items if item.dimension == "address"]
        assert sum(item.pieces for item in found) == count, name
        assert {item.item for item in found} == {"public-ipv4"}


def hour(thing: Thing) -> Prices:
    return price_things([thing], book("us-east-1"))


ZFS: dict[str, Any] = {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": 320, "AutomaticBackupRetentionDays": 0}
ONTAP = {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacityPerHAPair": "384", "AutomaticBackupRetentionDays": "0"}
OF_USER = {"Mode": "USER_PROVISIONED", "Iops": "10000"}


@pytest.mark.parametrize(
    ("kind", "key", "own", "rate", "iops"),
    [
        ("OPENZFS", "OpenZFS", ZFS, 320, 0),
        ("OPENZFS", "OpenZFS", {**ZFS, "DiskIopsConfiguration": OF_USER}, 320, 7000),
        ("OPENZFS", "OpenZFS", {**ZFS, "DiskIopsConfiguration": {"Mode": "AUTOMATIC", "Iops": 3000}}, 320, 0),
        ("ONTAP", "Ontap", {**ONTAP, "HAPairs": 1}, 384, 0),
        ("ONTAP", "Ontap", {**ONTAP, "HAPairs": 2, "ThroughputCapacity": 768}, 768, 0),
    ],
)
def test_rates_and_iops_of_fsx_are_paid_for(kind: str, key: str, own: dict[str, Any], rate: int, iops: int) -> None:
    described = {"FileSystemType": kind, "StorageCapacity": "1000", "StorageType": "SSD"}
    prices = hour(fsx("fs", {**described, f"{key}Configuration": own}))
    family = f"fsx-{kind.lower()}-single-az-2"
    month = 1000 * row("us-east-1", "filesystem-capacity", f"{family}-ssd")
    month += rate * row("us-east-1", "filesystem-throughput", family)
    month += iops * row("us-east-1", "filesystem-iops", family)
    assert abs(prices.hour - month / 730) < Decimal("1e-20") and prices.is_complete


def test_backups_and_tiers_are_charged_by_use() -> None:
    lustre = {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "StorageType": "SSD"}
    scratch = fsx("fs", {**lustre, "LustreConfiguration": {"DeploymentType": "SCRATCH_2"}})
    assert scratch.items[0].item == "fsx-lustre-scratch-2" and not scratch.by_use
    zfs = {key: value for key, value in ZFS.items() if key != "AutomaticBackupRetentionDays"}
    assert fsx("fs", {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "OpenZFSConfiguration": zfs}).by_use
    tiered, whole = (
        [each.what for each in made("fsx-ontap-2", TieringPolicy=policy) if each.kind == "volume" and each.by_use]
        for policy in ("AUTO", "NONE")
    )
    assert tiered == ["volume of ONTAP"] and not whole
    saved = [each for each in made("nfs-gp3", SnapshotHours="24") if each.kind == "snapshots"]
    assert len(saved) == 1 and saved[0].by_use


def test_small_hosts_have_a_price_and_may_cost_more_by_use() -> None:
    for region in REGIONS:
        for family in ("t3", "t4g"):
            for size in ("micro", "small", "medium", "large"):
                (found,) = price_things([charges.instance("Login", f"{family}.{size}")], book(region)).things
                assert found.hour and not found.note and "CPU time" in found.remarks
    assert not charges.instance("Login", "m6a.large").by_use


def test_a_leased_line_has_the_price_of_its_port() -> None:
    text = "Resources: {Line: {Type: AWS::DirectConnect::Connection, Properties: {Bandwidth: 10Gbps}}}"
    (thing,) = planned_things(Resolver(parse_template(text, "t"), {}, SAMPLE))
    assert hour(thing).hour == row("us-east-1", "port", "direct-connect-10g")


def test_prices_say_of_which_days_the_used_rows_are() -> None:
    found, name = book("eu-west-1"), "c5n.9xlarge"
    used = {found.row("instance", name), found.row("volume-capacity", "gp3")}
    prices = price_things([charges.instance("a", name, 2), charges.volume("b", "gp3", 8, None, None)], found)
    days = sorted(found.date_of(each) for each in used)
    assert set(prices.rows) == used and days[0] > found.date
    assert prices.source == f"aws-eu-west-1, {days[0]} to {days[1]}"
    assert price_things([charges.nat_gateway("n")], None).source == ""
