"""Text that comes from outside: engines, hosts, servers, devices, files of others. It is shown, never obeyed."""

import json
import re
import unicodedata
from collections.abc import Mapping

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
MOST = 500
"""Characters of a foreign text that are shown, unless its place has room for more."""
_CUT = "..."
_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Categories of characters that a terminal obeys or that hide what is written: control, format (direction and zero
width), surrogates, unassigned, line and paragraph separators (Unicode Standard, section 4.5)."""


def plain(text: str, most: int = MOST) -> str:
    r"""One line that can be printed and written anywhere: what a terminal would obey is spelled out.

    Args:
        text: Anything.
        most: Characters of the result; a longer text is cut off and ends in `...`.

    Returns:
        The text with line breaks and tabs as blanks, and other control and format characters as `\x1b` or `\u202e`.
    """
    # Spelling out makes longer, so that no more than this can be needed; a text may be gigabytes long.
    begun = text[: most + 1]
    easy = begun.isascii() and begun.isprintable()
    shown = begun if easy else "".join(_spelled(letter) for letter in begun)
    return shown if len(shown) <= most else shown[: most - len(_CUT)] + _CUT


def lines(text: str) -> str:
    """As `plain`, but line feeds and tabs stay, and nothing is cut off: for what may have several lines."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(letter if letter in "\n\t" else _spelled(letter) for letter in text)


def in_json(text: str) -> str:
    """JSON that says the same, in which what a terminal would obey is written as JSON's own escapes."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        json.dumps(letter)[1:-1] if letter not in "\n\t" and unicodedata.category(letter) in _UNSAFE else letter
        for letter in text
    )


def cell(text: str) -> str:
    """Text for a cell of a CSV file: what a spreadsheet would take for a formula gets an apostrophe before it.

    Source: OWASP, "CSV Injection". Numbers stay, also those with a sign.
    """
    risky = text.lstrip()[:1] in ("=", "+", "-", "@") or text[:1] in ("\t", "\r", "\n")
    return f"'{lines(text)}" if risky and not _NUMBER.fullmatch(text) else lines(text)


def safe_row(row: Mapping[str, object]) -> dict[str, object]:
    """A row of a CSV file by its columns, each text as `cell` makes it."""
    return {name: cell(value) if isinstance(value, str) else value for name, value in row.items()}


def _spelled(letter: str) -> str:
    if letter in "\n\r\t\v\f\u2028\u2029\x85":
        return " "
    if unicodedata.category(letter) not in _UNSAFE:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
