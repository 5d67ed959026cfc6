"""Stacks as CloudFormation describes them."""

import re
from collections.abc import Mapping
from typing import Any

from assay.model.base import AssayError
from assay.model.units import display_value
from assay.rooms.deploy.model.faults import CloudError
from assay.rooms.deploy.model.stack import EXPIRES_TAG, Stack, StackEvent
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.events import read_event

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]{0,127}")
"""CloudFormation API, CreateStack, StackName."""
ABSENT_CODE = "ValidationError"


def check_name(name: str) -> str:
    """Return the name if a stack can have it.

    Raises:
        AssayError: It cannot.
    """
    if not _NAME.fullmatch(name):
        raise AssayError(
            f"{display_value(name)} is not a name for a stack", "write letters, digits and `-`, a letter first"
        )
    return name


def find_stack(cloud: Cloud, name_or_id: str) -> Stack | None:
    """Return a stack by its name or ARN; None if there is none. Deleted stacks are found only by ARN.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    try:
        answer = cloud.call("cloudformation", "describe_stacks", StackName=name_or_id)
    except CloudError as error:
        # CloudFormation has no code of its own for a missing stack: a valid name that it calls invalid is one.
        if error.service_code == ABSENT_CODE:
            return None
        raise
    return read_stack(answer["Stacks"][0]) if answer.get("Stacks") else None


def assay_stacks(cloud: Cloud) -> list[Stack]:
    """Return all stacks of Assay in a region.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    return [stack for stack in all_stacks(cloud) if stack.is_of_assay and not stack.is_deleted]


def all_stacks(cloud: Cloud) -> list[Stack]:
    """Return all stacks in a region, with those that Assay did not make.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    return [read_stack(each) for each in cloud.pages("cloudformation", "describe_stacks", "Stacks")]


def read_stack(answer: Mapping[str, Any]) -> Stack:
    """Return a stack as DescribeStacks describes it.

    When it ends is its parameter ExpiryTime, if it has one: an update that delays the end leaves the tags as they are.
    """
    tags = {each["Key"]: each["Value"] for each in answer.get("Tags", [])}
    parameters = {each["ParameterKey"]: each.get("ParameterValue", "") for each in answer.get("Parameters", [])}
    if EXPIRES_TAG in tags and parameters.get("ExpiryTime"):
        tags[EXPIRES_TAG] = parameters["ExpiryTime"]
    return Stack(
        name=answer["StackName"],
        id=answer["StackId"],
        status=answer["StackStatus"],
        reason=answer.get("StackStatusReason", ""),
        created=answer["CreationTime"],
        tags=tags,
        outputs={each["OutputKey"]: each.get("OutputValue", "") for each in answer.get("Outputs", [])},
        is_protected=bool(answer.get("EnableTerminationProtection")),
    )


def stack_events(cloud: Cloud, stack_id: str, known: set[str]) -> list[StackEvent]:
    """Return the events of a stack that are newer than the known ones, in the service's order, the newest first.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    events: list[StackEvent] = []
    token: dict[str, str] = {}
    while True:
        answer = cloud.call("cloudformation", "describe_stack_events", StackName=stack_id, **token)
        page = [read_event(each) for each in answer.get("StackEvents", [])]
        events += [event for event in page if event.id not in known]
        if not answer.get("NextToken") or any(event.id in known for event in page):
            return events
        token = {"NextToken": answer["NextToken"]}
