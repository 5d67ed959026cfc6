"""Reads the launcher in front of another program: how many tasks it starts, on how many nodes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.site.host import MAX_HOSTS
from assay.rooms.foreign.work.notes import Notes, note_variable

MAX_LANES, MAX_ASSUMED_HOSTS = 1024, 64
"""Most lanes of one engine, and most hosts that are assumed if a command line states no number."""
_LIKE_MPIRUN = ("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "prun")
_OTHERS = ("srun", "aprun", "jsrun", "ibrun")


class _Words(NamedTuple):
    """Names of a launcher's options.

    Attributes:
        tasks: Total number of tasks.
        nodes: Number of nodes.
        each: Tasks per node.
        sets: Number of resource sets.
        of_set: Tasks per resource set.
        sets_each: Resource sets per node.
    """

    tasks: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    each: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    of_set: tuple[str, ...] = ()
    sets_each: tuple[str, ...] = ()


_PER_NODE = ("--ntasks-per-node", "--tasks-per-node", "-ppn", "--ppn", "--npernode", "-npernode", "-perhost")
_WORDS = {
    "mpirun": _Words(("-n", "-np", "--n", "--np", "-c"), ("-nodes",), (*_PER_NODE, "-N")),
    "srun": _Words(("-n", "--ntasks"), ("-N", "--nodes"), _PER_NODE),
    "aprun": _Words(("-n", "--pes"), (), ("-N", "--pes-per-node")),
    "jsrun": _Words(("-p", "--np"), (), (), ("-n", "--nrs"), ("-a", "--tasks_per_rs"), ("-r", "--rs_per_host")),
    "ibrun": _Words(("-n", "-np")),
    "": _Words(("-n", "-np", "--np", "--ntasks"), ("-N", "--nodes", "-nodes", "--nnodes"), _PER_NODE),
}
"""Launcher -> its options; all variants of mpirun share one entry, and "" is for unknown launchers."""
_GLUED = ("srun", "aprun", "jsrun", "")
"""Launchers that accept a value directly behind a letter: -n8."""
_HOSTS = ("-H", "-host", "--host")
_PLACED = re.compile(r"ppr:(\d+):node.*")
"""Tasks per node in Open MPI's --map-by."""
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_WRAPPERS = (
    *("sudo", "doas", "env", "nohup", "setsid", "time", "stdbuf", "exec"),
    *("taskset", "numactl", "nice", "ionice", "chrt", "unbuffer"),
)
"""Commands before a program that start it on this host."""


