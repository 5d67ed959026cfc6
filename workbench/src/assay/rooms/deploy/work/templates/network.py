"""The network of a stack: its own VPC unless an existing one is given, and security groups open to the cluster only.

The own VPC has two subnets in one zone. Servers and clients are in the private one and reach package mirrors through a
NAT gateway; only what is to have a public address is in the public one. S3 and DynamoDB are reached through gateway
endpoints, which cost nothing.
"""

from typing import Any

from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.functions import attribute, either, ref, sub

OWN = "CreateNetwork"
OUTSIDE = (
    ("tcp", 443, "Packages and services over HTTPS"),
    ("tcp", 80, "Packages over HTTP"),
    ("udp", 53, "Names, of servers other than those of the VPC"),
    ("tcp", 53, "Names, of servers other than those of the VPC"),
)
"""Protocol, port, and what for: what hosts reach outside of the stack."""
PUBLIC_ROUTES = ("PublicDefaultRoute", "PublicSubnetRoutes")
ROUTES = (*PUBLIC_ROUTES, "PrivateDefaultRoute", "PrivateSubnetRoutes")
"""Resources without which a host of the own subnets cannot install packages."""


def add_network(draft: Draft) -> None:
    """Add the stack's own VPC with its subnets, routes and endpoints; none of it is made in an existing VPC."""
    draft.mappings["Network"] = {
        "Own": {"Vpc": "10.42.0.0/16", "PublicSubnet": "10.42.0.0/24", "PrivateSubnet": "10.42.16.0/20"}
    }
    vpc = {"CidrBlock": _range("Vpc"), "EnableDnsHostnames": True, "EnableDnsSupport": True, "Tags": tags("vpc")}
    draft.resource("Vpc", "AWS::EC2::VPC", vpc, OWN)
    draft.resource("InternetGateway", "AWS::EC2::InternetGateway", {"Tags": tags("internet")}, OWN)
    attachment = {"VpcId": ref("Vpc"), "InternetGatewayId": ref("InternetGateway")}
    draft.resource("InternetGatewayAttachment", "AWS::EC2::VPCGatewayAttachment", attachment, OWN)
    _add_subnet(draft, "Public")
    to_internet = {"GatewayId": ref("InternetGateway")}
    _add_default_route(draft, "Public", to_internet, after=("InternetGatewayAttachment",))
    address = {"Domain": "vpc", "Tags": tags("nat")}
    draft.resource("NatAddress", "AWS::EC2::EIP", address, OWN, after=("InternetGatewayAttachment",))
    draft.resource(
        "NatGateway",
        "AWS::EC2::NatGateway",
        {
            "AllocationId": attribute("NatAddress", "AllocationId"),
            "SubnetId": ref("PublicSubnet"),
            "Tags": tags("nat"),
        },
        OWN,
        after=PUBLIC_ROUTES,
    )
    _add_subnet(draft, "Private")
    _add_default_route(draft, "Private", {"NatGatewayId": ref("NatGateway")})
    for service in ("S3", "DynamoDB"):
        draft.resource(
            f"{service}Endpoint",
            "AWS::EC2::VPCEndpoint",
            {
                "VpcEndpointType": "Gateway",
                "ServiceName": sub(f"com.amazonaws.${{AWS::Region}}.{service.lower()}"),
                "VpcId": ref("Vpc"),
                "RouteTableIds": [ref("PublicRouteTable"), ref("PrivateRouteTable")],
                "Tags": tags(service.lower()),
            },
            OWN,
        )


def _range(name: str) -> dict[str, Any]:
    return {"Fn::FindInMap": ["Network", "Own", name]}


def own_zone() -> dict[str, Any]:
    """Return the availability zone of the own subnets: as asked for, else the first of the region."""
    first = {"Fn::Select": [0, {"Fn::GetAZs": ""}]}
    return either("HasAvailabilityZone", ref("AvailabilityZone"), first)


def _add_subnet(draft: Draft, name: str) -> None:
    draft.resource(
        f"{name}Subnet",
        "AWS::EC2::Subnet",
        {
            "VpcId": ref("Vpc"),
            "AvailabilityZone": own_zone(),
            "CidrBlock": _range(f"{name}Subnet"),
            "MapPublicIpOnLaunch": False,
            "Tags": tags(name.lower()),
        },
        OWN,
    )


