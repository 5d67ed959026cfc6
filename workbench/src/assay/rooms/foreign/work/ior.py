"""Converts a command line of IOR to an equivalent study."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay.model.secret import REDACTED
from assay.plan.command_lines.ior_tests import IorTest, tests_of
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior_place import targets_of
from assay.rooms.foreign.work.ior_workload import workload_of
from assay.rooms.foreign.work.launcher import tasks_of
from assay.rooms.foreign.work.line import join_lines, read_line
from assay.rooms.foreign.work.notes import Notes, note_variable

NAMES = ("ior",)
_HINT = "IOR_HINT__MPI__"
_SET = re.compile(r"""(?<!\S)(-{1,2}g?env\s+[^\s=]+\s+)("[^"]*"|'[^']*'|\S+)""")
"""A variable that MPICH's launcher sets: `-genv NAME VALUE`."""


def ior_study(text: str, read: Callable[[str], str], tasks: int | None = None) -> str:
    """Return the text of a study file equivalent to a command line of IOR.

    Args:
        text: The command line, with or without its launcher.
        read: Returns the text of a script file (`-f`).
        tasks: Number of tasks, which overrides the command line; None for the command line's.

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: IOR would refuse the command line.
    """
    text = join_lines(text)
    line = read_line(text, NAMES)
    notes = Notes()
    tests = tests_of(line.words, read)
    names = ["ior"] if len(tests) == 1 else [f"test-{number}" for number in range(1, len(tests) + 1)]
    hints = _hints(line.launch.variables, any(test.uses_mpi for test in tests), notes)
    targets, places = targets_of(tests, hints, notes)
    workloads: dict[str, Any] = {}
    for name, test, place in zip(names, tests, places, strict=True):
        test_tasks = tasks_of(line.launch, tasks, notes, test.number("numtasks", 1))
        only = {"targets": [place]} if len(targets) > 1 else {}
        workloads[name] = only | workload_of(test, test_tasks, hints, notes)
    study: dict[str, Any] = {"study": "from-ior", "targets": targets, "workloads": workloads}
    study |= _study_fields(tests, notes)
    if any(test.uses_mpi for test in tests):
        study["launcher"] = "srun" if line.launch.launcher == "srun" else "mpirun"
    if study.get("launcher") == "srun" or any("hosts" in workload for workload in workloads.values()):
        # Slurm knows its nodes by name, and none as localhost.
        study["hosts"] = "allocation"
    return study_text(study, head_comments(text, notes))


def head_comments(text: str, notes: Notes) -> Iterator[str]:
    """Yield the comment lines for the head of a study that was made from a command line."""
    shown = _SET.sub(rf"\1{REDACTED}", text)
    yield f"From: {' '.join(shown.split())}"
    yield ""
    yield "  assay plan FILE     what will be done, how long, how many bytes"
    yield "  assay run FILE      do it"
    if notes.lines:
        yield ""
        yield "What differs, and what to know:"
        yield from (f"* {note}" for note in notes.lines)


def _hints(variables: Mapping[str, str], by_mpi: bool, notes: Notes) -> dict[str, str]:
    """Return the MPI-IO hints that environment variables set."""
    hints: dict[str, str] = {}
    for name, value in variables.items():
        if name.startswith(_HINT) and by_mpi and value:
            hints[name.removeprefix(_HINT)] = value
        elif name.startswith(_HINT):
            notes.add(name, "a hint for MPI-IO only")
        else:
            note_variable(name, notes)
    return hints


def _study_fields(tests: Sequence[IorTest], notes: Notes) -> dict[str, Any]:
    """Return the fields of the study outside its workloads."""
    repeats = [test.number("repetitions", 1) or 1 for test in tests]
    found: dict[str, Any] = {"repeats": max(repeats)}
    if len(set(repeats)) > 1:
        notes.add("repetitions", f"tests have {_listed(repeats)}, and a study has one number: {max(repeats)} for all")
    if found["repeats"] < 3:
        notes.add(f"-i {found['repeats']}", "an interval needs 3 repeats at least: change repeats")
    seeds = [_seed(test, notes) for test in tests]
    if len(set(seeds)) > 1:
        notes.add("-G", f"tests have {_listed(seeds)}, and a study has one seed: {seeds[0]}")
    if seeds[0]:
        found["seed"] = seeds[0]
    keeps = [test.has("keepfile") for test in tests]
    if len(set(keeps)) > 1:
        notes.add("-k", "files of all tests are kept, not of some")
    if any(keeps):
        found["output"] = {"keep_files": True}
    return found


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _seed(test: IorTest, notes: Notes) -> int:
    """Return IOR's signature as a seed; 0 without one. IOR stores it as a signed 32-bit number."""
    if "settimestampsignature" not in test.texts:
        return 0
    seed = test.number("settimestampsignature", -(2**31)) or 0
    if seed < 0:
        notes.add(test.texts_of["settimestampsignature"], f"seeds have no sign: {seed % 2**32}, the same 32 bits")
    return seed % 2**32 if seed < 0 else seed
