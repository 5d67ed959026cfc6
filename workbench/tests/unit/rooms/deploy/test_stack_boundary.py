"""The permissions boundary of the guide: all that roles of stacks need, and no way round it for those who deploy."""

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from iam_rights import Context, allows
from paths import REPOSITORY
from stack_templates import NAMES, PAPER, SAMPLE, Values, resources, template

GUIDES = REPOSITORY / "docs" / "guides"
Statements = list[dict[str, Any]]
ACCOUNT = SAMPLE["AWS::AccountId"]
OWN: Context = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": ACCOUNT}
NOTHING: Context = {}
TAG = {"aws:ResourceTag/assay:stack": "nfs1"}
BOUNDED = {"iam:PermissionsBoundary": f"arn:aws:iam::{ACCOUNT}:policy/assay-boundary"}
UNBOUNDED = {"iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess"}
ROLE = f"arn:aws:iam::{ACCOUNT}:role/assay/eu-west-1/nfs1/nfs1-HostRole-1"
ADMIN = f"arn:aws:iam::{ACCOUNT}:role/admin"
PROFILE = f"arn:aws:iam::{ACCOUNT}:instance-profile/admin"
POLICY = BOUNDED["iam:PermissionsBoundary"]
STACK = SAMPLE["AWS::StackId"]
SCHEDULE = f"arn:aws:scheduler:eu-west-1:{ACCOUNT}:schedule/default/assay-end-1"
RULE = f"arn:aws:events:eu-west-1:{ACCOUNT}:rule/assay-end-failed-1"
BUCKET = "arn:aws:s3:::assay-data-1"


def statements(*names: str) -> Statements:
    """Those of policies of the guide."""
    return [each for name in names for each in json.loads((GUIDES / f"{name}.json").read_text())["Statement"]]


DEPLOY, BOUNDARY = ("deploy-policy", "deploy-policy-services"), ("deploy-boundary",)


def ec2(name: str) -> str:
    return f"arn:aws:ec2:eu-west-1:{ACCOUNT}:{name}"


def passed_to(service: str) -> dict[str, str]:
    return {"iam:PassedToService": f"{service}.amazonaws.com"}


# What would open a way: a condition that is gone, a wider resource, one more action.


def no_condition(sid: str) -> Callable[[Statements], None]:
    return lambda found: _named(found, sid).pop("Condition")


def any_resource(sid: str) -> Callable[[Statements], None]:
    return lambda found: _named(found, sid).update(Resource="*")


def one_more(action: str, sid: str = "") -> Callable[[Statements], None]:
    def change(found: Statements) -> None:
        if sid:
            _named(found, sid)["Action"].append(action)
        else:
            found.append({"Effect": "Allow", "Action": action, "Resource": "*"})

    return change


def loose_boundary(found: Statements) -> None:
    _named(found, "BoundedRoles")["Condition"] = {"StringLike": {"iam:PermissionsBoundary": "*/assay-boundary"}}


def _named(found: Statements, sid: str) -> dict[str, Any]:
    (statement,) = (each for each in found if each["Sid"] == sid)
    return statement


class Way(NamedTuple):
    """A request that must be refused, and a change of the policies after which it would not be."""

    action: str
    resource: str
    harm: Callable[[Statements], Any]
    context: Context = NOTHING


def never(action: str, resource: str, context: Context = NOTHING) -> Way:
    """A request that no statement may be about."""
    return Way(action, resource, one_more(action), context)


