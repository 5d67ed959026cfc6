"""A listener that prints only warnings and failed repeats of a run."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from assay.cli.output import note
from assay.cli.progress import finish_text
from assay.model.base import Warned
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.run.listener import Heard, Limits, Progress, TimeLeft


class QuietListener:
    """Prints warnings and failed repeats on standard error, and nothing else."""

    def say(self, text: str) -> None:
        """Print a warning; drop any other message."""
        if isinstance(text, Warned):
            note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:  # noqa: ARG002
        """Return a progress that prints only failed repeats."""
        return QuietProgress(self)


class QuietProgress:
    """Prints a line for each failed repeat."""

    def __init__(self, listener: QuietListener) -> None:
        """Pass other messages to `listener`."""
        self._listener = listener

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def begin(self, case: Case, repeat: int) -> None:
        """Print nothing."""

    def phase(self, operation: str, limits: Limits) -> None:
        """Print nothing."""

    def interval(self, heard: Heard) -> None:
        """Print nothing."""

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Print the line of a failed repeat."""
        if status != "ok":
            note(finish_text(case, repeat, status, reason, seconds, samples))

    def fewer(self, count: int) -> None:
        """Print nothing."""

    def left_out(self, count: int) -> None:
        """Print nothing."""

    def say(self, text: str) -> None:
        """Pass the text to the listener, which prints warnings only."""
        self._listener.say(text)
