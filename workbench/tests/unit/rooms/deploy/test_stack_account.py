"""What an account and a region allow: vCPUs, zones, ways to the hosts; and what a stack that is over leaves."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from life_template import STACK_TEMPLATE
from stack_templates import template

from assay.model.base import AssayError
from assay.rooms.deploy.commands.template import has_template, text_of
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.priced import Thing
from assay.rooms.deploy.model.stack import EXPIRES_TAG, STACK_TAG, Stack
from assay.rooms.deploy.work.life.access import access_gaps
from assay.rooms.deploy.work.life.charges import efs, instance
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.creation import request
from assay.rooms.deploy.work.life.deletion import compare_stacks, is_over
from assay.rooms.deploy.work.life.inventory import Tagged, find_tagged
from assay.rooms.deploy.work.life.ordering import Options, PricedOrder, check_input, make_order
from assay.rooms.deploy.work.life.quotas import check_quotas, vcpu_needs, vcpu_text
from assay.rooms.deploy.work.life.stacks import read_stack
from assay.rooms.deploy.work.life.template import body_of, parse_template
from assay.rooms.deploy.work.life.zones import with_zone
from assay.rooms.deploy.work.templates.plan import HostOptions

NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
NO_RIGHT = CloudError(FaultKind.NO_RIGHT, "no")
LIMITED = Options("nfs1", "eu-west-1", {}, "8h", owner="me")


class AccountCloud:
    """Answers by operation; an exception is raised, and others are empty."""

    region = "eu-west-1"

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def _answer(self, operation: str, arguments: dict[str, Any], otherwise: Any) -> Any:
        self.calls.append((operation, arguments))
        found = self.answers.get(operation, otherwise)
        if isinstance(found, Exception):
            raise found
        return found

    def pages(self, service: str, operation: str, key: str, **arguments: Any) -> list[Any]:
        return list(self._answer(operation, arguments, []))

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        return self._answer(operation, arguments, CloudError(FaultKind.MISSING, "not there"))


def account(**answers: Any) -> Cloud:
    return cast("Cloud", AccountCloud(answers))


def quota(value: float) -> dict[str, Any]:
    return {"Quota": {"QuotaCode": "L-1216C47A", "Value": value}}


@pytest.mark.parametrize(
    ("things", "text"),
    [
        ([], ""),
        ([instance("s", "c6in.xlarge"), instance("c", "c6in.2xlarge", 8)], "68 on demand"),
        ([instance("s", "m6i.large"), instance("c", "c6in.2xlarge", 2, True)], "2 on demand and 16 as spot instances"),
        ([instance("s", "m6i.large"), instance("c", "z9.mega", 2)], "at least 2 on demand"),
    ],
)
def test_vcpus_are_counted_by_term(things: list[Thing], text: str) -> None:
    assert vcpu_text(*vcpu_needs(things)) == text


def test_what_exceeds_a_quota_is_refused_and_silence_refuses_nothing() -> None:
    needs, _ = vcpu_needs([instance("s", "m6i.large"), instance("c", "c6in.2xlarge", 8, True)])
    check_quotas(account(get_service_quota=quota(64)), needs)
    with pytest.raises(CloudError) as refused:
        check_quotas(account(get_service_quota=quota(63)), needs)
    assert refused.value.kind is FaultKind.QUOTA and "needs 64 vCPUs as spot instances" in refused.value.message
    assert "is 63" in refused.value.message and "L-34B43A08" in refused.value.hint
    for silent in (NO_RIGHT, CloudError(FaultKind.NETWORK, "no"), {}, {"Quota": {}}):
        check_quotas(account(get_service_quota=silent), needs)
    check_quotas(account(get_service_quota=quota(0)), vcpu_needs([instance("g", "p4d.24xlarge")])[0])


def order_of(name: str, **parameters: str) -> PricedOrder:
    document = template(name)
    return make_order(body_of(document, "{}", name), replace(LIMITED, parameters=parameters), None, NOW)


def offers(**zones: str) -> list[dict[str, str]]:
    return [
        {"InstanceType": kind, "Location": f"eu-west-1{zone}"}
        for zone, kinds in zones.items()
        for kind in kinds.split()
    ]


def test_a_zone_is_taken_that_offers_all_types() -> None:
    order = order_of("nfs-gp3")
    kinds = sorted(
        {item.item for each in order.prices.things if each.thing.kind == "instance" for item in each.thing.items}
    )
    both = " ".join(kinds)
    assert len(kinds) == 2
    cloud = AccountCloud(
        {"describe_instance_type_offerings": [*offers(a=kinds[0], b=both, c=both), *offers(_lax_1a=both)]}
    )
    assert with_zone(cast("Cloud", cloud), order).order.values["AvailabilityZone"] == "eu-west-1b"
    ((_, arguments),) = cloud.calls
    assert arguments["Filters"] == [{"Name": "instance-type", "Values": kinds}]
    for nowhere in ([], offers(a=kinds[0], b=kinds[1])):
        with pytest.raises(CloudError) as refused:
            with_zone(account(describe_instance_type_offerings=nowhere), order)
        assert refused.value.kind is FaultKind.UNSUPPORTED and kinds[0] in refused.value.message
    assert with_zone(account(describe_instance_type_offerings=NO_RIGHT), order) is order


@pytest.mark.parametrize(
    "parameters",
    [
        {"AvailabilityZone": "eu-west-1c"},
        {"VpcId": "vpc-0123456789abcdef0", "SubnetId": "subnet-0123456789abcdef0"},
    ],
)
def test_a_zone_of_the_user_is_left_alone(parameters: dict[str, str]) -> None:
    cloud = AccountCloud({})
    order = order_of("nfs-gp3", **parameters)
    assert with_zone(cast("Cloud", cloud), order) is order and cloud.calls == []


OWN_SUBNET = {"VpcId": "vpc-0123456789abcdef0", "SubnetId": "subnet-0123456789abcdef0"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, [["KeyName"], ["LoginCidr", "AssignPublicAddress=yes"]]),
        ({"KeyName": "ann"}, [["LoginCidr", "AssignPublicAddress=yes"]]),
        ({"KeyName": "ann", "LoginCidr": "192.0.2.7/32"}, [["AssignPublicAddress=yes"]]),
        ({"KeyName": "ann", "AssignPublicAddress": "yes"}, [["LoginCidr"]]),
        ({"KeyName": "ann", "LoginCidr": "192.0.2.7/32", "AssignPublicAddress": "yes"}, []),
        ({"KeyName": "ann", "LoginCidr": "10.1.0.0/16", **OWN_SUBNET}, []),
        ({"KeyName": "ann", "SecurityGroupId": "sg-0123456789abcdef0", **OWN_SUBNET}, []),
        ({"KeyName": "ann", **OWN_SUBNET}, [["LoginCidr"]]),
    ],
)
def test_hosts_that_the_user_cannot_reach_are_named(values: dict[str, str], words: list[list[str]]) -> None:
    gaps = access_gaps(template("nfs-gp3"), values)
    assert len(gaps) == len(words)
    for gap, found in zip(gaps, words, strict=True):
        assert all(word in gap for word in found)
    assert "LoginCidr" not in " ".join(gaps) or "LoginCidr" not in values


def test_a_template_without_such_parameters_has_no_gaps() -> None:
    assert access_gaps(parse_template(STACK_TEMPLATE, "t"), {}) == []


def test_input_is_checked_without_a_region() -> None:
    body = body_of(template("nfs-gp3"), "{}", "nfs-gp3")
    check_input(body, replace(LIMITED, region=""), NOW)
    for wrong in (replace(LIMITED, expires="900d"), replace(LIMITED, parameters={"VpcId": "vpc-1"})):
        with pytest.raises(AssayError):
            check_input(body, replace(wrong, region=""), NOW)


def test_a_stack_is_made_with_the_policy_that_keeps_its_data() -> None:
    sent = request(order_of("nfs-gp3").order, "token")
    allowed, denied = json.loads(str(sent["StackPolicyBody"]))["Statement"]
    assert allowed["Effect"] == "Allow" and denied["Action"] == ["Update:Replace", "Update:Delete"]
    assert len(str(sent["StackPolicyBody"])) <= 16_384


def stack(status: str, **tags: str) -> Stack:
    return Stack("nfs1", "arn:x", status, "", NOW, {STACK_TAG: "nfs1", **tags})


def left(**states: str) -> list[dict[str, str]]:
    return [{"LogicalResourceId": name, "ResourceStatus": state} for name, state in states.items()]


@pytest.mark.parametrize(
    ("status", "resources", "over"),
    [
        ("DELETE_FAILED", left(EndRole="DELETE_FAILED", Vpc="DELETE_COMPLETE"), True),
        ("DELETE_FAILED", left(EndRole="DELETE_FAILED", EndSchedule="DELETE_FAILED", Data="DELETE_SKIPPED"), True),
        ("DELETE_FAILED", left(EndRole="CREATE_COMPLETE", Vpc="DELETE_FAILED"), False),
        ("CREATE_COMPLETE", left(EndRole="CREATE_COMPLETE"), False),
    ],
)
def test_a_stack_of_which_only_its_own_end_is_left_is_over(status: str, resources: list[Any], over: bool) -> None:
    assert is_over(account(list_stack_resources=resources), stack(status)) is over


def described(name: str, status: str, **tags: str) -> dict[str, Any]:
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    return {"StackName": name, "StackId": name, "StackStatus": status, "CreationTime": NOW, "Tags": listed}


def test_an_audit_knows_which_stack_is_gone_and_which_only_has_its_role() -> None:
    def tagged(name: str, expires: dt.datetime | None = None) -> Tagged:
        return Tagged(Thing("volume", f"vol-{name}", "volume"), "eu-west-1", name, "", expires)

    tags = {STACK_TAG: "x", EXPIRES_TAG: "2026-11-30T11:00:00"}
    stacks = [
        described("a", "CREATE_COMPLETE", **tags),
        described("b", "DELETE_FAILED", **tags),
        described("c", "CREATE_COMPLETE"),
    ]
    cloud = account(describe_stacks=stacks, list_stack_resources=left(EndRole="DELETE_FAILED"))
    found, over = compare_stacks(
        cloud, [tagged("a"), tagged("c"), tagged("gone"), tagged("a", NOW + dt.timedelta(hours=9))]
    )
    assert over == ["b"]
    assert [each.is_expired(NOW) for each in found] == [True, False, True, True], "the stack decides"
    assert [each.is_left for each in found] == [False, False, True, False]
    unknown = [tagged("gone")]
    assert compare_stacks(account(describe_stacks=NO_RIGHT), unknown) == (unknown, [])


def test_a_delayed_end_is_that_of_the_parameter() -> None:
    answer = described("nfs1", "UPDATE_COMPLETE", **{STACK_TAG: "nfs1", EXPIRES_TAG: "2026-11-30T20:00:00"})
    later = {"ParameterKey": "ExpiryTime", "ParameterValue": "2026-12-01T20:00:00"}
    assert read_stack(answer).expires == dt.datetime(2026, 11, 30, 20, tzinfo=dt.UTC)
    assert read_stack({**answer, "Parameters": [later]}).expires == dt.datetime(2026, 12, 1, 20, tzinfo=dt.UTC)


def test_a_role_that_exists_is_free_and_one_that_is_gone_is_not_left() -> None:
    arns = ("arn:aws:iam::1:role/assay/eu-west-1/nfs1/nfs1-EndRole-1", "arn:aws:dlm:eu-west-1:1:policy/policy-1")
    listed = [{"ResourceARN": arn, "Tags": [{"Key": STACK_TAG, "Value": "nfs1"}]} for arn in arns]
    there = find_tagged(account(get_resources=listed, get_role={"Role": {}}), "nfs1").found
    assert [(each.thing.what, each.thing.note) for each in there] == [("role of IAM", ""), ("policy of dlm", "")]
    gone = find_tagged(account(get_resources=listed), "nfs1").found
    assert [each.thing.what for each in gone] == ["policy of dlm"]


def test_elastic_throughput_of_efs_is_named_as_charged_by_use() -> None:
    assert "each GB that is read or written" in efs("f", 0, False, None, is_elastic=True).by_use
    assert "read or written" not in efs("f", 0, False, 100).by_use
    document = template("efs-one-zone")
    used = [
        each.thing.by_use
        for mode in ("elastic", "bursting")
        for each in make_order(
            body_of(document, "{}", "x"), replace(LIMITED, parameters={"ThroughputMode": mode}), None, NOW
        ).prices.things
        if each.thing.kind == "file system"
    ]
    assert ["read or written" in each for each in used] == [True, False]


def test_a_design_that_does_not_exist_gets_the_nearest_with_a_template(monkeypatch: pytest.MonkeyPatch) -> None:
    from assay.money.cost import designs

    assert has_template("azure-files") and not has_template("gcs")
    monkeypatch.setattr(designs, "design_names", lambda: ["nfs-gp3", "own-tape", "s3-one-zone"])
    for written, hint in (
        ("nfs-gp", "did you mean `nfs-gp3`?"),
        ("s3-onezone", "did you mean `s3-one-zone`?"),
        ("own-tap", "docs/guides/deploy.md lists those with a template, such as nfs-gp3"),
    ):
        with pytest.raises(AssayError) as refused:
            text_of(written, [], "", HostOptions())
        assert refused.value.hint == hint and f"no design `{written}`" in refused.value.message
