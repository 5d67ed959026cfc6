"""The null target, typed as one word: `null:`."""

from typing import Any


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind."""
    return {"kind": "null"} if text == "null:" else None
