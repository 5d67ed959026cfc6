"""A directory behind MPI-IO as it is typed in one word: it is not, since nothing tells it from a directory."""

from typing import Any


def spelled(text: str, destroy: bool) -> dict[str, Any] | None:
    """None: the word is none of this kind."""
    return None
