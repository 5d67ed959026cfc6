"""Converts a command line of mdtest to an equivalent study (version 4.1, `mdtest -h`)."""

import shlex
from collections.abc import Mapping
from typing import Any

from assay.model.base import AssayError
from assay.model.study.shape import directories
from assay.model.units import format_size
from assay.plan.command_lines.mdtest_options import LETTERS
from assay.plan.command_lines.options import INTERFACE_PREFIX, ParsedOption, binary_size, options_of, whole_number
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.launcher import Tasks, lanes_of, tasks_of
from assay.rooms.foreign.work.line import directory_path, join_lines, read_line, refuse_password
from assay.rooms.foreign.work.notes import Notes, note_variable

NAMES = ("mdtest",)
_PLACE = "assay-mdtest"
_MAX_WIDTH = 10_000
"""Most directories in a directory in a study."""

OPTION_NOTES = {
    "nobarriers": "there is a barrier before each phase",
    "collectivecreates": "each lane makes its own names; one lane for all is lanes: 1",
    "first": "several numbers of tasks: write lanes: [1, 2, 4]",
    "last": "several numbers of tasks: write lanes: [1, 2, 4]",
    "tasksstride": "several numbers of tasks: write lanes: [1, 2, 4]",
    "globaldirlayout": "Lustre's own call: set it on the directory before",
    "bufferoffset": "contents are a function of the study's seed",
    "packettype": "contents are incompressible, no two blocks are the same",
    "mknod": "files are made by open with O_CREAT and O_EXCL",
    "predelay": "phases follow each other directly, between barriers",
    "printboth": "the run keeps rates and times",
    "printtime": "the run keeps rates and times",
    "printall": "the run keeps what every lane did",
    "rankstatistics": "the run keeps what every lane did",
    "rankdetails": "the run keeps what every lane did: assay export",
    "perop": "latencies are kept as histograms, not one by one",
    "verbose": "the run keeps everything; assay show prints it",
    "verbosity": "the run keeps everything; assay show prints it",
    "random": "names are looked up in the order of their numbers, directory after directory",
    "randomseed": "names are looked up in the order of their numbers, directory after directory",
    "sharedfile": "each file is one lane's",
    "timeunique": "making the directories of the tree is not timed; mkdir times directories",
    "renamedirs": "rename renames files",
    "statusfile": "later phases work on what the first has made: no file is needed",
    "verifywrite": "verify checks what is read in a phase of its own",
    "before": "study files run no commands",
    "after": "study files run no commands",
    "warnings": "what cannot be done is refused before anything is written",
    "odirect": "metadata operations have no O_DIRECT",
    "syncphase": "sync: fsync flushes the file system at the end of each phase that makes or removes names (syncfs)",
    "syncfile": "sync: o_sync: every file is stable when it is closed",
}
"""Option -> its counterpart in a study, or why it has none."""


def mdtest_study(text: str, tasks: int | None = None) -> str:
    """Return the text of a study file equivalent to a command line of mdtest.

    Args:
        text: The command line, with or without its launcher.
        tasks: Number of tasks, which overrides the command line; None for the command line's.

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: mdtest would refuse the command line.
    """
    text = join_lines(text)
    line = read_line(text, NAMES)
    notes = Notes()
    options = {one.name: one for one in options_of(line.words, LETTERS, "mdtest")}
    _refuse(options)
    for name, one in options.items():
        if name in OPTION_NOTES or name.startswith(INTERFACE_PREFIX):
            notes.add(one.text, OPTION_NOTES.get(name, "an option of another interface, which -a POSIX does not use"))
    repeats = _number(options, "iterations", 1, 1)
    for name in line.launch.variables:
        note_variable(name, notes)
    all_tasks = tasks_of(line.launch, tasks, notes)
    fields = {**lanes_of(all_tasks, notes), **_neighbour(options, all_tasks, notes)}
    workloads = _workloads(options, fields, notes)
    study: dict[str, Any] = {
        "study": "from-mdtest",
        "targets": {"place": {"kind": "file", "path": _path(options, notes)}},
        "workloads": workloads,
        "repeats": repeats,
    }
    if "hosts" in fields:
        study["hosts"] = "allocation"
    if repeats < 3:
        notes.add(f"-i {repeats}", "an interval needs 3 repeats at least: change repeats")
    return study_text(study, head_comments(text, notes))


