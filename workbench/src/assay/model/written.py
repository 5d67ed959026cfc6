"""What people write in files: numbers that keep their text, and text that a terminal prints as it is."""

import re

MOST_BYTES = 256 * 2**10
"""Of a file, unless it may have more."""
MOST_REPEATS = 1000
"""Of a case, for a study as for a command."""
_UNPRINTABLE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufffe\\uffff]"
)
"""Control characters but tabs and line feeds, and what turns the direction of writing round."""


class Number(float):
    """A float that keeps the text it was read from, for what must be exact, such as money."""

    text: str

    def __new__(cls, text: str) -> "Number":
        """A number out of its text; ValueError if it is none."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        return (self.text,)


def unprintable(text: str) -> str:
    """The first character that is no text, such as `U+001B` of escape sequences; empty if there is none."""
    found = _UNPRINTABLE.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""
