"""Everything that carries a tag of Assay: the tagging API is asked, and each service by itself."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.priced import Thing
from assay.rooms.deploy.model.stack import EXPIRES_TAG, OWNER_TAG, STACK_TAG, parse_expiry
from assay.rooms.deploy.work.life import charges
from assay.rooms.deploy.work.life.cloud import Cloud

Answer = Mapping[str, Any]
MAX_FILTER_VALUES = 200
"""Values that a filter of EC2 takes at most (EC2 API, Filter)."""


UNUSABLE = frozenset({FaultKind.EXPIRED_CREDENTIALS, FaultKind.WRONG_CREDENTIALS, FaultKind.NO_CREDENTIALS})
"""Kinds of errors after which no service would answer."""


@dataclass(frozen=True)
class Tagged:
    """A thing with tags of Assay.

    Attributes:
        thing: What it is and what is paid for it.
        region: Where it is.
        stack: Stack to which it belongs, by its tag.
        owner: By its tag; empty if it has none.
        expires: When it was to end, by its tag; None if it has none.
        is_left: Its stack is gone.
    """

    thing: Thing
    region: str
    stack: str
    owner: str
    expires: dt.datetime | None
    is_left: bool = False

    def is_expired(self, now: dt.datetime) -> bool:
        """Whether it should no longer exist."""
        return self.is_left or (self.expires is not None and self.expires < now)


@dataclass(frozen=True)
class Inventory:
    """What was found, and which services gave no answer.

    Attributes:
        found: Things, in no order.
        unanswered: Why a service could not be queried, one error each.
    """

    found: tuple[Tagged, ...]
    unanswered: tuple[CloudError, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all services answered."""
        return not self.unanswered


def find_tagged(cloud: Cloud, stack: str = "", volumes: Sequence[str] = ()) -> Inventory:
    """Return all things in a region that carry the tags of a stack, or of any stack of Assay if none is named.

    A service that does not answer, such as one for which there is no right, does not keep the others from being asked.

    Args:
        cloud: The cloud.
        stack: Name of the stack; empty: all.
        volumes: Volumes that belong to the stack although they may have no tags.

    Raises:
        CloudError: The credentials are not valid, or no longer.
    """
    found: dict[str, Tagged] = {}
    unanswered: list[CloudError] = []
    for sweep in (*SWEEPS, _by_tagging_api):
        try:
            for tags, thing in sweep(cloud, stack):
                if STACK_TAG in tags and stack in ("", tags[STACK_TAG]):
                    found.setdefault(thing.id, _tagged(cloud, tags, thing))
        except CloudError as error:
            if error.kind in UNUSABLE:
                raise
            unanswered.append(error)
    try:
        for thing in _known_volumes(cloud, volumes):
            found.setdefault(thing.id, Tagged(thing, cloud.region, stack, "", None))
    except CloudError as error:
        unanswered.append(error)
    return Inventory(tuple(found.values()), tuple(unanswered))


def _known_volumes(cloud: Cloud, ids: Sequence[str]) -> Iterator[Thing]:
    """Yield those of the volumes that still exist."""
    for begin in range(0, len(ids), MAX_FILTER_VALUES):
        filters = [{"Name": "volume-id", "Values": list(ids[begin : begin + MAX_FILTER_VALUES])}]
        for each in cloud.pages("ec2", "describe_volumes", "Volumes", Filters=filters):
            if (thing := volume_thing(each)) is not None:
                yield thing


def _tagged(cloud: Cloud, tags: Mapping[str, str], thing: Thing) -> Tagged:
    return Tagged(
        thing, cloud.region, tags[STACK_TAG], tags.get(OWNER_TAG, ""), parse_expiry(tags.get(EXPIRES_TAG, ""))
    )


Found = Iterable[tuple[Mapping[str, str], Thing]]
Sweep = Callable[[Cloud, str], Found]


def read_tags(answer: Answer, *keys: str) -> dict[str, str]:
    """Return the tags of an answer, whatever the service calls their list."""
    return {each["Key"]: each["Value"] for key in keys or ("Tags",) for each in answer.get(key) or []}


def _filters(stack: str) -> list[dict[str, Any]]:
    if stack:
        return [{"Name": f"tag:{STACK_TAG}", "Values": [stack]}]
    return [{"Name": "tag-key", "Values": [STACK_TAG]}]


def _ec2(operation: str, key: str, make: Callable[[Answer], Thing | None], **arguments: Any) -> Sweep:
    """Return a sweep of one operation of EC2."""

    def sweep(cloud: Cloud, stack: str) -> Found:
        for each in cloud.pages("ec2", operation, key, Filters=_filters(stack), **arguments):
            if (thing := make(each)) is not None:
                yield read_tags(each, "Tags", "TagSet"), thing

    return sweep


