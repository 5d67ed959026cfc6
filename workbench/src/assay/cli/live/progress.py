"""A panel that is redrawn while a run goes on; messages scroll above it."""

import os
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.cli.live.panel import FINE, PLAIN, Glyphs, panel
from assay.cli.live.state import State
from assay.cli.progress import repeat_line
from assay.model.escape import escape_line
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.run.listener import ClosestCeiling, HostInterval, Progress, TimeLeft
from assay.terminal.output import MAX_LINE, to_encoding, unguarded

if TYPE_CHECKING:
    from rich.text import Text

_DRAWN_PER_SECOND = 4


class LiveProgress(Progress):
    """Shows the progress of a run: its case, rate, latency, course, and the ceiling that it is closest to."""

    def __init__(self, total: int, done: int, left: TimeLeft) -> None:
        """See `Listener.progress`."""
        from rich.console import Console
        from rich.live import Live

        self._state = State(total, done, left)
        self._lock = threading.Lock()
        """Held while the state changes, and while another thread draws it."""
        self._console = Console(file=unguarded(sys.stderr), highlight=False)
        self._letters = glyphs_for(self._console.encoding)
        self._live = Live(
            console=self._console,
            refresh_per_second=_DRAWN_PER_SECOND,
            transient=True,
            vertical_overflow="crop",
            get_renderable=self._draw,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _draw(self) -> "Text":
        from rich.text import Text

        # Some terminals begin a new line when the last column is filled.
        width, height = max(1, self._console.width - 1), max(1, self._console.height - 1)
        with self._lock:
            lines = panel(self._state, width, height, self._letters)
        text = Text(no_wrap=True, overflow="crop", end="")
        for number, line in enumerate(lines):
            text.append("\n" if number else "")
            text.append(line.head, "dim")
            text.append(to_encoding(line.text, self._console.encoding))
        return text

    def begin(self, case: Case, repeat: int) -> None:
        """Show the case that starts."""
        with self._lock:
            self._state.begin(case, repeat)

    def phase(self, operation: str, limits: ClosestCeiling) -> None:
        """Show the phase that starts."""
        with self._lock:
            self._state.phase(operation, limits)

    def interval(self, host_interval: HostInterval) -> None:
        """Show the work of an interval."""
        with self._lock:
            self._state.interval(host_interval)

    def finish(
        self, case: Case, repeat: int, status: str, reason: str, seconds: float, samples: Sequence[Sample]
    ) -> None:
        """Advance the bar; a failed repeat gets a line above the panel."""
        with self._lock:
            self._state.finish(status)
        if status != "ok":
            self.print_line(repeat_line(case, repeat, status, reason, seconds, samples))

    def drop_repeats(self, count: int) -> None:
        """Lower the total by `count` repeats."""
        self.drop_any_repeats(count)

    def drop_any_repeats(self, count: int) -> None:
        """Lower the total by `count` repeats."""
        with self._lock:
            self._state.total -= count

    def print_line(self, text: str) -> None:
        """Print a line above the panel."""
        words = to_encoding(escape_line(text, MAX_LINE), self._console.encoding)
        self._console.print(words, markup=False, highlight=False, soft_wrap=True)


def glyphs_for(encoding: str) -> Glyphs:
    """Return the characters that a terminal can show: the Linux console and old encodings lack those of `FINE`."""
    drawn = "".join(FINE)
    return FINE if to_encoding(drawn, encoding) == drawn and os.environ.get("TERM", "") != "linux" else PLAIN
