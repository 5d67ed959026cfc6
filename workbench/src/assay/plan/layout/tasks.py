"""The job of a command: how its tasks are dealt to lanes, its program or trace, and the place where they work."""

import posixpath
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from assay.contract._generated import CommandTarget, Input, Pace, Program, ReplayTarget, Tree
from assay.model.source import FieldFault
from assay.model.study import commands
from assay.model.study.commands import OUTPUT_BYTES, ProgramWords, StudyCommand, StudyReplay
from assay.model.study.parameters import Parameters
from assay.model.study.study import Workload

TASK_SECONDS = 1.0
"""Seconds that a task is assumed to take: only a run can say how long it does."""
_SHELL_SIGNS = ("|", "||", "&&", "&", "<", ">", ">>", "2>", "2>&1")
"""Words that connect programs or files in a shell. Not `;`, which ends a command of `find -exec`."""


def task_fields(parameters: Parameters) -> dict[str, Any]:
    """Return the fields of a job that say how many tasks each lane has; the tree has a file for each."""
    each, more = divmod(parameters.tasks or 0, parameters.all_lanes)
    return {"file_size_bytes": 0, "record_size_bytes": 1, "tree": Tree(files=each, more=more)}


def command_target(place: BaseModel, command: StudyCommand, parameters: Parameters) -> CommandTarget:
    """Return the target of a command's job.

    Args:
        place: Target of a job on the same directory.
        command: The command.
        parameters: Parameters of the case.
    """
    values = place.model_dump()
    count = parameters.tasks or 0
    return CommandTarget(
        kind="command",
        root=values["root"],
        directory=values["directory"],
        run=values.get("run"),
        program=_program(command.run, parameters),
        prepare=None if command.prepare is None else _program(command.prepare, parameters),
        check=None if command.check is None else _program(command.check, parameters),
        tasks=list(command.task_words) or [str(number) for number in range(1, count + 1)],
        inputs=[Input(name=name, path=one.path, sha256=one.sha256) for name, one in command.inputs.items()],
        outputs=command.outputs,
        environment={**_own_variables(parameters), **command.environment},
        task_limit_ns=command.task_limit,
        output_bytes=OUTPUT_BYTES if command.figures else 0,
        figures={name: figure.pattern for name, figure in command.figures.items()},
    )


def replay_target(place: BaseModel, replay: StudyReplay, parameters: Parameters) -> ReplayTarget:
    """Return the target of a job that replays a trace; arguments as for `command_target`."""
    values, pace = place.model_dump(), parameters.pace or commands.RECORDED
    return ReplayTarget(
        kind="replay",
        root=values["root"],
        directory=values["directory"],
        run=values.get("run"),
        trace=replay.replay.path,
        sha256=replay.replay.sha256,
        pace=Pace.fast if pace == commands.FAST else Pace.recorded,
        rate=commands.pace_factor(pace),
    )


def _own_variables(parameters: Parameters) -> dict[str, str]:
    return {} if parameters.threads is None else {"threads": str(parameters.threads)}


def _program(program: ProgramWords, parameters: Parameters) -> Program:
    """Return the program for the engine, which does not know $threads."""
    if program.shell or parameters.threads is None:
        return Program(words=list(program.words), shell=program.shell)
    threads = str(parameters.threads)
    return Program(words=[commands.replaced(word, "threads", threads) for word in program.words], shell=False)


def command_faults(path: tuple[str, ...], workload: Workload, study_is_local: bool) -> Iterator[FieldFault]:
    """Yield what is wrong with a command apart from its single fields."""
    for policy in workload.axis("cache").values():
        if policy not in ("drop", "keep", "remount"):
            message = f"cache: {policy} is for the engine's own reads and writes, not for those of a program"
            yield FieldFault(path=(*path, "cache"), message=message, hint="use drop, remount or keep")
    if workload.command is not None:
        yield from _program_faults(path, workload, workload.command, study_is_local)


def _shell_sign(program: ProgramWords) -> str | None:
    """Return the first word of a list that only a shell understands; None without one.

    After an option it is the option's value, as in `cut -d |`.
    """
    if program.shell:
        return None
    pairs = pairwise(program.words)
    return next((word for before, word in pairs if word in _SHELL_SIGNS and not before.startswith("-")), None)


def _is_below(program: str) -> bool:
    """Return whether a program is named by a path that starts at, and stays below, the working directory."""
    parts = program.split("/")
    return len(parts) > 1 and parts[0] != "" and "$" not in program and ".." not in parts


def _program_faults(
    path: tuple[str, ...], workload: Workload, command: StudyCommand, study_is_local: bool
) -> Iterator[FieldFault]:
    threads = workload.axis("threads").values()
    for field, program in command.programs:
        names = set(program.variables)
        if "threads" in names and None in threads:
            message, hint = "$threads has no value", "add a line such as `threads: 4` or `threads: [1, 2, 4]`"
            yield FieldFault(path=(*path, field), message=message, hint=hint)
        wrong = sorted(names.intersection(commands.ONLY_OF_TASKS)) if field == "prepare" else []
        if wrong:
            message = f"${wrong[0]} is known only while tasks are run"
            yield FieldFault(path=(*path, field), message=message, hint="prepare works on $inputs for all tasks")
        if sign := _shell_sign(program):
            message = f"`{sign}` is a word for the program: no shell reads a list"
            yield FieldFault(path=(*path, field), message=message, hint=f"write {{shell: 'TEXT with {sign}'}}")
    first = command.run.words[0]
    if not command.run.shell and _is_below(first):
        message = f"{first} cannot be there: each task starts in an empty directory"
        hint = f"name the file below `inputs`, and run $inputs/{posixpath.basename(first)}; or write its whole path"
        yield FieldFault(path=(*path, "run"), message=message, hint=hint)
    lanes = max(int(count or 1) for count in workload.axis("lanes").values())
    hosts = max(int(count or 1) for count in workload.axis("hosts").values())
    fewest = min(int(count or 1) for count in workload.axis("tasks").values())
    if workload.axis("streams").values() == (None,) and fewest < lanes * hosts and not workload.where:
        message = f"{fewest} {'task' if fewest == 1 else 'tasks'} cannot keep {lanes * hosts} lanes busy"
        hint = (
            "use at least one task for each lane of each host, or fewer lanes; or add `where: tasks >= lanes * hosts`"
        )
        yield FieldFault(path=(*path, "tasks"), message=message, hint=hint)
    if command.inputs and not study_is_local:
        message = "inputs are copied from this machine, and other hosts generate the load"
        hint = "put the files where the first host sees them, and copy them with `prepare`"
        yield FieldFault(path=(*path, "inputs"), message=message, hint=hint)
