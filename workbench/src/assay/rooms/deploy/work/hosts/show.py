"""What became of hosts, or would, as lines; hosts with the same lines are shown together."""

from collections.abc import Iterable, Sequence
from typing import Any

from ClusterShell.NodeSet import NodeSet

from assay.model.escape import escape_line
from assay.model.units import about_duration
from assay.rooms.deploy.work.hosts.outcome import STATUS_FILE, HostOutcome, StepOutcome

MAX_LINES = 20


def outcome_lines(outcomes: Iterable[HostOutcome]) -> list[str]:
    """Return the lines for outcomes: for each group of hosts with the same, their names, and a line for each step."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for outcome in outcomes:
        groups.setdefault((outcome.task.role, *_lines(outcome)), []).append(outcome.task.host.name)
    lines: list[str] = []
    for (role, *rest), names in groups.items():
        lines += [f"{fold_names(names)}: {role}", *rest]
    return lines


def outcome_json(outcome: HostOutcome) -> dict[str, Any]:
    """Return an outcome for programs."""
    return {
        "host": outcome.task.host.name,
        "role": outcome.task.role,
        "failed": outcome.has_failed,
        "fault": outcome.fault,
        "steps": [step.model_dump() for step in outcome.steps],
    }


def fold_names(names: Sequence[str]) -> str:
    """Return names as a node set, such as `client[1-8]`."""
    return str(NodeSet.fromlist(names))


def _lines(outcome: HostOutcome) -> list[str]:
    if outcome.fault:
        return [f"  failed      {escape_line(outcome.fault)}"]
    lines: list[str] = []
    for step in outcome.steps:
        lines += _step_lines(step)
    return lines


def _step_lines(step: StepOutcome) -> list[str]:
    detail = [escape_line(line) for line in step.detail.splitlines() if line.strip()][:MAX_LINES] or [""]
    seconds = f" ({about_duration(step.seconds)})" if step.state == "done" and step.seconds >= 10 else ""
    lines = [f"  {step.state:<11} {escape_line(step.step):<20} {detail[0]}{seconds}".rstrip()]
    lines += [f"{'':<35}{line}" for line in detail[1:]]
    if step.state == "failed":
        shown = [escape_line(line) for line in step.output.splitlines() if line.strip()][-MAX_LINES:]
        if len(shown) > 1:
            lines += [f"      | {line}" for line in shown]
    return lines


def summary(outcomes: Sequence[HostOutcome], all_count: int, is_plan: bool) -> str:
    """Return the last line: how many hosts are set up, and what the others wait for."""
    failed = [outcome for outcome in outcomes if outcome.has_failed]
    if is_plan:
        words = f"{_hosts(all_count)} planned; nothing was changed"
        return words + (f"; {_hosts(len(failed))} cannot be set up so: {_names(failed)}" if failed else "")
    if not failed:
        return f"{_hosts(all_count)} set up"
    rest = all_count - len(outcomes)
    words = f"{len(outcomes) - len(failed)} of {_hosts(all_count)} set up; failed: {_names(failed)}"
    words += f"; {rest} later in the file not begun" if rest else ""
    return f"{words}; {STATUS_FILE} there has the steps, and the same command goes on"


def _hosts(count: int) -> str:
    return f"{count} host{'s' * (count != 1)}"


def _names(outcomes: Sequence[HostOutcome]) -> str:
    return fold_names([outcome.task.host.name for outcome in outcomes])