def instance_thing(answer: Answer) -> Thing | None:
    """Return an instance of DescribeInstances; None if it has ended. A stopped one costs only its volumes."""
    state = answer.get("State", {}).get("Name", "")
    if state in ("terminated", "shutting-down"):
        return None
    spot = answer.get("InstanceLifecycle") == "spot"
    if state in ("stopping", "stopped"):
        return Thing("instance", answer["InstanceId"], f"{answer.get('InstanceType', '')}, stopped")
    return charges.instance(answer["InstanceId"], answer.get("InstanceType", ""), 1, spot)


def volume_thing(answer: Answer) -> Thing | None:
    """Return a volume of DescribeVolumes; None if it is being deleted."""
    if answer.get("State") in ("deleting", "deleted"):
        return None
    iops, rate = answer.get("Iops"), answer.get("Throughput")
    return charges.volume(answer["VolumeId"], answer.get("VolumeType", "gp2"), answer["Size"], iops, rate)


def _nat(answer: Answer) -> Thing | None:
    if answer.get("State") in ("deleting", "deleted", "failed"):
        return None
    return charges.nat_gateway(answer["NatGatewayId"])


def _address(answer: Answer) -> Thing:
    is_idle = not (answer.get("AssociationId") or answer.get("InstanceId"))
    return charges.address(answer.get("AllocationId", answer["PublicIp"]), is_idle=is_idle)


def interface_thing(answer: Answer) -> Thing:
    """Return an interface of DescribeNetworkInterfaces, with the public address that EC2 gave it.

    An elastic address, which has an allocation, is a thing by itself.
    """
    own, used = answer["NetworkInterfaceId"], answer.get("Association") or {}
    if used.get("PublicIp") and not used.get("AllocationId"):
        return replace(charges.address(own), kind="network interface", what="network interface with a public address")
    return Thing("network interface", own, "network interface")


def _endpoint(answer: Answer) -> Thing | None:
    if str(answer.get("State", "")).lower() in ("deleting", "deleted", "rejected", "failed"):
        return None
    if answer.get("VpcEndpointType", "Gateway") == "Gateway":
        return Thing("endpoint", answer["VpcEndpointId"], "gateway endpoint")
    return charges.unpriced("endpoint", answer["VpcEndpointId"], "interface endpoint", "not in the price book")


def _free(kind: str, key: str) -> Callable[[Answer], Thing]:
    """Return a maker of things that cost nothing by themselves, but are left over all the same."""
    return lambda answer: Thing(kind, str(answer[key]), kind)


def _instances(cloud: Cloud, stack: str) -> Found:
    for found in cloud.pages("ec2", "describe_instances", "Reservations", Filters=_filters(stack)):
        for each in found["Instances"]:
            if (thing := instance_thing(each)) is not None:
                yield read_tags(each), thing


def _groups(cloud: Cloud, stack: str) -> Found:
    filters = _filters(stack)
    for each in cloud.pages("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups", Filters=filters):
        wanted = each.get("DesiredCapacity", 0)
        name = each["AutoScalingGroupName"]
        yield read_tags(each), Thing("group", name, f"group that keeps {wanted} instances running")


def _efs(cloud: Cloud, _stack: str) -> Found:
    for each in cloud.pages("efs", "describe_file_systems", "FileSystems"):
        if each.get("LifeCycleState") not in ("deleting", "deleted"):
            size = float(each.get("SizeInBytes", {}).get("Value", 0))
            rate = each.get("ProvisionedThroughputInMibps")
            one_zone = "AvailabilityZoneName" in each
            yield (
                read_tags(each),
                charges.efs(each["FileSystemId"], size, one_zone, rate, each.get("ThroughputMode") == "elastic"),
            )


def _fsx(cloud: Cloud, _stack: str) -> Found:
    for each in cloud.pages("fsx", "describe_file_systems", "FileSystems"):
        if each.get("Lifecycle") != "DELETING":
            yield read_tags(each), charges.fsx(each["FileSystemId"], each)


def _fsx_backups(cloud: Cloud, _stack: str) -> Found:
    for each in cloud.pages("fsx", "describe_backups", "Backups"):
        if each.get("Lifecycle") != "DELETED":
            words = "charged by what it stores"
            yield read_tags(each), charges.by_use("backup", each["BackupId"], "backup of FSx", words)


