"""What users write in files: numbers that keep their text, and text that is safe to print on a terminal."""

import re

MAX_FILE_BYTES = 256 * 2**10
"""Largest size of a file, unless the caller allows more."""
MAX_REPEATS = 1000
"""Most repeats of a case, in a study and on the command line."""
_UNPRINTABLE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]"
)
"""Control characters except tabs and line feeds, and characters that change the writing direction."""


class ExactNumber(float):
    """A float that keeps the text it was read from, for exact values such as money."""

    text: str

    def __new__(cls, text: str) -> "ExactNumber":
        """Make a number from its text; ValueError if the text is no number."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)


def first_unprintable(text: str) -> str:
    """Return the first unprintable character, such as `U+001B` of escape sequences; empty if there is none."""
    found = _UNPRINTABLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""
