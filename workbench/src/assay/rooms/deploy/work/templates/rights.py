"""Roles of a stack, what they allow, and the permissions boundary, which none of them can exceed."""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.rooms.deploy.work.templates.draft import Draft, tags
from assay.rooms.deploy.work.templates.functions import differs, either, ref, sub
from assay.rooms.deploy.work.templates.parameters import pattern

PATH = sub("/assay/${AWS::Region}/${AWS::StackName}/")
"""Path of the roles of a stack, which tells them from those of others."""
UNIQUE = {"Fn::Select": [2, {"Fn::Split": ["/", ref("AWS::StackId")]}]}
"""The part of the stack's id that no other stack has."""
BOUNDARY, HAS_BOUNDARY = "PermissionsBoundary", "HasPermissionsBoundary"
BOUNDARY_PATTERN = "^(|arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]{1,512})$"


def unique_name(word: str) -> dict[str, Any]:
    """Return a name that no other stack uses, so that a right can be bound to it before the thing is there."""
    return {"Fn::Join": ["-", ["assay", word, UNIQUE]]}


def allow(identifier: str, actions: Sequence[str], resource: Any, condition: Any = None) -> dict[str, Any]:
    """Return a statement that allows actions; `condition` None: in all cases."""
    statement = {"Sid": identifier, "Effect": "Allow", "Action": list(actions), "Resource": resource}
    return {**statement, "Condition": condition} if condition else statement


def document(statements: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document of a policy."""
    return {"Version": "2012-10-17", "Statement": list(statements)}


def own_arn(name: str, **values: Any) -> dict[str, Any]:
    """Return the ARN of things of EC2 in the stack's region and account; `${Name}` stands for one of `values`."""
    return sub(f"arn:${{AWS::Partition}}:ec2:${{AWS::Region}}:${{AWS::AccountId}}:{name}", **values)


def add_role(
    draft: Draft,
    name: str,
    about: str,
    service: str,
    word: str,
    statements: Sequence[Mapping[str, Any]] = (),
    source: Any = None,
    condition: str | None = None,
) -> None:
    """Add a role that a service of AWS assumes.

    Args:
        draft: The template, which gets the parameter of the boundary with its first role.
        name: Logical id of the role.
        about: Its description.
        service: Service that may assume it, such as `ec2`.
        word: Name of its policy, and the end of its tag `Name`.
        statements: Those of its policy; none: it allows nothing.
        source: ARN, which may have `*`, of what the service may assume it for; None: of anything.
        condition: Condition under which it exists.
    """
    _add_boundary(draft)
    trust: dict[str, Any] = {
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    if source is not None:
        account = {"StringEquals": {"aws:SourceAccount": ref("AWS::AccountId")}}
        trust["Condition"] = {**account, "ArnLike": {"aws:SourceArn": source}}
    rights = {"Policies": [{"PolicyName": word, "PolicyDocument": document(statements)}]} if statements else {}
    role = {
        "Description": about,
        "Path": PATH,
        "PermissionsBoundary": either(HAS_BOUNDARY, ref(BOUNDARY)),
        "AssumeRolePolicyDocument": document([trust]),
        **rights,
        "Tags": tags(word),
    }
    draft.resource(name, "AWS::IAM::Role", role, condition)


def _add_boundary(draft: Draft) -> None:
    if BOUNDARY in draft.parameters:
        return
    draft.parameter(
        "Rights",
        BOUNDARY,
        "Permissions boundary",
        "ARN of the managed policy that limits what each role of the stack can do, whatever its own policy allows. "
        "Needed where an administrator allows roles with it only. Empty: none.",
        **pattern(
            BOUNDARY_PATTERN,
            "must be the ARN of a managed policy, such as arn:aws:iam::123456789012:policy/assay-boundary, or empty",
            Default="",
        ),
    )
    draft.conditions[HAS_BOUNDARY] = differs(ref(BOUNDARY), "")
