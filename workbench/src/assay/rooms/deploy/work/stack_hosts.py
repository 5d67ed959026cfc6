"""What AWS says of a stack and its instances, also if Assay did not make it."""

import json

from assay.model.base import AssayError
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import STACK_TAG
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.records import find_records
from assay.rooms.deploy.work.life.stacks import ABSENT_CODE

_STACK_TAGS = (STACK_TAG, "aws:cloudformation:stack-name")
"""Tags with the name of the stack, which groups of instances pass on to those that they launch."""


def is_known_stack(name: str) -> bool:
    """Whether a stack of that name was made from this machine, and not removed since."""
    return bool(find_records(name))


def stack_document(name: str, region: str = "") -> bytes:
    """Return a stack with its outputs and instances, as JSON of DescribeStacks and DescribeInstances in one object.

    Args:
        name: Name of the stack.
        region: Its region; empty: where this machine has made it, or else that of the user's configuration.

    Raises:
        AssayError: There is none, stacks of several regions have the name, or AWS cannot be queried.
    """
    regions = sorted({each.region for each in find_records(name)})
    if not region and len(regions) > 1:
        message = f"stacks called {name} are in {' and '.join(regions)}"
        raise AssayError(message, f"name the region: hosts: {{stack: {name}, region: {regions[0]}}}")
    cloud = Cloud(region or (regions[0] if regions else ""))
    try:
        stacks = cloud.call("cloudformation", "describe_stacks", StackName=name)["Stacks"]
    except CloudError as error:
        if error.service_code != ABSENT_CODE:
            raise
        message = f"there is no stack {name} in {cloud.region}"
        raise CloudError(FaultKind.MISSING, message, "`assay deploy list` shows those of Assay") from None
    # Launch times are whole seconds.
    created = stacks[0]["CreationTime"].replace(microsecond=0)
    found = {
        each["InstanceId"]: each
        for tag in _STACK_TAGS
        for reservation in cloud.pages(
            "ec2", "describe_instances", "Reservations", Filters=[{"Name": f"tag:{tag}", "Values": [name]}]
        )
        for each in reservation["Instances"]
        # An earlier stack of this name may have had instances that EC2 still remembers.
        if each["LaunchTime"] >= created
    }
    document = {"Stacks": stacks, "Reservations": [{"Instances": list(found.values())}]}
    return json.dumps(document, default=str).encode()
