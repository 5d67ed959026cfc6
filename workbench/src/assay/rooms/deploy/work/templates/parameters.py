"""Parameters that every template has: the run, the network, placement and price, the budget."""

from typing import Any

from assay.rooms.deploy.model.stack_plan import StackPlan
from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.functions import differs, equals, ref

RUN = "Run"
ROOT_DEVICE = "/dev/xvda"
"""Root device of the images of Debian and Amazon Linux."""
NETWORK = "Network"
HOSTS = "Hosts"
STORAGE = "Storage"
PRICE = "Placement and price"
BUDGET = "Budget"
EMAIL, HAS_EMAIL = "BudgetEmail", "HasBudgetEmail"

TIME_PATTERN = "^20[2-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
ADDRESS_PATTERN = f"(?:{_OCTET}[.]){{3}}{_OCTET}"
CIDR_PATTERN = f"{ADDRESS_PATTERN}/(?:3[0-2]|[12]?[0-9])"
MAX_RANGES = 8
PRIVATE_RANGES = "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"
"""Source: RFC 1918"""
PROXY_PATTERN = r'^(|https?://[^\s"\\$]{1,90})$'
ARM_TYPE = "(a1|[a-z]+[0-9]+g[a-z-]*)[.]"
"""Beginning of instance types of AWS with Graviton processors, which have a `g` behind the generation."""
YES_NO = {"AllowedValues": ["yes", "no"]}
MAX_CLIENTS = 1000
MAX_SIGNALS = 250
"""Clients of a stack at most: the data of a wait condition is limited to 4096 bytes, 16 of which each signal takes."""


def pattern(expression: str, words: str, **more: Any) -> dict[str, Any]:
    """Return the properties of a parameter whose values must match an expression; `words` say what that means."""
    return {"AllowedPattern": expression, "ConstraintDescription": words, **more}


def whole_number(default: int, least: int, most: int, words: str) -> dict[str, Any]:
    """Return the properties of a parameter that is a number within bounds; `words` say which."""
    bounds = {"MinValue": least, "MaxValue": most}
    return {"Type": "Number", "Default": default, **bounds, "ConstraintDescription": words}


def optional_id(prefix: str, what: str) -> dict[str, Any]:
    """Return the properties of a parameter that is an id of EC2, or empty."""
    return pattern(
        f"^(|{prefix}-[0-9a-f]{{8,17}})$", f"must be {what}, such as {prefix}-0123456789abcdef0, or empty", Default=""
    )


def add_run_parameters(draft: Draft) -> None:
    """Add who runs what, and until when; all of it becomes tags."""
    draft.parameter(
        RUN,
        "RunName",
        "Name of the run",
        "Name of the run or experiment. It becomes the tag assay:run of all resources.",
        **pattern(
            "^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$", "must be 1 to 63 letters, digits, points, hyphens or underscores"
        ),
    )
    draft.parameter(
        RUN,
        "Owner",
        "Owner",
        "Person or team that pays. It becomes the tag assay:owner of all resources.",
        **pattern("^[A-Za-z0-9_.@+-]{1,128}$", "must be a name or e-mail address without blanks"),
    )
    draft.parameter(
        RUN,
        "ExpiryTime",
        "Deleted at (UTC)",
        "Time at which the stack deletes itself with all data in it, in UTC, such as 2026-12-31T18:00:00.",
        **pattern(TIME_PATTERN, "must be a time in UTC such as 2026-12-31T18:00:00"),
    )


def add_existing_network(draft: Draft, plan: StackPlan) -> None:
    """Add the network of a file system that the hosts join, and where its management is."""
    draft.parameter(NETWORK, "VpcId", "VPC", "VPC of the file system.", Type="AWS::EC2::VPC::Id")
    about = "Subnet of the hosts, in the zone of the file system, from which they reach the internet."
    draft.parameter(NETWORK, "SubnetId", "Subnet", about, Type="AWS::EC2::Subnet::Id")
    draft.parameter(
        NETWORK,
        "ManagementAddress",
        "Management host",
        f"Address of the management host of the {plan.family} that the hosts join.",
        **pattern("^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$", "must be an address or a host name"),
    )
    about = "Security group of the cluster, which lets in its members; the hosts join it."
    draft.parameter(NETWORK, "SecurityGroupId", "Security group", about, Type="AWS::EC2::SecurityGroup::Id")


