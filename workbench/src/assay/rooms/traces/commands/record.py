"""`assay record`."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_USAGE, AssayError
from assay.terminal.output_file import FORCE, output_option

if TYPE_CHECKING:
    from assay.rooms.traces.work.strace.record import Recording

INTERSPERSED = False
"""Options behind the first word belong to the command that is recorded."""
_UNUSUAL = re.compile(r"[^A-Za-z0-9._+-]+")


def command(
    words: list[str] = typer.Argument(..., metavar="COMMAND...", help="The command with its arguments, behind `--`."),
    below: list[str] = typer.Option(
        [],
        "--below",
        metavar="DIR",
        help="Record only files in this directory. Repeatable.  [default: all but /proc, /sys, /dev, shared libraries]",
    ),
    names: bool = typer.Option(
        False, "--names", help="Keep the names of files, without the / of their path; they are replaced otherwise."
    ),
    twice: bool = typer.Option(
        False, "--twice", help="Run the command once more without tracing, to measure what tracing costs."
    ),
    output: Path | None = output_option("Write the trace to this file, instead of COMMAND.trace.gz."),
    force: bool = FORCE,
) -> None:
    """Run a command and record what it asks of storage, as a trace.

    strace records the calls of the command and of all that it starts. Contents of files are never kept. The command
    runs as without Assay, but slower, so its times are no measurement: `assay study from trace` makes a study of it.
    Its exit code is that of this command. Ctrl-C ends the command; what it did until then is kept.

    Example: `assay record -- tar -cf archive.tar src`, `assay record --below data --twice -- ./job.sh`
    """
    from assay.rooms.traces.work.strace.record import Recorder
    from assay.terminal.output import note
    from assay.terminal.output_file import OutputFile, never_marked

    path = output or Path(f"{_UNUSUAL.sub('-', Path(words[0]).name).strip('-.') or 'command'}.trace.gz")
    file = OutputFile(path, never_marked, force)
    if file.prints:
        hint = "name a file with --output; the command may print there itself"
        raise AssayError("a trace is compressed and not printed", hint, EXIT_USAGE)
    recorder = Recorder(words, below, names, twice)
    recorder.run()
    found: list[Recording] = []
    try:
        file.fill(lambda place: found.append(recorder.write(place)))
    except AssayError as error:
        note(f"error: the trace is lost: {error.message}; the command ended with exit code {recorder.code}")
        raise typer.Exit(recorder.code or 0) from None
    for line in _lines(found[0], path):
        note(line)
    raise typer.Exit(found[0].code)


def _lines(recording: "Recording", path: Path) -> list[str]:
    from assay.analyse.traces.words import counted, losses_words
    from assay.model.units import about_size

    totals = recording.totals
    moved = f"{about_size(totals.read)} read, {about_size(totals.written)} written"
    lines = [f"recorded: {counted(totals.operations, 'operation')}, {moved}", _cost(recording)]
    lines += [f"not in the trace: {line}" for line in losses_words(recording.header.losses)]
    ended = "" if recording.code == 0 else f"; the command ended with exit code {recording.code}"
    return [*lines, f"the trace: {path}{ended}; next: assay trace show {path}"]


def _cost(recording: "Recording") -> str:
    from assay.analyse.traces.words import about_time, counted
    from assay.model.units import about_latency

    duration = recording.header.duration_ns or 0
    took = f"it took {about_time(duration)} with tracing"
    if recording.untraced_code is not None:
        if (untraced := recording.header.untraced_ns) is not None:
            return f"{took} and {about_time(untraced)} without"
        return (
            f"{took}; the run without tracing ended with exit code {recording.untraced_code}, so its time is left out"
        )
    if recording.call_ns is None:
        return f"{took}; what tracing cost is not known: --twice measures it"
    each = " to ".join(dict.fromkeys(about_latency(one) for one in recording.call_ns))
    costs = [recording.calls * one for one in recording.call_ns]
    calls = f"{counted(recording.calls, 'call')} at {each} in another program; --twice measures it"
    if costs[1] >= duration:
        return f"{took}, most of which may be tracing: {calls}"
    about = " to ".join(dict.fromkeys(about_time(one) for one in costs))
    return f"{took}, of which tracing cost about {about}: {calls}"
