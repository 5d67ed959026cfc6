"""A directory behind MPI-IO cannot be typed as one word: its path would look like any directory."""

from typing import Any


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return None: no word means this kind."""
    return None
