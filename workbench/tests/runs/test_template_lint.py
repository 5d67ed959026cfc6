"""Templates as cfn-lint and the schemas of AWS's resource types see them, for two regions."""

import functools
import json
from typing import Any

import pytest
from soak import times
from stack_templates import NAMES, Values, template

from assay.rooms.deploy.work.templates.ending import ENDING, ROLE
from assay.rooms.deploy.work.templates.render import template_yaml

LATER = "2027-01-01T06:00:00"
REGIONS = ["eu-west-1", "us-east-1"]
EACH_TYPE = ("beegfs-volumes", "efs-one-zone", "fsx-lustre-hdd", "fsx-ontap-2", "s3-tiered", "dynamodb-provisioned")
"""Templates that together have each type of resource; `make test` lints nfs-gp3."""
LINTED = times([*EACH_TYPE, "nfs-aws-2016"], [name for name in NAMES if name != "nfs-gp3"])
UNNEEDED = {
    *(
        "ec2:CreateTags",
        "ec2:DetachVpnGateway",
        "iam:PassRole",
        "iam:TagRole",
        "fsx:TagResource",
        "vpce:AllowMultiRegion",
    ),
    *("vpc-lattice:DescribeServiceNetworkVpcEndpointAssociation",),
    *(
        "elasticfilesystem:DeleteReplicationConfiguration",
        "managed-fleets:DeleteAutoScalingGroup",
        "managed-fleets:Get*",
    ),
}
"""Rights that handlers list for deletions which no stack of ours needs: it makes no VPN, replica, fleet or target with
a role, and changes no tag."""


@functools.cache
def schema(kind: str) -> dict[str, Any]:
    """Schema of a type of resource, as cfn-lint has it."""
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

    found: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    return found


@pytest.mark.parametrize("name", LINTED)
def test_cfn_lint_finds_nothing(name: str) -> None:
    from cfnlint.api import ManualArgs, lint

    found = lint(template_yaml(template(name)), config=ManualArgs(regions=REGIONS, include_checks=["W"]))
    assert [str(each) for each in found] == []


def test_cfn_lint_would_find_something() -> None:
    from cfnlint.api import ManualArgs, lint

    harmed = json.loads(json.dumps(template("nfs-aws-2016")))
    harmed["Resources"]["Storage"]["Properties"]["Nothing"] = True
    harmed["Parameters"]["Unused"] = {"Type": "String"}
    found = lint(json.dumps(harmed), config=ManualArgs(regions=REGIONS, include_checks=["W"]))
    assert {each.rule.id for each in found} >= {"E3002", "W2001"}


@pytest.mark.parametrize("name", NAMES)
def test_end_may_delete_all_that_is_there(name: str) -> None:
    document = template(name)
    policy = document["Resources"][ROLE]["Properties"]["Policies"][0]["PolicyDocument"]
    allowed = {action for statement in policy["Statement"] for action in statement["Action"]}
    for each, body in document["Resources"].items():
        needed = schema(body["Type"]).get("handlers", {}).get("delete", {}).get("permissions", [])
        assert set(needed) - UNNEEDED <= allowed, each
        assert each in ENDING or body["Type"] != "AWS::Scheduler::Schedule"


@pytest.mark.parametrize("name", NAMES)
def test_a_later_end_changes_nothing_that_would_be_replaced(name: str) -> None:
    first, second = (Values(template(name), ExpiryTime=time).resources() for time in ("2026-12-31T18:00:00", LATER))
    changed = {
        f"{each}: {path}"
        for each, body in first.items()
        for path in schema(body["Type"]).get("createOnlyProperties", [])
        if _at(body["Properties"], path) != _at(second[each]["Properties"], path)
    }
    assert changed == set()
    # A launch template of which nothing is create-only has a new version, which is create-only for its hosts.
    assert all(first[each] == second[each] for each, body in first.items() if "LaunchTemplate" in body["Type"])


def _at(properties: Any, path: str) -> Any:
    for key in path.split("/")[2:]:
        properties = properties.get(key) if isinstance(properties, dict) else None
    return properties


@pytest.mark.parametrize("name", NAMES)
def test_all_that_takes_tags_is_tagged(name: str) -> None:
    for each, body in template(name)["Resources"].items():
        about = schema(body["Type"]).get("tagging") or {}
        if about.get("taggable") and "tagProperty" in about:
            key = about["tagProperty"].rpartition("/")[2]
            assert body["Properties"].get(key), f"{each}: {key}"
