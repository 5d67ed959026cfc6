"""The words of another program's command line, and of the launcher before it."""

import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.units import one_of

_SIZE = re.compile(r"\s*([+-]?\d+)\s*(\S)?.*")
_SHIFTS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
MOST_LANES = 1024
"""Of one engine."""
_TASKS = ("-n", "-np", "--np", "--ntasks", "-c")
_NODES = ("-N", "--nodes", "-nodes", "--nnodes")
_PER_NODE = ("--ntasks-per-node", "-ppn", "--ppn", "--npernode", "-npernode", "-r", "--tasks-per-node")
_MPIRUN = ("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "prun")
_OTHERS = ("srun", "aprun", "jsrun", "ibrun")


class Option(NamedTuple):
    """An option of the other program.

    Attributes:
        name: What it is called inside.
        takes: It has a value.
        long: Its long name, without dashes; empty if it has none.
    """

    name: str
    takes: bool
    long: str = ""


class Given(NamedTuple):
    """An option as it was written.

    Attributes:
        name: As of `Option`.
        value: Empty if it takes none.
        text: As it stands in the command line.
    """

    name: str
    value: str
    text: str


@dataclass
class Line:
    """A command line.

    Attributes:
        program: The word that names the program.
        tasks: Tasks that the launcher starts; None if it does not say.
        nodes: Nodes that it starts them on; None if it does not say.
        words: What follows the program.
    """

    program: str
    tasks: int | None
    nodes: int | None
    words: tuple[str, ...]


@dataclass
class Notes:
    """What is to be told of a study that was made from a command line."""

    lines: list[str] = field(default_factory=list)

    def add(self, what: str, why: str) -> None:
        """One line: an option, and what became of it."""
        line = f"{what}: {why}"
        if line not in self.lines:
            self.lines.append(line)


def binary_size(text: str, option: str, program: str) -> int:
    """Bytes as IOR and mdtest read them: k, m, g, t and p are powers of 1024, and whatever follows is ignored.

    Raises:
        AssayError: It does not begin with a number, or is below 0.
    """
    found = _SIZE.fullmatch(text)
    if found is None or int(found[1]) < 0:
        raise AssayError(f"{program} {option}: {text!r} is no size", "write a number, or one with k, m, g or t: 16m")
    return int(found[1]) << _SHIFTS.get((found[2] or "").lower(), 0)


def whole(text: str, option: str, program: str, least: int = 0) -> int:
    """A whole number.

    Raises:
        AssayError: It is none, or too small.
    """
    try:
        number = int(text)
    except ValueError:
        raise AssayError(f"{program} {option}: {text!r} is no whole number", "write digits only") from None
    if number < least:
        raise AssayError(f"{program} {option}: {number} is below {least}", f"write {least} or more")
    return number


def read_line(text: str, names: Sequence[str]) -> Line:
    """Find the program in a command line, and what the launcher before it says.

    Args:
        text: The command line, as it was typed in a shell.
        names: What the program may be called.

    Raises:
        AssayError: It is no command line, or has no such program.
    """
    try:
        words = shlex.split(text, comments=False)
    except ValueError as error:
        message = f"the command line cannot be read: {str(error).lower()}"
        raise AssayError(message, "quote it as for a shell") from None
    place = next((at for at, word in enumerate(words) if _is_program(word, names)), None)
    if place is None:
        if not words or not words[0].startswith("-"):
            message = f"no {names[0]} in the command line {text!r}"
            raise AssayError(message, f"write it as it is run, such as: mpirun -np 4 {names[0]} ...")
        return Line(names[0], None, None, tuple(words))
    tasks, nodes = _launched(words[:place])
    return Line(words[place], tasks, nodes, tuple(words[place + 1 :]))


def _is_program(word: str, names: Sequence[str]) -> bool:
    base = Path(word).name.lower()
    return base in names or base.split("-")[0].split(".")[0] in names


def _launched(words: Sequence[str]) -> tuple[int | None, int | None]:
    launcher = next((name for name in (Path(word).name for word in words) if name in _MPIRUN + _OTHERS), "")
    found: dict[str, int] = {}
    tasks_words = _TASKS if launcher in _MPIRUN else tuple(word for word in _TASKS if word != "-c")
    nodes_words = _NODES if launcher == "srun" else tuple(word for word in _NODES if word != "-N")
    each_words = (*_PER_NODE, "-N") if launcher in (*_MPIRUN, "aprun") else _PER_NODE
    for kind, known in (("tasks", tasks_words), ("nodes", nodes_words), ("each", each_words)):
        value = _value_of(words, known)
        if value is not None:
            found[kind] = value
    tasks, nodes, each = found.get("tasks"), found.get("nodes"), found.get("each")
    if tasks is None and nodes and each:
        tasks = nodes * each
    if nodes is None and tasks and each:
        nodes = -(-tasks // each)
    return tasks, nodes


def _value_of(words: Sequence[str], known: Sequence[str]) -> int | None:
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in known:
            continue
        text = value if equals else (words[at + 1] if at + 1 < len(words) else "")
        if text.isdigit() and int(text) > 0:
            return int(text)
    return None


def options_of(line: Line, letters: Mapping[str, Option], program: str) -> list[Given]:
    """The options of a command line, in order.

    Raises:
        AssayError: One is not known, or lacks its value.
    """
    longs = {option.long: option for option in letters.values() if option.long}
    given: list[Given] = []
    rest = list(line.words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            continue
        if word.startswith("--"):
            given.append(_long(word, rest, longs, program))
        elif word.startswith("-") and len(word) > 1:
            given.extend(_short(word, rest, letters, program))
        else:
            message = f"{program}: {word!r} belongs to no option"
            raise AssayError(message, f"{program} takes options only, such as -{next(iter(letters))}")
    return given


def _long(word: str, rest: list[str], longs: Mapping[str, Option], program: str) -> Given:
    name, equals, value = word[2:].partition("=")
    option = longs.get(name)
    if option is None:
        raise AssayError(f"{program} has no option --{name}", one_of(name, sorted(longs)))
    if option.takes and not equals:
        if not rest:
            raise AssayError(f"{program} --{name} lacks its value", f"write --{name}=VALUE")
        value = rest.pop(0)
    return Given(option.name, value, f"--{name}" + (f"={value}" if option.takes else ""))


def _short(word: str, rest: list[str], letters: Mapping[str, Option], program: str) -> list[Given]:
    given: list[Given] = []
    at = 1
    while at < len(word):
        letter = word[at]
        option = letters.get(letter)
        if option is None:
            known = " ".join(f"-{name}" for name in letters if len(name) == 1)
            raise AssayError(f"{program} has no option -{letter} (in {word!r})", f"known: {known}")
        at += 1
        if not option.takes:
            given.append(Given(option.name, "", f"-{letter}"))
            continue
        value = word[at:].removeprefix("=") or (rest.pop(0) if rest else "")
        if not value:
            raise AssayError(f"{program} -{letter} lacks its value", f"write -{letter} VALUE")
        given.append(Given(option.name, value, f"-{letter} {value}"))
        break
    return given


def place_of(folder: str, name: str, option: str) -> str:
    """Path of the directory `name` in a folder of the command line, which may be empty.

    Raises:
        AssayError: The folder goes up from where the study will be.
    """
    path = posixpath.normpath(posixpath.join(folder, name))
    if ".." in path.split("/"):
        raise AssayError(f"{option}: {folder!r} is above this directory", "write an absolute path")
    return path


def lanes_of(line: Line, asked: int | None, notes: Notes, said: int | None = None) -> dict[str, int]:
    """The lanes that do what the tasks do, as fields of a workload.

    Args:
        line: The command line.
        asked: Tasks that were asked for beside it.
        notes: Gets a line where it is not the same.
        said: Tasks by the program's own option.
    """
    tasks = asked or said or line.tasks
    if tasks is None:
        notes.add("tasks", "the command line does not say how many: one lane; say --tasks N, or change lanes")
        tasks = 1
    nodes = line.nodes or 1
    each = -(-tasks // nodes)
    if nodes > 1:
        notes.add(
            f"{nodes} nodes",
            f"name them as hosts of the study, then write hosts: {nodes} and lanes: {each}; till then all are here",
        )
    if tasks > MOST_LANES:
        notes.add(f"{tasks} tasks", f"one engine has {MOST_LANES} lanes at most: name hosts, and write lanes of each")
    return {"lanes": min(tasks, MOST_LANES)}