OTHER_PATH = {"iam:PermissionsBoundary": f"arn:aws:iam::{ACCOUNT}:policy/mine/assay-boundary"}
WAYS_OF_DEPLOYING = (
    Way("iam:CreateRole", ROLE, no_condition("BoundedRoles")),
    Way("iam:CreateRole", ROLE, no_condition("BoundedRoles"), UNBOUNDED),
    Way("iam:CreateRole", ROLE, loose_boundary, OTHER_PATH),
    Way("iam:CreateRole", ADMIN, any_resource("BoundedRoles"), BOUNDED),
    Way("iam:PutRolePolicy", ROLE, no_condition("BoundedRoles")),
    Way("iam:PutRolePolicy", ROLE, no_condition("BoundedRoles"), UNBOUNDED),
    Way("iam:DeleteRole", ADMIN, any_resource("Roles")),
    never("iam:AttachRolePolicy", ROLE, BOUNDED),
    never("iam:UpdateAssumeRolePolicy", ROLE, BOUNDED),
    never("iam:PutRolePermissionsBoundary", ROLE, UNBOUNDED),
    never("iam:DeleteRolePermissionsBoundary", ROLE, BOUNDED),
    never("iam:CreatePolicyVersion", POLICY),
    never("iam:SetDefaultPolicyVersion", POLICY),
    never("iam:DeletePolicyVersion", POLICY),
    never("iam:DeletePolicy", POLICY),
    never("iam:CreatePolicy", POLICY),
    never("iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/assay/x"),
    never("iam:CreateAccessKey", f"arn:aws:iam::{ACCOUNT}:user/ann"),
    never("sts:AssumeRole", ADMIN),
    # Hosts, schedules and stacks get no role that was there before.
    Way("iam:PassRole", ADMIN, any_resource("PassRoles"), passed_to("ec2")),
    Way("iam:PassRole", ADMIN, any_resource("PassRoles"), passed_to("scheduler")),
    Way("iam:PassRole", ROLE, no_condition("PassRoles"), passed_to("cloudformation")),
    Way("iam:PassRole", ROLE, no_condition("PassRoles"), passed_to("events")),
    Way("iam:AddRoleToInstanceProfile", PROFILE, any_resource("Roles")),
    never("ec2:AssociateIamInstanceProfile", ec2("instance/i-1")),
    never("ec2:ModifyInstanceAttribute", ec2("instance/i-1")),
    Way("scheduler:UpdateSchedule", SCHEDULE.replace("assay-end", "payroll"), any_resource("OwnEnd")),
    # Others' groups start hosts with roles of their own by the newest version of their template.
    Way(
        "ec2:CreateLaunchTemplateVersion",
        ec2("launch-template/lt-1"),
        one_more("ec2:CreateLaunchTemplateVersion", "MakeHosts"),
    ),
    Way("autoscaling:UpdateAutoScalingGroup", "*", no_condition("EndHosts")),
    Way("cloudformation:UpdateStack", STACK, no_condition("OwnStacks")),
    Way("cloudformation:DeleteStack", STACK, no_condition("OwnStacks")),
    Way("ec2:CreateTags", ec2("instance/i-1"), no_condition("TagNew")),
    Way("events:PutRule", RULE, no_condition("MailEvents"), {"events:source": ["aws.cloudformation", "aws.s3"]}),
    Way(
        "events:PutTargets", RULE, no_condition("MailTargets"), {"events:TargetArn": ["arn:aws:lambda:x:1:function:f"]}
    ),
)
"""What a person with both policies of the guide could try, to get rights beyond the boundary."""
WAYS_OF_ROLES = (
    never("iam:CreateRole", ROLE, BOUNDED),
    never("iam:PutRolePolicy", ROLE, BOUNDED),
    never("iam:PassRole", ROLE, passed_to("ec2")),
    never("iam:DeleteRolePermissionsBoundary", ROLE, BOUNDED),
    never("iam:TagRole", ROLE),
    never("sts:AssumeRole", ADMIN),
    never("cloudformation:CreateStack", STACK),
    never("cloudformation:UpdateStack", STACK, TAG),
    never("ec2:RunInstances", ec2("instance/*")),
    never("ec2:ModifySnapshotAttribute", "arn:aws:ec2:eu-west-1::snapshot/snap-1", TAG),
    never("scheduler:UpdateSchedule", SCHEDULE),
    never("sns:Publish", f"arn:aws:sns:eu-west-1:{ACCOUNT}:assay-end-failed-1"),
    never("events:PutTargets", RULE),
    never("s3:PutBucketPolicy", BUCKET),
    Way("iam:DeleteRole", ADMIN, any_resource("EndRoles")),
    Way("cloudformation:DeleteStack", STACK, no_condition("OwnStacks")),
    Way("ec2:TerminateInstances", ec2("instance/i-1"), no_condition("EndTagged")),
    Way("ec2:DeleteNetworkInterface", ec2("network-interface/eni-1"), no_condition("EndTargets")),
    Way("ec2:CreateSnapshots", ec2("instance/i-1"), no_condition("SnapshotHosts")),
    # A tag on a snapshot of others would let the owner of the stack delete it.
    Way("ec2:CreateTags", "arn:aws:ec2:eu-west-1::snapshot/snap-1", no_condition("TagSnapshots")),
    Way("s3:GetObject", "arn:aws:s3:::payroll/x", any_resource("Storage")),
    Way("s3:PutObject", f"{BUCKET}/x", no_condition("Storage"), {"aws:ResourceAccount": "999999999999"}),
    Way("dynamodb:Scan", f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/payroll", any_resource("Storage")),
    Way("scheduler:DeleteSchedule", SCHEDULE.replace("assay-end", "payroll"), any_resource("EndNamed")),
)
"""What a role could try that has a policy of its own for everything, below the boundary."""


@pytest.mark.parametrize(
    ("policies", "way"),
    [*((DEPLOY, way) for way in WAYS_OF_DEPLOYING), *((BOUNDARY, way) for way in WAYS_OF_ROLES)],
    ids=lambda each: each.action if isinstance(each, Way) else each[0],
)
def test_there_is_no_way_round(policies: tuple[str, ...], way: Way) -> None:
    found, context = statements(*policies), {**OWN, **way.context}
    assert not allows(found, way.action, way.resource, context)
    way.harm(found)
    assert allows(found, way.action, way.resource, context)


@pytest.mark.parametrize(
    ("action", "resource", "context"),
    [
        ("iam:CreateRole", ROLE, BOUNDED),
        ("iam:PutRolePolicy", ROLE, BOUNDED),
        ("iam:TagRole", ROLE, {}),
        ("iam:DeleteRolePolicy", ROLE, {}),
        ("iam:AddRoleToInstanceProfile", PROFILE.replace("admin", "assay/eu-west-1/nfs1/x"), {}),
        ("ec2:CreateLaunchTemplateVersion", ec2("launch-template/lt-1"), TAG),
        ("cloudformation:UpdateStack", STACK, TAG),
        ("events:PutRule", RULE, {"events:source": ["aws.cloudformation"]}),
        ("events:PutTargets", RULE, {"events:TargetArn": [f"arn:aws:sns:eu-west-1:{ACCOUNT}:assay-end-failed-1"]}),
        *(("iam:PassRole", ROLE, passed_to(service)) for service in ("ec2", "scheduler", "dlm")),
    ],
    ids=lambda each: each if isinstance(each, str) and each.startswith(("iam:", "ec2:", "cloud", "events:")) else "",
)
def test_stacks_can_be_made_with_the_boundary(action: str, resource: str, context: Context) -> None:
    assert allows(statements(*DEPLOY), action, resource, {**OWN, **context})


ALL = {"SnapshotHours": "6", "BudgetAmount": "50", "BudgetEmail": "ann@example.org"}


@functools.cache
def roles(name: str) -> tuple[dict[str, Any], ...]:
    """The statements of all roles in the stack of a design, with all that is optional."""
    document = template(name)
    values = Values(document, **ALL)
    for body in resources(document, "AWS::S3::Bucket").values():
        values.names["Bucket.Arn"] = f"arn:aws:s3:::{values(body['BucketName'])}"
    for body in resources(document, "AWS::DynamoDB::Table").values():
        values.names["Table.Arn"] = f"arn:aws:dynamodb:eu-west-1:{ACCOUNT}:table/{values(body['TableName'])}"
    policies = [each for body in resources(document, "AWS::IAM::Role").values() for each in body.get("Policies", [])]
    policies += resources(document, "AWS::IAM::RolePolicy").values()
    return tuple(statement for each in policies for statement in values(each["PolicyDocument"])["Statement"])


def requests(name: str) -> Iterator[tuple[str, str, Context]]:
    """What the roles of a stack request, in the context that its requests have."""
    for statement in roles(name):
        context: dict[str, Any] = {**OWN, **statement.get("Condition", {}).get("StringEquals", {})}
        if statement["Sid"] == "DeleteStack":
            context |= TAG
        if statement["Sid"] == "DeleteTargetInterface":
            context["aws:CalledVia"] = ["cloudformation.amazonaws.com"]
        listed = statement["Resource"]
        for resource in [listed] if isinstance(listed, str) else listed:
            at_creation = {"ec2:CreateAction": "CreateSnapshots"} if ":snapshot/" in resource else {}
            thing = ec2("any") if resource == "*" else resource.replace("*", "x")
            yield from ((action, thing, {**context, **at_creation}) for action in statement["Action"])


@pytest.mark.parametrize("name", NAMES)
def test_the_boundary_allows_all_that_roles_need(name: str) -> None:
    found, needed = statements(*BOUNDARY), [*requests(name)]
    assert len(needed) > 30
    assert [each[:2] for each in needed if not allows(found, *each)] == []


def test_the_boundary_allows_nothing_that_no_role_needs() -> None:
    found = statements(*BOUNDARY)
    needed = {action for name in NAMES for each in roles(name) for action in each["Action"]}
    assert {action for each in found for action in each["Action"]} == needed
    asked = [each for name in ("nfs-gp3", "efs-one-zone", "s3-tiered") for each in requests(name)]
    used = {each["Sid"] for each in found if any(allows([each], *request) for request in asked)}
    assert used == {each["Sid"] for each in found}


def test_each_role_has_the_boundary_if_one_is_given() -> None:
    given = {**ALL, "PermissionsBoundary": POLICY}
    for name in ("nfs-gp3", PAPER):
        for values, wanted in ((given, {POLICY}), (ALL, {None})):
            made = Values(template(name), **values).resources().values()
            bodies = [each["Properties"] for each in made if each["Type"] == "AWS::IAM::Role"]
            assert len(bodies) >= 2 and {each.get("PermissionsBoundary") for each in bodies} == wanted, name
