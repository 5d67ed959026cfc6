"""Programs and servers that are installed on this machine, and a function that runs programs."""

import contextlib
import os
import shutil
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from assay.launch.commands import MAX_STDOUT_BYTES, run_program
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.extras import is_installed
from assay.model.own_program import absolute_folders
from assay.model.secret import redact
from assay.model.units import about_size
from assay.servers.kinds import ServerKind

PROGRAM_TIMEOUT_SECONDS = 60


def checked_output(words: Sequence[str], what: str, input_text: str = "") -> str:
    """Run a program to its end.

    Args:
        words: The command.
        what: What it does, for messages.
        input_text: Text for its standard input.

    Returns:
        Its standard output.

    Raises:
        AssayError: It fails, takes too long, prints too much, or is not installed.
    """
    environment = {**os.environ, "PATH": search_path(), "LC_ALL": "C"}
    try:
        output = run_program(words, PROGRAM_TIMEOUT_SECONDS, input_text.encode(), environment)
    except OSError as error:
        raise AssayError(f"{what}: {words[0]} cannot be started: {error.strerror}", "", EXIT_REFUSED) from error
    if output.timed_out or output.overflowed:
        how = (
            f"printed more than {about_size(MAX_STDOUT_BYTES)}"
            if output.overflowed
            else f"has not ended in {PROGRAM_TIMEOUT_SECONDS} s"
        )
        raise AssayError(f"{what}: {words[0]} {how}", "", EXIT_REFUSED)
    if output.code != 0:
        lines = [line.strip() for line in output.err.decode("utf-8", "replace").splitlines() if line.strip()]
        complaint = escape_line(redact(lines[0])) if lines else f"exit code {output.code}"
        raise AssayError(f"{what}: {complaint.removeprefix('error: ')}", "", EXIT_REFUSED)
    return output.out.decode("utf-8", "replace")


def search_path() -> str:
    """Return $PATH with the sbin folders, which users often lack."""
    return f"{absolute_folders(os.environ.get('PATH', '')) or '/usr/bin:/bin'}:/usr/local/sbin:/usr/sbin:/sbin"


def find_program(name: str) -> str | None:
    """Return the absolute path of a program; None if it is not installed."""
    return shutil.which(name, path=search_path())


def missing_requirements(kind: ServerKind, programs: bool = True) -> list[str]:
    """Return what a kind of server needs and is not installed, in words.

    Args:
        kind: The kind.
        programs: Include programs; else only Python packages.
    """
    missing = [name for name in kind.programs if programs and find_program(name) is None]
    return missing + [f"the Python package {name}" for name in kind.python if not is_installed(name)]


def version_of(kind: ServerKind) -> str:
    """Return the version of a server: of its package, or as its program prints it; `unknown` if neither states one."""
    if kind.packages and find_program("dpkg-query"):
        package = kind.packages[0]
        with contextlib.suppress(AssayError):
            return checked_output(["dpkg-query", "--show", "--showformat=${Version}", package], package)
    if kind.python:
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(kind.python[0])
    if not kind.version:
        return "unknown"
    return next(iter(checked_output(kind.version, kind.kind).splitlines()), "unknown")


def last_words(log: Path) -> str:
    """Return the last line that a server wrote, for messages: the log itself may be removed before it is read."""
    for path in (log.with_suffix(".out"), log):
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        if lines:
            return f"last line of its log: {lines[-1].strip()[:300]}"
    return "its log is empty"
