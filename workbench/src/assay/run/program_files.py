"""What commands need of this machine before they can be run: their programs, and the files that they read."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from assay.model.regular_files import IrregularError, TooLargeError, open_regular
from assay.model.source import FieldFault
from assay.model.study.commands import InputFile, StudyCommand

MAX_INPUT_BYTES = 1 << 50
"""Larger files are no inputs, but files that have no end, or are sparse."""


def program_faults(path: tuple[str, ...], command: StudyCommand) -> Iterator[FieldFault]:
    """Yield why a command cannot be run on this machine.

    Args:
        path: Field of the command.
        command: The command.
    """
    # A command with a PATH of its own may find programs that this process does not.
    if "PATH" not in command.environment:
        for field, program in command.programs:
            first = program.words[0]
            if not program.shell and "$" not in first and _is_missing(first):
                hint = "install it, write its whole path, or set PATH below `environment`"
                yield FieldFault(path=(*path, field), message=f"this machine has no program {first}", hint=hint)
    for name, one in command.inputs.items():
        if problem := _file_problem(one):
            yield FieldFault(path=(*path, "inputs", name), message=problem[0], hint=problem[1])


def sha256_fault(path: tuple[str, ...], file: str, found: str, stated: str | None) -> FieldFault:
    """Return that a file is another one than the study means."""
    message, hint = _wrong_hash(file, found, stated)
    return FieldFault(path=path, message=message, hint=hint)


def _wrong_hash(file: str | Path, found: str, stated: str | None) -> tuple[str, str]:
    hint = "get the right file, or write the digits that it has"
    return f"{file}: its SHA-256 is {found}, not {stated}", hint


def _is_missing(program: str) -> bool:
    # A relative path starts at the directory of the task, which does not exist yet.
    return (Path(program).is_absolute() or "/" not in program) and shutil.which(program) is None


def _file_problem(one: InputFile) -> tuple[str, str] | None:
    """Return what is wrong with an input file and how to mend it; None if nothing is."""
    place = Path(one.path)
    if place.is_dir():
        return f"{place}: a directory", "name files one by one, or copy the directory into $inputs with `prepare`"
    if not place.is_file():
        is_there = place.exists() or place.is_symlink()
        return f"{place}: {'not a regular file' if is_there else 'does not exist'}", "name a file that exists"
    try:
        with os.fdopen(open_regular(place, MAX_INPUT_BYTES), "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest() if one.sha256 else ""
    except (IrregularError, TooLargeError):
        return f"{place}: not a file that can be read to its end", "name a file that exists"
    except OSError as error:
        return f"{place}: {error.strerror}", "change its permissions, or name another file"
    if one.sha256 and found != one.sha256:
        return _wrong_hash(place, found, one.sha256)
    return None
