"""Present practice in templates, one small check each; each fails when the practice is taken out of a template."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from stack_templates import NAMES, Values, launch_data, resources, template

from assay.rooms.deploy.work.templates.draft import STATEFUL

Document = dict[str, Any]
Check = Callable[[Document], Iterator[str]]
Harm = Callable[[Document], Any]
LASTING_TAGS = {"assay:stack", "assay:run", "assay:owner"}
OWN_TAGS = {*LASTING_TAGS, "assay:expires"}
TAG_PROPERTIES = {"AWS::EFS::FileSystem": "FileSystemTags", "AWS::Budgets::Budget": "ResourceTags"}
UNTAGGED = {
    *("AWS::EC2::VPCGatewayAttachment", "AWS::EC2::Route", "AWS::EC2::SubnetRouteTableAssociation"),
    *("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress", "AWS::IAM::InstanceProfile"),
    *("AWS::EC2::EIPAssociation", "AWS::IAM::RolePolicy"),
    *(
        "AWS::SNS::TopicPolicy",
        "AWS::Scheduler::Schedule",
        "AWS::EFS::MountTarget",
        "AWS::S3::BucketPolicy",
        "AWS::EC2::LaunchTemplate",
    ),
    *("AWS::CloudFormation::WaitCondition", "AWS::CloudFormation::WaitConditionHandle"),
}
"""Types that take no tags; launch templates take them as a specification."""
LASTING = {"AWS::EC2::PlacementGroup"}
"""Types that an update replaces if a tag differs."""
PUBLISHING = {"Principal": {"Service": "events.amazonaws.com"}, "Action": "sns:Publish"}
ANYWHERE = {"0.0.0.0/0", "::/0"}
SECTIONS = (
    *("AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Rules", "Mappings", "Conditions"),
    *("Resources", "Outputs"),
)


def _disks(document: Document) -> Iterator[tuple[str, Any]]:
    for name, data in launch_data(document).items():
        yield from ((name, disk["Ebs"]) for disk in data["BlockDeviceMappings"] if "Ebs" in disk)


def imdsv2(document: Document) -> Iterator[str]:
    for name, data in launch_data(document).items():
        options = data.get("MetadataOptions", {})
        if options.get("HttpTokens") != "required" or options.get("HttpPutResponseHopLimit") != 1:
            yield name


def volumes_are_encrypted(document: Document) -> Iterator[str]:
    yield from (name for name, ebs in _disks(document) if ebs.get("Encrypted") is not True)


def volumes_say_what_becomes_of_them(document: Document) -> Iterator[str]:
    yield from (name for name, ebs in _disks(document) if "DeleteOnTermination" not in ebs)


def gp3_is_explicit(document: Document) -> Iterator[str]:
    for name, ebs in _disks(document):
        if ebs["VolumeType"] != "st1" and not {"Iops", "Throughput"} <= ebs.keys():
            yield name


def hosts_have_launch_templates(document: Document) -> Iterator[str]:
    for kind in ("AWS::EC2::Instance", "AWS::AutoScaling::AutoScalingGroup"):
        for name, body in resources(document, kind).items():
            version = body.get("LaunchTemplate", {}).get("Version", {})
            if version.get("Fn::GetAtt", ["", ""])[1] != "LatestVersionNumber":
                yield name


def nothing_is_public_unless_asked_for(document: Document) -> Iterator[str]:
    interfaces = [data.get("NetworkInterfaces", []) for data in launch_data(document).values()]
    interfaces += [body["NetworkInterfaces"] for body in resources(document, "AWS::EC2::Instance").values()]
    for interface in (each for found in interfaces for each in found):
        is_public = interface.get("AssociatePublicIpAddress", "NetworkInterfaceId" not in interface)
        if is_public is True or (isinstance(is_public, dict) and "UsePublicAddress" not in str(is_public)):
            yield str(interface)
    addresses = [name for name, body in document["Resources"].items() if body["Type"] == "AWS::EC2::EIP"]
    conditions = {"NatAddress": "CreateNetwork"}
    for name in addresses:
        if document["Resources"][name].get("Condition") != conditions.get(name, "AddressServers"):
            yield name
    yield from (name for name, body in resources(document, "AWS::EC2::Subnet").items() if body["MapPublicIpOnLaunch"])
    asked = document["Parameters"].get("AssignPublicAddress", {"Default": "no"})
    yield from ["AssignPublicAddress"] if asked["Default"] != "no" else []


def groups_are_closed_to_the_outside(document: Document) -> Iterator[str]:
    rules = [*resources(document, "AWS::EC2::SecurityGroupIngress").values()]
    for body in resources(document, "AWS::EC2::SecurityGroup").values():
        rules += body.get("SecurityGroupIngress", [])
    for rule in rules:
        source = rule.get("CidrIp", rule.get("SourceSecurityGroupId"))
        if source in ({"Ref": "LoginCidr"}, {"Fn::GetAtt": ["ClusterSecurityGroup", "GroupId"]}):
            continue
        yield str(rule)
    yield from ["LoginCidr"] if document["Parameters"].get("LoginCidr", {"Default": ""})["Default"] in ANYWHERE else []


def groups_let_out_what_is_needed(document: Document) -> Iterator[str]:
    for name, body in resources(document, "AWS::EC2::SecurityGroup").items():
        for rule in body.get("SecurityGroupEgress", [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}]):
            if rule["IpProtocol"] == "-1" and rule["CidrIp"] in ANYWHERE:
                yield name


def hosts_reach_names_and_packages(document: Document) -> Iterator[str]:
    for body in resources(document, "AWS::EC2::SecurityGroup").values():
        rules = body["SecurityGroupEgress"]
        opened = {(rule["IpProtocol"], rule.get("FromPort")) for rule in rules if rule["CidrIp"] in ANYWHERE}
        if opened and opened != {("tcp", 443), ("tcp", 80), ("udp", 53), ("tcp", 53)}:
            yield str(opened)


def rules_are_described(document: Document) -> Iterator[str]:
    for name, body in document["Resources"].items():
        if body["Type"].startswith("AWS::EC2::SecurityGroup"):
            found = body["Properties"]
            rules = [found] if "GroupId" in found else found.get("SecurityGroupIngress", [])
            yield from (name for rule in [*rules, *found.get("SecurityGroupEgress", [])] if not rule.get("Description"))


def image_is_a_parameter(document: Document) -> Iterator[str]:
    if document["Parameters"]["ImageId"]["Type"] != "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>":
        yield "ImageId"
    yield from re.findall(r"ami-[0-9a-f]{8,}", str(document))


def rights_are_few(document: Document) -> Iterator[str]:
    for name, body in resources(document, "AWS::IAM::Role").items():
        for policy in body.get("Policies", []):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                yield from (f"{name}: {each}" for each in actions if each == "*" or each.endswith(":*"))
                changes = [each for each in actions if not re.match(r"[a-z0-9]+:(Describe|Get|List|View)", each)]
                if statement["Resource"] == "*" and changes and "Condition" not in statement:
                    yield f"{name}: {statement['Sid']}"


def services_cannot_be_used_by_others(document: Document) -> Iterator[str]:
    for name, body in resources(document, "AWS::IAM::Role").items():
        for statement in body["AssumeRolePolicyDocument"]["Statement"]:
            # Instances of others cannot have the hosts' role without the right to pass it.
            is_of_hosts = statement["Principal"]["Service"] == "ec2.amazonaws.com"
            if not is_of_hosts and statement.get("Condition", {}).keys() != {"StringEquals", "ArnLike"}:
                yield name


def roles_take_a_boundary(document: Document) -> Iterator[str]:
    given = {"Fn::If": ["HasPermissionsBoundary", {"Ref": "PermissionsBoundary"}, {"Ref": "AWS::NoValue"}]}
    for name, body in resources(document, "AWS::IAM::Role").items():
        if body.get("PermissionsBoundary") != given:
            yield name


def topics_take_events_only(document: Document) -> Iterator[str]:
    topics = resources(document, "AWS::SNS::Topic")
    policies = resources(document, "AWS::SNS::TopicPolicy").values()
    if {topic["Ref"] for body in policies for topic in body["Topics"]} != topics.keys():
        yield "a topic has no policy"
    for body in policies:
        for statement in body["PolicyDocument"]["Statement"]:
            # With a condition, which EventBridge does not support there, no mail would come.
            if statement != {**statement, **PUBLISHING} or "Condition" in statement:
                yield statement["Sid"]


def names_need_no_further_capability(document: Document) -> Iterator[str]:
    named = {"AWS::IAM::Role": "RoleName", "AWS::IAM::InstanceProfile": "InstanceProfileName"}
    yield from (name for kind, key in named.items() for name, body in resources(document, kind).items() if key in body)


def everything_is_tagged(document: Document) -> Iterator[str]:
    for name, body in document["Resources"].items():
        if body["Type"] in UNTAGGED:
            continue
        found = body.get("Properties", {}).get(TAG_PROPERTIES.get(body["Type"], "Tags"), [])
        if not {tag["Key"] for tag in found} >= (LASTING_TAGS if body["Type"] in LASTING else OWN_TAGS):
            yield name
    for name, data in launch_data(document).items():
        tagged = {each["ResourceType"]: {tag["Key"] for tag in each["Tags"]} for each in data["TagSpecifications"]}
        yield from (
            f"{name}: {kind}" for kind in ("volume", "network-interface") if not tagged.get(kind, set()) > LASTING_TAGS
        )
    for name, body in resources(document, "AWS::EC2::LaunchTemplate").items():
        if not {tag["Key"] for each in body.get("TagSpecifications", []) for tag in each["Tags"]} >= LASTING_TAGS:
            yield name


def a_later_end_replaces_nothing(document: Document) -> Iterator[str]:
    lasting = [*resources(document, "AWS::EC2::LaunchTemplate").items()]
    lasting += [*resources(document, "AWS::EC2::PlacementGroup").items()]
    ends = [Values(document, ExpiryTime=time) for time in ("2026-12-31T18:00:00", "2027-01-01T06:00:00")]
    yield from (name for name, body in lasting if ends[0](body) != ends[1](body))


def groups_tag_their_hosts(document: Document) -> Iterator[str]:
    for name, body in resources(document, "AWS::AutoScaling::AutoScalingGroup").items():
        yield from (name for tag in body["Tags"] if tag.get("PropagateAtLaunch") is not True)
        yield from [] if any(tag["Key"] == "assay:role" for tag in body["Tags"]) else [name]


def deletion_is_stated(document: Document) -> Iterator[str]:
    for name, body in document["Resources"].items():
        if body["Type"] in STATEFUL and not {"DeletionPolicy", "UpdateReplacePolicy"} <= body.keys():
            yield name


def stack_ends_by_itself(document: Document) -> Iterator[str]:
    schedules = resources(document, "AWS::Scheduler::Schedule").values()
    if not any(each["ScheduleExpression"] == {"Fn::Sub": "at(${ExpiryTime})"} for each in schedules):
        yield "no schedule at the expiry"
    for each in schedules:
        if not str(each["Target"]["Arn"]).endswith(":aws-sdk:cloudformation:deleteStack'}"):
            yield "a schedule does something else"
        if "AWS::StackId" not in str(each["Target"]["Input"]):
            yield "a schedule deletes something else"


def failed_end_is_tried_again(document: Document) -> Iterator[str]:
    schedules = resources(document, "AWS::Scheduler::Schedule").values()
    if not any(str(each["ScheduleExpression"]).startswith("rate(") and "StartDate" in each for each in schedules):
        yield "nothing tries again"


def parameters_are_explained(document: Document) -> Iterator[str]:
    for name, body in document["Parameters"].items():
        is_free = body["Type"] in ("String", "Number") and "AllowedValues" not in body
        if not body["Description"] or (is_free and not body.get("ConstraintDescription")):
            yield name
        if is_free and body["Type"] == "String" and "AllowedPattern" not in body:
            yield name
        if is_free and body["Type"] == "Number" and not {"MinValue", "MaxValue"} <= body.keys():
            yield name


def parameters_are_grouped(document: Document) -> Iterator[str]:
    interface = document["Metadata"]["AWS::CloudFormation::Interface"]
    grouped = [name for group in interface["ParameterGroups"] for name in group["Parameters"]]
    if grouped != [*document["Parameters"]] or interface["ParameterLabels"].keys() != document["Parameters"].keys():
        yield "groups, labels and parameters differ"


def sections_are_in_order(document: Document) -> Iterator[str]:
    if [*document] != [name for name in SECTIONS if name in document]:
        yield str([*document])
    if len(document["Description"].encode()) > 1024:
        yield "Description"


def spot_and_placement_can_be_left_out(document: Document) -> Iterator[str]:
    for name, data in launch_data(document).items():
        for key in ("InstanceMarketOptions", "Placement"):
            if key in data and data[key]["Fn::If"][2] != {"Ref": "AWS::NoValue"}:
                yield f"{name}: {key}"


def hosts_are_waited_for(document: Document) -> Iterator[str]:
    waiting = {
        str(body["Handle"]["Ref"]) for body in resources(document, "AWS::CloudFormation::WaitCondition").values()
    }
    for name, data in launch_data(document).items():
        signals = re.findall(r"SIGNAL_URL=\$\{(\w+)\}", str(data["UserData"]))
        if len(signals) != 1 or signals[0] not in waiting:
            yield name


def names_are_those_of_any_region(document: Document) -> Iterator[str]:
    yield from re.findall(r"\b(?:eu|us|ap)-[a-z]+-[0-9][a-z]?\b(?!b?, or)|arn:aws:", str(document["Resources"]))


def outputs_are_described(document: Document) -> Iterator[str]:
    yield from (name for name, body in document["Outputs"].items() if not body.get("Description"))


def services_are_encrypted(document: Document) -> Iterator[str]:
    yield from (name for name, body in resources(document, "AWS::EFS::FileSystem").items() if not body.get("Encrypted"))
    for name, body in resources(document, "AWS::S3::Bucket").items():
        if "BucketEncryption" not in body:
            yield name


def buckets_are_closed(document: Document) -> Iterator[str]:
    for name, body in resources(document, "AWS::S3::Bucket").items():
        closed = body.get("PublicAccessBlockConfiguration", {})
        if len(closed) != 4 or not all(closed.values()):
            yield name
        if not any(
            policy["Bucket"] == {"Ref": name} for policy in resources(document, "AWS::S3::BucketPolicy").values()
        ):
            yield f"{name}: its policy"


def network_has_gateway_endpoints(document: Document) -> Iterator[str]:
    found = resources(document, "AWS::EC2::VPCEndpoint").values()
    services = {str(each["ServiceName"]["Fn::Sub"]).rpartition(".")[2] for each in found}
    if resources(document, "AWS::EC2::VPC") and services != {"s3", "dynamodb"}:
        yield str(services)


def hosts_have_a_route_before_they_begin(document: Document) -> Iterator[str]:
    if not resources(document, "AWS::EC2::VPC"):
        return
    for name, body in document["Resources"].items():
        is_handle = body["Type"].endswith("::WaitConditionHandle")
        if is_handle and "PrivateDefaultRoute" not in str(body.get("Metadata")):
            yield name


def mails_have_a_condition(document: Document) -> Iterator[str]:
    conditions = {"AWS::Budgets::Budget": "HasBudget", "AWS::SNS::Topic": "HasBudgetEmail"}
    conditions |= {"AWS::SNS::TopicPolicy": "HasBudgetEmail", "AWS::Events::Rule": "HasBudgetEmail"}
    for name, body in document["Resources"].items():
        if body.get("Condition") != conditions.get(body["Type"], body.get("Condition")):
            yield name


def optional_parts_are_asked_for(document: Document) -> Iterator[str]:
    defaults = {"BudgetAmount": 0, "SnapshotHours": 0}
    defaults |= dict.fromkeys(
        ("SpotMaxPrice", "StorageSpotMaxPrice", "LoginCidr", "BudgetEmail", "PermissionsBoundary"), ""
    )
    parameters = document["Parameters"]
    yield from (name for name, value in defaults.items() if name in parameters and parameters[name]["Default"] != value)


class Practice(NamedTuple):
    """A check, and what breaks the practice in the template of a design."""

    check: Check
    harm: Harm
    design: str = "nfs-gp3"


def _data(document: Document) -> Any:
    return document["Resources"]["StorageLaunchTemplate"]["Properties"]["LaunchTemplateData"]


def _of(document: Document, name: str) -> Any:
    return document["Resources"][name]["Properties"]


PRACTICES = (
    Practice(imdsv2, lambda d: _data(d)["MetadataOptions"].update(HttpTokens="optional")),
    Practice(volumes_are_encrypted, lambda d: _data(d)["BlockDeviceMappings"][1]["Ebs"].pop("Encrypted")),
    Practice(
        volumes_say_what_becomes_of_them,
        lambda d: _data(d)["BlockDeviceMappings"][0]["Ebs"].pop("DeleteOnTermination"),
    ),
    Practice(gp3_is_explicit, lambda d: _data(d)["BlockDeviceMappings"][1]["Ebs"].pop("Iops")),
    Practice(hosts_have_launch_templates, lambda d: _of(d, "Storage1")["LaunchTemplate"].update(Version={})),
    Practice(
        nothing_is_public_unless_asked_for,
        lambda d: _of(d, "Storage1")["NetworkInterfaces"][0].update(AssociatePublicIpAddress=True),
    ),
    Practice(
        groups_are_closed_to_the_outside,
        lambda d: _of(d, "LoginSecurityGroup")["SecurityGroupIngress"][0].update(CidrIp="0.0.0.0/0"),
    ),
    Practice(groups_let_out_what_is_needed, lambda d: _of(d, "LoginSecurityGroup").pop("SecurityGroupEgress")),
    Practice(hosts_reach_names_and_packages, lambda d: _of(d, "ClusterSecurityGroup")["SecurityGroupEgress"].pop()),
    Practice(rules_are_described, lambda d: _of(d, "ClusterIngress").pop("Description")),
    Practice(image_is_a_parameter, lambda d: _of(d, "Storage1").update(ImageId="ami-0123456789abcdef0")),
    Practice(
        rights_are_few,
        lambda d: _of(d, "EndRole")["Policies"][0]["PolicyDocument"]["Statement"][-1].pop("Condition"),
    ),
    Practice(
        services_cannot_be_used_by_others,
        lambda d: _of(d, "SnapshotRole")["AssumeRolePolicyDocument"]["Statement"][0].pop("Condition"),
    ),
    Practice(names_need_no_further_capability, lambda d: _of(d, "HostRole").update(RoleName="assay")),
    Practice(everything_is_tagged, lambda d: _of(d, "Vpc")["Tags"].pop()),
    Practice(
        a_later_end_replaces_nothing,
        lambda d: _data(d)["TagSpecifications"][0]["Tags"].append({"Key": "end", "Value": {"Ref": "ExpiryTime"}}),
    ),
    Practice(groups_tag_their_hosts, lambda d: _of(d, "Clients")["Tags"][0].update(PropagateAtLaunch=False)),
    Practice(deletion_is_stated, lambda d: d["Resources"]["Bucket"].pop("DeletionPolicy"), "s3-tiered"),
    Practice(stack_ends_by_itself, lambda d: d["Resources"].pop("EndSchedule")),
    Practice(failed_end_is_tried_again, lambda d: d["Resources"].pop("EndRetrySchedule")),
    Practice(parameters_are_explained, lambda d: d["Parameters"]["Owner"].pop("ConstraintDescription")),
    Practice(
        parameters_are_grouped,
        lambda d: d["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"][0]["Parameters"].pop(),
    ),
    Practice(sections_are_in_order, lambda d: d.update(Metadata=d.pop("Metadata"))),
    Practice(
        spot_and_placement_can_be_left_out,
        lambda d: _data(d)["InstanceMarketOptions"]["Fn::If"].__setitem__(2, {}),
    ),
    Practice(hosts_are_waited_for, lambda d: d["Resources"].pop("ServersReady")),
    Practice(names_are_those_of_any_region, lambda d: _of(d, "Storage1").update(AvailabilityZone="eu-west-1a")),
    Practice(outputs_are_described, lambda d: d["Outputs"]["Mount"].pop("Description")),
    Practice(services_are_encrypted, lambda d: _of(d, "FileSystem").update(Encrypted=False), "efs-one-zone"),
    Practice(buckets_are_closed, lambda d: d["Resources"].pop("BucketPolicy"), "s3-tiered"),
    Practice(network_has_gateway_endpoints, lambda d: d["Resources"].pop("S3Endpoint")),
    Practice(hosts_have_a_route_before_they_begin, lambda d: d["Resources"]["ServersHandle"].pop("Metadata")),
    Practice(mails_have_a_condition, lambda d: d["Resources"]["EndTopic"].pop("Condition")),
    Practice(roles_take_a_boundary, lambda d: _of(d, "SnapshotRole").pop("PermissionsBoundary")),
    Practice(
        topics_take_events_only,
        lambda d: _of(d, "EndTopicPolicy")["PolicyDocument"]["Statement"][0].update(Principal="*"),
    ),
    Practice(optional_parts_are_asked_for, lambda d: d["Parameters"]["SnapshotHours"].update(Default=24)),
)


@pytest.mark.parametrize("practice", PRACTICES, ids=lambda each: each.check.__name__)
def test_practice_holds_and_is_missed(practice: Practice) -> None:
    for name in NAMES:
        assert [*practice.check(template(name))] == [], name
    harmed = copy.deepcopy(template(practice.design))
    practice.harm(harmed)
    assert [*practice.check(harmed)]
