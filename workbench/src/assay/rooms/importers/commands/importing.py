"""`assay import`."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_USAGE, AssayError
from assay.terminal.output_file import FORCE
from assay.terminal.settings import RUNS

MAX_LEFT_OUT = 100
"""Most results that are named because they have no counterpart in a run."""
MAX_UNREAD = 10
"""Most files of folders that are named because they are of no known tool."""

if TYPE_CHECKING:
    from assay.rooms.importers.work.registry import UnknownColumnsError
    from assay.rooms.importers.work.results import ImportOptions, Order
    from assay.rooms.importers.work.several_files import FilesRead
    from assay.terminal.output_file import OutputFile

_ORDERS = ("sequential", "random")


def command(
    files: list[str] = typer.Argument(
        ...,
        metavar="[TARGET=]FILE|FOLDER",
        help="Outputs of fio, iozone, IOR, vdbench and 20 other tools; tables; folders of them. TARGET names what was "
        "measured, in place of the path or device that the output says.",
    ),
    study: str = typer.Option(
        "", "--study", metavar="NAME", help="Name of the study.  [default: that of the first file]"
    ),
    order: str = typer.Option(
        "",
        "--order",
        metavar="ORDER",
        help="`sequential` or `random`: order of offsets, where outputs do not say it (fio's terse one, IOR's CSV).",
    ),
    roles: list[str] = typer.Option(
        [],
        "--roles",
        metavar="FILE",
        help="What the columns of tables are: a roles file for all, or one for each FILE in the same order.",
    ),
    write_roles: Path | None = typer.Option(
        None,
        "--write-roles",
        metavar="FILE",
        help="Write the guess at a table's roles to FILE, such as table.roles.yaml, and not to standard output.",
    ),
    facts: list[str] = typer.Option(
        [], "--facts", metavar="FACTS.yaml", help="What is known of the machines, for the audit of the run. Repeatable."
    ),
    force: bool = FORCE,
    out: Path = RUNS,
) -> None:
    """Make a run of what another tool measured, from its output.

    Files are known by what is in them; those of a folder that are of no known tool are named and left out. Results of
    the same work, in one file or several, are its repeats. What a file does not say is missing in the run, and rules
    that need it are not evaluated.

    Of a table, a roles file says what each column is. Without one, a guess is printed as such a file, and nothing is
    imported.

    Example: `assay import fio-1.json fio-2.json --study disk`

    Example: `assay import nas=fio-nas.json san=fio-san.json`

    Example: `assay import table.csv --write-roles table.roles.yaml`
    """
    import sys

    from assay.model.secret import redact_command
    from assay.rooms.importers.audit.facts import read_facts
    from assay.rooms.importers.work.registry import recognised_words
    from assay.rooms.importers.work.runs import make_run
    from assay.rooms.importers.work.several_files import unread_words
    from assay.terminal.output import note
    from assay.terminal.output_file import OutputFile, never_marked

    place = None if write_roles is None else OutputFile(write_roles, never_marked, force, "--write-roles")
    stated = _stated(files, _order(order), roles)
    known = read_facts(facts) if facts else None
    read = _read(files, stated, place)
    for file, found in read.found:
        note(recognised_words(file, found))
    for line in unread_words(read.unread, MAX_UNREAD):
        note(line)
    outputs = [output.model_copy(update={"facts": known}) for output in read.outputs]
    folder = make_run(outputs, out, study, redact_command(["assay", *sys.argv[1:]]))
    left_out = [(output.file.file, one) for output in outputs for one in output.results if one.left_out]
    for file, one in left_out[:MAX_LEFT_OUT]:
        note(f"left out: {file}:{one.line}: {one.name}: {one.left_out}")
    if (more := len(left_out) - MAX_LEFT_OUT) > 0:
        note(f"left out: {more:,} more, which the report of the run has")
    _print_folder(folder)


def _print_folder(folder: Path) -> None:
    """Print where the run is; if that cannot be printed, remove it: the command fails, and is given once more."""
    import sys

    from assay.store.entries import remove_folder
    from assay.terminal.output import print_line

    try:
        print_line(f"imported to {folder}; next: assay show {folder}")
        sys.stdout.flush()
    except AssayError:
        remove_folder(folder)
        raise


def _stated(files: list[str], order: "Order | None", roles: list[str]) -> "list[ImportOptions]":
    """Return what the user states of each file.

    Raises:
        AssayError: A roles file cannot be read, or there are neither one nor as many as files.
    """
    from assay.rooms.importers.work.results import ImportOptions
    from assay.rooms.importers.work.table_roles import read_roles

    if len(roles) not in (0, 1, len(files)):
        message = f"{len(roles)} roles files for {len(files)} files"
        raise AssayError(message, "give --roles once for all files, or once for each, in the same order", EXIT_USAGE)
    known = [read_roles(one) for one in roles]
    if len(known) < len(files):
        return [ImportOptions(order, known[0] if known else None)] * len(files)
    return [ImportOptions(order, one) for one in known]


def _order(written: str) -> "Order | None":
    """Return the order of offsets that the user states; None without one.

    Raises:
        AssayError: It is no order.
    """
    if not written:
        return None
    if written not in _ORDERS:
        raise AssayError(f"--order {written}: no order of offsets", "write sequential or random")
    return "random" if written == "random" else "sequential"


def _read(files: list[str], stated: "list[ImportOptions]", place: "OutputFile | None") -> "FilesRead":
    """Return each file with its outputs; write or print the guess at the roles of the first table without roles.

    Raises:
        AssayError: Some cannot be read; all of these are named, and no run is made.
    """
    from assay.rooms.importers.work.registry import UnknownColumnsError
    from assay.rooms.importers.work.several_files import FilesRead, named_file, read_path, with_target

    read = FilesRead([], [], [])
    problems: list[AssayError] = []
    has_guess = False
    for file, options in zip(files, stated, strict=True):
        try:
            target, path = named_file(file)
            one = with_target(read_path(path, options), target)
            read.found.extend(one.found)
            read.unread.extend(one.unread)
            problems += one.damaged
        except UnknownColumnsError as error:
            problems.append(error if has_guess else _with_guess(error, place))
            has_guess = True
        except AssayError as error:
            problems.append(error)
    if problems:
        last = problems[-1]
        others = tuple((error.message, error.hint) for error in problems[:-1])
        raise AssayError(last.message, last.hint, last.exit_code, others)
    return read


def _with_guess(error: "UnknownColumnsError", place: "OutputFile | None") -> AssayError:
    """Write or print the guess at the roles of a table, and what is unsure; return the error to report."""
    from assay.terminal.output import note

    for doubt in error.doubts:
        note(f"not sure: {doubt}")
    if place is None or place.prints:
        typer.echo(error.roles, nl=False)
        return error
    place.write(error.roles)
    hint = f"check {place.path}, then: assay import {quote(error.file)} --roles {quote(str(place.path))}"
    return AssayError(error.message, hint)
