"""Hosts of a stack: a launch template for each role, instances of servers, a group of clients, and waits for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.rooms.deploy.model.stack_plan import HostGroup, HostRole, StackPlan
from assay.rooms.deploy.work.templates.draft import Draft, lasting_tags, tags
from assay.rooms.deploy.work.templates.functions import STACK_NAME, attribute, either, equals, ref
from assay.rooms.deploy.work.templates.network import (
    private_subnet,
    reachable_subnet,
    routes,
    security_groups,
)
from assay.rooms.deploy.work.templates.parameters import ROOT_DEVICE
from assay.rooms.deploy.work.templates.rights import PATH, add_role

ROOT_GIB = 20
DEVICES = tuple(f"/dev/sd{letter}" for letter in "bcdefghijklmnopqrstuvwxyz")
"""Device names for further disks; Linux calls NVMe disks otherwise."""
SNAPSHOT_TAG = "assay:snapshots"
"""Tag of the instances whose volumes snapshots are made of, if they are asked for; its value is the stack's name."""
WAIT_SECONDS = 1800
"""Time in which the hosts of a stack must have set themselves up."""


ADDRESSED = "AddressServers"
"""Condition under which servers whose interfaces are made before them get public addresses."""
BURSTABLE = ("t2", "t3", "t3a", "t4g")
"""Families of instance types that no cluster placement group takes.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
"""


def add_placement_group(draft: Draft) -> None:
    """Add the placement group of the stack."""
    properties = {"Strategy": "cluster", "Tags": lasting_tags("hosts")}
    draft.resource("PlacementGroup", "AWS::EC2::PlacementGroup", properties, "CreatePlacementGroup")


def add_host_role(draft: Draft, rights: Sequence[Mapping[str, Any]] = ()) -> None:
    """Add the role of the hosts; without statements it allows nothing: hosts need no rights to set themselves up."""
    add_role(draft, "HostRole", "Role of the hosts of the stack", "ec2", "host", rights)
    profile = {"Path": PATH, "Roles": [ref("HostRole")]}
    draft.resource("HostProfile", "AWS::IAM::InstanceProfile", profile)


def add_launch_template(
    draft: Draft,
    title: str,
    data: Mapping[str, Any],
    disks: Sequence[Mapping[str, Any]],
    user_data: Mapping[str, Any],
    role: HostRole,
    has_tagged_name: bool = False,
    is_placed: bool = True,
) -> None:
    """Add a launch template.

    Args:
        draft: The template.
        title: Beginning of its logical id.
        data: What only this role has: image, type, interfaces, market; it goes before what all have.
        disks: Block device mappings behind the root disk.
        user_data: As of `boot.user_data`.
        role: Value of the tag `assay:role`.
        has_tagged_name: Whether hosts read their name from a tag.
        is_placed: Whether the hosts join the placement group, unless their type is burstable.
    """
    metadata = {"HttpEndpoint": "enabled", "HttpTokens": "required", "HttpPutResponseHopLimit": 1}
    metadata |= {"InstanceMetadataTags": "enabled"} if has_tagged_name else {}
    own_tags = lasting_tags(role, role=role)
    body = {
        "KeyName": either("HasKeyName", ref("KeyName")),
        "IamInstanceProfile": {"Arn": attribute("HostProfile", "Arn")},
        "MetadataOptions": metadata,
        **(_placement(draft, title) if is_placed else {}),
        "BlockDeviceMappings": [root_disk(), *disks],
        "TagSpecifications": [{"ResourceType": kind, "Tags": own_tags} for kind in ("volume", "network-interface")],
        "UserData": user_data,
        **data,
    }
    specification = [{"ResourceType": "launch-template", "Tags": lasting_tags(role)}]
    properties = {"TagSpecifications": specification, "LaunchTemplateData": body}
    draft.resource(f"{title}LaunchTemplate", "AWS::EC2::LaunchTemplate", properties)


def _placement(draft: Draft, title: str) -> dict[str, Any]:
    family = {"Fn::Select": [0, {"Fn::Split": [".", ref(f"{title}InstanceType")]}]}
    is_burstable = {"Fn::Or": [equals(family, each) for each in BURSTABLE]}
    draft.conditions[f"Place{title}"] = {"Fn::And": [{"Condition": "UsePlacement"}, {"Fn::Not": [is_burstable]}]}
    group = either("HasPlacementGroupName", ref("PlacementGroupName"), ref("PlacementGroup"))
    return {"Placement": either(f"Place{title}", {"GroupName": group})}