SWEEPS: tuple[Sweep, ...] = (
    _instances,
    _groups,
    _ec2("describe_volumes", "Volumes", volume_thing),
    _ec2(
        "describe_snapshots",
        "Snapshots",
        lambda each: charges.snapshot(each["SnapshotId"], each["VolumeSize"]),
        OwnerIds=["self"],
    ),
    _ec2("describe_addresses", "Addresses", _address),
    _ec2("describe_nat_gateways", "NatGateways", _nat),
    _ec2("describe_vpc_endpoints", "VpcEndpoints", _endpoint),
    _ec2("describe_network_interfaces", "NetworkInterfaces", interface_thing),
    _ec2("describe_launch_templates", "LaunchTemplates", _free("launch template", "LaunchTemplateId")),
    _ec2("describe_placement_groups", "PlacementGroups", _free("placement group", "GroupName")),
    _ec2("describe_security_groups", "SecurityGroups", _free("security group", "GroupId")),
    _ec2("describe_route_tables", "RouteTables", _free("route table", "RouteTableId")),
    _ec2("describe_internet_gateways", "InternetGateways", _free("internet gateway", "InternetGatewayId")),
    _ec2("describe_subnets", "Subnets", _free("subnet", "SubnetId")),
    _ec2("describe_vpcs", "Vpcs", _free("VPC", "VpcId")),
    _efs,
    _fsx,
    _fsx_backups,
)
"""Each service by itself: what it lists exists, which the tagging API's memory does not prove."""
_QUERIED = (
    *(
        "instance",
        "volume",
        "snapshot",
        "elastic-ip",
        "natgateway",
        "vpc-endpoint",
        "network-interface",
        "subnet",
        "vpc",
    ),
    *("launch-template", "placement-group", "security-group", "route-table", "internet-gateway"),
)
"""Kinds of things of EC2 whose own sweep decides: the tagging API remembers them for some time after their end."""


def _by_tagging_api(cloud: Cloud, stack: str) -> Found:
    tag: dict[str, Any] = {"Key": STACK_TAG, **({"Values": [stack]} if stack else {})}
    key = "ResourceTagMappingList"
    for each in cloud.pages("resourcegroupstaggingapi", "get_resources", key, TagFilters=[tag]):
        arn = str(each["ResourceARN"])
        try:
            thing = _of_arn(cloud, arn)
        except CloudError as error:
            if error.kind in UNUSABLE:
                raise
            thing = Thing("thing", arn, "listed by the tagging API", note=f"not looked at: {error.message}")
        if thing is not None:
            yield read_tags(each), thing


IAM_LOOKS = {
    "role": ("get_role", "RoleName"),
    "instance-profile": ("get_instance_profile", "InstanceProfileName"),
}
"""Kind of a thing of IAM -> operation that describes one, and its argument."""
UNPAID = frozenset(("budgets", "dlm", "events", "iam", "scheduler", "sns"))
"""Services of whose things in a stack nothing is charged."""


def _of_arn(cloud: Cloud, arn: str) -> Thing | None:
    """Return what an ARN names if it exists and no sweep lists it; None otherwise."""
    parts = arn.split(":", 5)
    if len(parts) < 6:
        return None
    service, path = parts[2], parts[5]
    kind = path.replace(":", "/").split("/")[0]
    name = path.replace(":", "/").split("/")[-1]
    if (service == "ec2" and kind in _QUERIED) or service in ("elasticfilesystem", "fsx", "autoscaling"):
        return None
    if service == "cloudformation":
        return None
    if service == "s3":
        return charges.bucket(path) if _exists(cloud, "s3", "head_bucket", Bucket=path) else None
    if service == "dynamodb" and kind == "table":
        return _table(cloud, name)
    if service == "iam" and kind in IAM_LOOKS:
        operation, argument = IAM_LOOKS[kind]
        return Thing(kind, arn, f"{kind} of IAM") if _exists(cloud, "iam", operation, **{argument: name}) else None
    if service in UNPAID:
        return Thing(f"{service} {kind}", arn, f"{kind} of {service}")
    if service == "logs":
        return _log_group(cloud, path.removeprefix("log-group:").removesuffix(":*"))
    return Thing(f"{service} {kind}", arn, f"{kind} of {service}", note="its price is not known to Assay")


def _exists(cloud: Cloud, service: str, operation: str, **arguments: Any) -> dict[str, Any] | None:
    """Return the answer of an operation that names one thing; None if there is no such thing."""
    try:
        return cloud.call(service, operation, **arguments)
    except CloudError as error:
        if error.kind is FaultKind.MISSING:
            return None
        raise


def _table(cloud: Cloud, name: str) -> Thing | None:
    answer = _exists(cloud, "dynamodb", "describe_table", TableName=name)
    if answer is None or answer["Table"].get("TableStatus") == "DELETING":
        return None
    units = answer["Table"].get("ProvisionedThroughput", {})
    return charges.table(name, int(units.get("ReadCapacityUnits", 0)), int(units.get("WriteCapacityUnits", 0)))


def _log_group(cloud: Cloud, name: str) -> Thing | None:
    groups = cloud.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    if not any(each["logGroupName"] == name for each in groups):
        return None
    return charges.by_use("log group", name, "log group", "charged by what it stores")
