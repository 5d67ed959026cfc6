"""Text from outside: engines, hosts, servers, devices, others' files. It is displayed, never interpreted."""

import json
import re
import unicodedata
from collections.abc import Mapping

_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
MAX_SHOWN = 500
"""Characters of such a text that are shown, unless there is room for more."""
_CUT = "..."
_UNSAFE = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
"""Categories of characters that terminals interpret or that hide text: control, format (direction, zero width),
surrogates, unassigned, line and paragraph separators (Unicode Standard, section 4.5)."""


def escape_line(text: str, max_chars: int = MAX_SHOWN) -> str:
    r"""Return one line that is safe to print and write anywhere; control characters are escaped.

    Args:
        text: Any text.
        max_chars: Longest result in characters; a longer text is cut off and ends in `...`.

    Returns:
        The text with line breaks and tabs as blanks, and other control and format characters as `\x1b` or `\u202e`.
    """
    # Escapes only lengthen the text, so these characters are enough; the whole text may be gigabytes long.
    head = text[: max_chars + 1]
    is_plain = head.isascii() and head.isprintable()
    shown = head if is_plain else "".join(_escaped(letter) for letter in head)
    return shown if len(shown) <= max_chars else shown[: max_chars - len(_CUT)] + _CUT


def escape_lines(text: str) -> str:
    """Escape as `plain` does, but keep line feeds and tabs and cut nothing off: for text of several lines."""
    if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(letter if letter in "\n\t" else _escaped(letter) for letter in text)


def escape_json(text: str) -> str:
    """Return equivalent JSON in which characters that a terminal would interpret are JSON escapes."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(
        json.dumps(letter)[1:-1] if letter not in "\n\t" and unicodedata.category(letter) in _UNSAFE else letter
        for letter in text
    )


def csv_cell(text: str) -> str:
    """Return text for a CSV cell; an apostrophe precedes what a spreadsheet would take for a formula.

    Source: OWASP, "CSV Injection". Numbers stay as they are, with or without a sign.
    """
    risky = text.lstrip()[:1] in ("=", "+", "-", "@") or text[:1] in ("\t", "\r", "\n")
    return f"'{escape_lines(text)}" if risky and not _NUMBER.fullmatch(text) else escape_lines(text)


def csv_row(row: Mapping[str, object]) -> dict[str, object]:
    """Apply `cell` to each text of a CSV row, given as column -> value."""
    return {name: csv_cell(value) if isinstance(value, str) else value for name, value in row.items()}


def _escaped(letter: str) -> str:
    if letter in "\n\r\t\v\f\u2028\u2029\x85":
        return " "
    if unicodedata.category(letter) not in _UNSAFE:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