def root_disk(gib: int = ROOT_GIB) -> dict[str, Any]:
    """Return the block device mapping of the root disk."""
    ebs = {"VolumeType": "gp3", "VolumeSize": gib, "Iops": 3000, "Throughput": 125}
    return {"DeviceName": ROOT_DEVICE, "Ebs": {**ebs, "Encrypted": True, "DeleteOnTermination": True}}


def instance_tags(name: str, group: HostGroup) -> list[dict[str, Any]]:
    """Return the tags of an instance; those of its volumes are in the launch template."""
    own_tags = tags(name, role=group.role, host=name)
    return [*own_tags, {"Key": SNAPSHOT_TAG, "Value": STACK_NAME}] if group.volumes else own_tags


def data_disks(group: HostGroup) -> list[dict[str, Any]]:
    """Return the block device mappings of a storage host's disks."""
    volumes = group.volumes
    mapped = [
        {"DeviceName": device, "VirtualName": f"ephemeral{number}"}
        for number, device in enumerate(DEVICES[: group.mapped_disks])
    ]
    return mapped if volumes is None else [_volume(device) for device in DEVICES[: volumes.count]]


def _volume(device: str) -> dict[str, Any]:
    ebs = {
        "VolumeType": ref("VolumeType"),
        "VolumeSize": ref("VolumeSize"),
        "Iops": either("HasVolumeIops", ref("VolumeIops")),
        "Throughput": either("HasVolumeThroughput", ref("VolumeThroughput")),
        "Encrypted": True,
        "DeleteOnTermination": either("KeepVolumes", False, True),
    }
    return {"DeviceName": device, "Ebs": ebs}