def _number(options: Mapping[str, ParsedOption], name: str, default: int, least: int = 0) -> int:
    one = options.get(name)
    return default if one is None else whole_number(one.value, one.text.split()[0], "mdtest", least)


def _bytes(options: Mapping[str, ParsedOption], name: str) -> int:
    one = options.get(name)
    return 0 if one is None else binary_size(one.value, one.text.split()[0], "mdtest")


def _refuse(options: Mapping[str, ParsedOption]) -> None:
    if "help" in options:
        raise AssayError("mdtest -h tests nothing", "write a command line with -n or -I")
    if "api" in options and options["api"].value.upper() != "POSIX":
        raise AssayError(
            f"mdtest {options['api'].text}: there is no such target", "use -a POSIX, or write the study yourself"
        )
    if "items" not in options and "itemsperdir" not in options:
        raise AssayError(
            "mdtest: the number of files or directories is missing", "add -n ITEMS, or -I ITEMS_PER_DIRECTORY"
        )


def _path(options: Mapping[str, ParsedOption], notes: Notes) -> str:
    written = options["dir"].value if "dir" in options else ""
    refuse_password(written, "mdtest -d")
    first, several, _ = written.partition("@")
    path = directory_path(first, _PLACE, "mdtest -d")
    if several:
        notes.add(options["dir"].text, "several directories: write the others as shares of the target")
    if written:
        notes.add(f"-d {shlex.quote(written)}", f"files go to {path}, which Assay makes and removes")
    else:
        notes.add("-d", f"not given: files go to {path}")
    return path


def _shape(options: Mapping[str, ParsedOption], notes: Notes) -> dict[str, Any]:
    """Return the fields for files and directories of each task, counted as mdtest does."""
    depth = _number(options, "depth", 0)
    width = max(1, _number(options, "branch", 1, 1 if depth else 0))
    inner = depth > 0 and "leafonly" not in options
    folders = directories(width, depth, inner)
    items, each = _bytes(options, "items"), _bytes(options, "itemsperdir")
    loops = _loops(options, items, each)
    total = each * folders * loops if each else items // folders * folders
    if total < 1:
        raise AssayError(f"mdtest: {items} items are fewer than {folders} directories", "raise -n, or lower -b or -z")
    if total != items and not each:
        notes.add(f"-n {items}", f"{total}, as mdtest rounds it: equally many in each of {folders} directories")
    if loops > 1 and depth == 0 and loops <= _MAX_WIDTH:
        notes.add(f"-n {items} -I {each}", f"{loops} directories with {each} of each task, in one above them")
        depth, width = 1, loops
    elif loops > 1:
        notes.add(
            f"-n {items} -I {each}",
            f"one tree, with {each * loops} items of each task in a directory; mdtest makes {loops} trees with {each}",
        )
    found: dict[str, Any] = {"files": total}
    if depth:
        found |= {"depth": depth, "width": width}
    return found | ({"inner": True} if inner else {})


def _loops(options: Mapping[str, ParsedOption], items: int, each: int) -> int:
    """Return the number of trees that mdtest makes, one after the other, for -n ITEMS with -I ITEMS_PER_DIRECTORY."""
    if not items or not each:
        return 1
    if "unique" in options:
        raise AssayError(f"mdtest: -n {items} and -I {each} exclude each other with -u", "leave one out")
    if items % each:
        raise AssayError(f"mdtest: -n {items} is not a multiple of -I {each}", "change one of them, or leave it out")
    return items // each


