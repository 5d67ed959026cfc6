"""Text that comes in pieces, of which lines and JSON values are taken one by one: price lists have gigabytes."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, TextIO

from assay.model.base import AssayError
from assay.money.books.listed import broken_off

CHUNK = 2**18
"""Characters that are read at once."""
MOST_ENTRY = 2**26
"""No single value that is taken is longer; a file that has a longer one is no price list."""
MOST_LINE = 2**20
"""No line of a table is longer."""


class Stream:
    """A file that is read in pieces.

    Attributes:
        name: Of the file, for messages.
        what: What it should be, such as `an AWS price list file`.
        hint: What to give instead if it is not.
        cut: The line given last does not end.
    """

    def __init__(self, text: TextIO, name: str, what: str, hint: str) -> None:
        begin = text.read(CHUNK).removeprefix("\ufeff")
        self.text, self.buffer, self.at, self.name = text, begin, 0, name
        self.what, self.hint = what, hint
        self._decoder = json.JSONDecoder()
        self._ended = False
        self.cut = False

    @property
    def starts(self) -> str:
        """The first sign of the file that is no space; empty if there is none at its begin."""
        return self.buffer[: 2**10].lstrip()[:1]

    def wrong(self, why: str) -> AssayError:
        """It is not what it should be."""
        return AssayError(f"{self.name}: not {self.what}: {why}", self.hint)

    def lines(self) -> Iterator[str]:
        """The whole as lines; `cut` is set before one that does not end is given."""
        rest = ""
        for piece in itertools.chain([self.buffer], iter(lambda: self.text.read(CHUNK), "")):
            *whole, rest = (rest + piece).split("\n")
            yield from (line + "\n" for line in whole)
            if len(rest) > MOST_LINE:
                raise self.wrong("a line of it has no end")
        if rest:
            self.cut = True
            yield rest

    def _more(self, size: int = CHUNK) -> bool:
        piece = "" if self._ended else self.text.read(size)
        self._ended = not piece
        self.buffer, self.at = self.buffer[self.at :] + piece, 0
        return bool(piece)

    def sign(self) -> str:
        """The next sign that is no space, which is left there."""
        while True:
            while self.at < len(self.buffer):
                if not self.buffer[self.at].isspace():
                    return self.buffer[self.at]
                self.at += 1
            if not self._more():
                raise broken_off(self.name)

    def value(self) -> Any:
        """The next value, whole."""
        self.sign()
        while True:
            try:
                value, end = self._decoder.raw_decode(self.buffer, self.at)
                # A number that touches the end of what is there may go on.
                if end < len(self.buffer):
                    self.at = end
                    return value
            except json.JSONDecodeError as error:
                if len(self.buffer) - self.at > MOST_ENTRY:
                    raise self.wrong(f"not JSON: {error.msg}") from None
            except RecursionError:
                raise self.wrong("it is nested too deeply") from None
            # Twice as much each time: what was decoded in vain is decoded again.
            if not self._more(max(CHUNK, len(self.buffer) - self.at)):
                raise AssayError(f"{self.name}: the file breaks off, or is not JSON", "fetch it anew")

    def members(self) -> Iterator[str]:
        """The keys of the mapping that comes next; each value must be taken, or skipped, by the caller."""
        self._expect("{")
        if self.sign() == "}":
            self.at += 1
            return
        while True:
            key = self.value()
            self._expect(":")
            yield str(key)
            if self.sign() == "}":
                self.at += 1
                return
            self._expect(",")

    def elements(self) -> Iterator[int]:
        """The places of the list that comes next; each value must be taken, or skipped, by the caller."""
        self._expect("[")
        if self.sign() == "]":
            self.at += 1
            return
        for place in itertools.count():
            yield place
            if self.sign() == "]":
                self.at += 1
                return
            self._expect(",")

    def _expect(self, sign: str) -> None:
        if self.sign() != sign:
            raise self.wrong(f"{self.buffer[self.at : self.at + 20]!r} where JSON has `{sign}`")
        self.at += 1
