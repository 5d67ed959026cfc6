"""How a stack deletes itself at its expiry, whatever has become of the client that made it.

A schedule calls DeleteStack at the expiry, and another one each hour after it, because a deletion can fail half-way.
The role of the schedules has the rights to delete what is in the stack, each bound to the stack's tag or names, and
CloudFormation uses them: without `RoleARN` a deletion has the rights of its caller. A service role (`RoleARN`) would be
no better: it would be part of the stack, too, and a stack whose service role is gone can be deleted only with a
further role, while this one can be deleted by all who have the rights. Everything else depends on the
schedules, so that they are made first and deleted last.
"""

from collections.abc import Iterator
from typing import Any

from assay.rooms.deploy.work.templates.draft import Draft
from assay.rooms.deploy.work.templates.failure_mail import MAIL, add_failure_mail
from assay.rooms.deploy.work.templates.functions import STACK_NAME, attribute, ref, references, sub
from assay.rooms.deploy.work.templates.rights import UNIQUE, add_role, allow, own_arn, unique_name

ROLE, SCHEDULE, RETRY = "EndRole", "EndSchedule", "EndRetrySchedule"
ENDING = (ROLE, *MAIL, SCHEDULE, RETRY)
"""What is deleted last, and costs nothing."""
_RIGHTS = {
    "AWS::EC2::VPC": "ec2:DeleteVpc ec2:DescribeVpcs",
    "AWS::EC2::Subnet": "ec2:DeleteSubnet ec2:DescribeSubnets",
    "AWS::EC2::InternetGateway": "ec2:DeleteInternetGateway ec2:DescribeInternetGateways",
    "AWS::EC2::VPCGatewayAttachment": "ec2:DetachInternetGateway ec2:DescribeInternetGateways ec2:DescribeVpnGateways",
    "AWS::EC2::RouteTable": "ec2:DeleteRouteTable ec2:DescribeRouteTables",
    "AWS::EC2::Route": "ec2:DeleteRoute ec2:DescribeRouteTables",
    "AWS::EC2::SubnetRouteTableAssociation": "ec2:DisassociateRouteTable ec2:DescribeRouteTables ec2:DescribeSubnets",
    "AWS::EC2::EIP": "ec2:ReleaseAddress ec2:DisassociateAddress ec2:DescribeAddresses",
    "AWS::EC2::EIPAssociation": "ec2:DisassociateAddress ec2:DescribeAddresses",
    "AWS::EC2::NatGateway": "ec2:DeleteNatGateway ec2:DescribeNatGateways",
    "AWS::EC2::VPCEndpoint": (
        "ec2:DeleteVpcEndpoints ec2:DescribeVpcEndpoints ec2:DescribeSecurityGroups ec2:DescribeSubnets "
        "ec2:DescribeVpcs"
    ),
    "AWS::EC2::SecurityGroup": "ec2:DeleteSecurityGroup ec2:DescribeSecurityGroups ec2:DescribeInstances",
    "AWS::EC2::SecurityGroupIngress": "ec2:RevokeSecurityGroupIngress ec2:DescribeSecurityGroupRules",
    "AWS::EC2::SecurityGroupEgress": "ec2:RevokeSecurityGroupEgress ec2:DescribeSecurityGroupRules",
    "AWS::EC2::NetworkInterface": "ec2:DeleteNetworkInterface ec2:DescribeNetworkInterfaces",
    "AWS::EC2::Instance": (
        "ec2:TerminateInstances ec2:DescribeInstances ec2:DescribeInstanceAttribute ec2:DescribeNetworkInterfaces "
        "ec2:DescribeInstanceCreditSpecifications ec2:DescribeVolumes ec2:DescribeLaunchTemplates "
        "ssm:DescribeAssociation ssm:ListAssociations"
    ),
    "AWS::EC2::LaunchTemplate": "ec2:DeleteLaunchTemplate ec2:DescribeLaunchTemplates ec2:DeleteTags",
    "AWS::EC2::PlacementGroup": "ec2:DeletePlacementGroup ec2:DescribePlacementGroups",
    "AWS::AutoScaling::AutoScalingGroup": (
        "autoscaling:DeleteAutoScalingGroup autoscaling:UpdateAutoScalingGroup autoscaling:Describe*"
    ),
    "AWS::IAM::Role": (
        "iam:DeleteRole iam:DeleteRolePolicy iam:DetachRolePolicy iam:GetRole iam:ListAttachedRolePolicies "
        "iam:ListRolePolicies iam:ListInstanceProfilesForRole iam:UntagRole"
    ),
    "AWS::IAM::RolePolicy": "iam:DeleteRolePolicy iam:GetRolePolicy",
    "AWS::IAM::InstanceProfile": ("iam:DeleteInstanceProfile iam:GetInstanceProfile iam:RemoveRoleFromInstanceProfile"),
    "AWS::Scheduler::Schedule": "scheduler:DeleteSchedule scheduler:GetSchedule",
    "AWS::SNS::Topic": "sns:DeleteTopic sns:GetTopicAttributes",
    "AWS::SNS::TopicPolicy": "sns:SetTopicAttributes",
    "AWS::Events::Rule": "events:DeleteRule events:DescribeRule events:ListTargetsByRule events:RemoveTargets",
    "AWS::Budgets::Budget": "budgets:ModifyBudget budgets:ViewBudget",
    "AWS::DLM::LifecyclePolicy": "dlm:DeleteLifecyclePolicy dlm:GetLifecyclePolicy",
    "AWS::EFS::FileSystem": (
        "elasticfilesystem:DeleteFileSystem elasticfilesystem:DescribeFileSystems "
        "elasticfilesystem:DescribeReplicationConfigurations"
    ),
    "AWS::EFS::MountTarget": "elasticfilesystem:DeleteMountTarget elasticfilesystem:DescribeMountTargets",
    "AWS::FSx::FileSystem": "fsx:DeleteFileSystem fsx:DescribeFileSystems",
    "AWS::FSx::StorageVirtualMachine": "fsx:DeleteStorageVirtualMachine fsx:DescribeStorageVirtualMachines",
    "AWS::FSx::Volume": "fsx:DeleteVolume fsx:DescribeVolumes fsx:DescribeStorageVirtualMachines",
    "AWS::S3::Bucket": "s3:DeleteBucket s3:ListBucket",
    "AWS::S3::BucketPolicy": "s3:DeleteBucketPolicy s3:GetBucketPolicy",
    "AWS::DynamoDB::Table": "dynamodb:DeleteTable dynamodb:DescribeTable",
    "AWS::CloudFormation::WaitConditionHandle": "",
    "AWS::CloudFormation::WaitCondition": "",
}
"""Type of resource -> actions that its deletion needs.

Source: handlers of the types' schemas, docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference; those of FSx
file systems, which publish none, as of their API.
"""

