"""Requests of the user to stop a run."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Interruption:
    """Counts requests to stop: Ctrl-C, SIGTERM, SIGHUP. The first is orderly, the second immediate."""

    def __init__(self) -> None:
        """Start with no requests."""
        self.count = 0

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Handle the signals during the block, except those that the parent process has set to ignore, as `nohup` does.

        Python handles signals in the main thread only; in any other thread the run receives none.
        """
        main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if main else ()
        handled = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._take) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextlib.contextmanager
    def raise_on_signal(self) -> Iterator[None]:
        """In the block, raise a request to stop as KeyboardInterrupt, for work that cannot poll for it.

        The request is counted, and ends the block.
        """
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        before = {number: signal.getsignal(number) for number in numbers}
        handled = [number for number in numbers if before[number] == self._take]
        for number in handled:
            signal.signal(number, signal.default_int_handler)
        try:
            yield
        except KeyboardInterrupt:
            self.count += 1
        finally:
            for number in handled:
                signal.signal(number, before[number])

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
