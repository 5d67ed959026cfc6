"""How wide texts are, so that they stay inside their boxes.

Widths are the larger ones of Helvetica (Adobe's metrics; Arial and Liberation Sans have the same) and Libertinus Serif,
which is the type of PDFs, rounded up.
"""

import functools
import re
import unicodedata

_REGULAR = {
    20: "'", 26: "|", 28: " ,.:;ijl", 30: "!I\\", 32: "ft", 34: "()-/{}", 36: '"[]', 38: "r", 40: "*`",
    50: "Jcsvxz", 52: "^ky", 56: "#$0123456789?L_abdeghnopqu", 60: "+<=>~×·–≤≥µß«»°±", 62: "FTZ", 68: "BEKPSVXY",
    70: "A", 72: "&", 74: "CDHNRU", 76: "w…—", 78: "GOQ", 84: "Mm", 90: "%", 96: "W", 102: "@", 114: "→←",
}  # fmt: skip
"""Hundredths of the type size -> letters of that width."""
_BOLD = {
    24: "'", 28: " ,.|", 32: "/\\j", 34: "!():;il", 36: "-t", 38: "I", 40: "[]`f{}", 44: "*r", 48: '"', 50: "z",
    56: "#$0123456789J_acesvy", 58: "x", 60: "+<=>^~×·–≤≥µ«»°±", 62: "?FLbdghknopquß", 64: "Z", 66: "T", 68: "EPSY",
    70: "V", 72: "X", 74: "&ABCDKNRU", 76: "—", 78: "GOQw", 82: "H…", 90: "%M", 92: "m", 100: "@", 104: "W", 116: "→←",
}  # fmt: skip
_WIDTHS = tuple(
    {letter: width for width, letters in table.items() for letter in letters} for table in (_REGULAR, _BOLD)
)
_LATIN, _OTHER_SCRIPT, _CODE = 80, 100, 400
"""Widths of other Latin letters, of Greek and Cyrillic ones, and of those that a PDF may show as codes: `U+65E5`."""
_LAST_LATIN, _LAST_CYRILLIC = 0x24F, 0x52F
_SPACE_BETWEEN = re.compile(r"(?<![0-9×])(?<!RAID) ")
CUT = "…"
"""End of a text that is cut off."""


@functools.lru_cache(maxsize=4096)
def _width(letter: str, is_bold: bool) -> int:
    """Return the width of a letter in hundredths of the type size; accents add nothing."""
    known = _WIDTHS[is_bold]
    found = known.get(letter) or known.get(unicodedata.normalize("NFKD", letter)[0])
    if found is not None:
        return found
    code = ord(letter)
    return _LATIN if code <= _LAST_LATIN else _OTHER_SCRIPT if code <= _LAST_CYRILLIC else _CODE


def text_width(text: str, size: float, is_bold: bool = False) -> float:
    """Return an upper bound of the width of a text, in the unit of the type size."""
    return size * sum(_width(letter, is_bold) for letter in text) / 100


def has_known_widths(text: str) -> bool:
    """Return whether all letters are in the tables, so that `text_width` is near the true width."""
    return all(unicodedata.normalize("NFKD", letter)[0] in _WIDTHS[0] for letter in text)


def shortened(text: str, width: float, size: float, is_bold: bool = False) -> str:
    """Return the text, or as much of its beginning as is not wider than `width` with `…` behind it."""
    if text_width(text, size, is_bold) <= width:
        return text
    left = width - text_width(CUT, size, is_bold)
    end = 0
    for letter in text:
        left -= size * _width(letter, is_bold) / 100
        if left < 0:
            break
        end += 1
    return text[:end].rstrip() + CUT


def wrapped(text: str, width: float, size: float, max_lines: int = 2, is_bold: bool = False) -> list[str]:
    """Return the text in lines no wider than `width`; the last line is shortened if there are more than `max_lines`.

    A number stays with what is counted, as long as they fit: `4 × gp3`, `RAID 5`, `16 GiB`.
    """
    line = " ".join(text.split())
    words = _SPACE_BETWEEN.split(line)
    if any(text_width(word, size, is_bold) > width for word in words):
        words = line.split()
    lines: list[str] = []
    while words and len(lines) < max_lines:
        count = 1
        while count < len(words) and text_width(" ".join(words[: count + 1]), size, is_bold) <= width:
            count += 1
        if len(lines) + 1 == max_lines:
            count = len(words)
        lines.append(shortened(" ".join(words[:count]), width, size, is_bold))
        words = words[count:]
    return lines