def add_optional_network(draft: Draft) -> None:
    """Add the existing network to use, if any."""
    draft.parameter(
        NETWORK,
        "VpcId",
        "Existing VPC",
        "Existing VPC. Empty: the stack makes a VPC of its own, with a NAT gateway, which is charged by the hour.",
        **optional_id("vpc", "the id of a VPC"),
    )
    draft.parameter(
        NETWORK,
        "SubnetId",
        "Existing subnet",
        "Existing subnet of that VPC, from which hosts reach the internet. Empty: the stack makes subnets of its own.",
        **optional_id("subnet", "the id of a subnet"),
    )
    draft.parameter(
        NETWORK,
        "AvailabilityZone",
        "Availability zone",
        "Availability zone of the stack's own subnets. Empty: the first one of the region.",
        **pattern("^(|[a-z]{2}(-[a-z]+)+-[0-9][a-z])$", "must be a zone such as eu-west-1b, or empty", Default=""),
    )
    draft.parameter(
        NETWORK,
        "SecurityGroupId",
        "Further security group",
        "Existing security group that all hosts join, too. Empty: none.",
        **optional_id("sg", "the id of a security group"),
    )
    draft.rules["NetworkIsWhole"] = {
        "Assertions": [
            {
                "Assert": {
                    "Fn::Or": [
                        {"Fn::And": [equals(ref("VpcId"), ""), equals(ref("SubnetId"), "")]},
                        {"Fn::And": [differs(ref("VpcId"), ""), differs(ref("SubnetId"), "")]},
                    ]
                },
                "AssertDescription": "VpcId and SubnetId go together: give both, or neither",
            }
        ]
    }
    draft.conditions |= {
        "CreateNetwork": {"Fn::Or": [equals(ref("VpcId"), ""), equals(ref("SubnetId"), "")]},
        "HasAvailabilityZone": differs(ref("AvailabilityZone"), ""),
        "HasSecurityGroup": differs(ref("SecurityGroupId"), ""),
    }


def allowed_ranges() -> dict[str, Any]:
    """Return the properties of a parameter with ranges of addresses that may mount."""
    words = f"must be up to {MAX_RANGES} ranges of addresses such as 10.0.0.0/16, with a blank between"
    return pattern(f"^{CIDR_PATTERN}( {CIDR_PATTERN}){{0,{MAX_RANGES - 1}}}$", words, Default=PRIVATE_RANGES)


def add_access_parameters(draft: Draft, has_exports: bool) -> None:
    """Add who may reach the hosts."""
    if has_exports:
        draft.parameter(
            NETWORK,
            "AllowedCidr",
            "May mount",
            "Addresses that may mount, in an existing VPC. The security group lets in its members only.",
            **allowed_ranges(),
        )
    draft.parameter(
        NETWORK,
        "LoginCidr",
        "May log in by ssh",
        "Addresses from which ssh to the login host, or without one to the other hosts, is open. Empty: none.",
        **pattern(f"^(|{CIDR_PATTERN})$", "must be a range of addresses such as 192.0.2.7/32, or empty", Default=""),
    )
    draft.parameter(
        NETWORK,
        "AssignPublicAddress",
        "Public addresses",
        "Whether the login host, or without one the clients, get public addresses. In an existing subnet all hosts "
        "do, to reach packages; servers whose addresses are fixed take elastic ones, of which a region has 5 at first.",
        Default="no",
        **YES_NO,
    )
    draft.parameter(
        NETWORK,
        "ProxyUrl",
        "Proxy",
        "HTTP proxy of an existing network for packages, such as http://proxy.example.org:80. Hosts reach the ports 80 "
        "and 443 outside; for another one, give a SecurityGroupId that lets it out. Empty: none.",
        **pattern(PROXY_PATTERN, "must be an address such as http://10.0.0.9:80, or empty", Default=""),
    )
    draft.conditions |= {
        "HasLoginCidr": differs(ref("LoginCidr"), ""),
        "UsePublicAddress": equals(ref("AssignPublicAddress"), "yes"),
    }


