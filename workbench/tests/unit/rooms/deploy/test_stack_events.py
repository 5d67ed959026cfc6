"""Events of stacks, in the form of DescribeStackEvents: which failure was the first real one, and progress."""

import datetime as dt
from typing import Any

import pytest

from assay.rooms.deploy.work.life.deletion import retained_things
from assay.rooms.deploy.work.life.events import first_cause, is_failure, new_events, progress_line, read_event

STACK = "arn:aws:cloudformation:eu-west-1:123456789012:stack/nfs1/6ee3cee6"
BEGIN = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
Row = tuple[int, str, str, str, str]


def event(row: Row) -> Any:
    """An event from second, resource, type, status and reason; the resource `nfs1` is the stack."""
    second, name, kind, status, reason = row
    answer = {
        "StackId": STACK,
        "EventId": f"{name}-{status}-{second}",
        "StackName": "nfs1",
        "LogicalResourceId": name,
        "PhysicalResourceId": STACK if name == "nfs1" else f"{name.lower()}-1",
        "ResourceType": f"AWS::{kind}",
        "Timestamp": BEGIN + dt.timedelta(seconds=second),
        "ResourceStatus": status,
    }
    return read_event(answer | ({"ResourceStatusReason": reason} if reason else {}))


CANCELLED = "Resource creation cancelled"
NO_CAPACITY = "We currently do not have sufficient m6i.large capacity in the Availability Zone you requested"
MANY: list[Row] = [
    (0, "nfs1", "CloudFormation::Stack", "CREATE_IN_PROGRESS", "User Initiated"),
    (5, "Storage", "EC2::Instance", "CREATE_IN_PROGRESS", ""),
    (9, "Bucket", "S3::Bucket", "CREATE_FAILED", CANCELLED),
    (8, "Storage", "EC2::Instance", "CREATE_FAILED", NO_CAPACITY),
    (9, "Metadata", "EC2::Instance", "CREATE_FAILED", CANCELLED),
    (
        10,
        "nfs1",
        "CloudFormation::Stack",
        "ROLLBACK_IN_PROGRESS",
        "The following resource(s) failed: [Storage, Bucket].",
    ),
    (70, "Subnet", "EC2::Subnet", "DELETE_FAILED", "The subnet has dependencies and cannot be deleted."),
    (90, "nfs1", "CloudFormation::Stack", "ROLLBACK_FAILED", "The following resource(s) failed to delete: [Subnet]."),
]


def test_the_first_failure_is_no_cancellation_and_not_the_last_one() -> None:
    for rows in (MANY, MANY[::-1]):
        cause = first_cause(map(event, rows))
        assert cause is not None
        assert (cause.resource, cause.kind) == ("Storage", "capacity")
        assert cause.lines() == [
            f"Storage (AWS::EC2::Instance) failed: AWS has too little capacity there: {NO_CAPACITY}"
        ]
        assert "zone" in cause.hint


def test_without_a_failed_resource_the_stack_itself_is_the_cause() -> None:
    rows: list[Row] = [
        (0, "nfs1", "CloudFormation::Stack", "CREATE_IN_PROGRESS", ""),
        (1, "nfs1", "CloudFormation::Stack", "ROLLBACK_IN_PROGRESS", "Parameter VpcId does not exist"),
        (2, "nfs1", "CloudFormation::Stack", "ROLLBACK_COMPLETE", ""),
    ]
    cause = first_cause([event(row) for row in rows])
    assert cause is not None and (cause.resource, cause.text) == ("nfs1", "Parameter VpcId does not exist")
    assert first_cause([event(rows[0])]) is None and first_cause([]) is None


NO_CREATION = (
    "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: iam:CreateRole on resource: "
    "arn:aws:iam::123456789012:role/assay/eu-west-1/nfs1/nfs1-EndRole-1 because no identity-based policy allows the "
    "iam:CreateRole action (Service: Iam, Status Code: 403, Request ID: 6ee3cee6)"
)


@pytest.mark.parametrize(
    ("kind", "status", "is_named"),
    [
        ("IAM::Role", "CREATE_FAILED", True),
        ("IAM::Role", "DELETE_FAILED", False),
        ("S3::Bucket", "CREATE_FAILED", False),
    ],
)
def test_a_role_that_may_not_be_made_names_the_boundary(kind: str, status: str, is_named: bool) -> None:
    cause = first_cause([event((3, "EndRole", kind, status, NO_CREATION))])
    assert cause is not None and "iam:CreateRole" in cause.text
    assert ("--parameter PermissionsBoundary=ARN," in cause.hint) is is_named


def test_a_host_speaks_for_itself() -> None:
    message = "step pool failed\nmdadm: no devices\nPASSWORD=hunter2"
    reason = f"WaitCondition received failed message: '{message}' for uniqueId: storage1"
    cause = first_cause([event((60, "Ready", "CloudFormation::WaitCondition", "CREATE_FAILED", reason))])
    assert cause is not None and (cause.host, cause.kind) == ("storage1", "host")
    assert cause.lines()[:3] == [
        "host storage1 reported a failure:",
        "  step pool failed",
        "  mdadm: no devices",
    ]
    assert "hunter2" not in "".join(cause.lines())


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("WaitCondition timed out. Received 1 conditions when expecting 3", "1 of 3 hosts reported in time"),
        ("Failed to receive 1 resource signal(s) within the specified duration", "a host did not report in time"),
    ],
)
def test_silent_hosts_are_counted(reason: str, text: str) -> None:
    cause = first_cause([event((60, "Ready", "CloudFormation::WaitCondition", "CREATE_FAILED", reason))])
    assert cause is not None and (cause.kind, cause.text) == ("host-silent", text)
    assert "console" in cause.hint


def test_progress_has_time_resource_and_reason() -> None:
    assert [progress_line(event(row), BEGIN) for row in MANY[2:4]] == [
        "  0:09 Bucket (S3::Bucket) create failed",
        f"  0:08 Storage (EC2::Instance) create failed: {NO_CAPACITY}",
    ]
    assert not is_failure(event(MANY[2])) and is_failure(event(MANY[3]))


def test_events_come_once_and_in_order() -> None:
    known: set[str] = set()
    pages = [event(row) for row in MANY]
    first = new_events(pages[3::-1], known)
    assert [each.at for each in first] == sorted(each.at for each in first) and len(first) == 4
    assert [each.resource for each in new_events(pages[::-1], known)] == ["Metadata", "nfs1", "Subnet", "nfs1"]
    assert new_events(pages, known) == []


def test_what_deletion_skips_is_kept_by_the_template() -> None:
    rows: list[Row] = [
        (1, "Bucket", "S3::Bucket", "DELETE_SKIPPED", ""),
        (2, "Storage", "EC2::Instance", "DELETE_COMPLETE", ""),
    ]
    assert retained_things(map(event, rows)) == ("AWS::S3::Bucket bucket-1",)
