"""The targets of a study from vdbench: directories with the files of SDs or FSDs, and devices."""

import posixpath
import re
from collections.abc import Sequence
from typing import Any

from assay.model.base import AssayError
from assay.rooms.foreign.work.line import directory_path
from assay.rooms.foreign.work.notes import Notes
from assay.rooms.foreign.work.vdbench.scan import Definition

_FOLDER = "assay-vdbench"
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_WINDOWS = re.compile(r"[A-Za-z]:.*|\\.*")


class Places:
    """Collects targets.

    Attributes:
        targets: Name -> target, as a study has it.
    """

    def __init__(self, notes: Notes) -> None:
        self.targets: dict[str, dict[str, Any]] = {}
        self._notes = notes
        self._names: dict[tuple[str, ...], str] = {}
        self._numbers: dict[tuple[str, ...], int] = {}

    def luns(self, sds: Sequence[Definition]) -> tuple[list[str], bool]:
        """Return the names of the targets for some SDs, and whether they are devices.

        Raises:
            AssayError: An SD has no lun, or some are devices and others files.
        """
        paths = [self._path(sd, "lun") for sd in sds]
        devices = [path.startswith("/dev/") and not path.startswith("/dev/shm/") for path in paths]
        if all(devices):
            names = [self._add(sd.name, {"kind": "device", "path": path}) for sd, path in zip(sds, paths, strict=True)]
            names = list(dict.fromkeys(names))
            if len(names) > 1:
                self._notes.add(f"{len(names)} devices at once", "each is a target of its own, measured by itself")
            return names, True
        if any(devices):
            raise AssayError(f"{sds[0].kind}={sds[0].name} and others: devices and files in one workload",
                             "write a study for the files, and one for the devices")  # fmt: skip
        return [self._directory(sds[0].name, {f"lun={path}": posixpath.dirname(path) for path in paths})], False

    def anchors(self, fsds: Sequence[Definition]) -> list[str]:
        """Return the name of the target for some FSDs.

        Raises:
            AssayError: An FSD has no anchor.
        """
        paths = [self._path(fsd, "anchor") for fsd in fsds]
        return [self._directory(fsds[0].name, {f"anchor={path}": path for path in paths})]

    def _path(self, definition: Definition, name: str) -> str:
        values = definition.values(name)
        if not values or not values[0]:
            message = f"{definition.kind}={definition.name}, line {definition.line}: no {name}"
            raise AssayError(message, f"add {name}=PATH")
        if _WINDOWS.fullmatch(values[0]):
            raise AssayError(f"{name}={values[0]}: a path of Windows", "write a path of this system")
        return values[0]

    def _directory(self, name: str, places: dict[str, str]) -> str:
        """Return the name of the target for some places.

        Args:
            name: What it is to be called.
            places: What stands in the parameter file -> the directory in which Assay makes a folder.
        """
        folders = {text: directory_path(directory, _FOLDER, text) for text, directory in places.items()}
        key = tuple(dict.fromkeys(folders.values()))
        if key not in self._names:
            # A folder belongs to one target, and runs may each have some of the places.
            taken = {number for other, number in self._numbers.items() if set(key) & set(other)}
            number = next(one for one in range(1, len(taken) + 2) if one not in taken)
            self._numbers[key] = number
            suffix = f"-{number}" if number > 1 else ""
            for text, folder in folders.items():
                why = f"files go to {folder}{suffix}, which Assay makes and removes; the folder above it must exist"
                self._notes.add(text, why)
            first, *others = [f"{folder}{suffix}" for folder in key]
            self._names[key] = self._add(name, {"kind": "file", "path": first} | ({"shares": others} if others else {}))
        return self._names[key]

    def _add(self, name: str, target: dict[str, Any]) -> str:
        known = next((key for key, other in self.targets.items() if other == target), None)
        if known is not None:
            return known
        plain = self.workload_name(name, self.targets)
        self.targets[plain] = target
        return plain

    @staticmethod
    def workload_name(name: str, taken: dict[str, Any]) -> str:
        """Return a name as studies allow it, which no other has."""
        plain = _NOT_NAME.sub("-", name).strip("-_")[:50] or "run"
        number, found = 1, plain
        while found in taken:
            number += 1
            found = f"{plain}-{number}"
        return found
