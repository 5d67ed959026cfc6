"""Templates, parameters and options become an order with a price; what has its name already decides what is done."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from life_template import STACK_TEMPLATE

from assay.model.base import AssayError
from assay.rooms.deploy.model.faults import CloudError
from assay.rooms.deploy.model.stack import OWNER_TAG, RUN_TAG, STACK_TAG, Stack
from assay.rooms.deploy.work.life.charges import book_of, efs, instance, price_things, snapshot, volume
from assay.rooms.deploy.work.life.creation import Situation, request, resumed_order, situation
from assay.rooms.deploy.work.life.ordering import Options, make_order, parse_budget
from assay.rooms.deploy.work.life.planned import planned_things
from assay.rooms.deploy.work.life.records import CREATED, StackRecord
from assay.rooms.deploy.work.life.resolve import UNKNOWN, Resolver
from assay.rooms.deploy.work.life.template import (
    MAX_BODY_BYTES,
    all_values,
    body_of,
    capabilities,
    parameter_values,
    parse_pairs,
    parse_template,
)

NOW = dt.datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=dt.UTC)
TEMPLATE = parse_template(STACK_TEMPLATE, "t.yaml")
BODY = body_of(TEMPLATE, STACK_TEMPLATE, "t.yaml")
AUTOMATIC = {"RunName": "r", "Owner": "o", "ExpiryTime": "2026-11-30T20:00:00", "VpcId": "not in this template"}
PSEUDO = {"AWS::Region": "eu-west-1", "AWS::StackName": "nfs1"}


def resolver(**values: str) -> Resolver:
    chosen = parameter_values(TEMPLATE, values, AUTOMATIC)
    return Resolver(TEMPLATE, all_values(TEMPLATE, chosen), PSEUDO)


def things(**values: str) -> list[str]:
    return [each.what for each in planned_things(resolver(**values))]


def test_a_template_is_read_with_its_short_functions() -> None:
    assert TEMPLATE["AWSTemplateFormatVersion"] == "2010-09-09"
    assert TEMPLATE["Conditions"]["UseSpot"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "SpotMaxPrice"}, ""]}]}
    assert TEMPLATE["Outputs"]["StorageAddresses"]["Value"] == {"Fn::GetAtt": ["Storage", "PrivateIp"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "t:1: not valid YAML"),
        ("a: 1", "no mapping `Resources`"),
        ("Resources: {A: {Properties: {}}}", "resource A has no Type"),
        ("Resources: {}\nParameters: [a]", "Parameters: is not a mapping"),
        ("!!python/object:os.system {}", "t:1: not valid YAML"),
    ],
)
def test_what_is_no_template_is_refused(text: str, message: str) -> None:
    with pytest.raises(AssayError) as refused:
        parse_template(text, "t")
    assert message in refused.value.message


def test_a_long_template_is_sent_as_compact_json_or_through_a_bucket() -> None:
    text = STACK_TEMPLATE + "".join(f"# comment {number:60}\n" for number in range(1000))
    sent = body_of(parse_template(text, "t"), text, "t").text
    assert len(sent.encode()) <= MAX_BODY_BYTES and parse_template(sent, "t") == TEMPLATE
    assert not body_of(TEMPLATE, STACK_TEMPLATE, "t").needs_bucket

    def many(count: int) -> dict[str, Any]:
        return {"Resources": {f"R{number}": {"Type": "AWS::S3::Bucket"} for number in range(count)}}

    assert body_of(many(2000), "x" * MAX_BODY_BYTES * 2, "t").needs_bucket
    with pytest.raises(AssayError) as refused:
        body_of(many(40_000), "x" * MAX_BODY_BYTES * 2, "t")
    assert "1,048,576" in refused.value.message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"Clients": "2"}, "no such parameter"),
        ({"ClientInstanceType": "m5.large"}, "is not allowed"),
        ({"ClientCount": "many"}, "is not a number"),
        ({"ClientCount": "101"}, "out of range"),
        ({"ExpiryTime": "tomorrow"}, "`tomorrow` is not of the form it needs"),
        ({"Password": "x" * 41}, "the value has 41 characters"),
    ],
)
def test_parameters_are_checked_before_anything_is_sent(values: dict[str, str], message: str) -> None:
    with pytest.raises(AssayError) as refused:
        parameter_values(TEMPLATE, values, AUTOMATIC)
    assert message in refused.value.message


def test_a_parameter_without_value_is_named() -> None:
    with pytest.raises(AssayError) as refused:
        parameter_values(TEMPLATE, {}, {})
    assert "parameter RunName has no value" in refused.value.message
    assert parameter_values(TEMPLATE, {"Owner": "me"}, AUTOMATIC)["Owner"] == "me"
    with pytest.raises(AssayError):
        parse_pairs(["secret"])
    assert parse_pairs(["A=b=c"]) == {"A": "b=c"}


def test_what_is_made_follows_from_the_parameters() -> None:
    servers = ["1 x c6in.xlarge", "1 x 20 GiB gp3", "1 x 100 GiB gp3"]
    assert things() == [*servers, "2 x c6in.large"]
    assert things(ClientCount="0") == servers
    assert things(SpotMaxPrice="0.05")[-1] == "2 x c6in.large spot"
    assert things(Size="large") == [
        "1 x c6in.4xlarge",
        "1 x 20 GiB gp3",
        "1 x 1000 GiB gp3",
        "2 x c6in.large",
        "S3 bucket",
    ]


def test_functions_are_evaluated() -> None:
    asked = resolver(Size="large")
    for node, value in (
        ({"Fn::Sub": "${AWS::StackName} ${Size} ${!x} ${Storage}"}, "nfs1 large ${x} ${Storage}"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Size"}]]}, "a-large"),
        ({"Fn::Select": [1, {"Fn::Split": [",", "a,b"]}]}, "b"),
        ({"Fn::If": ["IsLarge", "yes", "no"]}, "yes"),
        ({"Fn::If": ["NoSuch", "yes", "no"]}, "no"),
        ({"a": {"Ref": "AWS::NoValue"}, "b": 1}, {"b": 1}),
        ({"Fn::And": [{"Condition": "IsLarge"}, {"Condition": "UseSpot"}]}, False),
    ):
        assert asked.value(node) == value
    for broken in ({"Fn::If": ["x"]}, {"Fn::Select": ["x", 1]}, {"Fn::GetAtt": ["A", "b"]}, {"Fn::FindInMap": [1]}):
        assert asked.value(broken) is UNKNOWN
    circular = Resolver({"Resources": {}, "Conditions": {"A": {"Fn::Not": [{"Condition": "A"}]}}}, {}, {})
    assert circular.condition("A") in (True, False)


def test_the_price_is_that_of_the_book() -> None:
    """The sum by hand: hours of instances, and volumes by the month of 730 hours."""
    book = book_of("eu-west-1")
    assert book is not None
    price = {(row.dimension, row.item): row.price for row in book.rows if row.term == "on-demand"}
    one = price["instance", "c6in.xlarge"]
    client = price["instance", "c6in.large"]
    gib, iops, rate = (price[f"volume-{what}", "gp3"] for what in ("capacity", "iops", "throughput"))
    assert one and client and gib and iops and rate
    month = 120 * gib + 3000 * iops + 375 * rate
    prices = price_things(planned_things(resolver()), book)
    assert abs(prices.hour - (one + 2 * client + month / book.hours_per_month)) < Decimal("1e-20")
    assert prices.is_complete and prices.most == prices.hour and prices.source.startswith("aws-eu-west-1")


def test_spot_may_cost_up_to_its_maximum() -> None:
    book = book_of("eu-west-1")
    capped = price_things([instance("a", "c6in.large", 4, True, Decimal("0.08"))], book)
    assert capped.hour < capped.most == Decimal("0.32")
    free = price_things([instance("a", "c6in.large", 4, True)], book)
    assert free.most == price_things([instance("a", "c6in.large", 4)], book).hour > free.hour


def test_what_has_no_price_is_named_and_not_counted_as_nothing() -> None:
    book = book_of("eu-west-1")
    made = [instance("a", "z9.mega"), efs("f", 0, False, None), efs("g", 1e12, False, 100), snapshot("s", 100)]
    prices = price_things(made, book)
    unknown, by_use, provisioned, saved = prices.things
    assert unknown.hour is None and "z9.mega" in unknown.note
    assert by_use.hour is None and not by_use.note and "by use" in by_use.remarks
    assert provisioned.hour and provisioned.remarks and saved.hour and not saved.remarks
    assert prices.has_unknown and prices.has_use and not prices.is_complete
    nowhere = price_things([volume("v", "gp3", 10, None, None)], book_of("xx-nowhere-1"))
    assert nowhere.things[0].hour is None and "price book" in nowhere.things[0].note


def options(**changes: Any) -> Options:
    return Options(
        **{"name": "nfs1", "region": "eu-west-1", "parameters": {}, "expires": "8h", "owner": "me"} | changes
    )


def test_an_order_has_its_tags_and_expiry() -> None:
    priced = make_order(BODY, options(parameters={"ClientCount": "4"}), book_of("eu-west-1"), NOW)
    assert priced.order.values == {
        "RunName": "nfs1-20261130-120000",
        "Owner": "me",
        "ExpiryTime": "2026-11-30T20:00:00",
        "ClientCount": "4",
    }
    sent = request(priced.order, "token")
    assert {each["Key"]: each["Value"] for each in sent["Tags"]} == {  # type: ignore[attr-defined]
        "assay:stack": "nfs1",
        "assay:run": "nfs1-20261130-120000",
        "assay:owner": "me",
        "assay:expires": "2026-11-30T20:00:00",
    }
    assert (sent["OnFailure"], sent["ClientRequestToken"], sent["Capabilities"]) == ("ROLLBACK", "token", [])
    assert priced.most == priced.prices.most * 8


@pytest.mark.parametrize("written", ["8", "never", "1min", "400d", "-1h"])
def test_an_expiry_has_bounds(written: str) -> None:
    with pytest.raises(AssayError):
        make_order(BODY, options(expires=written), None, NOW)


def test_a_budget_below_the_price_is_refused_with_the_time_that_it_lasts() -> None:
    book = book_of("eu-west-1")
    price = make_order(BODY, options(), book, NOW).prices.hour
    with pytest.raises(AssayError) as refused:
        make_order(BODY, options(budget=price * 2), book, NOW)
    assert "it lasts 2 h" in refused.value.hint and refused.value.exit_code == 3
    assert make_order(BODY, options(budget=price * 8), book, NOW)
    assert parse_budget("") is None and parse_budget("12.5") == Decimal("12.5")
    for wrong in ("0", "-3", "much"):
        with pytest.raises(AssayError):
            parse_budget(wrong)


def test_roles_need_a_capability() -> None:
    assert capabilities(TEMPLATE) == ()
    role: dict[str, Any] = {"Type": "AWS::IAM::Role", "Properties": {}}
    assert capabilities({"Resources": {"R": role}}) == ("CAPABILITY_IAM",)
    assert capabilities({"Resources": {"R": {**role, "Properties": {"RoleName": "x"}}}}) == ("CAPABILITY_NAMED_IAM",)


def stack(status: str, owner: str = "me", run: str = "r1", **tags: str) -> Stack:
    found = {STACK_TAG: "nfs1", OWNER_TAG: owner, RUN_TAG: run, **tags}
    return Stack("nfs1", "arn:x", status, "", NOW, {key: value for key, value in found.items() if value})


RECORD = StackRecord("nfs1", "1", "eu-west-1", "r1", "assay-token", expires="2026-11-30T20:00:00")


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("CREATE_IN_PROGRESS", Situation.BEGUN),
        ("CREATE_COMPLETE", Situation.READY),
        ("UPDATE_COMPLETE", Situation.READY),
        ("UPDATE_ROLLBACK_COMPLETE", Situation.READY),
        ("UPDATE_IN_PROGRESS", Situation.BEGUN),
        ("ROLLBACK_COMPLETE", Situation.FAILED),
        ("ROLLBACK_IN_PROGRESS", Situation.FAILED),
        ("CREATE_FAILED", Situation.FAILED),
        ("DELETE_FAILED", Situation.FAILED),
        ("REVIEW_IN_PROGRESS", Situation.FAILED),
        ("DELETE_IN_PROGRESS", Situation.GOING),
    ],
)
def test_what_is_there_decides(status: str, found: Situation) -> None:
    assert situation(stack(status), None, "me") is found
    assert situation(stack(status, owner="other"), RECORD, "me") is found, "this machine made it"
    with pytest.raises(CloudError) as refused:
        situation(stack(status, owner="other", run="r2"), RECORD, "me")
    assert refused.value.kind == "name-taken" and "belongs to other" in refused.value.message


def test_stacks_of_others_are_not_touched() -> None:
    assert situation(None, RECORD, "me") is Situation.NEW
    foreign = Stack("nfs1", "arn:x", "CREATE_COMPLETE", "", NOW, {"team": "a"})
    with pytest.raises(CloudError) as refused:
        situation(foreign, None, "me")
    assert refused.value.kind == "name-taken" and "not made by Assay" in refused.value.message


def test_a_request_whose_answer_was_lost_is_repeated_and_not_made_anew() -> None:
    order = make_order(BODY, options(parameters={"Password": "hunter2"}), None, NOW).order
    record = StackRecord("nfs1", "1", "eu-west-1", "r1", "assay-token", order.digest, expires="2026-11-30T20:00:00")
    same, token = resumed_order(order, record, NOW)
    assert (token, same.run, same.values["RunName"], same.expires) == ("assay-token", "r1", "r1", record.expires)
    assert same.values["Password"] == "hunter2"
    for other in (
        None,
        StackRecord(**record.__dict__ | {"phase": CREATED}),
        StackRecord(**record.__dict__ | {"digest": "other"}),
        StackRecord(**record.__dict__ | {"expires": "2026-11-30T11:00:00"}),
    ):
        anew, token = resumed_order(order, other, NOW)
        assert token != "assay-token" and anew is order
    changed = make_order(BODY, options(parameters={"ClientCount": "5"}), None, NOW).order
    assert changed.digest != order.digest
    secret = make_order(BODY, options(parameters={"Password": "hunter3"}), None, NOW).order
    assert secret.digest == order.digest and "hunter" not in str(order.written)
