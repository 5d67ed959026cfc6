"""Text of any length, which is read piece by piece as often as wanted, and never held as a whole."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_HEAD = 32 << 20
"""Characters by which a long text is recognised, besides its end."""
_OVERLAP = 1 << 14
"""Characters that two windows have in common: what a reader looks for in one of them may have several lines."""


@dataclass(frozen=True)
class LongText:
    """Text that is too long to hold.

    Attributes:
        read: Reads it from the beginning, in pieces that end at ends of lines.
    """

    read: Callable[[], Iterator[str]]

    def without(self, prefix: re.Pattern[str]) -> "LongText":
        """Return the text without what a pattern matches at the beginnings of lines."""
        return LongText(lambda: (prefix.sub("", piece) for piece in self.read()))


Text = str | LongText
"""What readers take that need no more of a text than they keep."""


def pieces_of(text: Text) -> Iterator[str]:
    """Yield a text in pieces that end at ends of lines."""
    if isinstance(text, str):
        yield text
    else:
        yield from text.read()


def each_line(text: Text) -> Iterator[str]:
    """Yield the lines of a text; what follows the last end of a line is one, too, also if it is empty."""
    rest = ""
    for piece in pieces_of(text):
        *lines, rest = (rest + piece).split("\n") if rest else piece.split("\n")
        yield from lines
    yield rest


def windows_of(text: Text) -> Iterator[str]:
    """Yield parts of a text by which it may be recognised: all of it if it is short, else its head and its end."""
    before, size, last = "", 0, ""
    for piece in pieces_of(text):
        if size < MAX_HEAD:
            yield before + piece if before else piece
        last = before + piece
        before, size = last[-_OVERLAP:], size + len(piece)
    if size >= MAX_HEAD:
        yield last
