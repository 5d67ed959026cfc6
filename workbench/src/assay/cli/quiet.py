"""Tells people only what has gone wrong in a run."""

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
    """Says warnings, and nothing else, on standard error."""

    def say(self, text: str) -> None:
        """Print a warning; all else that a run has to say is dropped."""
        if isinstance(text, Warned):
            note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:  # noqa: ARG002
        """One that tells of repeats that did not go well."""
        return QuietProgress(self)


class QuietProgress:
    """A line for each repeat that did not go well."""

    def __init__(self, listener: QuietListener) -> None:
        """What is said besides goes to `listener`."""
        self._listener = listener

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def begin(self, case: Case, repeat: int) -> None:
        """Says nothing."""

    def phase(self, operation: str, limits: Limits) -> None:
        """Says nothing."""

    def interval(self, heard: Heard) -> None:
        """Says nothing."""

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Print the line of a repeat that did not go well."""
        if status != "ok":
            note(finish_text(case, repeat, status, reason, seconds, samples))

    def fewer(self, count: int) -> None:
        """Says nothing."""

    def left_out(self, count: int) -> None:
        """Says nothing."""

    def say(self, text: str) -> None:
        """As of the listener."""
        self._listener.say(text)
