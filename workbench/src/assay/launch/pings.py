"""Pings of engines, by whose answers clocks are compared."""

import time
from collections import deque

REMEMBERED = 1024
"""Pings whose time of sending is kept; an answer that comes later is ignored."""


class Pings:
    """When each ping was sent. One ping may go to several hosts at once."""

    def __init__(self) -> None:
        """None was sent yet."""
        self._sent: deque[tuple[int, int]] = deque(maxlen=REMEMBERED)

    def next(self) -> int:
        """Number of a ping that is sent now; the first is 1."""
        number = self._sent[-1][0] + 1 if self._sent else 1
        self._sent.append((number, time.monotonic_ns()))
        return number

    def sent_at(self, number: int) -> int | None:
        """When this ping was sent, in nanoseconds of the monotonic clock; None if it was not, or long ago."""
        if not self._sent or not self._sent[0][0] <= number <= self._sent[-1][0]:
            return None
        return self._sent[number - self._sent[0][0]][1]

    def waiting(self, answered: int, within_ns: int) -> bool:
        """Whether the last ping is as young as this, and younger than the last one that was answered."""
        if not self._sent:
            return False
        number, sent = self._sent[-1]
        return number > answered and time.monotonic_ns() - sent <= within_ns
