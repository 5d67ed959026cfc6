"""Converts an IO500 configuration (config.ini) to a study with the same phases.

Sources: github.com/IO500/io500, src/phase_*.c and config-all.ini.
"""

import configparser
from collections.abc import Mapping
from typing import Any

from assay.model.base import AssayError
from assay.model.units import format_size
from assay.plan.command_lines.options import binary_size, whole_number
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.line import directory_path
from assay.rooms.foreign.work.notes import Notes

_PLACE = "assay-io500"
_STONEWALL = "300"
_PARTS = {
    "ior-easy": {"write": "ior-easy-write", "read": "ior-easy-read"},
    "mdtest-easy": {"create": "mdtest-easy-write", "readdir": "find", "stat": "mdtest-easy-stat",
                    "unlink": "mdtest-easy-delete"},
    "ior-hard": {"write": "ior-hard-write", "read": "ior-hard-read"},
    "mdtest-hard": {"create": "mdtest-hard-write", "readdir": "find", "stat": "mdtest-hard-stat",
                    "unlink": "mdtest-hard-delete"},
    "mdtest-hard-read": {"read": "mdtest-hard-read"},
}  # fmt: skip
"""Workload -> operation -> phase of IO500 that measures it."""
_SECTIONS = {"global", "debug", "timestamp", "ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"} | {
    phase for parts in _PARTS.values() for phase in parts.values()
}
_WITHOUT_COUNTERPART = {
    "scc": "rules of student contests: IO500's stonewall holds, change time_limit",
    "pause-dir": "no pause between phases",
    "collective": "for MPI-IO only",
    "files-per-dir": "all names are in one directory",
    "uniquedir": "files of lanes are in one directory",
    "drop-caches-cmd": "cache: drop does it",
    "external-script": "find is the listing of all directories, and the phases that look at each name",
}
"""Option -> why it has no counterpart in a study, for options that are set."""
_GLOBALS = {"datadir", "resultdir", "timestamp-datadir", "timestamp-resultdir"}
"""Keys of [global], one of which a configuration has that leaves all else to IO500's defaults."""
_FALSE_WORDS = ("", "false", "0", "off", "no")
_FIELDS: dict[str, dict[str, Any]] = {
    "ior-easy": {"layout": "separate", "sync": "fsync"},
    "mdtest-easy": {"layout": "separate", "sync": "none"},
    "ior-hard": {"layout": "shared", "sync": "fsync"},
    "mdtest-hard": {"layout": "shared", "file_size": "3901B", "sync": "none"},
    "mdtest-hard-read": {"layout": "shared", "file_size": "3901B", "record_size": "3901B", "sync": "none"},
}

Ini = Mapping[str, Mapping[str, str]]


def io500_study(text: str, name: str, tasks: int | None = None) -> str:
    """Return the text of a study file with the phases of an IO500 configuration.

    Args:
        text: Text of the configuration.
        name: Name of its file, for messages.
        tasks: Tasks per host; None for one.

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: It is not a configuration of IO500, or uses an interface that Assay does not have.
    """
    ini, notes = _read(text, name), Notes()
    _add_notes(ini, notes)
    stonewall = whole_number(_value(ini, "debug", "stonewall-time") or _STONEWALL, "stonewall-time", name, 1)
    datadir = _value(ini, "global", "datadir") or "./datafiles"
    path = directory_path(datadir, _PLACE, f"{name}: datadir")
    notes.add(f"datadir = {datadir}", f"files go to {path}, which Assay makes and removes")
    if tasks is None:
        notes.add(
            "tasks", "a configuration does not state the number of tasks: one lane; state --tasks N, or change lanes"
        )
    notes.add("hosts", "name hosts at the top, and how many in defaults: what a host has made is then read on the next")
    workloads = {workload: found for workload in _PARTS if (found := _workload(workload, ini, name, notes))}
    if not workloads:
        raise AssayError(f"{name}: all phases are off", "write run = TRUE for those that you want")
    defaults = {"lanes": tasks or 1, "time_limit": f"{stonewall}s", "wear_out": True, "reorder": "node"}
    notes.add("repeats: 1", "as IO500; an interval needs 3 repeats at least: change repeats")
    study = {
        "study": "from-io500",
        "targets": {"place": {"kind": "file", "path": path}},
        "defaults": defaults,
        "workloads": workloads,
        "repeats": 1,
        "order": "sequential",
        "seed": 27,
    }
    return study_text(study, head_comments(f"io500 {name}", notes))


def looks_like_io500(text: str) -> bool:
    """Return whether a text has sections of an IO500 configuration."""
    return any(f"[{section}]" in text for section in ("ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard"))


