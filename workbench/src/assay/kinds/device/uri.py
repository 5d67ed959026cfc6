"""A block device, typed as one word: its path."""

import stat
from pathlib import Path
from typing import Any


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind."""
    try:
        mode = Path(text).stat().st_mode
    except OSError:
        return None
    return {"kind": "device", "path": str(Path(text).absolute())} if stat.S_ISBLK(mode) else None
