"""What hangs fails its test instead."""

import contextlib
import signal
from collections.abc import Iterator

import pytest

SECONDS = 600
"""Far more than any test takes: no judgement of how fast it is."""


@contextlib.contextmanager
def hang_guard() -> Iterator[None]:
    """Fail the test if the block waits for something that can be interrupted, and is not done in ten minutes."""

    def fail(*_: object) -> None:
        pytest.fail(f"it hangs: not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
