"""What a template will make, as things with a price. Pure."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from assay.rooms.deploy.model.priced import Thing
from assay.rooms.deploy.work.life import charges
from assay.rooms.deploy.work.life.charges import number
from assay.rooms.deploy.work.life.resolve import Resolver

Properties = Mapping[str, Any]
Resources = Mapping[str, tuple[str, dict[str, Any]]]
PLAIN: Mapping[str, Callable[[str], Thing]] = {
    "EC2::EIP": charges.address,
    "EC2::NatGateway": charges.nat_gateway,
    "S3::Bucket": charges.bucket,
}
"""Type of a resource whose price depends on no property -> the thing."""


def planned_things(resolver: Resolver) -> list[Thing]:
    """Return all that the template makes and that costs something, and what is unknown of it."""
    resources = resolver.resources()
    return [thing for name in resources for thing in _things(name, resources)]


def _things(name: str, resources: Resources) -> Iterator[Thing]:
    kind, properties = resources[name]
    short = kind.removeprefix("AWS::")
    if short == "EC2::Instance":
        yield from _instances(name, _launch_data(properties, resources), 1)
    elif short == "AutoScaling::AutoScalingGroup":
        launched = (
            properties.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification")
        )
        found = {"LaunchTemplate": properties.get("LaunchTemplate") or launched or {}}
        count = _whole(properties.get("DesiredCapacity", properties.get("MinSize", 0)))
        yield from _instances(name, _launch_data(found, resources), count)
    elif short == "EC2::Volume":
        yield _volume(name, properties, 1)
    elif short == "EFS::FileSystem":
        throughput = properties.get("ProvisionedThroughputInMibps")
        rate = number(throughput) if throughput is not None else None
        is_elastic = properties.get("ThroughputMode") == "elastic"
        yield charges.efs(name, 0, "AvailabilityZoneName" in properties, rate, is_elastic)
    elif short == "FSx::FileSystem":
        yield charges.fsx(name, properties)
    elif short == "DynamoDB::Table":
        units = properties.get("ProvisionedThroughput") or {}
        yield charges.table(name, _whole(units.get("ReadCapacityUnits", 0)), _whole(units.get("WriteCapacityUnits", 0)))
    elif short == "FSx::Volume":
        tiering = (properties.get("OntapConfiguration") or {}).get("TieringPolicy") or {}
        if tiering.get("Name", "NONE") != "NONE":
            yield charges.by_use("volume", name, "volume of ONTAP", "the capacity pool is charged by use")
    elif short == "DLM::LifecyclePolicy":
        yield charges.by_use("snapshots", name, "snapshots of volumes", "what they store is charged by use")
    elif short == "DirectConnect::Connection":
        yield charges.line(name, str(properties.get("Bandwidth", "")))
    elif short in PLAIN:
        yield PLAIN[short](name)
    elif short == "EC2::VPCEndpoint" and properties.get("VpcEndpointType", "Gateway") == "Gateway":
        return
    elif kind not in charges.FREE:
        yield charges.unpriced(short, name, short, "not in the price book")


def _launch_data(properties: Properties, resources: Resources) -> dict[str, Any]:
    """Return the properties of an instance over those of its launch template."""
    template = properties.get("LaunchTemplate") or {}
    reference = template.get("LaunchTemplateId", template.get("LaunchTemplateName", ""))
    kind, found = resources.get(str(reference), ("", {}))
    data = found.get("LaunchTemplateData", {}) if kind == "AWS::EC2::LaunchTemplate" else {}
    return {**data, **{key: value for key, value in properties.items() if key != "LaunchTemplate"}}


def _instances(name: str, data: Properties, count: int) -> Iterator[Thing]:
    if not count:
        return
    market = data.get("InstanceMarketOptions") or {}
    spot, most = market.get("MarketType") == "spot", (market.get("SpotOptions") or {}).get("MaxPrice")
    type_name = str(data.get("InstanceType", ""))
    if not type_name or type_name == "unknown":
        yield charges.unpriced("instance", name, f"{count} instances", "the template does not state their type")
        return
    yield charges.instance(name, type_name, count, spot, Decimal(str(number(most))) if most else None)
    disks = [each["Ebs"] for each in data.get("BlockDeviceMappings") or [] if isinstance(each.get("Ebs"), dict)]
    for place, disk in enumerate(disks):
        yield _volume(f"{name}-{place}", {"Size": disk.get("VolumeSize"), **disk}, count)
    public = [each for each in data.get("NetworkInterfaces") or [] if _is_true(each.get("AssociatePublicIpAddress"))]
    if public:
        yield charges.address(name, count)


def _volume(name: str, properties: Properties, count: int) -> Thing:
    """Return a volume by the properties of a volume or of a block device; without type it is of gp2, as in EC2."""
    size = properties.get("Size")
    if size is None or not number(size):
        return charges.unpriced("volume", name, f"{count} x volume", "its size is that of its snapshot")
    iops, rate = properties.get("Iops"), properties.get("Throughput")
    return charges.volume(
        name,
        str(properties.get("VolumeType", "gp2")),
        number(size),
        None if iops is None else number(iops),
        None if rate is None else number(rate),
        count,
    )


def _whole(value: Any) -> int:
    return int(number(value))


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"
