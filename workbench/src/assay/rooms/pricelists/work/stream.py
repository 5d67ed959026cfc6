"""Text read in pieces, from which lines and JSON values are taken one by one: price lists have gigabytes."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, TextIO

from assay.model.base import AssayError
from assay.rooms.pricelists.work.price_list import truncated_error

CHUNK = 2**18
"""Characters that are read at once."""
MAX_ENTRY = 2**26
"""Most characters of a single value; a file with a longer one is not a price list."""
MAX_LINE = 2**20
"""Most characters of a line of a table."""


class Stream:
    """A file that is read in pieces.

    Attributes:
        name: Name of the file, for messages.
        what: What it should be, such as `an AWS price list file`.
        hint: What to give instead if it is not.
        cut: Whether the last line has no line end.
    """

    def __init__(self, text: TextIO, name: str, what: str, hint: str) -> None:
        begin = text.read(CHUNK).removeprefix("\ufeff")
        self.text, self.buffer, self.at, self.name = text, begin, 0, name
        self.what, self.hint = what, hint
        self._decoder = json.JSONDecoder()
        self._ended = False
        self.cut = False

    @property
    def first_char(self) -> str:
        """First character of the file that is not a space; empty if there is none in its first 1024 characters."""
        return self.buffer[: 2**10].lstrip()[:1]

    def format_error(self, why: str) -> AssayError:
        """Return the error for a file in another format."""
        return AssayError(f"{self.name}: not {self.what}: {why}", self.hint)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file; `cut` is set before a last line without line end."""
        rest = ""
        for piece in itertools.chain([self.buffer], iter(lambda: self.text.read(CHUNK), "")):
            *whole, rest = (rest + piece).split("\n")
            yield from (line + "\n" for line in whole)
            if len(rest) > MAX_LINE:
                raise self.format_error("a line is too long")
        if rest:
            self.cut = True
            yield rest

    def _more(self, size: int = CHUNK) -> bool:
        piece = "" if self._ended else self.text.read(size)
        self._ended = not piece
        self.buffer, self.at = self.buffer[self.at :] + piece, 0
        return bool(piece)

    def peek(self) -> str:
        """Return the next character that is not a space, without consuming it."""
        while True:
            while self.at < len(self.buffer):
                if not self.buffer[self.at].isspace():
                    return self.buffer[self.at]
                self.at += 1
            if not self._more():
                raise truncated_error(self.name)

    def value(self) -> Any:
        """Return the next JSON value, whole."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self.buffer, self.at)
                # A number that reaches the end of the buffer may continue in the next piece.
                if end < len(self.buffer):
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                if len(self.buffer) - self.at > MAX_ENTRY:
                    raise self.format_error(f"not JSON: {error.msg}") from None
            except RecursionError:
                raise self.format_error("it is nested too deeply") from None
            # The buffer doubles each time, because a failed decoding starts over.
            if not self._more(max(CHUNK, len(self.buffer) - self.at)):
                raise AssayError(f"{self.name}: the file is truncated, or is not JSON", "download it again")

    def members(self) -> Iterator[str]:
        """Yield the keys of the next JSON object; the caller must take or skip each value."""
        self._expect("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            self._expect(":")
            yield str(key)
            if self.peek() == "}":
                self.at += 1
                return
            self._expect(",")

    def elements(self) -> Iterator[int]:
        """Yield the indices of the next JSON array; the caller must take or skip each value."""
        self._expect("[")
        if self.peek() == "]":
            self.at += 1
            return
        for place in itertools.count():
            yield place
            if self.peek() == "]":
                self.at += 1
                return
            self._expect(",")

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.format_error(f"{self.buffer[self.at : self.at + 20]!r} where JSON has `{sign}`")
        self.at += 1