_NAMES = {
    "iam": (
        "iam::${AWS::AccountId}:role/assay/${AWS::Region}/${AWS::StackName}/*",
        "iam::${AWS::AccountId}:instance-profile/assay/${AWS::Region}/${AWS::StackName}/*",
    ),
    "scheduler": ("scheduler:${AWS::Region}:${AWS::AccountId}:schedule/default/assay-",),
    "sns": ("sns:${AWS::Region}:${AWS::AccountId}:assay-",),
    "events": ("events:${AWS::Region}:${AWS::AccountId}:rule/assay-",),
    "budgets": ("budgets::${AWS::AccountId}:budget/assay-",),
    "s3": ("s3:::assay-",),
    "dynamodb": ("dynamodb:${AWS::Region}:${AWS::AccountId}:table/assay-",),
}
"""Service -> names to which its rights are bound, without `arn:PARTITION:`; what ends in `-` is of `unique_name`."""


def add_ending(draft: Draft) -> None:
    """Add the role, the mail and the schedules, in front of all other resources, which come to depend on them."""
    others, draft.resources = draft.resources, {}
    after_mail = add_failure_mail(draft, ROLE)
    mail, draft.resources = draft.resources, {}
    kinds = {body["Type"] for body in (*others.values(), *mail.values())}
    about = "Lets the schedules of the stack delete the stack and what is in it"
    source = sub("arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule-group/default")
    rights = [*_statements(kinds | {"AWS::IAM::Role", "AWS::Scheduler::Schedule"})]
    add_role(draft, ROLE, about, "scheduler", "end", rights, source)
    draft.resources |= mail
    at_expiry = {"ScheduleExpression": sub("at(${ExpiryTime})")}
    each_hour = {"ScheduleExpression": "rate(60 minutes)", "StartDate": sub("${ExpiryTime}Z")}
    _add_schedule(draft, SCHEDULE, "end", "Deletes the stack at its expiry", at_expiry, **after_mail)
    words = "Deletes the stack again each hour after its expiry, if the deletion has failed"
    _add_schedule(draft, RETRY, "end-retry", words, each_hour, DependsOn=SCHEDULE)
    draft.resources |= _anchored(others)


