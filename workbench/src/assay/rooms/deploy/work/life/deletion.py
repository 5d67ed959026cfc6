"""Deletes a stack, and finds out what is left of it."""

import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.model.base import PrintLine
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import STACK_TAG, Stack, StackEvent
from assay.rooms.deploy.work.life import creation, records
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.creation import follow
from assay.rooms.deploy.work.life.events import Cause, first_cause
from assay.rooms.deploy.work.life.inventory import Inventory, find_tagged
from assay.rooms.deploy.work.life.records import StackJournal, StackRecord, advance
from assay.rooms.deploy.work.life.stacks import find_stack, stack_events


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
