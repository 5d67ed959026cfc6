"""Converts a command line of iozone to an equivalent study."""

import posixpath
from collections.abc import Callable
from typing import Any

from assay.model.base import AssayError
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.iozone.command_line import Words, read_words
from assay.rooms.foreign.work.iozone.work import operations_of, settings_of, sizes_of
from assay.rooms.foreign.work.launcher import note_before
from assay.rooms.foreign.work.line import directory_path, split_line
from assay.rooms.foreign.work.notes import Notes

NAMES = ("iozone", "iozone3")
_FOLDER = "assay-iozone"
_MAX_LANES = 1024


def iozone_study(text: str, read: Callable[[str], str]) -> str:
    """Return the text of a study file equivalent to a command line of iozone.

    Args:
        text: The command line.
        read: Returns the text of a file (`-+m`).

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: iozone would refuse it, or its work has no counterpart.
    """
    notes = Notes()
    parts = split_line(text, NAMES)
    note_before(parts.before, notes)
    words = read_words(parts.words, notes)
    lanes, clients = _lanes(words), _clients(words, read)
    hosts = [client[0] for client in clients]
    _check_files(words, lanes)
    workloads = _workloads(words, lanes, hosts, notes)
    if lanes and not words.has("x"):
        notes.add("-t", "each lane does all of its work; iozone stops the others when the first is ready, without -x")
    notes.add("repeats: 1", "as iozone; an interval needs 3 repeats at least: change repeats")
    study: dict[str, Any] = {
        "study": "from-iozone",
        "targets": {"place": _target(words, lanes, clients, notes)},
        "workloads": workloads,
        "repeats": 1,
        "order": "sequential",
    }
    if hosts:
        study["hosts"] = list(dict.fromkeys(hosts))
    if words.has("w"):
        study["output"] = {"keep_files": True}
    return study_text(study, head_comments(text, notes))


def _workloads(words: Words, lanes: list[int], hosts: list[str], notes: Notes) -> dict[str, Any]:
    """Return the workload by calls and mappings, and that by C stdio, as far as there is work for them."""
    plain, stdio = operations_of(words, notes)
    shared = sizes_of(words) | _lane_fields(lanes, hosts)
    most = max(lanes or [1])
    if words.has("+O"):
        shared["rate"] = f"{words.number('+O', 1) * most}/s"
    if words.has("P"):
        first = words.number("P", 0)
        shared["cpus"] = str(first) if most == 1 else f"{first}-{first + most - 1}"
    return {
        name: {"operations": operations, **shared, **settings_of(words, operations, notes)}
        for name, operations in (("iozone", plain), ("stdio", stdio))
        if operations
    }


def _check_files(words: Words, lanes: list[int]) -> None:
    """Refuse names and sizes that do not go with the number of processes, as iozone does."""
    if lanes and words.has("f"):
        raise AssayError("iozone: -f is for one process", "write -F with a name for each process of -t")
    if words.files and len(words.files) < max(lanes or [1]):
        message = f"iozone -F: {len(words.files)} names for {max(lanes)} processes"
        raise AssayError(message, "write a name for each process")
    size, record = [*words.sizes("s"), 512 << 10][0], [*words.sizes("r"), 4 << 10][0]
    if words.has("+k") and lanes and size // max(lanes) < record:
        raise AssayError(f"iozone -+k: {max(lanes)} processes have less than a record each", "write a larger -s")


def _lanes(words: Words) -> list[int]:
    """Return the numbers of processes that are tried, none in the mode without -t."""
    if words.has("l") or words.has("u"):
        least = max(1, words.number("l", 1))
        most = max(1, words.number("u", least))
        found = list(range(least, most + 1))
    else:
        found = sorted({number or 8 for number in words.numbers("t")})
    if words.has("l") and not found:
        raise AssayError("iozone: -l is above -u", "write -l below -u")
    if found and found[-1] > _MAX_LANES:
        raise AssayError(f"iozone: {found[-1]} processes are more than {_MAX_LANES}", "write fewer")
    return found


def _clients(words: Words, read: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return host and directory of each process in a file of clients (`-+m`), one process a line."""
    if not words.has("+m"):
        return []
    lines = [line.split() for line in read(words.values["+m"][-1]).splitlines()]
    return [(line[0], "".join(line[1:2])) for line in lines if line and not line[0].startswith("#")]


def _lane_fields(lanes: list[int], hosts: list[str]) -> dict[str, Any]:
    if hosts:
        count = (lanes or [len(hosts)])[-1]
        used = hosts[:count]
        names = list(dict.fromkeys(used))
        each = {name: used.count(name) for name in names}
        if len(used) < count:
            message = f"iozone -t {count}: the file of -+m has {len(used)} lines, one for each process"
            raise AssayError(message, "write a line for each process")
        if len(set(each.values())) > 1 or len(lanes) > 1:
            raise AssayError(f"iozone -t {count}: hosts do not have equally many processes", "write as many for each")
        return {"hosts": len(names), "lanes": count // len(names)}
    if not lanes:
        return {"lanes": 1}
    if len(lanes) > 2 and lanes == list(range(lanes[0], lanes[-1] + 1)):
        return {"lanes": {"from": lanes[0], "to": lanes[-1], "step": 1}}
    return {"lanes": lanes[0] if len(lanes) == 1 else lanes}


def _target(words: Words, lanes: list[int], clients: list[tuple[str, str]], notes: Notes) -> dict[str, Any]:
    names = words.files or words.values.get("f", ["iozone.tmp"])
    starts = list(dict.fromkeys(folder for _, folder in clients[: (lanes or [len(clients)])[-1]])) or [""]
    if len(starts) > 1:
        message = f"iozone -+m: processes start in several directories: {' '.join(starts[:4])}"
        raise AssayError(message, "a target has one path for all hosts: write the same in each line")
    names = [posixpath.join(starts[0], name) for name in names]
    folders = [_folder(name) for name in (names[: max(lanes)] if words.files and lanes else names[:1])]
    paths = list(dict.fromkeys(folders))
    if len({folders.count(path) for path in paths}) > 1:
        raise AssayError("iozone -F: directories do not have equally many files", "write as many files in each")
    if any(name.startswith("/dev/") for name in names) and not names[0].startswith("/dev/shm/"):
        raise AssayError(f"iozone: {names[0]} is a device, which iozone does not make", "name a file")
    notes.add(" ".join(names[:4]), f"files go to {' and '.join(paths)}, which Assay makes and removes")
    return {"kind": "file", "path": paths[0], **({"shares": paths[1:]} if len(paths) > 1 else {})}


def _folder(name: str) -> str:
    above, slash, _ = name.rpartition("/")
    return directory_path(above or slash, _FOLDER, "iozone -f")
