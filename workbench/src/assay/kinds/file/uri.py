"""A directory, typed as one word: its path."""

from pathlib import Path
from typing import Any

FOLDER = "assay-measure"
"""Name of the folder that is made, marked and removed in the named directory."""


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind."""
    path = Path(text).expanduser()
    return {"kind": "file", "path": str(path.absolute() / FOLDER)} if path.is_dir() else None
