"""Events of a stack: progress for people, and the first real cause of a failure. Pure."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.rooms.deploy.model.faults import HINTS, MEANINGS, FaultKind
from assay.rooms.deploy.model.stack import StackEvent
from assay.rooms.deploy.work.life.faults import clean_text, kind_of_text

MAX_HOST_TEXT = 4000
"""Characters of a host's own message that are shown at most: CloudFormation cuts reasons off at about 1,000."""
_CANCELLED = re.compile(r"Resource (?:creation|update|deletion) cancelled")
"""What CloudFormation writes for resources that it stopped because another one had failed."""
_SIGNALLED = re.compile(r"WaitCondition received failed message: '(?P<text>.*)' for uniqueId: (?P<host>\S+)", re.DOTALL)
_TIMED_OUT = re.compile(
    r"WaitCondition timed out|Failed to receive \d+ resource signal\(s\) within the specified duration"
)
ROLE_TYPES = ("AWS::IAM::Role", "AWS::IAM::RolePolicy")
_COUNT = re.compile(r"Received (\d+) conditions? when expecting (\d+)")


@dataclass(frozen=True)
class Cause:
    """Why a stack failed.

    Attributes:
        at: When the resource failed.
        resource: Name of the resource in the template.
        type: Its type.
        kind: What kind of failure it is.
        code: The service's code, if its text has one.
        text: The service's text, or the host's own message.
        host: The host that reported the failure; empty if a service did.
    """

    at: dt.datetime
    resource: str
    type: str
    kind: FaultKind
    code: str
    text: str
    host: str = ""

    @property
    def hint(self) -> str:
        """What to do about it; empty if nothing general helps."""
        return HINTS.get(self.kind, "")

    def lines(self) -> list[str]:
        """Return the cause in words: the first line has resource and kind, the others a host's message."""
        if self.host:
            return [f"host {self.host} reported a failure:", *(f"  {line}" for line in self.text.splitlines())]
        code = f" ({self.code})" if self.code else ""
        meaning = f"{MEANINGS[self.kind]}{code}: " if self.kind in MEANINGS else ""
        return [f"{self.resource} ({self.type}) failed: {meaning}{self.text}"]


def read_event(answer: Mapping[str, Any]) -> StackEvent:
    """Return an event as DescribeStackEvents describes it."""
    physical = answer.get("PhysicalResourceId", "")
    return StackEvent(
        id=answer["EventId"],
        at=answer["Timestamp"],
        resource=answer.get("LogicalResourceId", ""),
        physical=physical,
        type=answer.get("ResourceType", ""),
        status=answer.get("ResourceStatus", ""),
        reason=answer.get("ResourceStatusReason", ""),
        is_stack=physical == answer.get("StackId"),
    )


def is_failure(event: StackEvent) -> bool:
    """Whether an event is a failure of its own, and no cancellation that followed from another one."""
    return event.status.endswith("_FAILED") and not _CANCELLED.match(event.reason)


def first_cause(events: Iterable[StackEvent]) -> Cause | None:
    """Return the first failure by time; None if nothing failed.

    A resource's failure comes before the stack's own, which only lists the resources; the stack's is the cause where no
    resource failed, as when a parameter is refused.
    """
    failures = sorted((event for event in events if is_failure(event)), key=lambda event: (event.is_stack, event.at))
    if failures:
        return _cause(failures[0])
    rolled_back = [event for event in events if event.is_stack and "ROLLBACK" in event.status and event.reason]
    return _cause(min(rolled_back, key=lambda event: event.at)) if rolled_back else None


def _cause(event: StackEvent) -> Cause:
    signalled = _SIGNALLED.search(event.reason)
    if signalled:
        text = "\n".join(clean_text(line) for line in signalled["text"][:MAX_HOST_TEXT].splitlines())
        return Cause(event.at, event.resource, event.type, FaultKind.HOST, "", text, signalled["host"])
    if _TIMED_OUT.search(event.reason):
        found = _COUNT.search(event.reason)
        count = f"{found[1]} of {found[2]} hosts reported in time" if found else "a host did not report in time"
        return Cause(event.at, event.resource, event.type, FaultKind.HOST_SILENT, "", count)
    kind, code = kind_of_text(event.reason)
    if kind is FaultKind.NO_RIGHT and event.type in ROLE_TYPES and event.status == "CREATE_FAILED":
        kind = FaultKind.NO_ROLE_RIGHT
    return Cause(event.at, event.resource, event.type, kind, code, clean_text(event.reason))


def new_events(events: Sequence[StackEvent], known: set[str]) -> list[StackEvent]:
    """Return the events that are not known yet, the oldest first, and add them to `known`."""
    fresh = sorted((event for event in events if event.id not in known), key=lambda event: event.at)
    known.update(event.id for event in fresh)
    return fresh


def progress_line(event: StackEvent, began: dt.datetime) -> str:
    """Return an event as a line: minutes and seconds since the first one, resource, status, and why it failed."""
    seconds = max(0, int((event.at - began).total_seconds()))
    failure = f": {clean_text(event.reason)}" if is_failure(event) else ""
    words = event.status.lower().replace("_", " ")
    return f"{seconds // 60:3}:{seconds % 60:02} {event.resource} ({event.type.removeprefix('AWS::')}) {words}{failure}"
