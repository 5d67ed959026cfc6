"""Turns the events of a command's tasks into their results."""

import re
from collections.abc import Iterable, Mapping

from assay.contract.bounds import command_of
from assay.contract.messages import HelloEvent, TaskEvent
from assay.model.escape import escape_line
from assay.model.result.tasks import TaskIo, TaskResult, TaskStates

_NUMBER = re.compile(r"[-+]?(?:\d[\d,_ ]*)?(?:\.\d+)?(?:[eE][-+]?\d+)?")


def task_results(events: Iterable[TaskEvent], hello: HelloEvent | None, begin_ns: int) -> tuple[TaskResult, ...]:
    """Return the tasks of one engine in the order of their starts.

    Args:
        events: Their events.
        hello: The engine's first event.
        begin_ns: Start of the phase, on the same clock as the events.
    """
    command = None if hello is None else command_of(hello.job)
    words, patterns = ([], {}) if command is None else (command.tasks, command.figures)
    found = [
        TaskResult(
            task=words[event.task] if event.task < len(words) else str(event.task + 1),
            lane=event.lane,
            started_ns=max(0, event.at_ns - begin_ns),
            elapsed_ns=event.elapsed_ns,
            exit_code=event.exit_code,
            signal=event.signal,
            failure=escape_line(event.failure or ""),
            user_ns=event.user_ns,
            system_ns=event.system_ns,
            max_rss_bytes=event.max_rss_bytes,
            left_running=event.left_running or 0,
            io=None if event.io is None else TaskIo(**event.io.model_dump()),
            states=None if event.states is None else TaskStates(**event.states.model_dump()),
            figures=figures(event.output or "", patterns),
        )
        for event in events
    ]
    return tuple(sorted(found, key=lambda task: (task.started_ns, task.lane)))


def figures(output: str, patterns: Mapping[str, str]) -> dict[str, float]:
    """Return the last number that each pattern finds in what a task printed; those that find none are missing."""
    found: dict[str, float] = {}
    for name, pattern in patterns.items():
        matches = re.findall(pattern, output, re.MULTILINE)
        number = _number(matches[-1]) if matches else None
        if number is not None:
            found[name] = number
    return found


def _number(text: str) -> float | None:
    plain = re.sub(r"[,_ ]", "", text.strip())
    try:
        return float(plain) if _NUMBER.fullmatch(plain) and plain else None
    except ValueError:
        return None
