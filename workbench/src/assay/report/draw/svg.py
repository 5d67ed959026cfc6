"""Text and attributes of SVG elements."""

import html

from assay.model.escape import escape_lines


def escape(text: str) -> str:
    """Escape a text for HTML: no tags, no control characters, none that change the direction of writing."""
    return html.escape(escape_lines(text))


def colour_class(number: int | None) -> str:
    """Return the CSS class with the colour of a target or line; empty for None."""
    return "" if number is None else f"t{number % 8}"


def classes(*names: str) -> str:
    """Return a class attribute with the names that are not empty and a space before it; empty without names."""
    found = " ".join(name for name in names if name)
    return "" if not found else f' class="{found}"' if " " in found else f" class={found}"


def percent(share: float) -> str:
    """Return a share of the width in percent, to a tenth, which is less than a pixel."""
    return f"{round(100 * share, 1):g}%"


def pixels(value: float) -> str:
    """Return a length in pixels, to a tenth."""
    return f"{round(value, 1):g}"


def tooltip(text: str) -> str:
    """Return a title element, which browsers show at the pointer; nothing for an empty text."""
    return f"<title>{escape(text)}</title>" if text else ""


def vertical_line(kind: str, share: float, top: float, bottom: float) -> str:
    """Return a vertical line at a share of the width."""
    x = percent(share)
    return f'<line{classes(*kind.split())} x1="{x}" x2="{x}" y1="{pixels(top)}" y2="{pixels(bottom)}"/>'


def text_anchor(share: float, width: float = 0.04) -> str:
    """Return the text-anchor of a text near an end of the drawn area, so that it stays inside; empty elsewhere."""
    return ' text-anchor="start"' if share < width else ' text-anchor="end"' if share > 1 - width else ""
