"""Turns the events of a command's tasks into their results."""

import re
from collections.abc import Iterable, Mapping, Sequence

from assay.analyse.programs.patterns import CPU_SECONDS, last_matches
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
    listed = list(events)
    printed = figures([event.output or "" for event in listed], patterns)
    found = [
        TaskResult(
            task=words[event.task] if event.task < len(words) else str(event.task + 1),
            lane=event.lane,
            started_ns=max(0, event.at_ns - begin_ns),
            elapsed_ns=event.elapsed_ns,
            exit_code=event.exit_code,
            signal=event.signal,
            failure=escape_line(event.failure or _slow(slow_figure, patterns)),
            user_ns=event.user_ns,
            system_ns=event.system_ns,
            max_rss_bytes=event.max_rss_bytes,
            left_running=event.left_running or 0,
            io=None if event.io is None else TaskIo(**event.io.model_dump()),
            states=None if event.states is None else TaskStates(**event.states.model_dump()),
            figures=values,
            slow_figure=slow_figure,
        )
        for event, (values, slow_figure) in zip(listed, printed, strict=True)
    ]
    return tuple(sorted(found, key=lambda task: (task.started_ns, task.lane)))


def _slow(name: str, patterns: Mapping[str, str]) -> str:
    """Return why a figure could not be read; empty without a name."""
    if not name:
        return ""
    return (
        f"figures.{name}: the pattern {patterns[name]!r} takes more than {CPU_SECONDS:.0f} s of CPU time on what the "
        "program printed; write it without a repetition inside another, such as a+ for (a+)+"
    )


def figures(
    outputs: Sequence[str], patterns: Mapping[str, str], cpu_seconds: float = CPU_SECONDS
) -> list[tuple[dict[str, float], str]]:
    """Return what each task printed: name -> last number that its pattern finds, and the pattern that took too long.

    Numbers that are not found are missing, as are all that come after a pattern that took too long. The name of that
    pattern is empty for all tasks but the one whose output it was applied to.

    Args:
        outputs: What each task printed.
        patterns: Name -> regular expression with one group.
        cpu_seconds: As for `last_matches`.
    """
    found: list[dict[str, float]] = [{} for _ in outputs]
    slow = [""] * len(outputs)
    matches = last_matches(list(patterns.values()), outputs, cpu_seconds)
    for name, texts in zip(patterns, matches.found, strict=False):
        for values, text in zip(found, texts, strict=False):
            number = _number(text) if text else None
            if number is not None:
                values[name] = number
    if not matches.is_complete:
        pattern, task = divmod(sum(map(len, matches.found)), len(outputs))
        slow[task] = list(patterns)[pattern]
    return list(zip(found, slow, strict=True))


def _number(text: str) -> float | None:
    plain = re.sub(r"[,_ ]", "", text.strip())
    try:
        return float(plain) if _NUMBER.fullmatch(plain) and plain else None
    except ValueError:
        return None
