"""A directory as it is typed in one word: its path."""

from pathlib import Path
from typing import Any

FOLDER = "assay-measure"
"""What is made, marked and removed in a directory that was named."""


def spelled(text: str, destroy: bool) -> dict[str, Any] | None:
    """The target's fields in a study; None if the word is none of this kind."""
    path = Path(text).expanduser()
    return {"kind": "file", "path": str(path.absolute() / FOLDER)} if path.is_dir() else None
