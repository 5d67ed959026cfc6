"""The policy of the guide has a right for each call that the commands make."""

import ast
import json
from collections.abc import Iterator

from paths import REPOSITORY

LIFE = REPOSITORY / "workbench" / "src" / "assay" / "rooms" / "deploy" / "work" / "life"
POLICY = json.loads((REPOSITORY / "docs" / "guides" / "deploy-policy.json").read_text())
MAX_POLICY = 6144
"""Characters of a managed policy at most, without blanks (IAM, quotas)."""
PREFIXES = {"efs": "elasticfilesystem", "resourcegroupstaggingapi": "tag"}
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


def test_each_call_has_its_right() -> None:
    granted = {action for statement in POLICY["Statement"] for action in statement["Action"]}
    needed = {right(*each) for each in calls()} - FREE
    assert len(needed) > 30 and sorted(needed - granted) == []


def test_the_policy_is_one_that_iam_takes() -> None:
    statements = POLICY["Statement"]
    assert len({each["Sid"] for each in statements}) == len(statements)
    assert not [action for each in statements for action in each["Action"] if "*" in action]
    size = len("".join(json.dumps(POLICY, separators=(",", ":")).split()))
    assert size <= MAX_POLICY, f"{size} characters: too long for a managed policy"


def test_what_ends_things_is_bound_to_the_tag() -> None:
    for each in POLICY["Statement"]:
        if any(action.startswith(("ec2:Delete", "ec2:Terminate")) for action in each["Action"]):
            assert each["Condition"] == {"Null": {"aws:ResourceTag/assay:stack": "false"}}
