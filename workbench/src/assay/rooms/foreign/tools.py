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


TOOLS: tuple[Tool, ...] = ()
"""The tools, in the order of the help. `make` imports its module when it is called, since commands start faster so."""