def add_host_parameters(draft: Draft, plan: StackPlan) -> None:
    """Add image, user and key of all hosts, and which clients there are."""
    draft.parameter(
        HOSTS,
        "ImageId",
        "Image",
        f"Parameter of the Systems Manager that has the id of the image, for {plan.architecture}, with the root device "
        f"{ROOT_DEVICE}. Images of Ubuntu have another one: hosts would get a second disk, which they may take for "
        "data. An update of the stack after a new image has come out would replace all hosts, with the data on them.",
        Type="AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
        Default=plan.image.parameter,
    )
    draft.parameter(
        HOSTS,
        "LoginUser",
        "User of the image",
        "User who logs in by ssh, who may become root.",
        **pattern("^[a-z_][a-z0-9_-]{0,31}$", "must be a name of a Linux user", Default=plan.image.user),
    )
    draft.parameter(
        HOSTS,
        "KeyName",
        "Key pair",
        "Existing EC2 key pair of that user. Empty: no one can log in.",
        **pattern("^[A-Za-z0-9 _.@+-]{0,255}$", "must be the name of a key pair, or empty", Default=""),
    )
    draft.conditions["HasKeyName"] = differs(ref("KeyName"), "")
    for group in plan.groups:
        about = f"Instance type of each {group.role} host."
        listed = {
            "AllowedValues": list(group.choices),
            "Default": group.instance,
            "ConstraintDescription": "must be one of the listed types, whose disks and processors fit this template",
        }
        kinds = listed if group.choices else _instance_type(group.instance, plan)
        draft.parameter(HOSTS, f"{group.title}InstanceType", f"Type of {group.role} hosts", about, **kinds)
    if plan.client_script:
        _add_client_parameters(draft, plan)
    if plan.login_instance:
        draft.parameter(
            HOSTS,
            "LoginInstanceType",
            "Type of the login host",
            "Instance type of the login host.",
            **_instance_type(plan.login_instance, plan),
        )


def _add_client_parameters(draft: Draft, plan: StackPlan) -> None:
    draft.parameter(
        HOSTS,
        "ClientCount",
        "Clients",
        "Number of client hosts. An update of the stack cannot change it.",
        **whole_number(plan.client_count, 0, MAX_SIGNALS, f"must be a whole number from 0 to {MAX_SIGNALS}"),
    )
    draft.parameter(
        HOSTS,
        "ClientInstanceType",
        "Type of clients",
        "Instance type of each client host.",
        **_instance_type(plan.client_instance, plan),
    )
    draft.parameter(
        HOSTS,
        "Mpi",
        "MPI",
        "MPI that is installed on clients and the login host.",
        Default="openmpi",
        AllowedValues=["none", "openmpi", "mpich"],
    )
    draft.conditions["HasClients"] = differs(ref("ClientCount"), 0)


def _instance_type(default: str, plan: StackPlan) -> dict[str, Any]:
    """Return the properties of a parameter that is an instance type whose processors can start the image."""
    sign = "=" if plan.architecture == "arm64" else "!"
    words = f"must be an instance type of {plan.architecture}, such as {default}, because all hosts have one image"
    return pattern(f"^(?{sign}{ARM_TYPE})[a-z][a-z0-9-]*[.][a-z0-9-]+$", words, Default=default)


