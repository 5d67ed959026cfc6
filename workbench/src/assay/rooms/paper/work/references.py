"""Numbers in an author's text that refer to results: `{{ rate(disk, grid, read, record_size=4KiB) }}`.

The grammar (nothing of it is evaluated as a program):

    reference = "{{" call "}}"
    call      = name "(" [ item { "," item } ] ")"
    item      = [ name "=" ] ( call | word | string )
    word      = letters, digits and any of _ . : / + -
    string    = '"' any characters but '"' '"'
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r'\s*(?:(?P<word>[\w.:/+-]+)|"(?P<string>[^"\n]*)"|(?P<sign>[(),=]))')
OPEN, CLOSE = "{{", "}}"
_MAX_DEPTH = 4


@dataclass(frozen=True, slots=True)
class ReferenceCall:
    """A call in a reference.

    Attributes:
        positional: Values without a name, in order.
        named: Values with a name.
        written: The call as it is written.
    """

    name: str
    positional: "tuple[str | ReferenceCall, ...]"
    named: "tuple[tuple[str, str | ReferenceCall], ...]"
    written: str


class WrongReferenceError(Exception):
    """A reference that cannot be understood or resolved: `message`, and how to mend it, `hint`."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


def split_text(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each piece of a text: position in it, plain text before a reference, and the reference without braces.

    The last piece has no reference.

    Raises:
        WrongReferenceError: A `{{` has no `}}` in the same paragraph.
    """
    at = 0
    while (start := text.find(OPEN, at)) >= 0:
        end = text.find(CLOSE, start)
        if end < 0 or "\n\n" in text[start:end]:
            raise WrongReferenceError(f"`{OPEN}` has no `{CLOSE}`", "close the reference, or write the braces apart")
        yield start, text[at:start], text[start + 2 : end]
        at = end + 2
    yield len(text), text[at:], ""


def parse_reference(text: str) -> ReferenceCall:
    """Return what is between the braces.

    Raises:
        WrongReferenceError: It is not a call.
    """
    reader = _Reader(text)
    call = reader.item(0)
    if not isinstance(call, ReferenceCall) or reader.peek():
        raise WrongReferenceError(f"`{' '.join(text.split())}` is not a reference", _EXAMPLE)
    return call


_EXAMPLE = (
    "write one such as {{ rate(target=disk, operation=read) }}, {{ ratio(rate(...), rate(...)) }} or {{ cost(disk) }}"
)


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def peek(self) -> str:
        """Return the next token as it is written, a string with its quotes; empty at the end."""
        return self._match()[0].strip() if self._text[self._at :].strip() else ""

    def _match(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            sign = self._text[self._at :].strip()[:1]
            raise WrongReferenceError(
                f"`{sign}` is not part of a reference", f"put a name with such characters in quotes; {_EXAMPLE}"
            )
        return found

    def _next(self) -> re.Match[str]:
        if not self.peek():
            raise WrongReferenceError(f"`{' '.join(self._text.split())}` ends too early", _EXAMPLE)
        found = self._match()
        self._at = found.end()
        return found

    def item(self, depth: int) -> "str | ReferenceCall":
        """Read a call, a word or a string."""
        start = self._at
        found = self._next()
        if found["string"] is not None:
            return found["string"]
        if found["word"] is None:
            raise WrongReferenceError(f"`{found['sign']}` stands where a name or value should be", _EXAMPLE)
        if self.peek() != "(":
            return found["word"]
        if depth == _MAX_DEPTH:
            raise WrongReferenceError("calls are nested too deeply", _EXAMPLE)
        self._next()
        return self._call(found["word"], start, depth)

    def _call(self, name: str, start: int, depth: int) -> ReferenceCall:
        positional: list[str | ReferenceCall] = []
        named: list[tuple[str, str | ReferenceCall]] = []
        while self.peek() != ")":
            if positional or named:
                self._sign(",")
            value = self.item(depth + 1)
            if self.peek() == "=" and isinstance(value, str):
                self._next()
                named.append((value, self.item(depth + 1)))
            elif named:
                raise WrongReferenceError(
                    "a value without a name stands behind one with a name", "put it first, or name it"
                )
            else:
                positional.append(value)
        self._next()
        if doubled := [key for key, _ in named if [other for other, _ in named].count(key) > 1]:
            raise WrongReferenceError(f"`{doubled[0]}` stands there twice", "leave one out")
        return ReferenceCall(name, tuple(positional), tuple(named), " ".join(self._text[start : self._at].split()))

    def _sign(self, sign: str) -> None:
        found = self.peek()
        if found != sign:
            raise WrongReferenceError(
                f"`{found}` stands where `{sign}` should be" if found else f"`{sign}` or `)` is missing", _EXAMPLE
            )
        self._next()
