"""Stacks, their events and hosts, as AWS describes them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

STACK_TAG, RUN_TAG, OWNER_TAG, EXPIRES_TAG, ROLE_TAG = (
    "assay:stack",
    "assay:run",
    "assay:owner",
    "assay:expires",
    "assay:role",
)
"""Tags of everything that a template of Assay makes."""
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S"
"""Form of `assay:expires`, in UTC."""


def parse_expiry(text: str) -> dt.datetime | None:
    """Return the time of a tag `assay:expires`; None if it has none or another form."""
    try:
        return dt.datetime.strptime(text, TIME_FORMAT).replace(tzinfo=dt.UTC)
    except ValueError:
        return None


@dataclass(frozen=True)
class Stack:
    """A stack of CloudFormation.

    Attributes:
        name: Its name.
        id: Its ARN; a deleted stack is found only by this.
        status: Such as CREATE_COMPLETE.
        reason: CloudFormation's reason of the status; empty if it states none.
        created: When its creation began.
        tags: Tag -> value.
        outputs: Output -> value.
        is_protected: Termination protection is on.
    """

    name: str
    id: str
    status: str
    reason: str
    created: dt.datetime
    tags: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    is_protected: bool = False

    @property
    def is_of_assay(self) -> bool:
        """Whether Assay made it, by its tag."""
        return STACK_TAG in self.tags

    @property
    def run(self) -> str:
        """The name of the attempt that made it; empty if it has none."""
        return self.tags.get(RUN_TAG, "")

    @property
    def owner(self) -> str:
        """Its owner; empty if it names none."""
        return self.tags.get(OWNER_TAG, "")

    @property
    def expires(self) -> dt.datetime | None:
        """When it ends by itself; None if it does not say."""
        return parse_expiry(self.tags.get(EXPIRES_TAG, ""))

    @property
    def is_changing(self) -> bool:
        """Whether CloudFormation is at work on it; in review it waits for its owner."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    @property
    def is_deleted(self) -> bool:
        """Whether it has been deleted."""
        return self.status == "DELETE_COMPLETE"

    @property
    def has_failed(self) -> bool:
        """Whether it ended in a state that is no success, or is on the way to one; a refused update is none."""
        return self.status.endswith("_FAILED") or self.status.startswith("ROLLBACK")

    @property
    def is_up(self) -> bool:
        """Whether all of it exists, as it was created or updated by hand since."""
        return self.status.endswith("_COMPLETE") and not self.has_failed and not self.is_deleted


@dataclass(frozen=True)
class StackEvent:
    """One event of a stack.

    Attributes:
        id: Its unique name.
        at: When it was.
        resource: Name of the resource in the template.
        physical: Id of what was made; empty until it exists.
        type: Such as AWS::EC2::Instance.
        status: Such as CREATE_FAILED.
        reason: CloudFormation's text; empty if there is none.
        is_stack: It is about the stack itself.
    """

    id: str
    at: dt.datetime
    resource: str
    physical: str
    type: str
    status: str
    reason: str
    is_stack: bool


@dataclass(frozen=True)
class StackHost:
    """One instance of a stack.

    Attributes:
        id: Its instance id.
        name: Its tag `Name`; empty if it has none.
        role: storage, metadata, management, client or login; empty if it has no tag.
        state: pending, running, stopping, stopped, shutting-down or terminated.
        address: Private address; empty if it has none.
        public_address: Public address; empty if it has none.
        type: Instance type.
        zone: Availability zone.
        is_spot: It is a spot instance.
        is_interrupted: AWS took it back, as spot instances may be at any time.
        reason: Why its state changed, in EC2's words; empty while it runs.
    """

    id: str
    name: str
    role: str
    state: str
    address: str
    public_address: str
    type: str
    zone: str
    is_spot: bool
    is_interrupted: bool
    reason: str