def _neighbour(options: Mapping[str, ParsedOption], tasks: Tasks, notes: Notes) -> dict[str, Any]:
    """Return the fields for -N, which chooses the lane whose names are accessed.

    From version 3.3 on it counts nodes, or tasks if there is only one node.
    """
    stride = _number(options, "stride", 0)
    if not stride:
        return {}
    by, text = stride * (tasks.each if tasks.nodes > 1 else 1), f"-N {stride}"
    notes.add(text, "every phase after the creation works on the names of that lane; mdtest goes on by so many with "
              "each phase")  # fmt: skip
    if by != stride:
        notes.add(text, f"{by} lanes, those of {stride} of {tasks.nodes} nodes, as mdtest makes of it: change "
                  "reorder_by with lanes, or write reorder: node")  # fmt: skip
    if by % tasks.total == 0 and tasks.total > 1:
        notes.add(text, f"{by} lanes on are each lane's own; versions before 3.3 went on by {stride} tasks: then write "
                  f"reorder_by: {stride}")  # fmt: skip
    elif tasks.nodes < 2 and tasks.total > 1:
        notes.add(text, "lanes of one node; mdtest goes on by nodes where there are several, which is reorder: node")
    return {"reorder": "lane", **({"reorder_by": by} if by > 1 else {})}


def _common(options: Mapping[str, ParsedOption], fields: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"layout": "separate" if "unique" in options else "shared", **fields}
    found["sync"] = "o_sync" if "syncfile" in options else "fsync" if "syncphase" in options else "none"
    return found


def _phases(options: Mapping[str, ParsedOption]) -> list[str]:
    phases = [name for name in ("create", "stat", "read", "remove") if name in options]
    return phases or ["create", "stat", "read", "remove"]


def _workloads(options: Mapping[str, ParsedOption], fields: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    shape, common, phases = _shape(options, notes), _common(options, fields), _phases(options)
    size, seconds = _bytes(options, "writebytes"), _number(options, "stonewall", 0)
    limit: dict[str, Any] = {"time_limit": f"{seconds}s", "wear_out": True} if seconds else {}
    if "create" not in phases:
        notes.add("without -C", "what a phase works on is made before it, outside the timing")
    # -F and -D together mean both files and directories, like neither of them.
    on_directories = "dirsonly" in options or "filesonly" not in options
    on_files = "filesonly" in options or "dirsonly" not in options
    found: dict[str, Any] = {}
    if on_directories:
        words = {"create": "mkdir", "remove": "rmdir"}
        operations = [words[phase] for phase in phases if phase in words]
        if "stat" in phases:
            notes.add("stat of directories", "stat looks at files; directories are made and removed")
        if operations:
            found["directories"] = {"operations": operations, **shape, **common}
            if limit:
                notes.add(options["stonewall"].text, "for files; directories are made whole")
    if on_files:
        found |= _file_workloads(options, phases, {**shape, **common}, size, limit, notes)
    if not found:
        raise AssayError("mdtest: these options leave nothing to do", "add -C or -r with -D, or leave -D out")
    return found


def _file_workloads(
    options: Mapping[str, ParsedOption],
    phases: list[str],
    fields: dict[str, Any],
    size: int,
    limit: dict[str, Any],
    notes: Notes,
) -> dict[str, Any]:
    reads, contents = _bytes(options, "readbytes"), {"file_size": format_size(size)} if size else {}
    words = {"create": "create", "stat": "stat", "remove": "unlink"} | ({} if reads else {"read": "open"})
    operations = [words[phase] for phase in phases if phase in words]
    found: dict[str, Any] = {}
    if operations:
        found["files"] = {"operations": operations, **fields, **contents, **(limit if "create" in operations else {})}
    if reads and "read" in phases:
        if not size:
            raise AssayError(f"mdtest -e {reads}: files of 0 bytes have nothing to read", "add -w BYTES")
        if reads != size:
            notes.add(options["readbytes"].text, f"each file is read whole, {size} bytes")
        notes.add("-e", "files are read in a workload of its own, whose files are made before it, outside the timing")
        each = format_size(size)
        found["read"] = {
            "operations": ["read"], **fields, "file_size": each, "record_size": each, "cache": "keep",
            **({"verify": True} if "verifyread" in options else {}),
        }  # fmt: skip
    return found
