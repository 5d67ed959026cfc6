"""Shows how a run gets on: a bar on a terminal that can move its cursor, plain lines elsewhere; on standard error."""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from assay.cli.output import MOST_LINE, is_dumb, note, unguarded
from assay.model.foreign import plain
from assay.model.result.result import Sample
from assay.model.study.case import Case
from assay.model.units import about_duration, about_rate
from assay.run.listener import Progress, TimeLeft

LINE_GAP_SECONDS = 1.0
ALL_LINES = 200
"""Up to so many repeats each gets its line; with more, there is at most one line a second."""


class TerminalListener:
    """Tells people on standard error what a run has to say."""

    def say(self, text: str) -> None:
        """Print a line."""
        note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """A bar if standard error is a terminal that can move its cursor (not `TERM=dumb`), else plain lines."""
        movable = sys.stderr.isatty() and not is_dumb()
        return BarProgress(total, done, left) if movable else LineProgress(total, done, left)


class LineProgress:
    """One line for each finished repeat, fewer for large studies."""

    def __init__(self, total: int, done: int, left: TimeLeft) -> None:
        """See `Listener.progress`."""
        self._total, self._done, self._left = total, done, left
        self._gap = 0.0 if total <= ALL_LINES else LINE_GAP_SECONDS
        self._last = float("-inf")
        self._reasons: set[str] = set()
        self._fewer = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def begin(self, case: Case, repeat: int) -> None:
        """Says nothing: the line comes at the end."""

    def phase(self, operation: str) -> None:
        """Says nothing."""

    def rate(self, text: str) -> None:
        """Says nothing."""

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Print the line, unless one was printed just now and this one has no news."""
        self._done += 1
        fewer, self._fewer = self._fewer, ""
        news = bool(reason) and reason not in self._reasons and len(self._reasons) < ALL_LINES
        now = time.monotonic()
        if now - self._last < self._gap and not news and self._done < self._total:
            return
        self._last = now
        self._reasons.add(reason)
        left = f"; {self._left.words()} left" if self._done < self._total else ""
        text = finish_text(case, repeat, status, reason, seconds, samples)
        note(f"[{self._done}/{self._total}] {text}{fewer}{left}")

    def fewer(self, count: int) -> None:
        """Say it in the line of the repeat, unless a line of its own comes before."""
        self._total -= count
        self._fewer = f"; known well enough, {count} repeats saved" if count > 0 else ""

    def left_out(self, count: int) -> None:
        """The next line shows it."""
        self._total -= count

    def say(self, text: str) -> None:
        """Print a line."""
        self._fewer = ""
        note(text)


class BarProgress:
    """A bar with time left, current rate and the case at hand; repeats that did not end well get a line above it."""

    def __init__(self, total: int, done: int, left: TimeLeft) -> None:
        """See `Listener.progress`."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress
        from rich.table import Column

        self._left = left
        label = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        self._bar = RichProgress(
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            BarColumn(bar_width=12, table_column=Column(min_width=12)),
            TextColumn("{task.fields[left]} left", markup=False, table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[rate]}", markup=False, table_column=Column(no_wrap=True, min_width=9)),
            TextColumn("{task.description}", markup=False, table_column=label),
            console=Console(file=unguarded(sys.stderr), highlight=False),
            transient=True,
            expand=True,
        )
        self._task = self._bar.add_task("", total=total, completed=done, left="", rate="")
        self._total = total
        self._case = ""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _update(self, **fields: Any) -> None:
        safe: dict[str, Any] = {
            name: plain(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        self._bar.update(self._task, left=self._left.words(), **safe)

    def begin(self, case: Case, repeat: int) -> None:
        """Show the case at hand."""
        self._case = f"{case.id} repeat {repeat}: {case.label}"
        self._update(description=self._case, rate="")

    def phase(self, operation: str) -> None:
        """Show the phase at hand."""
        self._update(description=f"{operation}, {self._case}")

    def rate(self, text: str) -> None:
        """Show the current rate."""
        self._update(rate=text)

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Move the bar on."""
        self._update(advance=1)
        if status != "ok":
            self.say(finish_text(case, repeat, status, reason, seconds, samples))

    def fewer(self, count: int) -> None:
        """Bring the end nearer."""
        self.left_out(count)

    def left_out(self, count: int) -> None:
        """Bring the end nearer."""
        self._total -= count
        self._update(total=self._total)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(plain(text, MOST_LINE), markup=False, highlight=False, soft_wrap=True)


def finish_text(case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]) -> str:
    """One line on a repeat: how it ended and how fast it was."""
    rates = ", ".join(
        f"{sample.operation} {about_rate(sample.rate, sample.counted)}" for sample in samples if sample.ops
    )
    why = f" ({reason})" if reason else ""
    return f"{case.id} repeat {repeat} {status}{why} in {about_duration(seconds)}: {rates or 'nothing measured'}"
