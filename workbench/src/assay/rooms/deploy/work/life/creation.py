"""Creates a stack, or goes on with one that an earlier command began."""

import datetime as dt
import hashlib
import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assay.model.base import PrintLine
from assay.rooms.deploy.model.faults import CloudError, FaultKind
from assay.rooms.deploy.model.stack import (
    EXPIRES_TAG,
    OWNER_TAG,
    RUN_TAG,
    STACK_TAG,
    Stack,
    StackEvent,
    parse_expiry,
)
from assay.rooms.deploy.work.life import records
from assay.rooms.deploy.work.life.cloud import Cloud
from assay.rooms.deploy.work.life.events import new_events, progress_line
from assay.rooms.deploy.work.life.records import StackJournal, StackRecord, advance
from assay.rooms.deploy.work.life.stacks import find_stack, stack_events
from assay.rooms.deploy.work.life.staging import remove_staging, stage_template
from assay.rooms.deploy.work.life.template import TemplateBody, capabilities
from assay.rooms.deploy.work.templates.keeping import stack_policy

POLL_SECONDS = 5.0
"""Time between two looks at a stack that changes."""


class Failure(StrEnum):
    """What becomes of a stack whose creation fails."""

    ROLLBACK = "remove"
    KEEP = "keep"


ON_FAILURE = {Failure.ROLLBACK: "ROLLBACK", Failure.KEEP: "DO_NOTHING"}
"""Option -> OnFailure of CreateStack."""


class Situation(StrEnum):
    """What is there under the name of a stack that is to be made."""

    NEW = "new"
    BEGUN = "begun"
    READY = "ready"
    FAILED = "failed"
    GOING = "going"