def _add_schedule(
    draft: Draft, name: str, word: str, about: str, expression: dict[str, Any], **attributes: Any
) -> None:
    target = {
        "Arn": sub("arn:${AWS::Partition}:scheduler:::aws-sdk:cloudformation:deleteStack"),
        "RoleArn": attribute(ROLE, "Arn"),
        "Input": sub('{"StackName": "${AWS::StackId}"}'),
        "RetryPolicy": {"MaximumEventAgeInSeconds": 86400, "MaximumRetryAttempts": 185},
    }
    properties = {
        "Name": unique_name(word),
        "Description": about,
        **expression,
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "State": "ENABLED",
        "Target": target,
    }
    draft.resource(name, "AWS::Scheduler::Schedule", properties, **attributes)


def _statements(kinds: set[str]) -> Iterator[dict[str, Any]]:
    """Yield rights to the stack, to look at what is in it, and to delete that: by its names, else by its tag."""
    yield allow("DeleteStack", ["cloudformation:DeleteStack"], ref("AWS::StackId"))
    actions = sorted({action for kind in kinds for action in _RIGHTS[kind].split()})
    by_service = {
        service: [action for action in actions if action.startswith(f"{service}:")]
        for service in dict.fromkeys(action.partition(":")[0] for action in actions)
    }
    for service in [each for each in by_service if each in _NAMES]:
        names = [_resource_name(each) for each in _NAMES[service]]
        yield allow(f"Own{service.capitalize()}", by_service.pop(service), names)
    others = [action for each in by_service.values() for action in each]
    yield allow("Look", [action for action in others if is_reading(action)], "*")
    bound = {"StringEquals": {"aws:ResourceTag/assay:stack": STACK_NAME, "aws:RequestedRegion": ref("AWS::Region")}}
    tagged = [action for action in others if not is_reading(action)]
    # EC2 asks for the right to the group, which has the tag, and to its rules, which have none.
    revoking = [action for action in tagged if action.startswith("ec2:RevokeSecurityGroup")]
    if revoking:
        yield allow("RevokeRules", revoking, own_arn("security-group-rule/*"))
    yield allow("DeleteTagged", tagged, "*", bound)


def is_reading(action: str) -> bool:
    """Return whether an action changes nothing."""
    return action.partition(":")[2].startswith(("Describe", "Get", "List", "View"))


def _resource_name(name: str) -> dict[str, Any]:
    text = sub(f"arn:${{AWS::Partition}}:{name}")
    return {"Fn::Join": ["", [text, "*-", UNIQUE]]} if name.endswith("-") else text


def _anchored(resources: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the resources, each of which depends on the schedules whatever the conditions are."""
    anchored: set[str] = set()
    pending = dict(resources)
    while pending:
        found = {name for name, body in pending.items() if _reaches(body, anchored, resources)}
        if not found:
            # Nothing hangs on what is there: the first of the rest that depends on nothing else gets the dependency.
            first = next(name for name, body in pending.items() if not _depends_on(body, pending.keys() - {name}))
            resources[first] = pending[first] = _with_dependency(pending[first])
            found = {first}
        anchored |= found
        pending = {name: body for name, body in pending.items() if name not in found}
    return resources


def _with_dependency(body: dict[str, Any]) -> dict[str, Any]:
    after = body.get("DependsOn", [])
    names = [RETRY, *([after] if isinstance(after, str) else after)]
    dependency = {"DependsOn": names[0] if len(names) == 1 else names}
    first: dict[str, Any] = {key: value for key, value in body.items() if key in ("Type", "Condition")}
    last = {key: value for key, value in body.items() if key not in ("Type", "Condition", "DependsOn")}
    return {**first, **dependency, **last}


def _dependencies(body: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    after = body.get("DependsOn", [])
    yield from ((name, None) for name in ([after] if isinstance(after, str) else after))
    yield from references([body.get("Properties", {}), body.get("Metadata", {})])


def _depends_on(body: dict[str, Any], names: Any) -> bool:
    return any(name in names for name, _ in _dependencies(body))


def _reaches(body: dict[str, Any], anchored: set[str], resources: dict[str, dict[str, Any]]) -> bool:
    """Return whether a resource depends on an anchored one that exists whenever it does."""
    own = body.get("Condition")
    return any(
        name in anchored and condition in (None, own) and resources[name].get("Condition") in (None, own)
        for name, condition in _dependencies(body)
    )
