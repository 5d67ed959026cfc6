"""Signals that end a command: they are raised as an error, so that it removes what it has made for itself."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_NUMBERS = (signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """A signal that ends the program; it is no error that code would handle.

    Attributes:
        exit_code: As a shell has it for a program that the signal has ended.
        name: Such as `SIGTERM`.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number
        self.name = signal.Signals(number).name


@contextlib.contextmanager
def stopping_in_order() -> Iterator[None]:
    """In the block, raise SIGTERM and SIGHUP as `Stopped`, unless something else is done about them.

    The parent process may have set them to be ignored, as `nohup` does. Python handles signals in the main thread only.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handled = [number for number in _NUMBERS if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Stopped(number)
