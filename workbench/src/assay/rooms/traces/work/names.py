"""Names of files in traces: below the directory that was recorded, each part replaced unless names are kept."""

import base64
import hashlib
import os
import re
import secrets
from collections.abc import Sequence

_EXTENSION = re.compile(r".\.([A-Za-z0-9]{1,8})$", re.DOTALL)
"""An extension that is kept, behind at least one other character."""
_LETTERS = 10
"""Letters and digits for a part: 50 bits, so that two of a million names are equal in one of 2000 traces."""


class Names:
    """Names of one trace.

    Args:
        roots: Absolute paths of the directories that are recorded; none: all.
        keep: Names stay as they are.
        salt: Random bytes with which parts are hashed; new ones if None.
    """

    def __init__(self, roots: Sequence[str] = (), keep: bool = False, salt: bytes | None = None) -> None:
        self._root = os.path.commonpath(roots) if roots else "/"
        self._keep = keep
        self._salt = secrets.token_bytes(16) if salt is None else salt

    def of_path(self, path: str) -> str:
        """Return the name of an absolute path."""
        relative = os.path.relpath(path, self._root) if self._root != "/" else path.lstrip("/")
        return self.of_parts(relative or ".")

    def of_parts(self, name: str) -> str:
        """Return the name for a relative one, such as the key of an object."""
        return name if self._keep or name == "." else "/".join(self._part(part) for part in name.split("/"))

    def _part(self, part: str) -> str:
        if part in ("", "..", "."):
            return part
        digest = hashlib.blake2b(os.fsencode(part), key=self._salt, digest_size=8).digest()
        found = _EXTENSION.search(part)
        hashed = base64.b32encode(digest)[:_LETTERS].decode().lower()
        return f"{hashed}.{found[1]}" if found else hashed
