"""A stack ends by itself: what its end needs is deleted last, and its rights are those for this stack and no more."""

import json
import re
from typing import Any

import pytest
from paths import REPOSITORY
from stack_templates import NAMES, Values, resources, template

from assay.rooms.deploy.work.life.charges import FREE
from assay.rooms.deploy.work.templates.ending import ENDING, RETRY, ROLE, is_reading
from assay.rooms.deploy.work.templates.functions import references
from assay.rooms.deploy.work.templates.keeping import stack_policy

SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"VpcId": "vpc-0123456789abcdef0", "SubnetId": "subnet-0123456789abcdef0"},
    {"ClientCount": "0", "LoginCidr": "192.0.2.7/32", "SnapshotHours": "6", "BudgetEmail": "a@b.example"},
)


class Decided(Values):
    """Values in which only conditions are decided: references stay."""

    def __call__(self, body: Any) -> Any:
        is_if = isinstance(body, dict) and body.keys() == {"Fn::If"}
        if is_if or isinstance(body, list) or (isinstance(body, dict) and not body.keys() & {"Ref", "Fn::Sub"}):
            return super().__call__(body) if is_if or isinstance(body, list) else {k: self(v) for k, v in body.items()}
        return body


def _needs(body: dict[str, Any]) -> set[str]:
    after = body.get("DependsOn", [])
    found = {after} if isinstance(after, str) else set(after)
    return found | {name for name, _ in references([body.get("Properties", {}), body.get("Metadata", {})])}


@pytest.mark.parametrize("given", SETTINGS, ids=("own network", "existing network", "all that is optional"))
@pytest.mark.parametrize("name", NAMES)
def test_all_else_is_deleted_before_the_end(name: str, given: dict[str, str]) -> None:
    document = template(name)
    made, decided = Values(document, **given).resources(), Decided(document, **given)
    needs = {each: _needs(decided(document["Resources"][each])) & made.keys() for each in made}

    def reaches(each: str) -> bool:
        return each in ENDING or any(reaches(other) for other in needs[each])

    assert [each for each in made if not reaches(each)] == []
    assert needs[RETRY] == {ROLE, "EndSchedule"} and needs[ROLE] == set()
    # The mail is there until all has been deleted that can hold the deletion up.
    has_mail = "BudgetEmail" in given and "BudgetEmail" in document["Parameters"]
    assert needs["EndSchedule"] == {ROLE, *(["EndFailedRule"] if has_mail else [])}
    assert not has_mail or (needs["EndFailedRule"] == {"EndTopic", "EndTopicPolicy"} and needs["EndTopic"] == {ROLE})


@pytest.mark.parametrize("name", NAMES)
def test_no_dependency_is_stated_twice(name: str) -> None:
    for each, body in template(name)["Resources"].items():
        after = body.get("DependsOn", [])
        named = {name for name, _ in references(body.get("Properties", {}))}
        assert not named & ({after} if isinstance(after, str) else set(after)), each


@pytest.mark.parametrize("name", NAMES)
def test_rights_are_bound_to_the_stack(name: str) -> None:
    role = Values(template(name)).resources()[ROLE]["Properties"]
    statements = {each["Sid"]: each for each in role["Policies"][0]["PolicyDocument"]["Statement"]}
    stack = "arn:aws:cloudformation:eu-west-1:123456789012:stack/nfs1/6f1c2a30-0000-4000-8000-0a1b2c3d4e5f"
    assert statements.pop("DeleteStack")["Resource"] == stack
    assert all(map(is_reading, (each for each in statements.pop("Look")["Action"])))
    bound = statements.pop("DeleteTagged")["Condition"]["StringEquals"]
    assert bound == {"aws:ResourceTag/assay:stack": "nfs1", "aws:RequestedRegion": "eu-west-1"}
    if "ClusterIngress" in template(name)["Resources"]:
        revoking = statements.pop("RevokeRules")
        assert revoking["Action"] == ["ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"]
        assert revoking["Resource"] == "arn:aws:ec2:eu-west-1:123456789012:security-group-rule/*"
    for each in statements.values():
        for resource in each["Resource"]:
            assert "/assay/eu-west-1/nfs1/" in resource or resource.endswith("-6f1c2a30-0000-4000-8000-0a1b2c3d4e5f")


@pytest.mark.parametrize("given", SETTINGS[:2], ids=("own network", "existing network"))
def test_interface_of_a_mount_target_may_be_deleted_in_its_subnet(given: dict[str, str]) -> None:
    document = template("efs-one-zone")
    made = Values(document, **given).resources()
    rights = made["MountTargetRights"]["Properties"]
    (statement,) = rights["PolicyDocument"]["Statement"]
    subnet = given.get("SubnetId", "<PrivateSubnet>")
    assert rights["RoleName"] == "<EndRole>" and statement["Action"] == ["ec2:DeleteNetworkInterface"]
    own = "arn:aws:ec2:eu-west-1:123456789012"
    assert statement["Condition"] == {"ArnEquals": {"ec2:Subnet": f"{own}:subnet/{subnet}"}}
    assert statement["Resource"] == f"{own}:network-interface/*"
    # The right is there until the mount target is gone.
    assert "MountTargetRights" in document["Resources"]["MountTarget"]["DependsOn"]


