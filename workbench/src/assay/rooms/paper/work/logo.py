"""Logos of papers: a PNG file as it is, or an SVG file of which only plain shapes are taken."""

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

from assay.model.base import AssayError
from assay.model.user_files import read_user_file
from assay.report.document_look import Logo
from assay.report.typst import can_draw

_MAX_BYTES = 512 * 2**10
_SIZE_PT = (130.0, 42.0)
"""Greatest width and height of a logo as printed, in points."""
_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_PIXELS = 16_000_000
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{0,6})?)(px|pt|mm|cm|in)?")
_SHAPES = frozenset(
    {"svg", "g", "defs", "symbol", "use", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "style"}
    | {"linearGradient", "radialGradient", "stop", "clipPath", "mask", "pattern", "marker", "switch", "title", "desc"}
)
_IGNORED = frozenset({"metadata"})
_UNFIT = {
    "script": "it has a script",
    "foreignObject": "it has parts that are no SVG",
    "image": "it has a picture inside",
    "text": "it has text, whose font may be missing",
}
_OUTSIDE = re.compile(r"[@\\]|image-set|image\(|expression|javascript:|url\(\s*['\"]?(?!\s*['\"]?#)", re.IGNORECASE)
"""What reaches out of a value, or might by an escape of CSS."""
_HINT = "save it as a plain SVG with texts as paths, or as PNG"


def read_logo(path: Path, name: str) -> Logo:
    """Return a logo, scaled to the room that it has.

    Args:
        path: The file.
        name: The same as the user wrote it.

    Raises:
        AssayError: It cannot be read, or is no picture that can be used.
    """
    data = read_user_file(path, name, "name an SVG or PNG file, relative to the description", _MAX_BYTES)
    is_svg = not data.startswith(_PNG)
    if is_svg:
        root = _plain_svg(data, name)
        (width, height), data = _drawn_size(root, name), ElementTree.tostring(root, encoding="utf-8")
    else:
        width, height = _png_size(data, name)
    scale = min(_SIZE_PT[0] / width, _SIZE_PT[1] / height)
    logo = Logo(data, is_svg, round(width * scale, 1), round(height * scale, 1))
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


def _plain_svg(data: bytes, name: str) -> ElementTree.Element:
    """Return the shapes of an SVG file that stands alone: no script, no text, nothing from elsewhere.

    What drawing programs store beside the shapes is left out.
    """
    # Entities could grow without bound.
    if b"<!ENTITY" in data or b"<!DOCTYPE" in data:
        raise AssayError(f"{name}: it has a document type", f"remove the line `<!DOCTYPE ...>`; {_HINT}")
    try:
        root = ElementTree.fromstring(data.decode())
    except (ElementTree.ParseError, UnicodeDecodeError, ValueError):
        raise AssayError(f"{name}: it is neither a PNG nor an SVG file", _HINT) from None
    if root.tag != f"{{{_SVG}}}svg":
        raise AssayError(f"{name}: it is neither a PNG nor an SVG file", _HINT)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    for parent in list(root.iter()):
        _check(parent, name)
        for child in list(parent):
            space, _, tag = _parts_of(child)
            if space != _SVG and "script" in tag.casefold():
                raise AssayError(f"{name}: {_UNFIT['script']}", _HINT)
            if space != _SVG or tag in _IGNORED:
                child.clear()
                parent.remove(child)
    return root


def _parts_of(element: ElementTree.Element) -> tuple[str, str, str]:
    """Return the namespace of an element, a brace, and its name; of a comment nothing."""
    text = element.tag if isinstance(element.tag, str) else ""
    space, brace, tag = text.removeprefix("{").rpartition("}")
    return space, brace, tag


def _check(element: ElementTree.Element, name: str) -> None:
    """Refuse an element that is no plain shape, and remove attributes of other namespaces.

    Raises:
        AssayError: It is none, or refers to something outside of the file.
    """
    space, _, tag = _parts_of(element)
    if space != _SVG or tag in _IGNORED:
        return
    if tag in _UNFIT or tag not in _SHAPES:
        raise AssayError(f"{name}: {_UNFIT.get(tag, f'it has a `{tag[:40]}`, which is no plain shape')}", _HINT)
    for key, value in list(element.attrib.items()):
        is_link = key.rpartition("}")[2] == "href"
        if (is_link and not value.startswith("#")) or key.startswith("on") or _OUTSIDE.search(value):
            raise AssayError(f"{name}: it refers to something outside of it", _HINT)
        if key == "src" or ("}" in key and not is_link):
            del element.attrib[key]
    if tag == "style" and _OUTSIDE.search(element.text or ""):
        raise AssayError(f"{name}: it refers to something outside of it", _HINT)


def _drawn_size(root: ElementTree.Element, name: str) -> tuple[float, float]:
    """Return the size of an SVG by its view box, or by its width and height."""
    parts = [part for part in re.split(r"[\s,]+", root.get("viewBox", "").strip()) if part][2:4]
    found = [_LENGTH.fullmatch(part) for part in parts]
    if len(found) < 2 or None in found:
        found = [_LENGTH.fullmatch(root.get(key, "").strip()) for key in ("width", "height")]
    box = [float(one[1]) for one in found if one is not None]
    if len(box) < 2 or min(box) <= 0:
        raise AssayError(f"{name}: the SVG has no size", "give it a `viewBox`, or `width` and `height`")
    return box[0], box[1]
