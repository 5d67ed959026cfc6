"""The key `look` of a description: what may be written there, and the logo that it names."""

import re
import struct
from pathlib import Path
from typing import Annotated, Any, Literal
from xml.etree import ElementTree

from pydantic import AfterValidator, BeforeValidator

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import choices_hint, display_value
from assay.model.user_files import read_user_file
from assay.report.document_look import DEFAULT_LOOK, Logo, Look
from assay.report.typst import can_draw

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
_MAX_LOGO_BYTES = 512 * 2**10
_LOGO_PT = (130.0, 42.0)
"""Greatest width and height of a logo as printed, in points."""
_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_PIXELS = 16_000_000
_SVG = "{http://www.w3.org/2000/svg}"
_LENGTH = re.compile(r"([0-9.]+)(px|pt|mm|cm|in)?")
_UNFIT = {
    "script": "it has a script",
    "foreignObject": "it has parts that are no SVG",
    "image": "it has a picture inside",
    "text": "it has text, whose font may be missing",
}


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
        logo = _read_logo(folder / self.logo, self.logo) if self.logo else None
        return Look(logo, self.accent, self.columns, self.paper, self.font_size, self.language, self.contents)


def _read_logo(path: Path, name: str) -> Logo:
    data = read_user_file(path, name, "name an SVG or PNG file, relative to the description", _MAX_LOGO_BYTES)
    width, height = _png_size(data, name) if data.startswith(_PNG) else _svg_size(data, name)
    scale = min(_LOGO_PT[0] / width, _LOGO_PT[1] / height)
    logo = Logo(data, not data.startswith(_PNG), round(width * scale, 1), round(height * scale, 1))
    if not can_draw(logo):
        raise AssayError(f"{name}: the picture cannot be drawn", "it may be damaged: save it again")
    return logo


def _png_size(data: bytes, name: str) -> tuple[float, float]:
    """Return width and height in pixels (PNG specification, section 11.2.1)."""
    if data[12:16] != b"IHDR" or len(data) < 33:
        raise AssayError(f"{name}: the PNG file is damaged", "save it again")
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= _MAX_PIXELS:
        raise AssayError(
            f"{name}: {width:,} x {height:,} pixels", f"use at most {_MAX_PIXELS:,} pixels, and at least one"
        )
    return width, height


def _svg_size(data: bytes, name: str) -> tuple[float, float]:
    """Return width and height of an SVG file that stands alone: no script, no text, nothing from elsewhere."""
    hint = "save it as a plain SVG with texts as paths, or as PNG"
    # Entities could grow without bound.
    if b"<!ENTITY" in data or b"<!DOCTYPE" in data:
        raise AssayError(f"{name}: it has a document type", f"remove the line `<!DOCTYPE ...>`; {hint}")
    try:
        root = ElementTree.fromstring(data.decode())
    except (ElementTree.ParseError, UnicodeDecodeError, ValueError):
        raise AssayError(f"{name}: it is neither a PNG nor an SVG file", hint) from None
    if root.tag != f"{_SVG}svg":
        raise AssayError(f"{name}: it is neither a PNG nor an SVG file", hint)
    for element in root.iter():
        tag = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""
        if tag in _UNFIT:
            raise AssayError(f"{name}: {_UNFIT[tag]}", hint)
        for key, value in element.attrib.items():
            is_link = key.rpartition("}")[2] == "href" and not value.startswith("#")
            if is_link or key.startswith("on") or re.search(r"url\(\s*['\"]?[^#'\"\s]", value):
                raise AssayError(f"{name}: it refers to something outside of it", hint)
        if tag == "style" and re.search(r"@import|url\(\s*['\"]?[^#'\"\s]", element.text or ""):
            raise AssayError(f"{name}: it refers to something outside of it", hint)
    return _drawn_size(root, name)


def _drawn_size(root: ElementTree.Element, name: str) -> tuple[float, float]:
    """Return the size of an SVG by its view box, or by its width and height."""
    try:
        box = [float(part) for part in re.split(r"[\s,]+", root.get("viewBox", "").strip()) if part][2:4]
    except ValueError:
        box = []
    if len(box) < 2:
        found = [_LENGTH.fullmatch(root.get(key, "").strip()) for key in ("width", "height")]
        box = [float(one[1]) for one in found if one is not None]
    if len(box) < 2 or min(box) <= 0:
        raise AssayError(f"{name}: the SVG has no size", "give it a `viewBox`, or `width` and `height`")
    return box[0], box[1]