def _read(text: str, name: str) -> Ini:
    parser = configparser.ConfigParser(
        interpolation=None, strict=False, allow_no_value=True, delimiters=("=",), inline_comment_prefixes=("#", ";")
    )
    try:
        parser.read_string(text.removeprefix("\ufeff"))
    except configparser.Error as error:
        line = getattr(error, "lineno", None) or next((number for number, _ in getattr(error, "errors", ())), 1)
        message = f"{name}:{line}: the line cannot be read"
        raise AssayError(message, "a configuration has [SECTION] and KEY = VALUE lines") from None
    found = {
        section.lower(): {key: (value or "").strip() for key, value in parser[section].items()}
        for section in parser.sections()
    }
    if not looks_like_io500(text) and not _GLOBALS & set(found.get("global", ())):
        hint = "one has sections such as [ior-easy], or datadir in [global]"
        raise AssayError(f"{name} is not a configuration of IO500", hint)
    return found


def _value(ini: Ini, section: str, key: str) -> str:
    return ini.get(section, {}).get(key, "")


def _add_notes(ini: Ini, notes: Notes) -> None:
    others = [section for section in ini if section not in _SECTIONS and not section.startswith("find")]
    if others:
        notes.add(f"[{'], ['.join(others)}]", "the extended mode, which does not count, is left out")
    drops_caches = _value(ini, "global", "drop-caches").lower() not in _FALSE_WORDS
    for section in sorted((_SECTIONS | {"find-easy", "find-hard"}) & set(ini)):
        for key, value in ini[section].items():
            if (
                key in _WITHOUT_COUNTERPART
                and value.lower() not in _FALSE_WORDS
                and (drops_caches or key != "drop-caches-cmd")
            ):
                notes.add(f"[{section}] {key} = {value}", _WITHOUT_COUNTERPART[key])


def _workload(workload: str, ini: Ini, name: str, notes: Notes) -> dict[str, Any]:
    """Return the fields of a workload; empty if its phases are off."""
    section = "mdtest-hard" if workload == "mdtest-hard-read" else workload
    operations = [word for word, phase in _PARTS[workload].items() if _runs(ini, section, phase)]
    if not set(operations) - {"readdir"}:
        return {}
    for word in set(_PARTS[workload]) - set(operations):
        notes.add(f"{workload}: {word}", "this phase is off; an IO500 score needs all phases")
    found: dict[str, Any] = {"operations": operations, **_FIELDS[workload], **_sizes(workload, ini, name, notes)}
    where = next((one for one in (section, "global") if _value(ini, one, "api")), "global")
    api = (_value(ini, where, "api") or "POSIX").split()
    if api[0].upper() == "MPIIO":
        notes.add(f"[{where}] API = MPIIO", "POSIX instead: for MPI-IO write a target of kind mpiio")
    elif api[0].upper() != "POSIX":
        raise AssayError(f"{name}: [{where}] API = {api[0]}: there is no such target", "use POSIX")
    direct = "--posix.odirect" in api and section.startswith("ior")
    drops_caches = _value(ini, "global", "drop-caches").lower() not in _FALSE_WORDS
    found["cache"] = "direct" if direct else "drop" if drops_caches else "keep"
    return found


def _runs(ini: Ini, section: str, phase: str) -> bool:
    return all((_value(ini, one, "run") or "true").lower() not in _FALSE_WORDS for one in (section, phase))


def _sizes(workload: str, ini: Ini, name: str, notes: Notes) -> dict[str, Any]:
    def size(key: str, default: str) -> int:
        return binary_size(_value(ini, workload, key) or default, f"[{workload}] {key}", name)

    if workload == "ior-easy":
        block, is_shared = (
            size("blocksize", "9920000m"),
            _value(ini, workload, "fileperproc").lower() in _FALSE_WORDS[1:],
        )
        notes.add(f"blockSize = {format_size(block)}", "of each task, if the stonewall does not come before: lower "
                  "block_size to what there is room for")  # fmt: skip
        record = format_size(size("transfersize", "2m"))
        more = {"layout": "shared"} if is_shared else {}
        return {"segments": 1, "block_size": format_size(block), "record_size": record, **more}
    if workload == "ior-hard":
        segments = whole_number(_value(ini, workload, "segmentcount") or "10000000", "segmentCount", name, 1)
        return {"segments": segments, "block_size": "47008B", "record_size": "47008B"}
    section = workload.removesuffix("-read")
    files = whole_number(_value(ini, section, "n") or "1000000", f"[{section}] n", name, 1)
    if workload == "mdtest-hard-read":
        notes.add(
            "mdtest-hard-read", "reads files of its own, made before it outside the timing: lower its files for less"
        )
        return {"files": files, "wear_out": False}
    return {"files": files}
