"""What the script of a role reports: the JSON that it prints, and keeps in /var/lib/assay/ROLE.status.json."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from assay.launch.shell import CommandResult
from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.frozen import Frozen
from assay.rooms.deploy.work.hosts.file import HostTask

State = Literal["already so", "would do", "done", "failed"]
STATUS_FILE = "/var/lib/assay/role.status.json"
"""On a host: the report of the role that was set up last."""

_BEGINNING = '{"role": '


class StepOutcome(Frozen):
    """What became of a step.

    Attributes:
        step: Its name.
        state: Its state.
        seconds: How long it took.
        detail: What was or would be done, or the reason of the failure; perhaps several lines.
        output: If it failed: its last 20 lines, in which our own message is the reason.
    """

    step: str
    state: State
    seconds: int
    detail: str
    output: str


class RoleStatus(Frozen):
    """The whole report of a host."""

    role: str
    state: Literal["running", "done", "failed"]
    plan: bool
    steps: tuple[StepOutcome, ...]


@dataclass(frozen=True)
class HostOutcome:
    """What became of a host.

    Attributes:
        task: What was to be done there.
        steps: What the script reports; empty if it did not begin.
        fault: Why there is no report; empty if there is one.
    """

    task: HostTask
    steps: tuple[StepOutcome, ...] = ()
    fault: str = ""

    @property
    def has_failed(self) -> bool:
        """Whether it is not set up, or cannot be."""
        return bool(self.fault) or any(step.state == "failed" for step in self.steps)


def parse_outcome(task: HostTask, result: CommandResult) -> HostOutcome:
    """Return what a script reports by its output; the output is another machine's, and may be anything.

    A login may print something before it, such as `echo` in a .bashrc.
    """
    try:
        status = RoleStatus.model_validate_json(result.out[max(result.out.find(_BEGINNING), 0) :])
    except ValidationError:
        return HostOutcome(task, fault=result.last_line if result.code else "the script ended without a report")
    if not status.steps and result.code:
        return HostOutcome(task, fault=result.last_line)
    return HostOutcome(task, status.steps)


def failed_outcome(task: HostTask, error: AssayError) -> HostOutcome:
    """Return the outcome of a host that was not reached."""
    return HostOutcome(task, fault=escape_line(f"{error.message}{'; ' if error.hint else ''}{error.hint}"))
