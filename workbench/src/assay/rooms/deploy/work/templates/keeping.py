"""The stack policy, by which no update replaces or deletes what holds data."""

from collections.abc import Mapping
from typing import Any

from assay.rooms.deploy.work.templates.draft import STATEFUL

PROTECTED = STATEFUL | {"AWS::EC2::Instance", "AWS::EC2::Volume"}
"""Types of resources that may hold data: a new instance has new disks, and a login host has files of people."""


def stack_policy(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stack policy of a template, as `StackPolicyBody` takes it.

    It allows every update but those that would replace or delete a resource with data. Without it, an update after a
    new image has come out would replace each host. A deletion of the whole stack is none of its business.

    Source: docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/protect-stack-resources.html
    """
    kinds = sorted({str(body.get("Type")) for body in template["Resources"].values()} & PROTECTED)
    everybody: dict[str, Any] = {"Principal": "*", "Resource": "*"}
    statements = [{"Effect": "Allow", "Action": "Update:*", **everybody}]
    if kinds:
        denied = {"Effect": "Deny", "Action": ["Update:Replace", "Update:Delete"], **everybody}
        statements.append({**denied, "Condition": {"StringEquals": {"ResourceType": kinds}}})
    return {"Statement": statements}