@dataclass(frozen=True)
class Order:
    """A stack to make.

    Attributes:
        name: Its name.
        body: Its template.
        values: Parameter -> value, where it differs from the default.
        written: Those of them that the user gave and that are no secret: with the template, they identify the order.
        run: Value of the tag `assay:run`.
        owner: Value of the tag `assay:owner`.
        expires: Value of the tag `assay:expires`.
        failure: What becomes of it if its creation fails.
    """

    name: str
    body: TemplateBody
    values: Mapping[str, str]
    written: Mapping[str, str]
    run: str
    owner: str
    expires: str
    failure: Failure = Failure.ROLLBACK

    @property
    def digest(self) -> str:
        """A digest by which the same order is known again."""
        text = json.dumps([self.body.text, dict(self.written)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def tags(self) -> list[dict[str, str]]:
        """Return the tags of the stack, which CloudFormation gives to all that it makes."""
        tags = {STACK_TAG: self.name, RUN_TAG: self.run, OWNER_TAG: self.owner, EXPIRES_TAG: self.expires}
        return [{"Key": key, "Value": value} for key, value in tags.items()]


def situation(stack: Stack | None, record: StackRecord | None, owner: str) -> Situation:
    """Return what is there under a name.

    Args:
        stack: The stack of this name; None if there is none.
        record: What this machine has recorded of it.
        owner: Who wants to make a stack.

    Raises:
        CloudError: The name is taken by a stack that is not this owner's, or is up in another form.
    """
    if stack is None:
        return Situation.NEW
    owner_check(stack)
    is_own = stack.owner == owner or (record is not None and record.run == stack.run)
    if not is_own:
        raise CloudError(FaultKind.NAME_TAKEN, f"stack {stack.name} belongs to {stack.owner or 'another owner'}")
    if stack.is_up:
        return Situation.READY
    if stack.status == "DELETE_IN_PROGRESS":
        return Situation.GOING
    return Situation.BEGUN if stack.is_changing and not stack.has_failed else Situation.FAILED


def owner_check(stack: Stack) -> None:
    """Refuse a stack that Assay did not make.

    Raises:
        CloudError: It has no tag of Assay.
    """
    if not stack.is_of_assay:
        message = f"stack {stack.name} was not made by Assay: it has no tag {STACK_TAG}"
        raise CloudError(FaultKind.NAME_TAKEN, message)


def resumed_order(order: Order, record: StackRecord | None, now: dt.datetime) -> tuple[Order, str]:
    """Return the order and the token of its request.

    If an earlier command recorded the same order and was killed before AWS answered, both are the earlier ones: should
    its request still arrive, the two make one stack.
    """
    if record is not None and record.phase == records.CREATING and record.digest == order.digest:
        end = parse_expiry(record.expires)
        if end is not None and end > now:
            automatic = {"RunName": record.run, "ExpiryTime": record.expires}
            fixed = {key: value for key, value in automatic.items() if key in order.values and key not in order.written}
            values = {**order.values, **fixed}
            return _with(order, values, record.run, record.expires), record.token
    return order, f"assay-{uuid.uuid4()}"


def _with(order: Order, values: Mapping[str, str], run: str, expires: str) -> Order:
    return Order(order.name, order.body, values, order.written, run, order.owner, expires, order.failure)


def create(cloud: Cloud, order: Order, journal: StackJournal) -> Stack:
    """Ask CloudFormation to make a stack, after recording it, and return the stack as it begins.

    Raises:
        CloudError: CloudFormation refuses it; nothing was made, and the record is removed.
        AssayError: It cannot be recorded.
    """
    remove_staging(cloud, journal)
    order, token = resumed_order(order, journal.read(), dt.datetime.now(dt.UTC))
    record = journal.write(
        StackRecord(
            name=order.name,
            account=cloud.identity.account,
            region=cloud.region,
            run=order.run,
            token=token,
            digest=order.digest,
            expires=order.expires,
        )
    )
    try:
        address = stage_template(cloud, journal, order.body.text, order.tags()) if order.body.needs_bucket else ""
        answer = cloud.call("cloudformation", "create_stack", **request(order, token, address))
        stack_id = str(answer["StackId"])
    except CloudError as error:
        stack_id = _stack_despite(cloud, order, error)
        if not stack_id:
            if error.kind not in (FaultKind.NETWORK, FaultKind.SERVICE):
                remove_staging(cloud, journal)
                journal.forget()
            raise
    advance(journal, journal.read() or record, stack_id=stack_id, phase=records.CREATED)
    remove_staging(cloud, journal)
    stack = find_stack(cloud, stack_id)
    assert stack is not None
    return stack


def adopt(cloud: Cloud, journal: StackJournal, stack: Stack) -> None:
    """Record the ARN of a stack that an earlier command began, and remove what that one left of its request.

    Raises:
        CloudError: The bucket of the template cannot be removed.
    """
    record = journal.read()
    if record is not None and record.stack_id != stack.id:
        advance(journal, record, stack_id=stack.id, phase=records.CREATED)
    remove_staging(cloud, journal)


def request(order: Order, token: str, address: str = "") -> dict[str, object]:
    """Return the arguments of CreateStack; `address` is that of the template, if it is in a bucket."""
    parameters = [{"ParameterKey": key, "ParameterValue": value} for key, value in order.values.items()]
    return {
        "StackName": order.name,
        **({"TemplateURL": address} if address else {"TemplateBody": order.body.text}),
        "Parameters": parameters,
        "Capabilities": list(capabilities(order.body.template)),
        "StackPolicyBody": json.dumps(stack_policy(order.body.template), separators=(",", ":")),
        "OnFailure": ON_FAILURE[order.failure],
        "Tags": order.tags(),
        "ClientRequestToken": token,
    }


def _stack_despite(cloud: Cloud, order: Order, error: CloudError) -> str:
    """Return the ARN of the stack if its name is taken by this very order, whose first answer was lost."""
    if error.kind is not FaultKind.NAME_TAKEN:
        return ""
    stack = find_stack(cloud, order.name)
    return stack.id if stack is not None and stack.run == order.run else ""


def follow(cloud: Cloud, stack: Stack, print_line: PrintLine, known: set[str] | None = None) -> Stack:
    """Print a stack's events as they come, until it no longer changes, and return it as it is then.

    Args:
        cloud: The cloud.
        stack: The stack.
        print_line: Prints an event.
        known: Events that are not printed; those that are printed are added.

    Raises:
        CloudError: The stack cannot be queried; it goes on without this command.
    """
    known = set() if known is None else known
    events: list[StackEvent] = []
    began: dt.datetime | None = None
    while True:
        now = find_stack(cloud, stack.id) or stack
        events = new_events(stack_events(cloud, stack.id, known), known)
        for event in events:
            began = began or event.at
            print_line(cloud.scrub(progress_line(event, began)))
        if not now.is_changing:
            return now
        time.sleep(POLL_SECONDS)
