"""Where the results of a run come from that another tool measured."""

from collections.abc import Sequence

from assay.model.frozen import Frozen
from assay.model.origin import origin_words, program_words

FIGURES_ONLY = "its figures are no rates"
"""Why rows of tables such as prices make no result."""


def is_figures_only(why: str) -> bool:
    """Return whether a row was left out since it is no measurement."""
    return why == FIGURES_ONLY


class ImportedFile(Frozen):
    """One output of another tool in a file that a run was imported from; a file may hold several.

    Attributes:
        tool: Name of the tool, such as `fio`.
        version: Its version as printed; empty if it is not.
        form: What kind of output it is, such as `JSON`.
        file: Path of the file as the user named it.
        line: Line on which the output begins, from 1.
        sha256: Hash of the whole file, in hexadecimal.
        size_bytes: Size of the whole file.
        measured_at: When the output was printed, in seconds since 1970; None if it does not say.
        date: The same as printed; empty if it does not say.
        host: Host on which the tool ran; empty if the output does not say.
        command: Command line of the tool; empty if the output does not say.
    """

    tool: str
    version: str
    form: str
    file: str
    line: int
    sha256: str
    size_bytes: int
    measured_at: float | None = None
    date: str = ""
    host: str = ""
    command: str = ""

    @property
    def program(self) -> str:
        """Tool and version: `fio 3.33`."""
        return f"{self.tool} {self.version}".strip()


def programs(files: Sequence[ImportedFile]) -> str:
    """Return the tools and versions that measured, each once: `fio 3.33 and fio 2.21`; empty without files."""
    return program_words([one.program for one in files])


def imported_words(files: Sequence[ImportedFile]) -> str:
    """Return where results come from: `imported from fio 3.33, results.json`; empty if Assay measured them."""
    return origin_words([one.program for one in files], [one.file for one in files])
