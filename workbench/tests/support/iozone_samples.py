"""Outputs of iozone 3.414 to 3.508, made on a disk; and writers of its formats, after iozone.c.

License of iozone: freely used and distributed; only its outputs are here.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from paths import GOLDEN

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work import iozone
from assay.rooms.importers.work.results import ToolOutput

FOLDER = GOLDEN / "imports" / "iozone"
SAMPLES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
FILE = ImportedFile(tool="iozone", version="", form="", file="x.txt", line=1, sha256="0" * 64, size_bytes=1)
WIDTHS = {
    "write": 8,
    "rewrite": 8,
    "read": 9,
    "reread": 9,
    "random read": 8,
    "random write": 8,
    "bkwd read": 8,
    "record rewrite": 9,
    "stride read": 9,
    "fwrite": 9,
    "frewrite": 9,
    "fread": 8,
    "freread": 9,
}
"""Column -> its width in iozone 3.420."""
_TABLE_HEADER = (
    "              KB  reclen   write rewrite    read    reread    read   write    read  rewrite     read"
    "   fwrite frewrite   fread  freread"
)
FIGURES = ("children", "min", "max", "avg", "min_xfer")


@cache
def text_of(name: str) -> str:
    """The text of a sample."""
    return (FOLDER / f"{name}.txt").read_text()


def read(text: str) -> ToolOutput:
    """The first output in a text."""
    return iozone.read(text, FILE)[0]


def head(command: str, date: str, lines: Sequence[str] = ()) -> str:
    """The first lines of iozone 3.420, with those of some options."""
    options = "".join(f"\t{line}\n" for line in lines)
    return (
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.420 $\n\t\tCompiled for 64 bit mode.\n"
        "\t\tBuild: linux-AMD64 \n\n\tContributors:William Norcott, Don Capps, Isom Crawford, Kirby Collins\n\n"
        f"\tRun began: {date}\n\n{options}\tCommand line used: {command}\n\tOutput is in Kbytes/sec\n"
        "\tTime Resolution = 0.000001 seconds.\n\tFile stride size set to 17 * record size.\n"
    )


def throughput(label: str, processes: int, figures: Mapping[str, str], distributed: bool = True) -> str:
    """A test of throughput mode; `figures` are those of `FIGURES`, and `parent` unless distributed."""
    start = "\n\tTest running:\n" if distributed else "\n"
    parent = (
        ""
        if distributed
        else f"\tParent sees throughput for {processes:2} {label} \t= {figures['parent']:>10} KB/sec\n"
    )
    return (
        f"{start}\tChildren see throughput for {processes:2} {label} \t= {figures['children']:>10} KB/sec\n{parent}"
        f"\tMin throughput per process \t\t\t= {figures['min']:>10} KB/sec \n"
        f"\tMax throughput per process \t\t\t= {figures['max']:>10} KB/sec\n"
        f"\tAvg throughput per process \t\t\t= {figures['avg']:>10} KB/sec\n"
        f"\tMin xfer \t\t\t\t\t= {figures['min_xfer']:>10} KB\n"
    )


def throughput_log(
    command: str, date: str, sizes: tuple[int, int], processes: int, tests: Sequence[tuple[str, Mapping[str, str]]]
) -> str:
    """A whole output of throughput mode with several clients; sizes are those of files and records in KB."""
    lines = (
        "Setting no_unlink",
        "Include fsync in write timing",
        f"File size set to {sizes[0]} KB",
        f"Record Size {sizes[1]} KB",
        "Network distribution mode enabled.",
    )
    parts = "".join(throughput(label, processes, figures) for label, figures in tests)
    return (
        f"{head(command, date, lines)}\tThroughput test with {processes} processes\n"
        f"\tEach process writes a {sizes[0]} Kbyte file in {sizes[1]} Kbyte records\n{parts}\n\tTest cleanup:\n\n\n"
        "iozone test complete.\n"
    )


def table(rows: Mapping[tuple[int, int], Mapping[str, str]]) -> str:
    """A whole output of automatic mode: sizes of file and record in KB -> column -> rate; others are blank."""
    lines = [
        f"{size:16}{record:8}" + "".join(f"{cells.get(column, ''):>{width}}" for column, width in WIDTHS.items())
        for (size, record), cells in rows.items()
    ]
    body = "\n".join((" " * 60 + "random  random    bkwd   record   stride", _TABLE_HEADER, *lines))
    return f"{head('iozone -a', 'Tue Mar  2 10:00:00 2010', ('Auto Mode',))}{body}\n\niozone test complete.\n"
