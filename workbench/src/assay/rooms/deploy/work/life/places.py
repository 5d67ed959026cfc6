"""Finds the region and the journal of a stack by its name."""

from dataclasses import dataclass

from assay.model.base import AssayError
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import Stack
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.creation import owner_check
from assay.rooms.deploy.work.life.deletion import recorded_stack
from assay.rooms.deploy.work.life.records import StackJournal, StackRecord, find_records
from assay.rooms.deploy.work.life.stacks import check_name


@dataclass(frozen=True)
class StackPlace:
    """A stack that commands look at.

    Attributes:
        cloud: The cloud in its region.
        journal: Its journal on this machine.
        record: What the journal has of it; None if nothing.
        stack: The stack; None if AWS knows none of this name, not even a deleted one that is recorded.
    """

    cloud: Cloud
    journal: StackJournal
    record: StackRecord | None
    stack: Stack | None


def find_place(name: str, region: str = "") -> StackPlace:
    """Return where a stack is: in the named region, else in the one recorded, else in the default one.

    Raises:
        AssayError: The name is not valid, stacks of several regions have it, or AWS cannot be queried.
        CloudError: Assay did not make the stack; or there is none, and none is recorded.
    """
    check_name(name)
    recorded = find_records(name)
    regions = sorted({each.region for each in recorded})
    if not region and len(regions) > 1:
        raise AssayError(f"stacks called {name} are in {' and '.join(regions)}", "name one with --region")
    cloud = Cloud(region or (regions[0] if regions else ""))
    journal = StackJournal(cloud.identity.account, cloud.region, name)
    record = journal.read()
    stack = recorded_stack(cloud, name, record)
    if stack is not None:
        owner_check(stack)
    elif record is None:
        raise CloudError(FaultKind.MISSING, f"there is no stack {name} in {cloud.region}", _elsewhere(cloud, recorded))
    return StackPlace(cloud, journal, record, stack)


def _elsewhere(cloud: Cloud, recorded: list[StackRecord]) -> str:
    """Return where this machine has recorded a stack of the name instead."""
    for each in recorded:
        if each.account != cloud.identity.account:
            return f"it was made in account {each.account}, and these credentials are of {cloud.identity.account}"
        if each.region != cloud.region:
            return f"it was made in {each.region}: add --region {each.region}"
    return "`assay deploy list --region REGION` shows those of a region"