def add_price_parameters(draft: Draft, plan: StackPlan) -> None:
    """Add placement group and spot prices."""
    draft.parameter(
        PRICE,
        "UsePlacementGroup",
        "Placement group",
        "Whether all hosts are placed near one another, in a cluster placement group of the stack.",
        Default="yes",
        **YES_NO,
    )
    draft.parameter(
        PRICE,
        "PlacementGroupName",
        "Existing placement group",
        "Existing placement group that the hosts join instead. Empty: none.",
        **pattern("^[A-Za-z0-9 _.-]{0,255}$", "must be the name of a placement group, or empty", Default=""),
    )
    draft.conditions |= {
        "HasPlacementGroupName": differs(ref("PlacementGroupName"), ""),
        "CreatePlacementGroup": {
            "Fn::And": [equals(ref("UsePlacementGroup"), "yes"), equals(ref("PlacementGroupName"), "")]
        },
        "UsePlacement": {"Fn::Or": [{"Condition": "CreatePlacementGroup"}, {"Condition": "HasPlacementGroupName"}]},
    }
    if plan.client_script:
        _add_spot_price(draft, "SpotMaxPrice", "UseSpot", "clients")
    if plan.group("storage"):
        _add_spot_price(
            draft, "StorageSpotMaxPrice", "UseStorageSpot", "storage hosts, which lose their data when interrupted"
        )


def _add_spot_price(draft: Draft, name: str, condition: str, hosts: str) -> None:
    draft.parameter(
        PRICE,
        name,
        f"Spot price of {hosts.split(',')[0]}",
        f"Highest price in USD an hour for {hosts}, as spot instances. Empty: on demand. "
        "If there are none at that price, no other hosts are started in their place.",
        **pattern(
            r"^(|(?=.*[1-9])[0-9]{1,3}([.][0-9]{1,5})?)$", "must be a price above 0 such as 0.25, or empty", Default=""
        ),
    )
    draft.conditions[condition] = differs(ref(name), "")


def add_budget(draft: Draft, unique: Any, owner_tags: list[dict[str, Any]]) -> None:
    """Add a budget that writes an e-mail, if an amount is given."""
    draft.parameter(
        BUDGET,
        "BudgetAmount",
        "Budget in USD",
        "USD a month at 80 % of which an e-mail is sent. AWS counts costs by the tag assay:stack, which must be active "
        "as a cost allocation tag, and is some hours late. 0: no budget.",
        **whole_number(0, 0, 10_000_000, "must be USD a month, or 0"),
    )
    draft.parameter(
        BUDGET,
        EMAIL,
        "E-mail address",
        "E-mail address to which the budget writes, and AWS if the deletion of the stack fails. For the latter, "
        "confirm the subscription that AWS sends to it when the stack is made. Empty: no e-mails.",
        **pattern("^(|[^@ ]+@[^@ ]+[.][^@ ]+)$", "must be an e-mail address, or empty", Default=""),
    )
    draft.conditions |= {"HasBudget": differs(ref("BudgetAmount"), 0), HAS_EMAIL: differs(ref(EMAIL), "")}
    draft.rules["BudgetHasReader"] = {
        "RuleCondition": differs(ref("BudgetAmount"), 0),
        "Assertions": [{"Assert": differs(ref(EMAIL), ""), "AssertDescription": f"BudgetAmount needs {EMAIL}"}],
    }
    notification = {
        "Notification": {
            "NotificationType": "ACTUAL",
            "ComparisonOperator": "GREATER_THAN",
            "ThresholdType": "PERCENTAGE",
            "Threshold": 80,
        },
        "Subscribers": [{"SubscriptionType": "EMAIL", "Address": ref(EMAIL)}],
    }
    draft.resource(
        "Budget",
        "AWS::Budgets::Budget",
        {
            "Budget": {
                "BudgetName": unique,
                "BudgetType": "COST",
                "TimeUnit": "MONTHLY",
                "BudgetLimit": {"Amount": ref("BudgetAmount"), "Unit": "USD"},
                "CostFilters": {"TagKeyValue": [{"Fn::Sub": "user:assay:stack$${AWS::StackName}"}]},
            },
            "NotificationsWithSubscribers": [notification],
            "ResourceTags": owner_tags,
        },
        condition="HasBudget",
    )