def test_names_fit_the_rights_to_them() -> None:
    """A right to `assay-*-UUID` is of use only if the schedules, the bucket and the table are called so."""
    for name in ("nfs-gp3", "s3-tiered", "dynamodb-provisioned"):
        made = Values(template(name), BudgetEmail="ann@example.org").resources()
        for body in made.values():
            for key in ("Name", "BucketName", "TableName", "TopicName"):
                written = body.get("Properties", {}).get(key)
                if body["Type"].split("::")[1] in ("Scheduler", "S3", "DynamoDB", "SNS", "Events") and written:
                    assert written.startswith("assay-") and written.endswith("-6f1c2a30-0000-4000-8000-0a1b2c3d4e5f")
                    assert len(written) <= 63


def test_schedules_delete_the_stack_at_its_expiry() -> None:
    made = Values(template("nfs-gp3"), ExpiryTime="2026-12-31T18:00:00").resources()
    end, again = made["EndSchedule"]["Properties"], made[RETRY]["Properties"]
    assert end["ScheduleExpression"] == "at(2026-12-31T18:00:00)" and end["ScheduleExpressionTimezone"] == "UTC"
    assert again["StartDate"] == "2026-12-31T18:00:00Z" and again["ScheduleExpression"] == "rate(60 minutes)"
    assert end["Target"]["Arn"] == "arn:aws:scheduler:::aws-sdk:cloudformation:deleteStack"
    assert end["Target"]["Input"] == f'{{"StackName": "{Values(template("nfs-gp3"))({"Ref": "AWS::StackId"})}"}}'


def test_a_failed_deletion_sends_a_mail() -> None:
    values = Values(template("nfs-gp3"), BudgetEmail="ann@example.org")
    made = values.resources()
    assert made["EndTopic"]["Properties"]["Subscription"] == [{"Protocol": "email", "Endpoint": "ann@example.org"}]
    rule = made["EndFailedRule"]["Properties"]
    assert (rule["EventPattern"]["source"], rule["EventPattern"]["detail-type"]) == (
        ["aws.cloudformation"],
        ["CloudFormation Stack Status Change"],
    )
    assert rule["EventPattern"]["detail"] == {
        "stack-id": [values({"Ref": "AWS::StackId"})],
        "status-details": {"status": ["DELETE_FAILED"]},
    }
    (target,) = rule["Targets"]
    assert target["Arn"] == "<EndTopic>" and "deploy down nfs1 --region eu-west-1" in json.loads(target["Input"])
    assert not {"EndTopic", "EndFailedRule", "EndTopicPolicy"} & Values(template("nfs-gp3")).resources().keys()


def test_what_is_deleted_last_costs_nothing() -> None:
    assert {template("nfs-gp3")["Resources"][name]["Type"] for name in ENDING} <= FREE


def test_hosts_of_a_bucket_may_use_it_and_nothing_else() -> None:
    (policy,) = resources(template("s3-tiered"), "AWS::IAM::Role")["HostRole"]["Policies"]
    for each in policy["PolicyDocument"]["Statement"]:
        assert "Bucket.Arn" in str(each["Resource"]) or each["Resource"] == {"Fn::GetAtt": ["Bucket", "Arn"]}
    assert "Policies" not in resources(template("nfs-gp3"), "AWS::IAM::Role")["HostRole"]


PROTECTED = {
    "nfs-gp3": {"AWS::EC2::Instance"},
    "beegfs-volumes": {"AWS::EC2::Instance"},
    "efs-one-zone": {"AWS::EFS::FileSystem"},
    "fsx-ontap-2": {"AWS::FSx::FileSystem", "AWS::FSx::StorageVirtualMachine", "AWS::FSx::Volume"},
    "s3-tiered": {"AWS::S3::Bucket"},
    "dynamodb-provisioned": {"AWS::DynamoDB::Table"},
}
"""Design -> types of resources with its data."""


@pytest.mark.parametrize("name", PROTECTED)
def test_no_update_replaces_what_holds_data(name: str) -> None:
    allow, deny = stack_policy(template(name))["Statement"]
    assert (allow["Effect"], allow["Action"]) == ("Allow", "Update:*")
    assert deny["Effect"] == "Deny" and set(deny["Action"]) == {"Update:Replace", "Update:Delete"}
    assert set(deny["Condition"]["StringEquals"]["ResourceType"]) == PROTECTED[name]


def test_a_template_without_data_has_a_policy_that_denies_nothing() -> None:
    (allow,) = stack_policy({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})["Statement"]
    assert allow["Effect"] == "Allow"


def test_policy_of_the_guide_keeps_the_data_of_each_design() -> None:
    text = (REPOSITORY / "docs" / "guides" / "deploy.md").read_text()
    (written,) = re.findall(r"cat > keep.json <<'END'\n(.*?)\n *END", text, re.DOTALL)
    allow, deny = json.loads(written)["Statement"]
    of_guide = set(deny["Condition"]["StringEquals"].pop("ResourceType"))
    for name in NAMES:
        own = stack_policy(template(name))["Statement"]
        kinds = own[-1].get("Condition", {}).get("StringEquals", {}).pop("ResourceType", [])
        assert own[0] == allow and set(kinds) <= of_guide and own[1:] in ([], [deny])
