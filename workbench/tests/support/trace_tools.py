"""Traces from lines of strace and from recordings of other tools, as text."""

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from assay.model.trace.records import TraceHeader
from assay.rooms.traces.work.names import Names
from assay.rooms.traces.work.sources.registry import Import
from assay.rooms.traces.work.strace.known_files import KnownFiles
from assay.rooms.traces.work.strace.reader import Inherited, StraceReader
from assay.rooms.traces.work.writer import TraceWriter

HEAD = '{"assay_trace":1,"source":"strace"}'


def strace_trace(
    lines: Iterable[str],
    folder: Path,
    roots: Sequence[str] = ("/w",),
    after: Mapping[str, int] | None = None,
    inherited: Sequence[Inherited] = (),
    kind_of: Callable[[str], str] = lambda _: "",
) -> tuple[list[str], dict[str, int]]:
    """The records and the losses that lines of strace become; `after` has sizes of files after the recording."""
    files = KnownFiles(roots, Names(roots, keep=True), kind_of, (after or {}).get)
    writer = TraceWriter()
    reader = StraceReader(files, writer, "/w", inherited)
    for line in lines:
        reader.line(line)
    reader.finish()
    writer.write(folder / "out.trace.gz", TraceHeader("strace"), files)
    return text_of(folder / "out.trace.gz")[1:], dict(reader.losses())


def imported(text: str, folder: Path) -> list[str]:
    """The lines of the trace that a recording becomes."""
    (folder / "recording").write_text(text)
    Import(str(folder / "recording"), keep_names=True).write(folder / "out.trace.gz")
    return text_of(folder / "out.trace.gz")


def text_of(path: Path) -> list[str]:
    """The lines of a trace."""
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def packed(*lines: str, head: str = HEAD) -> bytes:
    """A trace of these records."""
    return gzip.compress("".join(f"{line}\n" for line in (head, *lines)).encode(), mtime=0)
