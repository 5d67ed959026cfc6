"""Tools whose command lines and files become studies by commands of one form: `assay study from TOOL TEXT`."""

from collections.abc import Callable
from typing import NamedTuple


class Tool(NamedTuple):
    """A tool whose command lines or files become studies.

    Attributes:
        name: Name of the command.
        metavar: Word for its argument.
        help: Help of its argument.
        description: Help of the command.
        file_hint: Hint where a file cannot be read.
        make: Returns the text of a study from the argument and a reader of files, which returns the text of a path.
    """

    name: str
    metavar: str
    help: str
    description: str
    file_hint: str
    make: Callable[[str, Callable[[str], str]], str]


Reader = Callable[[str], str]


def _fio(text: str, read: Reader) -> str:
    from assay.rooms.foreign.work.fio.study import fio_study

    return fio_study(text, read)


def _iozone(text: str, read: Reader) -> str:
    from assay.rooms.foreign.work.iozone.study import iozone_study

    return iozone_study(text, read)


def _elbencho(text: str, read: Reader) -> str:
    from assay.rooms.foreign.work.elbencho import elbencho_study

    return elbencho_study(text, read)


def _warp(text: str, _read: Reader) -> str:
    from assay.rooms.foreign.work.warp import warp_study

    return warp_study(text)


_LINE = "The whole command line in quotes."

TOOLS: tuple[Tool, ...] = (
    Tool(
        "fio",
        "JOBFILE|COMMAND",
        "The job file, or the whole command line in quotes.",
        """Convert a job file or command line of fio to a study.

        Each job becomes a workload; jobs that run at the same time and do the same work are lanes of one. Sizes and
        defaults are fio's. The study begins with a line for each option that has no counterpart, and the reason.

        Example: `assay study from fio "fio --name=a --rw=randread --bs=4k --size=1g --direct=1" --output fio.yaml`
        """,
        "name a job file of fio, or write the command in quotes",
        _fio,
    ),
    Tool(
        "iozone",
        "COMMAND",
        _LINE,
        """Convert a command line of iozone to a study.

        Sizes without a letter are in KiB, as iozone reads them; -a becomes ranges of sizes. The study begins with a
        line for each option that has no counterpart, and the reason.

        Example: `assay study from iozone "iozone -a -i 0 -i 1 -g 64m -e -f /mnt/x/f" --output iozone.yaml`
        """,
        "name a file of clients",
        _iozone,
    ),
    Tool(
        "elbencho",
        "COMMAND",
        _LINE,
        """Convert a command line of elbencho to a study.

        The study begins with a line for each option that has no counterpart, and the reason. Keys and secrets are
        left out.

        Example: `assay study from elbencho "elbencho -w -r -t 8 -b 1m -s 4g --direct /mnt/x/f" --output elbencho.yaml`
        """,
        "name a file of hosts",
        _elbencho,
    ),
    Tool(
        "warp",
        "COMMAND",
        _LINE,
        """Convert a command line of MinIO warp to a study.

        The study begins with a line for each option that has no counterpart, and the reason. Keys and secrets are
        left out.

        Example: `assay study from warp "warp mixed --host=10.0.0.1:9000 --obj.size=1MiB --duration=1m" --output w.yaml`
        """,
        "",
        _warp,
    ),
)
"""The tools, in the order of the help. `make` imports its module when it is called, since commands start faster so."""
