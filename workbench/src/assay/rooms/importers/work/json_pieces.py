"""JSON that may be too long to hold: documents in a text are found, and decoded part by part."""

import re
from collections.abc import Iterator
from typing import Any

from assay.rooms.importers.work.json_text import HINT, decode_json
from assay.rooms.importers.work.long_text import Text, pieces_of
from assay.rooms.importers.work.results import OutputError

_MAX_PART = 32 << 20
"""Longest part in characters that is decoded at once."""
_MIN_READ = 1 << 18
"""Characters that are read at least when more are needed."""
_OVERLAP = 4096
"""Characters before the end of what was read in which a document may begin whose beginning is not whole yet."""
_SPACE = re.compile(r"[ \t\n\r]*")


class JsonPieces:
    """A text with documents, and a place in it."""

    def __init__(self, text: Text, second: str = "", joined: str = "") -> None:
        """Begin at the beginning.

        Args:
            text: The text.
            second: As of `decode_json`.
            joined: As of `decode_json`.
        """
        self._pieces = pieces_of(text)
        self._second, self._joined = second, joined
        self._buffer, self._at, self._ended = "", 0, False
        self._counted, self._line = 0, 1
        self._part = (0, 0)

    @property
    def line(self) -> int:
        """The line of the place, from 1."""
        return self._line_at(self._at)

    def find(self, begin: re.Pattern[str], bracket: str = "{") -> bool:
        """Go to the first bracket in what a pattern matches next; return whether it matches anything."""
        while True:
            match = begin.search(self._buffer, self._at)
            if match is not None:
                self._at = self._buffer.index(bracket, match.start())
                return True
            last = max(self._at, len(self._buffer) - _OVERLAP)
            self._at = max(self._at, self._buffer.rfind("\n", 0, last) + 1)
            if not self._more():
                return False

    def value(self) -> Any:
        """Return the value at the place, and go behind it; errors as of `decode_json`."""
        self._skip_space()
        while True:
            try:
                value, end = decode_json(self._buffer, self._at, self._second, self._joined)
            except OutputError as error:
                if self._more():
                    continue
                raise OutputError(error.line + self._line_at(0) - 1, error.message, error.hint) from None
            # A number may go on.
            if end == len(self._buffer) and self._more():
                continue
            self._part, self._at = (self._at, end), end
            return value

    def members(self) -> Iterator[str]:
        """Yield the keys of the object at the place; behind each, its value must be read.

        Raises:
            OutputError: It is no object.
        """
        self._take("{", "Expecting value")
        is_empty = self._next() == "}"
        while not is_empty:
            if self._next() != '"':
                raise self._error("Expecting property name enclosed in double quotes")
            key = self.value()
            self._take(":", "Expecting ':' delimiter")
            yield key
            if self._next() == "}":
                break
            self._take(",", "Expecting ',' delimiter")
        self._take("}", "Expecting value")

    def elements(self) -> Iterator[Any]:
        """Yield the values in the array at the place; no value if there is none, which is passed over.

        Raises:
            OutputError: It is no JSON.
        """
        if self._next() != "[":
            self.value()
            return
        self._at += 1
        is_empty = self._next() == "]"
        while not is_empty:
            yield self.value()
            if self._next() == "]":
                break
            self._take(",", "Expecting ',' delimiter")
        self._take("]", "Expecting value")

    @property
    def is_array(self) -> bool:
        """Whether an array is at the place."""
        return self._next() == "["

    @property
    def text(self) -> str:
        """The value that was read last, as it is written."""
        return self._buffer[slice(*self._part)]

    def line_in_value(self, wanted: re.Pattern[str]) -> int | None:
        """Return the line of what matches a pattern in the value that was read last; None if nothing does."""
        match = wanted.search(self._buffer, *self._part)
        return self._line_at(match.start()) if match else None

    def _next(self) -> str:
        """Return the next character that is no space; empty at the end."""
        self._skip_space()
        return self._buffer[self._at : self._at + 1]

    def _take(self, wanted: str, problem: str) -> None:
        if self._next() != wanted:
            raise self._error(problem)
        self._at += 1

    def _error(self, problem: str) -> OutputError:
        return OutputError(self.line, f"not JSON: {problem}", HINT)

    def _skip_space(self) -> None:
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer) or not self._more():
                return

    def _line_at(self, position: int) -> int:
        """Return the line of a position in what is held."""
        if position >= self._counted:
            self._line += self._buffer.count("\n", self._counted, position)
            self._counted = position
            return self._line
        return self._line - self._buffer.count("\n", position, self._counted)

    def _more(self) -> bool:
        """Read as much again as is held behind the place; return whether there was more.

        Raises:
            OutputError: Too much is held.
        """
        held = len(self._buffer) - self._at
        if held > _MAX_PART:
            hint = "give a part of it, or the outputs one by one"
            raise OutputError(self.line, f"JSON with a value of more than {_MAX_PART >> 20} MiB", hint)
        parts, size = [], 0
        while size < max(held, _MIN_READ) and not self._ended:
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
            else:
                parts.append(piece)
                size += len(piece)
        if not size:
            return False
        # One character before the place stays: patterns look whether a line begins at it.
        start = max(0, self._at - 1)
        line = self._line_at(start)
        self._buffer = "".join((self._buffer[start:], *parts))
        self._line, self._counted = line, 0
        self._at -= start
        return True
