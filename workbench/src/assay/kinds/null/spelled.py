"""No storage, as it is typed in one word: `null:`."""

from typing import Any


def spelled(text: str, destroy: bool) -> dict[str, Any] | None:
    """The target's fields in a study; None if the word is none of this kind."""
    return {"kind": "null"} if text == "null:" else None
