"""The key `look` of a description: what may be written there."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import choices_hint, display_value
from assay.report.document_look import DEFAULT_LOOK, Look
from assay.rooms.paper.work.logo import read_logo

_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_MIN_CONTRAST = 4.5
"""Least contrast of text with its paper (WCAG 2.2, success criterion 1.4.3)."""
_SIZES_PT = (8.0, 12.0)
_LANGUAGE = re.compile(r"([a-z]{2})(-[A-Z]{2})?")
_HYPHENATED = (
    *("af", "be", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "ga", "hr", "hu", "id", "is", "it"),
    *("ka", "ku", "la", "lt", "lv", "mn", "nb", "nl", "nn", "pl", "pt", "ru", "sk", "sl", "sq", "sr", "sv", "tk", "tr"),
    "uk",
)
"""Languages that Typst can hyphenate (the patterns of its library `hypher`)."""


def _quoted(written: Any) -> Any:
    """Refuse a colour without quotes, which YAML reads as a comment."""
    if written is None:
        raise fault("there is no colour", 'put it in quotes, since # begins a comment: "#0b4f7d"')
    return written


def _accent(written: str) -> str:
    """Refuse what is no colour, and one that cannot be read on white paper."""
    if not _COLOUR.fullmatch(written):
        raise fault(f"{display_value(written)} is no colour", "write it as red, green and blue: '#0b4f7d'")
    contrast = _contrast(written)
    if contrast < _MIN_CONTRAST:
        words = f"{written} has a contrast of {contrast:.1f} with white, and text needs {_MIN_CONTRAST:g}"
        raise fault(words, "use a darker colour: headings have it, too")
    return written.lower()


def _contrast(colour: str) -> float:
    """Return the contrast ratio of a colour with white (WCAG 2.2, "contrast ratio" and "relative luminance")."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _columns(written: Any) -> Any:
    if written not in (1, 2) or isinstance(written, bool):
        raise fault(f"{display_value(written)} columns cannot be printed", "write 1 or 2")
    return written


def _font_size(written: Any) -> Any:
    least, most = _SIZES_PT
    if isinstance(written, bool) or not isinstance(written, int | float) or not least <= written <= most:
        raise fault(
            f"{display_value(written)} is no type size that can be used", f"write points, from {least:g} to {most:g}"
        )
    return float(written)


def _contents(written: Any) -> Any:
    if not isinstance(written, bool | None):
        raise fault(f"{display_value(written)} is neither true nor false", "leave it out: a long paper then has one")
    return written


def _language(written: str) -> str:
    found = _LANGUAGE.fullmatch(written)
    if found is None:
        raise fault(f"{display_value(written)} is no language", "write a tag such as en, en-GB or de-CH")
    if found[1] not in _HYPHENATED:
        raise fault(f"words of the language `{found[1]}` cannot be broken", choices_hint(found[1], _HYPHENATED))
    return written


class LookDescription(Frozen):
    """The look of a paper as its authors want it.

    Attributes:
        logo: SVG or PNG file, relative to the description; empty: none.
        accent: Colour of headings and rules, `#rrggbb`.
        columns: Columns of text in print.
        paper: `a4` or `letter`.
        font_size: Size of running text, in points.
        language: Language of the text.
        contents: Whether there is a table of contents; None: in a long paper.
    """

    logo: str = ""
    accent: Annotated[str, BeforeValidator(_quoted), AfterValidator(_accent)] = DEFAULT_LOOK.accent
    columns: Annotated[Literal[1, 2], BeforeValidator(_columns)] = 1
    paper: Literal["a4", "letter"] = "a4"
    font_size: Annotated[float, BeforeValidator(_font_size)] = DEFAULT_LOOK.font_size
    language: Annotated[str, AfterValidator(_language)] = DEFAULT_LOOK.language
    contents: Annotated[bool | None, BeforeValidator(_contents)] = None

    def look(self, folder: Path) -> Look:
        """Return the look, with the logo.

        Args:
            folder: Folder in which the logo is looked for.

        Raises:
            AssayError: The logo cannot be read, or is no picture that can be used.
        """
        logo = read_logo(folder / self.logo, self.logo) if self.logo else None
        return Look(logo, self.accent, self.columns, self.paper, self.font_size, self.language, self.contents)
