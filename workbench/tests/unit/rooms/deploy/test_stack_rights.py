"""The policies of the guide have all rights that the commands and the stacks need, and end only what is Assay's."""

import ast
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from paths import REPOSITORY
from stack_templates import NAMES, resources, template

from assay.rooms.deploy.work.templates.ending import ROLE, is_reading

LIFE = REPOSITORY / "workbench" / "src" / "assay" / "rooms" / "deploy" / "work" / "life"
FILES = ("deploy-policy.json", "deploy-policy-services.json")
POLICIES = {name: json.loads((REPOSITORY / "docs" / "guides" / name).read_text()) for name in FILES}
STATEMENTS: list[dict[str, Any]] = [each for policy in POLICIES.values() for each in policy["Statement"]]
GRANTED = frozenset(action for each in STATEMENTS for action in each["Action"])
MAX_POLICY = 6144
"""Characters of a managed policy at most, without blanks (IAM, quotas)."""
PREFIXES = {"efs": "elasticfilesystem", "resourcegroupstaggingapi": "tag", "service-quotas": "servicequotas"}
OTHER_NAMES = {
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions",
    "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "s3:DeleteObjects": "s3:DeleteObject",
}
"""Operations of S3 whose right has another name."""
FREE = {"sts:GetCallerIdentity"}
"""Needs no right."""


def calls() -> Iterator[tuple[str, str]]:
    """Service and operation of each call in the source."""
    for path in LIFE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("call", "pages", "_exists") and len(texts) >= 2:
                yield texts[0], texts[1]
            elif name == "_ec2":
                yield "ec2", texts[0]


def right(service: str, operation: str) -> str:
    action = "".join(word.capitalize() for word in operation.split("_"))
    name = f"{PREFIXES.get(service, service)}:{action}"
    return OTHER_NAMES.get(name, name)


def lacking(needed: set[str]) -> list[str]:
    return sorted(each for each in needed if not any(fnmatchcase(each, granted) for granted in GRANTED))


def test_each_call_has_its_right() -> None:
    needed = {right(*each) for each in calls()} - FREE
    assert len(needed) > 30 and lacking(needed) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_policies_contain_the_rights_by_which_a_stack_ends(name: str) -> None:
    """`down` deletes with the caller's rights what the stack's own schedule deletes with those of its role."""
    made = template(name)["Resources"]
    policies = [*made[ROLE]["Properties"]["Policies"], *resources(template(name), "AWS::IAM::RolePolicy").values()]
    needed = {action for each in policies for part in each["PolicyDocument"]["Statement"] for action in part["Action"]}
    assert len(needed) > 10 and lacking(needed) == []


@pytest.mark.parametrize("name", [*FILES, "deploy-boundary.json"])
def test_the_policy_is_one_that_iam_takes(name: str) -> None:
    policy = json.loads((REPOSITORY / "docs" / "guides" / name).read_text())
    statements = policy["Statement"]
    assert len({each["Sid"] for each in statements}) == len(statements)
    assert not [action for each in statements for action in each["Action"] if "*" in action and not is_reading(action)]
    size = len("".join(json.dumps(policy, separators=(",", ":")).split()))
    assert size <= MAX_POLICY, f"{size} characters: too long for a managed policy"


TAGGED = {"Null": {"aws:ResourceTag/assay:stack": "false"}}
BY_STACKS = {"ForAnyValue:StringEquals": {"aws:CalledVia": ["cloudformation.amazonaws.com"]}}
RULES = "arn:aws:ec2:*:*:security-group-rule/*"
"""Rules of a security group have no tags; their group has, and revoking needs the right to both."""
MAKING = (
    *("Create", "Run", "Allocate", "Associate", "Attach", "Authorize", "AddRole", "Modify", "Abort"),
    *("Pass", "Tag", "SetStackPolicy"),
)
"""Beginnings of the names of actions that end nothing, beside those that only read."""
ENDING_ALL_THE_SAME = ("budgets:ModifyBudget",)
"""Deletes budgets, too."""


def may_end(action: str) -> bool:
    verb = action.partition(":")[2]
    return action in ENDING_ALL_THE_SAME or not (is_reading(action) or verb.startswith(MAKING))


def is_bound(statement: dict[str, Any]) -> bool:
    """Whether a statement is about what is Assay's only, by its tag, its name, or as a stack does it."""
    found = statement["Resource"]
    names = [found] if isinstance(found, str) else found
    is_named = all(
        name.split(":", 5)[5].partition("/")[2].startswith("assay/") or "assay-" in name
        for name in names
        if name != "*"
    )
    return statement.get("Condition") in (TAGGED, BY_STACKS) or (names != ["*"] and is_named) or names == [RULES]


def test_what_ends_things_is_bound_to_what_is_of_assay() -> None:
    ending = {action for each in STATEMENTS for action in each["Action"] if may_end(action)}
    for text in (
        "ec2:TerminateInstances",
        "cloudformation:DeleteStack",
        "s3:PutLifecycleConfiguration",
        "fsx:DeleteBackup",
    ):
        assert text in ending
    assert "ec2:RunInstances" not in ending
    loose = {a for each in STATEMENTS if not is_bound(each) for a in each["Action"] if may_end(a)}
    assert sorted(loose) == []


def test_a_tag_that_would_make_a_thing_deletable_is_set_only_on_new_ones() -> None:
    for each in STATEMENTS:
        if any(action.endswith((":CreateTags", ":CreateOrUpdateTags")) for action in each["Action"]):
            assert each["Condition"] in ({"Null": {"ec2:CreateAction": "false"}}, BY_STACKS)
        if {"elasticfilesystem:TagResource", "fsx:TagResource", "dlm:TagResource"} & set(each["Action"]):
            assert each["Condition"] == BY_STACKS


def test_roles_get_only_what_the_templates_give_them() -> None:
    conditions = {a: each.get("Condition") for each in STATEMENTS for a in each["Action"] if a.startswith("iam:")}
    (services,) = conditions["iam:PassRole"].values()  # type: ignore[union-attr]
    assert services == {"iam:PassedToService": ["dlm.amazonaws.com", "ec2.amazonaws.com", "scheduler.amazonaws.com"]}
    assert conditions["iam:CreateServiceLinkedRole"] is not None
    assert "iam:AttachRolePolicy" not in conditions
    for name in NAMES:
        assert not any("ManagedPolicyArns" in each for each in resources(template(name), "AWS::IAM::Role").values())
