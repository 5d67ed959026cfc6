"""Shows how a run gets on: a bar on a terminal that can move its cursor, plain lines elsewhere; on standard error."""

import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from assay.cli.output import MOST_LINE, for_rich, note, rate_text
from assay.model.foreign import plain
from assay.model.result.result import Sample
from assay.model.study.case import Case
from assay.model.units import about_duration

PRIOR_SECONDS = 10.0
"""How much measured time it takes until what was measured counts as much as the estimate."""
LINE_GAP_SECONDS = 1.0
ALL_LINES = 200
"""Up to so many repeats each gets its line; with more, there is at most one line a second."""


class TimeLeft:
    """Time left of a run: the estimate, corrected by how the repeats so far compared with theirs."""

    def __init__(self, estimated: float, at_most: bool = False) -> None:
        """Begin with the estimated seconds of all repeats that are to be done, or at most to be done."""
        self._remaining = estimated
        self._at_most = "at most " if at_most else ""
        self._done_estimated = 0.0
        self._done_measured = 0.0
        self._current: tuple[float, float] | None = None
        self._end = float("inf")

    def begin(self, estimated: float) -> None:
        """A repeat that is estimated at `estimated` seconds starts now."""
        self._current = (estimated, time.monotonic())

    def finished(self, estimated: float, measured: float) -> None:
        """A repeat that was estimated at `estimated` seconds took `measured`."""
        self._remaining = max(0.0, self._remaining - estimated)
        self._done_estimated += estimated
        self._done_measured += measured
        self._current = None

    def dropped(self, estimated: float) -> None:
        """Repeats that are estimated at `estimated` seconds are not to be done any more; below 0: are added."""
        self._remaining = max(0.0, self._remaining - estimated)

    def limit(self, seconds: float) -> None:
        """It ends after `seconds` from now at the latest."""
        self._end = time.monotonic() + seconds

    def words(self) -> str:
        """`3 min`, or `at most 3 min`."""
        return f"{self._at_most}{about_duration(self.seconds())}"

    def seconds(self) -> float:
        """Seconds left."""
        # The prior is weighed in estimated seconds, so that the two sums stay comparable.
        scale = (PRIOR_SECONDS + self._done_measured) / (PRIOR_SECONDS + self._done_estimated)
        left = self._remaining * scale
        if self._current is not None:
            estimated, begun = self._current
            left -= min(time.monotonic() - begun, estimated * scale)
        return min(left, max(0.0, self._end - time.monotonic()))


class Progress(Protocol):
    """What the run tells about itself as it goes on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def begin(self, case: Case, repeat: int) -> None:
        """A repeat starts."""
        ...

    def phase(self, operation: str) -> None:
        """One of its phases starts."""
        ...

    def rate(self, text: str) -> None:
        """The current rate, with its unit."""
        ...

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """A repeat has ended."""
        ...

    def fewer(self, count: int) -> None:
        """So many repeats less are to be done; below 0: so many more."""
        ...

    def left_out(self, count: int) -> None:
        """So many repeats less are to be done, of whichever cases."""
        ...

    def say(self, text: str) -> None:
        """A line for people."""
        ...


def make_progress(total: int, done: int, left: TimeLeft) -> Progress:
    """A bar if standard error is a terminal that can move its cursor (not `TERM=dumb`), else plain lines.

    Args:
        total: Planned repeats.
        done: How many of them an earlier part of the run has done.
        left: Is kept up to date by the caller.
    """
    movable = sys.stderr.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    return BarProgress(total, done, left) if movable else LineProgress(total, done, left)


class LineProgress:
    """One line for each finished repeat, fewer for large studies."""

    def __init__(self, total: int, done: int, left: TimeLeft) -> None:
        """See `make_progress`."""
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
        """See `make_progress`."""
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
            console=Console(file=for_rich(sys.stderr), highlight=False),
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
        f"{sample.operation} {rate_text(sample.rate, sample.metadata)}" for sample in samples if sample.ops
    )
    why = f" ({reason})" if reason else ""
    return f"{case.id} repeat {repeat} {status}{why} in {about_duration(seconds)}: {rates or 'nothing measured'}"
