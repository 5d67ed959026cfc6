"""Deletes a stack, and finds out what is left of it."""

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay.model.base import PrintLine
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import STACK_TAG, Stack, StackEvent
from assay.rooms.deploy.work.life import creation, records
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.creation import follow
from assay.rooms.deploy.work.life.events import Cause, first_cause
from assay.rooms.deploy.work.life.inventory import Inventory, Tagged, find_tagged
from assay.rooms.deploy.work.life.records import StackJournal, StackRecord, advance
from assay.rooms.deploy.work.life.stacks import all_stacks, find_stack, stack_events
from assay.rooms.deploy.work.templates.ending import ENDING


@dataclass(frozen=True)
class Deletion:
    """The end of a deletion.

    Attributes:
        stack: The stack as it is then; None if there was none.
        cause: Why it failed; None if it did not.
        retained: What the template keeps on purpose, as `TYPE ID`.
    """

    stack: Stack | None
    cause: Cause | None
    retained: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether the stack no longer exists."""
        return self.stack is None or self.stack.is_deleted


def delete(cloud: Cloud, stack: Stack, journal: StackJournal, print_line: PrintLine) -> Deletion:
    """Delete a stack after recording it, and wait for the end.

    Raises:
        CloudError: CloudFormation refuses, or gives no answer.
        AssayError: The deletion cannot be recorded.
    """
    if stack.is_protected:
        raise CloudError(FaultKind.PROTECTED, f"stack {stack.name} has termination protection")
    record = journal.read() or _record_of(cloud, stack)
    volumes = tuple(sorted({*record.volumes, *attached_volumes(cloud, stack)}))
    advance(journal, record, stack_id=stack.id, phase=records.DELETING, volumes=volumes)
    before = {event.id for event in stack_events(cloud, stack.id, set())}
    if stack.status != "DELETE_IN_PROGRESS":
        token = f"assay-{uuid.uuid4()}"
        cloud.call("cloudformation", "delete_stack", StackName=stack.id, ClientRequestToken=token)
    return wait_deleted(cloud, stack, print_line, before)


def attached_volumes(cloud: Cloud, stack: Stack) -> list[str]:
    """Return the volumes of a stack's instances. An instance that was launched from a template may have untagged ones.

    Raises:
        CloudError: EC2 cannot be queried.
    """
    filters = [{"Name": f"tag:{STACK_TAG}", "Values": [stack.name]}]
    return [
        str(disk["Ebs"]["VolumeId"])
        for found in cloud.pages("ec2", "describe_instances", "Reservations", Filters=filters)
        for each in found["Instances"]
        for disk in each.get("BlockDeviceMappings", [])
        if "Ebs" in disk
    ]


def wait_deleted(cloud: Cloud, stack: Stack, print_line: PrintLine, known: set[str]) -> Deletion:
    """Wait until a stack that is being deleted is gone or cannot be, and return which.

    Args:
        cloud: The cloud.
        stack: The stack.
        print_line: Prints its events.
        known: Events from before the deletion.
    """
    earlier = set(known)
    end = follow(cloud, stack, print_line, known)
    events = stack_events(cloud, stack.id, earlier)
    return Deletion(end, None if end.is_deleted else first_cause(events), retained_things(events))


def ended_before(cloud: Cloud, stack: Stack) -> Deletion:
    """Return the end of a deletion that an earlier command, or the stack's own expiry, brought about.

    Raises:
        CloudError: The events cannot be queried.
    """
    events = stack_events(cloud, stack.id, set()) if stack.is_deleted else []
    return Deletion(stack, None, retained_things(events))


def is_over(cloud: Cloud, stack: Stack) -> bool:
    """Return whether a stack has deleted all but its own end, which costs nothing and of which a deletion disposes.

    The role by which a stack deletes itself is deleted last, with its own rights: that step can fail.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    if stack.status != "DELETE_FAILED":
        return False
    answers = cloud.pages("cloudformation", "list_stack_resources", "StackResourceSummaries", StackName=stack.id)
    left = (each for each in answers if each.get("ResourceStatus") not in ("DELETE_COMPLETE", "DELETE_SKIPPED"))
    return all(each["LogicalResourceId"] in ENDING for each in left)


def compare_stacks(cloud: Cloud, found: Sequence[Tagged]) -> tuple[list[Tagged], list[str]]:
    """Return tagged things with what their stacks say, and the names of Assay's stacks that are over.

    Their expiry is that of their stack: volumes have none of their own. Those whose stack is gone are left
    over. Nothing is changed if CloudFormation does not answer.
    """
    try:
        stacks = {stack.name: stack for stack in all_stacks(cloud)}
        over = [name for name, stack in stacks.items() if stack.is_of_assay and is_over(cloud, stack)]
    except CloudError:
        return list(found), []
    return [_compared(each, stacks.get(each.stack)) for each in found], over


def _compared(tagged: Tagged, stack: Stack | None) -> Tagged:
    if stack is None or stack.is_deleted:
        return replace(tagged, is_left=True)
    return replace(tagged, expires=stack.expires or tagged.expires)


def over_text(name: str, region: str) -> str:
    """Return what to do about a stack that is over, in words."""
    remedy = f"`assay deploy down {name} --region {region}` removes it"
    return f"stack {name} has ended but for its own role, which costs nothing: {remedy}"


def find_left(cloud: Cloud, name: str, volumes: Sequence[str]) -> Inventory:
    """Return what is left of a deleted stack, after a second look: some of AWS's lists are seconds behind.

    Args:
        cloud: The cloud.
        name: Name of the stack.
        volumes: Volumes that its instances had, with or without tags.

    Raises:
        CloudError: Credentials have ended.
    """
    inventory = find_tagged(cloud, name, volumes)
    if not inventory.found:
        return inventory
    time.sleep(creation.POLL_SECONDS)
    return find_tagged(cloud, name, volumes)


def retained_things(events: Iterable[StackEvent]) -> tuple[str, ...]:
    """Return what the deletion of a stack skipped, because the template says so."""
    skipped = (event for event in events if event.status == "DELETE_SKIPPED")
    return tuple(dict.fromkeys(f"{event.type} {event.physical}" for event in skipped))


def _record_of(cloud: Cloud, stack: Stack) -> StackRecord:
    """Return a record for a stack that another machine made."""
    return StackRecord(
        name=stack.name,
        account=cloud.identity.account,
        region=cloud.region,
        run=stack.run,
        token="",
        stack_id=stack.id,
    )


def recorded_stack(cloud: Cloud, name: str, record: StackRecord | None) -> Stack | None:
    """Return the stack of a name, or the one that was recorded, although it may be deleted; None if there is neither.

    Raises:
        CloudError: CloudFormation cannot be queried.
    """
    stack = find_stack(cloud, name)
    if stack is None and record is not None and record.stack_id:
        return find_stack(cloud, record.stack_id)
    return stack
