"""Converts the test files of IOR to targets."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from assay.model.base import AssayError
from assay.plan.command_lines.ior_tests import IorTest
from assay.rooms.foreign.work.ior_workload import is_axis
from assay.rooms.foreign.work.line import directory_path, refuse_password
from assay.rooms.foreign.work.notes import Notes

_PLACE = "assay-ior"
_PREFIXED = re.compile(r"([A-Za-z0-9]{1,16}):(.*)")
"""A path with a file system prefix, as ROMIO accepts it."""


def targets_of(
    tests: Sequence[IorTest], hints: Mapping[str, str], notes: Notes
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the targets of all tests, and the name of each test's target.

    Args:
        tests: The tests.
        hints: MPI-IO hints from the environment.
        notes: Receives a line for each difference.
    """
    targets: dict[str, dict[str, Any]] = {}
    names: list[str] = []
    keys: dict[str, tuple[str, str, bool]] = {}
    for test in tests:
        key = (test.api if test.uses_mpi else "", test.texts.get("testfile", ""), _has_several_directories(test))
        name = next((name for name, other in keys.items() if other == key), None)
        if name is None:
            suffix = f"-{len(targets) + 1}" if targets else ""
            name = f"place{suffix}"
            keys[name] = key
            targets[name] = _target(test, f"{_PLACE}{suffix}", hints, notes)
        names.append(name)
    return targets, names


def _has_several_directories(test: IorTest) -> bool:
    """Return whether the files of a test may be in several directories."""
    return test.has("fileperproc") and "@" in test.texts.get("testfile", "")


def _target(test: IorTest, folder: str, hints: Mapping[str, str], notes: Notes) -> dict[str, Any]:
    written = test.texts.get("testfile", "")
    refuse_password(written, "ior -o")
    first, *others = written.split("@")
    prefix, first = _prefix(first, test)
    path, option = _path(first, folder), f"-o {shlex.quote(written)}"
    shares = _shares(test, others, path, folder, option, notes)
    places = " and ".join([path, *shares])
    if not written:
        notes.add("-o", f"not given: files go to {path}")
    else:
        notes.add(option, f"files go to {places}, which Assay makes and removes")
    if not test.uses_mpi:
        if test.api == "MPIIO":
            notes.add("-a MPIIO", "this Assay has no target of kind mpiio: POSIX instead")
        return {"kind": "file", "path": path, **({"shares": shares} if shares else {})}
    extra = {name: value for name, value in hints.items() if not is_axis(name)}
    return {
        "kind": "mpiio", "path": path, **({"prefix": prefix} if prefix else {}), **({"hints": extra} if extra else {}),
    }  # fmt: skip


def _path(name: str, folder: str) -> str:
    above, slash, _ = name.rpartition("/")
    return directory_path(above or slash, folder, "ior -o")


def _prefix(name: str, test: IorTest) -> tuple[str, str]:
    """Split a name into file system prefix, empty if there is none, and path."""
    found = _PREFIXED.fullmatch(name)
    if found is None or not (test.api == "MPIIO" or "/" in found[2]):
        return "", name
    if test.api != "MPIIO":
        message = f"ior -o {name}: {found[1]}: names a file system to MPI-IO, and this goes through {test.api}"
        raise AssayError(message, f"write {found[2]}, or add -a MPIIO")
    return found[1], found[2]


def _shares(test: IorTest, others: Sequence[str], path: str, folder: str, option: str, notes: Notes) -> list[str]:
    """Return the further directories that tasks are spread over."""
    if not others:
        return []
    paths = [_path(_prefix(other, test)[1], folder) for other in others]
    shares = [share for share in dict.fromkeys(paths) if share != path]
    if not test.has("fileperproc"):
        notes.add(option, f"one shared file is in the first of them, {path}, as with IOR")
        return []
    if not shares:
        return []
    if test.uses_mpi:
        notes.add(option, f"targets of kind mpiio have one directory: all files go to {path}, IOR's to each in turn")
        return []
    if test.has("reordertasks") or test.has("reordertasksrandom"):
        why = "with reorder lanes cannot keep to one of several directories"
        notes.add(option, f"{why}: all files go to {path}, IOR's to each in turn")
        return []
    if len(shares) < len(others):
        notes.add(option, "each directory is there once: tasks are shared out among them evenly")
    return shares
