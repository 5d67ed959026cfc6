"""A run for as long as a command, of files that a user names where a run is asked for."""

import sys
from pathlib import Path

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact_command
from assay.rooms.importers.work.registry import UnknownColumnsError, recognised_words
from assay.rooms.importers.work.runs import make_run
from assay.rooms.importers.work.several_files import read_path, unread_words
from assay.terminal.output import note

MAX_UNREAD = 3
"""Most files of a folder that are named because they could not be read."""


def run_of_outputs(path: str, folder: Path) -> Path:
    """Make a run of a file, or of all files of a folder, and print what was recognised.

    Args:
        path: As the user names it; the run is shown under this name.
        folder: Folder in which the run's folder is made.

    Returns:
        The run's folder.

    Raises:
        AssayError: Nothing in it can be imported, or something in it is damaged, or a table, whose columns nothing
            explains.
    """
    try:
        read = read_path(path)
    except UnknownColumnsError as error:
        raise AssayError(error.short) from None
    if read.damaged:
        raise read.damaged[0]
    for file, outputs in read.found:
        note(recognised_words(file, outputs))
    for line in unread_words(read.unread, MAX_UNREAD):
        note(line)
    return make_run(read.outputs, folder, "", redact_command(["assay", *sys.argv[1:]]), escape_line(path))
