"""Reads a command line of iozone. Source: iozone 3.471 and 3.506, iozone.c, `main`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.model.base import AssayError
from assay.rooms.foreign.work.iozone.options import OPTIONS
from assay.rooms.foreign.work.notes import Notes

_SIZE = re.compile(r"([0-9]{1,12})([kmgKMG]?)")
_MANY = ("s", "r", "t", "i")
"""Options that may come several times."""


@dataclass
class Words:
    """The options of a command line.

    Attributes:
        values: Letter -> its values, in order; of an option without one an empty text.
        files: The names after -F.
    """

    values: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    def has(self, letter: str) -> bool:
        """Return whether an option is there."""
        return letter in self.values

    def numbers(self, letter: str) -> list[int]:
        """Return the values of an option as whole numbers.

        Raises:
            AssayError: One is none.
        """
        texts = self.values.get(letter, [])
        bad = next((text for text in texts if not re.fullmatch(r"[0-9]{1,12}", text)), None)
        if bad is not None:
            raise AssayError(f"iozone -{letter} {bad}: this is not a whole number", "write digits only")
        return [int(text) for text in texts]

    def number(self, letter: str, default: int) -> int:
        """Return the last value of an option."""
        return [default, *self.numbers(letter)][-1]

    def sizes(self, letter: str) -> list[int]:
        """Return the values of an option in bytes: k, m and g are powers of 1024, and a number alone is in KiB.

        Raises:
            AssayError: One is no size.
        """
        found = []
        for text in self.values.get(letter, []):
            match = _SIZE.fullmatch(text)
            if match is None or not int(match[1]):
                raise AssayError(
                    f"iozone -{letter} {text}: this is not a size", "write KiB, or a number with k, m or g"
                )
            found.append(int(match[1]) << {"m": 20, "g": 30}.get(match[2].lower(), 10))
        return found


def read_words(words: Sequence[str], notes: Notes) -> Words:
    """Return the options of a command line.

    Args:
        words: The words after iozone.
        notes: Receives a line for each option that is left out.

    Raises:
        AssayError: iozone has no such option, one lacks its value, or it has no counterpart.
    """
    found, rest = Words(), list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or len(word) < 2:
            notes.add(word, "left out, as by iozone, which takes files from -f and -F alone")
        elif word.startswith("-+"):
            _add(found, f"+{word[2:3]}", "", rest, notes)
        else:
            _cluster(found, word[1:], rest, notes)
    return found


def _cluster(found: Words, letters: str, rest: list[str], notes: Notes) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        option = OPTIONS.get(letter)
        if option is not None and option.takes_value:
            _add(found, letter, letters, rest, notes)
            return
        _add(found, letter, "", rest, notes)


def _add(found: Words, letter: str, glued: str, rest: list[str], notes: Notes) -> None:
    option = OPTIONS.get(letter)
    if option is None:
        known = " ".join(f"-{name}" for name in OPTIONS)
        raise AssayError(f"iozone has no option -{letter}", f"known: {known}")
    value = ""
    if option.takes_value:
        if not glued and not rest:
            raise AssayError(f"iozone -{letter} lacks its value", f"write -{letter} VALUE")
        value = glued or rest.pop(0)
    written = f"-{letter} {value}".strip()
    if option.treatment == "refused":
        raise AssayError(f"iozone {written}: {option.text}", "leave it out")
    if option.treatment == "noted":
        notes.add(written, option.text)
    found.values[letter] = [*(found.values.get(letter, []) if letter in _MANY else []), value]
    if letter == "F":
        found.files = [value]
        while rest and not rest[0].startswith("-"):
            found.files.append(rest.pop(0))
