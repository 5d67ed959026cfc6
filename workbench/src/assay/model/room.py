"""Rooms: parts of Assay that stand around its core, each a folder of `assay.rooms` that registers what it adds.

A room imports the core, never another room. The core finds rooms by their folders and knows of them only what stands
here.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGE = "assay.rooms"
HOOKS = {
    "run_of_outputs": "(path, folder): make a run of what other tools wrote, say what it is; the run's folder",
    "imported_blocks": "(run folder, case id): all that the output of another tool says of a case, as blocks",
    "imported_figures": "(run folder): rows of imported outputs: number of the output, texts, (name, figure) pairs",
    "audit_blocks": "(run folder): what speaks against the results of an imported run, as blocks",
    "audit_words": "(run folder, name the gravest): how much speaks against an imported run; empty if nothing",
    "doubted_cases": "(run folder): ids of the cases against whose figures the audit has an error",
    "job_states": "(runs, print_line): the summaries of runs, with the state of each whose batch job is not over",
    "job_text": "(run folder): id and state of the run's newest batch job; empty if it was not submitted",
    "job_section": "(): section of a run's environment on the batch job of this process; empty outside of jobs",
    "submit_run": "(plan, out, options, words, listener): submit a run as a batch job; the run when the job is over",
    "resume_in_job": "(run folder, options, words, listener, measure): resume a run in a batch job; the run",
    "testbed_site": "(name, hosts, base, is run folder, targets): the `Site` of a box that is brought up for a run",
    "stack_document": "(name, region): a stack and its instances, as JSON of describe-stacks and describe-instances",
    "is_known_stack": "(name): whether a stack of that name was made from here and not removed since",
    "replication_commands": "(name, entry): the commands of an entry of `replication`, by name, as a study writes them",
    "box_description": "(name or path, base, naming): the description of a cluster in a box, a `Box`",
    "stack_network": "(template, values, number of clients): what is drawn of the stack of a design, a `Network`",
    "open_testbed": "(name, clients, servers): the `Site` of a box that is up",
}
"""What the core lets rooms do, each one function of one room: parameters, and what it returns."""


@dataclass(frozen=True)
class Command:
    """A command of `assay`.

    Attributes:
        module: What has its function `command`, or its `app`; imported when the command is used.
        about: The first paragraph of its help.
        after: The command behind which help lists it.
    """

    module: str
    about: str
    after: str


@dataclass(frozen=True)
class Room:
    """What a room adds; functions are written `module:name`, and loaded when they are needed.

    Attributes:
        commands: By name.
        sections: Of a report, each `(RunView) -> Section | None`, and the id of the section behind which it stands.
        hooks: By a name of `HOOKS`.
        paper_parts: Kinds of parts of papers by name, each an `assay.report.paper_part.PartKind`.
    """

    commands: Mapping[str, Command] = field(default_factory=dict)
    sections: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, str] = field(default_factory=dict)
    paper_parts: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def rooms() -> tuple[Room, ...]:
    """All rooms, by the names of their folders."""
    folders = [Path(folder) for folder in import_module(PACKAGE).__path__]
    names = sorted(path.parent.name for folder in folders for path in folder.glob("*/room.py"))
    return tuple(import_module(f"{PACKAGE}.{name}.room").ROOM for name in names)


def hook(name: str) -> Any:
    """Return the function of a room that does what `HOOKS` describes under a name."""
    return load(next(room.hooks[name] for room in rooms() if name in room.hooks))


def load(reference: str) -> Any:
    """Return what a reference `module:name` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
