"""`assay trace`."""

from pathlib import Path

import typer

from assay.terminal.command_group import group
from assay.terminal.output import as_path
from assay.terminal.output_file import FORCE, OutputFile, never_marked, output_option

app = group("Describe traces, and make them from what other tools recorded.")


@app.command("show")
def show(
    file: Path = typer.Argument(..., parser=as_path, metavar="FILE", help="A trace."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Describe a trace: operations, sizes, order, files, tasks, phases, bytes per second, and what it does not show.

    An operation is sequential if it begins where the same task's one before on the same file had ended. Times are
    those of the recording, and tracing makes programs slower.

    Example: `assay trace show tar.trace.gz`
    """
    from assay.analyse.traces.summary import summarise
    from assay.model.trace.reader import open_trace
    from assay.rooms.traces import shown
    from assay.terminal.output import print_json, print_line, print_table

    with open_trace(file) as trace:
        found = summarise(trace.header, trace.records)
    if as_json:
        print_json(shown.as_json(found))
        return
    for line in shown.head_lines(found):
        print_line(line)
    print_table(shown.OP_COLUMNS, shown.op_rows(found), right=shown.OP_COLUMNS[1:])
    if rows := shown.file_rows(found):
        print_table(shown.FILE_COLUMNS, rows, title="Files used most", right=shown.FILE_COLUMNS[1:])
    if rows := shown.phase_rows(found):
        print_table(
            shown.PHASE_COLUMNS, rows, title="Phases", right=(*shown.PHASE_COLUMNS[:2], *shown.PHASE_COLUMNS[3:])
        )
    for line in shown.spark_lines(found):
        print_line(line)
    for line in shown.loss_lines(found):
        print_line(f"not in the trace: {line}")


@app.command("import")
def import_trace(
    file: str = typer.Argument(
        ..., metavar="FILE", help="What another tool recorded; its text may be compressed by gzip."
    ),
    names: bool = typer.Option(False, "--names", help="Keep the names of files, which are replaced otherwise."),
    output: Path | None = output_option("Write the trace to this file, instead of FILE.trace.gz."),
    force: bool = FORCE,
) -> None:
    """Make a trace from what another tool recorded.

    It is known by what is in it: fio's iolog (versions 2 and 3), blkparse's text, logs of Darshan and the text of
    darshan-dxt-parser and darshan-parser, op-logs of warp and sai3-bench. What such a recording does not say is listed.

    Example: `assay trace import job.iolog --output job.trace.gz`
    """
    from assay.analyse.traces.words import counted, losses_words
    from assay.model.base import AssayError
    from assay.model.units import about_size
    from assay.rooms.traces.work.sources.registry import Import, Imported
    from assay.terminal.output import note

    path = output or Path(f"{Path(file).name}.trace.gz")
    place = OutputFile(path, never_marked, force)
    if place.prints:
        raise AssayError("a trace is compressed and not printed", "name a file with --output")
    recording = Import(file, names)
    done: list[Imported] = []
    place.fill(lambda target: done.append(recording.write(target)))
    header, totals = done[0]
    moved = f"{about_size(totals.read)} read, {about_size(totals.written)} written"
    note(f"from {header.source}: {counted(totals.operations, 'operation')}, {moved}")
    for line in losses_words(header.losses):
        note(f"not in the trace: {line}")
    note(f"the trace: {path}; next: assay trace show {path}")
