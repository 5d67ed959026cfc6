"""A listener that prints only warnings and failed repeats of a run."""

from collections.abc import Sequence

from assay.cli.progress import repeat_line
from assay.model.base import WarningLine
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.run.listener import Progress, TimeLeft
from assay.terminal.output import note


class QuietListener:
    """Prints warnings and failed repeats on standard error, and nothing else."""

    def print_line(self, text: str) -> None:
        """Print a warning; drop any other message."""
        if isinstance(text, WarningLine):
            note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:  # noqa: ARG002
        """Return a progress that prints only failed repeats."""
        return QuietProgress(self)


class QuietProgress(Progress):
    """Prints a line for each failed repeat."""

    def __init__(self, listener: QuietListener) -> None:
        """Pass other messages to `listener`."""
        self._listener = listener

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Print the line of a failed repeat."""
        if status != "ok":
            note(repeat_line(case, repeat, status, reason, seconds, samples))

    def print_line(self, text: str) -> None:
        """Pass the text to the listener, which prints warnings only."""
        self._listener.print_line(text)
