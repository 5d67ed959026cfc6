"""Reads what a user names for an import or an audit: files of other tools, and folders of them."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.model.base import EXIT_USAGE, AssayError, LineError
from assay.model.user_files import path_kind
from assay.rooms.importers.work.each_once import left_out_twice
from assay.rooms.importers.work.guess.audited import audited_roles
from assay.rooms.importers.work.registry import ROLES_ENDING, UnknownColumnsError, read_outputs, roles_name
from assay.rooms.importers.work.results import STATED_NOTHING, ImportOptions, ToolOutput
from assay.rooms.importers.work.table_roles import RolesFile, parse_roles, read_roles
from assay.store.entries import DATABASE

TARGET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
MAX_FILES = 1_000
"""Most files of a folder."""
HEADINGS = "headings"
"""Stands for the name of a roles file where there is none."""


class FilesRead(NamedTuple):
    """What became of files.

    Attributes:
        found: Each file with its outputs.
        unread: Why files of folders were not read: they are of no known tool, are tables without roles, or cannot be
            opened. What is damaged is a `LineError`.
        guessed: Tables without roles that were read by their headings, for an audit.
    """

    found: list[tuple[str, list[ToolOutput]]]
    unread: list[AssayError]
    guessed: list[str]

    @property
    def outputs(self) -> list[ToolOutput]:
        """All outputs in order; what two files of a folder say of the same result counts once."""
        return left_out_twice([output for _, outputs in self.found for output in outputs])

    @property
    def damaged(self) -> list[LineError]:
        """Why outputs of tools could not be read."""
        return [one for one in self.unread if isinstance(one, LineError)]


def read_path(path: str, stated: ImportOptions = STATED_NOTHING) -> FilesRead:
    """Return the outputs in a file, or in all files of a folder.

    Args:
        path: As the user names it.
        stated: What the user states of outputs that do not say it.

    Raises:
        UnknownColumnsError: It is a table, and it is not stated what its columns are.
        AssayError: The file cannot be read or is no output of a known tool, or no file of the folder is.
    """
    read = FilesRead([], [], [])
    if path_kind(path) != "folder":
        _read_file(path, stated, read)
        return read
    for file in files_of(Path(path)):
        if file.name.endswith(ROLES_ENDING):
            continue
        if file.stem.upper() == "README":
            # Prose with commas and numbers looks like a damaged table.
            read.unread.append(AssayError(f"{file}: notes, and no output of a tool", "name another file"))
            continue
        try:
            _read_file(str(file), stated, read, must_be_clear=True)
        except UnknownColumnsError as error:
            read.unread.append(AssayError(error.short))
        except AssayError as error:
            read.unread.append(error)
    if not read.found and not read.damaged:
        first = f", the first of {len(read.unread):,}: {read.unread[0].message}" if read.unread else ""
        raise AssayError(f"{path}: no file that Assay can import{first}", "name a folder with outputs of tools")
    return read


def named_file(argument: str) -> tuple[str, str]:
    """Return target and path of `TARGET=FILE`; an argument that is a file itself, or has no `=`, names no target.

    Raises:
        AssayError: It is not a name of a target.
    """
    target, separator, path = argument.partition("=")
    if not separator or "/" in target or Path(argument).exists():
        return "", argument
    if not path or not TARGET_NAME.fullmatch(target):
        hint = "write TARGET=FILE, with a name of letters, digits, dots, dashes and underscores: nas=fio.json"
        raise AssayError(f"{argument}: no file, and no target and file", hint, EXIT_USAGE)
    return target, path


def with_target(read: FilesRead, target: str) -> FilesRead:
    """Return the outputs with all results of one target; where they have several, each keeps its own name behind it."""
    names = {result.target for _, outputs in read.found for output in outputs for result in output.results}
    if not target:
        return read

    def renamed(output: ToolOutput) -> ToolOutput:
        results = (
            one.model_copy(update={"target": target if len(names) == 1 else f"{target} {one.target}"})
            for one in output.results
        )
        return output.model_copy(update={"results": tuple(results)})

    return read._replace(found=[(file, [renamed(output) for output in outputs]) for file, outputs in read.found])


def _read_file(path: str, stated: ImportOptions, read: FilesRead, must_be_clear: bool = False) -> None:
    """Add the outputs in a file; columns of a table without roles are, for an audit, what their headings say.

    Args:
        path: The file.
        stated: What the user states of outputs that do not say it.
        read: To what they are added.
        must_be_clear: Do not guess at tables that may be anything.

    Raises:
        AssayError: As `read_path`.
    """
    try:
        read.found.append((path, read_outputs(path, _with_roles(path, stated))))
    except UnknownColumnsError as guess:
        if not stated.is_audit or (must_be_clear and not guess.is_clear):
            raise
        text = audited_roles(guess.roles)
        roles = RolesFile(HEADINGS, parse_roles(text.encode(), HEADINGS), text)
        read.found.append((path, read_outputs(path, stated._replace(roles=roles))))
        read.guessed.append(path)


def _with_roles(path: str, stated: ImportOptions) -> ImportOptions:
    """Return what the user states, with the roles file beside a table unless another is stated."""
    place = roles_name(path)
    if stated.roles is not None or path == place or not Path(place).is_file():
        return stated
    return stated._replace(roles=read_roles(place))


def files_of(folder: Path) -> list[Path]:
    """Return all files below a folder, in order; without links, hidden files and runs of Assay.

    Raises:
        AssayError: There are too many.
    """
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        if DATABASE in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths = [Path(place, name) for name in sorted(names) if not name.startswith(".")]
        found += [path for path in paths if path.is_file() and not path.is_symlink()]
        if len(found) > MAX_FILES:
            raise AssayError(f"{folder}: more than {MAX_FILES:,} files", "name a smaller folder, or files of it")
    return found


def unread_words(unread: Sequence[AssayError], most: int) -> list[str]:
    """Return a line for each of the first files that were not read, and one with how many there are besides."""
    lines = [f"not read: {one.message}" for one in unread[:most]]
    more = len(unread) - most
    return [*lines, f"not read: {more:,} {'file' if more == 1 else 'files'} more"] if more > 0 else lines
