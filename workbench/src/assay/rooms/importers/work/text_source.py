"""A file that a user names, as text of any length: opened again for each reading, unpacked and decoded on the way."""

import hashlib
from collections.abc import Generator, Iterator
from contextlib import closing

from assay.model.base import AssayError
from assay.model.user_files import open_user_file
from assay.rooms.importers.work.file_text import CHUNK, decoded, unpacked
from assay.rooms.importers.work.long_text import LongText, Text, pieces_of

MAX_FILE = 64 << 30
"""Largest file in bytes, packed and unpacked."""
MAX_WHOLE = 32 << 20
"""Largest file in bytes, or text in characters, of those that are read as a whole."""
_SHORT = 4 << 20
"""Content in bytes that is read only once, and held."""


class UserText:
    """A file that a user names.

    Attributes:
        head: The beginning of its content, unpacked: all of it, if it is short.
    """

    def __init__(self, path: str, hint: str) -> None:
        """Read the beginning.

        Args:
            path: As the user names it.
            hint: What else the user can give.

        Raises:
            AssayError: It cannot be read, or is damaged.
        """
        self._path, self._hint = path, hint
        self._digest: tuple[str, int] | None = None
        self.head, self._is_short = b"", False
        with closing(self._content()) as parts:
            for part in parts:
                self.head += part
                if len(self.head) > _SHORT:
                    return
        self._is_short = True

    def digest(self) -> tuple[str, int]:
        """Return the SHA-256 of the file as it is stored, in hexadecimal digits, and its size in bytes."""
        if self._digest is None:
            for _ in self._chunks():
                pass
        assert self._digest is not None
        return self._digest

    def whole(self) -> bytes:
        """Return the whole content.

        Raises:
            AssayError: It is larger than `MAX_WHOLE`.
        """
        if self._is_short:
            return self.head
        parts, size = [], 0
        with closing(self._content()) as content:
            for part in content:
                parts.append(part)
                size += len(part)
                if size > MAX_WHOLE:
                    hint = "give a smaller part of it"
                    raise AssayError(f"{self._path}: larger than {MAX_WHOLE >> 20} MiB, the limit for such files", hint)
        return b"".join(parts)

    def text(self) -> Text:
        """Return the content as text.

        Raises:
            AssayError: It is no text; of a long text, while it is read.
        """
        if self._is_short:
            return "".join(decoded(self._path, (self.head,), self._hint))
        return LongText(lambda: decoded(self._path, self._content(), self._hint))

    def _content(self) -> Generator[bytes]:
        return unpacked(self._path, self._chunks(), MAX_FILE)

    def _chunks(self) -> Iterator[bytes]:
        digest, size = hashlib.sha256(), 0
        with open_user_file(self._path, self._path, self._hint, MAX_FILE) as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                yield chunk
        self._digest = digest.hexdigest(), size


def whole_text(path: str, text: Text, hint: str) -> str:
    """Return a text as a whole.

    Args:
        path: The file, as the user named it.
        text: Its text.
        hint: How to give less.

    Raises:
        AssayError: It is longer than `MAX_WHOLE`.
    """
    parts, size = [], 0
    for piece in pieces_of(text):
        parts.append(piece)
        size += len(piece)
        if size > MAX_WHOLE:
            raise AssayError(f"{path}: larger than {MAX_WHOLE >> 20} MiB, the limit for such files", hint)
    return "".join(parts)
