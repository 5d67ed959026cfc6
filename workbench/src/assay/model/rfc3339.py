"""Times of RFC 3339 as nanoseconds, for logs with a time or two in each of millions of lines."""

import re
from datetime import datetime

_TIME = re.compile(r"([0-9-]{10}T[0-9:]{8})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})")
_MAX_SECONDS = 4096
"""Seconds that are remembered as numbers."""


class TimeReader:
    """Reads times, most of which are of few seconds."""

    def __init__(self) -> None:
        self._seconds: dict[str, int] = {}

    def nanoseconds(self, text: str) -> int | None:
        """Return nanoseconds since 1970; None if a text does not look like such a time.

        Args:
            text: A date, `T`, a time with up to nine decimals, and `Z` or an offset.

        Raises:
            ValueError: It looks like one, and there is no such time.
        """
        match = _TIME.fullmatch(text)
        if match is None:
            return None
        key = match[1] + match[3]
        if key not in self._seconds:
            if len(self._seconds) > _MAX_SECONDS:
                self._seconds.clear()
            try:
                self._seconds[key] = int(datetime.fromisoformat(key).timestamp())
            except OverflowError as error:
                raise ValueError(str(error)) from None
        return self._seconds[key] * 10**9 + int((match[2] or "").ljust(9, "0"))
