"""Progress of a run on standard error: a panel on a terminal that can move its cursor, plain lines elsewhere."""

import sys
import time
from collections.abc import Sequence

from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.names import PROGRAMS
from assay.model.units import about_duration, about_latency, about_rate
from assay.run.listener import Progress, TimeLeft
from assay.terminal.output import is_dumb, note

LINE_GAP_SECONDS = 1.0
MAX_SINGLE_LINES = 200
"""Up to this many repeats, each gets a line; with more, at most one line a second is printed."""


class TerminalListener:
    """A listener that prints a run's messages and progress on standard error."""

    def print_line(self, text: str) -> None:
        """Print a line."""
        note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """Return a panel if standard error is a terminal that can move its cursor (not `TERM=dumb`), else lines."""
        if not sys.stderr.isatty() or is_dumb():
            return LineProgress(total, done, left)
        from assay.cli.live.progress import LiveProgress

        return LiveProgress(total, done, left)


class LineProgress(Progress):
    """One line for each finished repeat, fewer for large studies."""

    def __init__(self, total: int, done: int, left: TimeLeft) -> None:
        """See `Listener.progress`."""
        self._total, self._done, self._left = total, done, left
        self._gap = 0.0 if total <= MAX_SINGLE_LINES else LINE_GAP_SECONDS
        self._last = float("-inf")
        self._reasons: set[str] = set()
        self._fewer = ""

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Print the line of a repeat, unless another was printed just before and this one has no new reason."""
        self._done += 1
        fewer, self._fewer = self._fewer, ""
        news = bool(reason) and reason not in self._reasons and len(self._reasons) < MAX_SINGLE_LINES
        now = time.monotonic()
        if now - self._last < self._gap and not news and self._done < self._total:
            return
        self._last = now
        self._reasons.add(reason)
        left = f"; {self._left.words()} left" if self._done < self._total else ""
        text = repeat_line(case, repeat, status, reason, seconds, samples)
        note(f"[{self._done}/{self._total}] {text}{fewer}{left}")

    def drop_repeats(self, count: int) -> None:
        """Count `count` repeats as saved, and add that to the line of the repeat, unless `say` prints before it."""
        self._total -= count
        self._fewer = f"; precise enough, {count} repeats saved" if count > 0 else ""

    def drop_any_repeats(self, count: int) -> None:
        """Lower the total by `count` repeats; the next line shows it."""
        self._total -= count

    def print_line(self, text: str) -> None:
        """Print a line."""
        self._fewer = ""
        note(text)


def repeat_line(case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]) -> str:
    """Return one line about a repeat: how it ended and how fast it was."""
    rates = ", ".join(f"{sample.operation} {_speed(sample)}" for sample in samples if sample.ops)
    why = f" ({reason})" if reason else ""
    return f"{case.id} repeat {repeat} {status}{why} in {about_duration(seconds)}: {rates or 'nothing measured'}"


def _speed(sample: Sample) -> str:
    if sample.operation in PROGRAMS:
        return f"took {about_latency(sample.elapsed_ns)}"
    return about_rate(sample.rate, sample.is_counted)