def spot_market(price: str, condition: str) -> dict[str, Any]:
    """Return the market of instances: spot up to a price, if one is given."""
    options = {"MaxPrice": ref(price), "SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
    return {"InstanceMarketOptions": either(condition, {"MarketType": "spot", "SpotOptions": options})}


def host_ids(group: HostGroup) -> list[str]:
    """Return the logical ids of a group's instances: Storage1, Storage2, ..."""
    return [f"{group.title}{number}" for number in range(1, group.count + 1)]


def addresses(group: HostGroup) -> list[str]:
    """Return the private addresses of a group's hosts, as `Fn::Sub` takes them."""
    attribute_name = "Interface.PrimaryPrivateIpAddress" if group.has_fixed_addresses else ".PrivateIp"
    return [f"${{{name}{attribute_name}}}" for name in host_ids(group)]


def add_interfaces(draft: Draft, group: HostGroup) -> None:
    """Add network interfaces in front of the hosts, whose addresses all hosts of a group need."""
    for name in host_ids(group):
        properties = {
            "Description": f"{group.role} host of the stack",
            "SubnetId": private_subnet(),
            "GroupSet": security_groups(is_reachable=False),
            "Tags": tags(name.lower(), role=group.role),
        }
        draft.resource(f"{name}Interface", "AWS::EC2::NetworkInterface", properties)
        _add_public_address(draft, name, group)


def _add_public_address(draft: Draft, name: str, group: HostGroup) -> None:
    """Add a public address of an interface in an existing subnet, if asked for: EC2 gives none to such interfaces."""
    draft.conditions[ADDRESSED] = {
        "Fn::And": [{"Fn::Not": [{"Condition": "CreateNetwork"}]}, {"Condition": "UsePublicAddress"}]
    }
    properties = {"Domain": "vpc", "Tags": tags(name.lower(), role=group.role)}
    draft.resource(f"{name}Address", "AWS::EC2::EIP", properties, ADDRESSED)
    association = {
        "AllocationId": attribute(f"{name}Address", "AllocationId"),
        "NetworkInterfaceId": ref(f"{name}Interface"),
    }
    draft.resource(f"{name}Association", "AWS::EC2::EIPAssociation", association, ADDRESSED)


def add_servers(draft: Draft, group: HostGroup, is_reachable: bool) -> None:
    """Add the instances of a group of servers."""
    for name in host_ids(group):
        draft.resource(
            name,
            "AWS::EC2::Instance",
            {
                "ImageId": ref("ImageId"),
                "InstanceType": ref(f"{group.title}InstanceType"),
                "LaunchTemplate": _newest(f"{group.title}LaunchTemplate"),
                "NetworkInterfaces": [_interface(name, group, is_reachable)],
                "Tags": instance_tags(name.lower(), group),
            },
            **_after_address(name, group),
        )


def _after_address(name: str, group: HostGroup) -> dict[str, Any]:
    """Return what makes a host wait for its public address, without which it cannot install packages."""
    return (
        {"Metadata": {"MadeAfter": either(ADDRESSED, ref(f"{name}Association"))}} if group.has_fixed_addresses else {}
    )


def _newest(template: str) -> dict[str, Any]:
    return {"LaunchTemplateId": ref(template), "Version": attribute(template, "LatestVersionNumber")}


def _interface(name: str, group: HostGroup, is_reachable: bool) -> dict[str, Any]:
    if group.has_fixed_addresses:
        return {"DeviceIndex": "0", "NetworkInterfaceId": ref(f"{name}Interface")}
    return {
        "DeviceIndex": "0",
        "SubnetId": private_subnet(),
        "GroupSet": security_groups(is_reachable),
        "AssociatePublicIpAddress": either("CreateNetwork", False, either("UsePublicAddress", True, False)),
        "DeleteOnTermination": True,
    }


def add_clients(draft: Draft, plan: StackPlan, after: Sequence[str]) -> None:
    """Add the group of clients; it keeps as many as `ClientCount`."""
    own_tags = [{**tag, "PropagateAtLaunch": True} for tag in tags("client", role="client")]
    properties = {
        "MinSize": ref("ClientCount"),
        "MaxSize": ref("ClientCount"),
        "DesiredCapacity": ref("ClientCount"),
        "LaunchTemplate": _newest("ClientLaunchTemplate"),
        "VPCZoneIdentifier": [private_subnet() if plan.login_instance else reachable_subnet()],
        "Tags": own_tags,
    }
    draft.resource("Clients", "AWS::AutoScaling::AutoScalingGroup", properties, "HasClients", after)


def client_interface(plan: StackPlan) -> dict[str, Any]:
    """Return the network interface of clients in their launch template."""
    public: Any = either("UsePublicAddress", True, False)
    if plan.login_instance:
        public = either("CreateNetwork", False, public)
    interface = {
        "DeviceIndex": 0,
        "Groups": security_groups(is_reachable=not plan.login_instance),
        "AssociatePublicIpAddress": public,
        "DeleteOnTermination": True,
    }
    return {"NetworkInterfaces": [interface]}


def add_login(draft: Draft, after: Sequence[str]) -> None:
    """Add the login host."""
    interface = {
        "DeviceIndex": "0",
        "SubnetId": reachable_subnet(),
        "GroupSet": security_groups(is_reachable=True),
        "AssociatePublicIpAddress": either("UsePublicAddress", True, False),
        "DeleteOnTermination": True,
    }
    properties = {
        "ImageId": ref("ImageId"),
        "InstanceType": ref("LoginInstanceType"),
        "LaunchTemplate": _newest("LoginLaunchTemplate"),
        "NetworkInterfaces": [interface],
        "Tags": tags("login", role="login", host="login"),
    }
    draft.resource("Login", "AWS::EC2::Instance", properties, after=after)


def add_storage_group(draft: Draft) -> None:
    """Add a group of one storage host, which is started again if it ends."""
    properties = {
        "MinSize": "1",
        "MaxSize": "1",
        "DesiredCapacity": "1",
        "LaunchTemplate": _newest("StorageLaunchTemplate"),
        "VPCZoneIdentifier": [ref("SUBNETID")],
        "Tags": [{**tag, "PropagateAtLaunch": True} for tag in tags("storage1", role="storage")],
    }
    draft.resource("Storage", "AWS::AutoScaling::AutoScalingGroup", properties)


def add_wait(draft: Draft, name: str, count: Any, after: Sequence[str], condition: str | None = None) -> None:
    """Add what waits until as many hosts have signalled that they are set up; one that failed fails the stack."""
    properties = {"Handle": ref(f"{name}Handle"), "Count": count, "Timeout": str(WAIT_SECONDS)}
    draft.resource(f"{name}Ready", "AWS::CloudFormation::WaitCondition", properties, condition, after)


def add_handle(draft: Draft, name: str) -> None:
    """Add the address to which hosts signal, once they have a route to the internet."""
    draft.resource(f"{name}Handle", "AWS::CloudFormation::WaitConditionHandle", {}, Metadata={"MadeAfter": routes()})