def _add_default_route(draft: Draft, name: str, target: dict[str, Any], after: tuple[str, ...] = ()) -> None:
    table = ref(f"{name}RouteTable")
    draft.resource(f"{name}RouteTable", "AWS::EC2::RouteTable", {"VpcId": ref("Vpc"), "Tags": tags(name.lower())}, OWN)
    route = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", **target}
    draft.resource(f"{name}DefaultRoute", "AWS::EC2::Route", route, OWN, after)
    association = {"RouteTableId": table, "SubnetId": ref(f"{name}Subnet")}
    draft.resource(f"{name}SubnetRoutes", "AWS::EC2::SubnetRouteTableAssociation", association, OWN)


def vpc() -> dict[str, Any]:
    """Return the VPC in which the hosts are."""
    return either(OWN, ref("Vpc"), ref("VpcId"))


def private_subnet() -> dict[str, Any]:
    """Return the subnet of hosts that never have a public address."""
    return either(OWN, ref("PrivateSubnet"), ref("SubnetId"))


def reachable_subnet() -> dict[str, Any]:
    """Return the subnet of hosts that have a public address if it is asked for."""
    own = either("UsePublicAddress", ref("PublicSubnet"), ref("PrivateSubnet"))
    return either(OWN, own, ref("SubnetId"))


def routes() -> dict[str, Any]:
    """Return references to the routes of the own subnets; nothing in an existing VPC.

    They go into the metadata of a resource that always exists: what depends on it is made after the routes, while
    `DependsOn` must not name resources that may not exist.
    """
    return either(OWN, [ref(name) for name in ROUTES])


def allowed_range(existing: Any) -> dict[str, Any]:
    """Return the addresses from which servers accept mounts: the own VPC, or those stated for an existing one."""
    return either(OWN, _range("Vpc"), existing)


def add_security_groups(draft: Draft) -> None:
    """Add the group of all hosts, which lets in its own members only, and the one that lets in ssh, if asked for."""
    outside = [
        {"IpProtocol": protocol, "FromPort": port, "ToPort": port, "CidrIp": "0.0.0.0/0", "Description": words}
        for protocol, port, words in OUTSIDE
    ]
    draft.resource(
        "ClusterSecurityGroup",
        "AWS::EC2::SecurityGroup",
        {
            "GroupDescription": "Hosts of the stack reach one another, and packages and services outside",
            "VpcId": vpc(),
            "SecurityGroupEgress": outside,
            "Tags": tags("cluster"),
        },
    )
    group = attribute("ClusterSecurityGroup", "GroupId")
    inside = {"GroupId": group, "IpProtocol": "-1", "Description": "All between members of the group"}
    members = {**inside, "SourceSecurityGroupId": group}
    draft.resource("ClusterIngress", "AWS::EC2::SecurityGroupIngress", members)
    members = {**inside, "DestinationSecurityGroupId": group}
    draft.resource("ClusterEgress", "AWS::EC2::SecurityGroupEgress", members)
    login = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": ref("LoginCidr")}
    # Without a rule for outgoing traffic, EC2 would add one that allows all.
    nothing = {"IpProtocol": "-1", "CidrIp": "127.0.0.1/32", "Description": "Nothing beyond the other group"}
    draft.resource(
        "LoginSecurityGroup",
        "AWS::EC2::SecurityGroup",
        {
            "GroupDescription": "Lets in ssh from the stated addresses",
            "VpcId": vpc(),
            "SecurityGroupIngress": [{**login, "Description": "ssh"}],
            "SecurityGroupEgress": [nothing],
            "Tags": tags("login"),
        },
        "HasLoginCidr",
    )


def security_groups(is_reachable: bool) -> list[Any]:
    """Return the groups of a host; `is_reachable`: ssh is open to it if it is asked for."""
    login = [either("HasLoginCidr", attribute("LoginSecurityGroup", "GroupId"))] if is_reachable else []
    further = either("HasSecurityGroup", ref("SecurityGroupId"))
    return [attribute("ClusterSecurityGroup", "GroupId"), further, *login]