@dataclass
class Launch:
    """The part of a command line in front of the program.

    Attributes:
        launcher: Name of the launcher; empty without one.
        tasks: Number of tasks that it starts; None if not stated.
        nodes: Number of nodes; None if not stated.
        invalid_option: First option for these whose value is not a number, such as `-n $N`; empty if there is none.
        by_slots: The number of tasks is not stated, so that it is the number of slots of the named hosts.
        variables: Environment variables set for the program.
    """

    launcher: str = ""
    tasks: int | None = None
    nodes: int | None = None
    invalid_option: str = ""
    by_slots: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Tasks:
    """Tasks of the other program.

    Attributes:
        total: Total number of tasks.
        nodes: Number of nodes that they run on.
        of_slurm: They are started by srun, which knows the nodes.
    """

    total: int
    nodes: int
    of_slurm: bool = False

    @property
    def each(self) -> int:
        """Most tasks of one node."""
        return -(-self.total // self.nodes)


def launch_of(words: Sequence[str]) -> Launch:
    """Read the words in front of the program.

    Raises:
        AssayError: The launcher would start nothing.
    """
    names = [Path(word).name for word in words]
    launcher = next((name for name in names if name in _LIKE_MPIRUN + _OTHERS), "")
    found = Launch(launcher, variables=dict(_variables(words)))
    options = _WORDS["mpirun" if launcher in _LIKE_MPIRUN else launcher]
    numbers = {name: _number(words, getattr(options, name), found) for name in options._fields}
    tasks, nodes, each = numbers["tasks"], numbers["nodes"], numbers["each"] or _tasks_per_node(words)
    slots = _slots(words) if launcher in _LIKE_MPIRUN else {}
    if tasks is None and numbers["sets"]:
        tasks = numbers["sets"] * (numbers["of_set"] or 1)
    if nodes is None and numbers["sets"] and numbers["sets_each"]:
        nodes = -(-numbers["sets"] // numbers["sets_each"])
    if tasks is None and each and (nodes or slots):
        tasks = (nodes or len(slots)) * each
    if tasks is None and slots and not found.invalid_option:
        tasks = sum(slots.values())
        found.by_slots = True
    if nodes is None and tasks and each:
        nodes = -(-tasks // each)
    if nodes is None and slots:
        nodes = _hosts_with_tasks(slots, tasks)
    found.tasks, found.nodes = tasks, nodes
    return found


def _variables(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        match = _VARIABLE.fullmatch(word)
        if match is not None:
            yield match[1], match[2]


def note_before(words: Sequence[str], notes: Notes) -> None:
    """Note what a study does not do of the words in front of a program that has no launcher: variables, other hosts."""
    for name, _value in _variables(words):
        note_variable(name, notes)
    command = next((word for word in words if _VARIABLE.fullmatch(word) is None), None)
    if command is not None and Path(command).name not in _WRAPPERS:
        notes.add(Path(command).name, "left out: engines start on this host, or on the hosts that the study names")


def _number(words: Sequence[str], known: Sequence[str], found: Launch) -> int | None:
    for name, text in _values_of(words, known, found.launcher in _GLUED):
        if not text.isdigit():
            if not found.invalid_option:
                found.invalid_option = f"{name} {text}".strip()
            continue
        if int(text) < 1:
            message = f"{found.launcher or 'the command line'} {name}: {text} is below 1, so nothing is started"
            raise AssayError(message, "write 1 or more")
        return int(text)
    return None


def _values_of(words: Sequence[str], known: Sequence[str], glued: bool) -> Iterator[tuple[str, str]]:
    """Yield each given option of `known`, and the text of its value."""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in known:
            yield name, value if equals else (words[at + 1] if at + 1 < len(words) else "")
        elif glued and word[:2] in known and word[2:].isdigit():
            yield word[:2], word[2:]


def _tasks_per_node(words: Sequence[str]) -> int | None:
    found = (_PLACED.fullmatch(text) for _name, text in _values_of(words, ("--map-by", "-map-by"), False))
    return next((int(match[1]) for match in found if match is not None and int(match[1]) > 0), None)


def _slots(words: Sequence[str]) -> dict[str, int]:
    """Return host -> slots from Open MPI's -H a:4,b:4; each mention without a number counts as one slot."""
    slots: dict[str, int] = {}
    for _name, text in _values_of(words, _HOSTS, False):
        for part in filter(None, text.split(",")):
            host, _, count = part.partition(":")
            slots[host] = slots.get(host, 0) + (int(count) if count.isdigit() else 1)
    return slots


def _hosts_with_tasks(slots: Mapping[str, int], tasks: int | None) -> int:
    """Return the number of hosts that get a task when slots are filled in order."""
    left, hosts = tasks or 0, 0
    for count in slots.values():
        hosts += left > 0
        left -= count
    return max(1, hosts)


def tasks_of(launch: Launch, requested: int | None, notes: Notes, program_tasks: int | None = None) -> Tasks:
    """Return the tasks that take part.

    Args:
        launch: Launcher of the command line.
        requested: Number of tasks that the user states in addition, which overrides the others.
        notes: Receives a line for each difference.
        program_tasks: Number of tasks by the program's own option, of those that are started.
    """
    total = requested or launch.tasks or program_tasks
    if not requested and launch.tasks and program_tasks:
        total = min(launch.tasks, program_tasks)
        if program_tasks > launch.tasks:
            notes.add(
                f"-N {program_tasks}", f"only {launch.tasks} tasks are started, and as with IOR no more than these work"
            )
    if total is None:
        why = (
            f"{launch.invalid_option!r} is not a number"
            if launch.invalid_option
            else "the command line does not state the number of tasks"
        )
        notes.add("tasks", f"{why}: one lane; state --tasks N, or change lanes")
        total = 1
    elif launch.invalid_option:
        notes.add(launch.invalid_option, "not a number, so it was ignored")
    if launch.by_slots and not requested:
        notes.add(
            "-H", f"{launch.tasks} tasks, one for each slot, as Open MPI starts them; --tasks says another number"
        )
    return Tasks(total, min(launch.nodes or 1, total), launch.launcher == "srun")


def lanes_of(tasks: Tasks, notes: Notes, uses_mpi: bool = False) -> dict[str, int]:
    """Return the workload fields for the lanes that correspond to the tasks.

    Args:
        tasks: The tasks.
        notes: Receives a line for each difference.
        uses_mpi: They are MPI ranks, which are processes with one lane each.

    Raises:
        AssayError: There are more tasks than one host can run, and they cannot be divided evenly among several.
    """
    total, nodes, each = tasks.total, tasks.nodes, tasks.each
    if (each if uses_mpi else total) > MAX_LANES:
        return _spread(tasks, notes, "tasks_per_host" if uses_mpi else "lanes")
    what = f"{nodes} nodes"
    if nodes > 1 and uses_mpi and tasks.of_slurm:
        return {"hosts": nodes, "tasks_per_host": each}
    if nodes > 1 and uses_mpi:
        why = f"then write hosts: {nodes} and tasks_per_host: {each}; until then {each} of {total} tasks run here"
        notes.add(what, f"name them as hosts of the study, {why}")
    elif nodes > 1:
        why = f"then write hosts: {nodes} and lanes: {each}; until then all lanes run on this host"
        notes.add(what, f"name them as hosts of the study, {why}")
    return {"tasks_per_host" if uses_mpi else "lanes": each if uses_mpi else total}


def _spread(tasks: Tasks, notes: Notes, key: str) -> dict[str, int]:
    """Spread more tasks than one host can run: over the stated nodes, else evenly over as few as possible."""
    total, nodes, each = tasks.total, tasks.nodes, tasks.each
    if nodes == 1 or each > MAX_LANES:
        counts = range(2, MAX_ASSUMED_HOSTS + 1)
        nodes = next((count for count in counts if not total % count and total <= count * MAX_LANES), 0)
    if not 0 < nodes <= MAX_HOSTS:
        message = f"{total} tasks are more than the {MAX_LANES} that one host takes, and do not fit on several"
        raise AssayError(message, "state the number of nodes, such as srun -N 4 --ntasks-per-node=512, or fewer tasks")
    each = -(-total // nodes)
    prefix = "" if nodes == tasks.nodes else "the command line does not name the nodes; "
    why = f"{prefix}hosts: {nodes} with {each} each, those of the job in which it runs; or name hosts of your own"
    notes.add(f"{total} tasks", why)
    return {"hosts": nodes, key: each}
