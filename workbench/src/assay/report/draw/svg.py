"""Text of SVG elements."""

import html

from assay.model.foreign import lines


def escape(text: str) -> str:
    """Text as HTML that shows it: no tag, no control character, nothing that turns the direction of writing round."""
    return html.escape(lines(text))


def shade(number: int | None) -> str:
    """The class with the colour of a target or line by its number; empty: none."""
    return "" if number is None else f"t{number % 8}"


def classes(*names: str) -> str:
    """The attribute with the names that are not empty, with a space before it."""
    found = " ".join(name for name in names if name)
    return "" if not found else f' class="{found}"' if " " in found else f" class={found}"


def percent(share: float) -> str:
    """A share of the width, as an attribute has it; a tenth of a percent is less than a pixel."""
    return f"{round(100 * share, 1):g}%"


def pixel(value: float) -> str:
    """A length in pixels, to a tenth."""
    return f"{round(value, 1):g}"


def title(text: str) -> str:
    """What a browser shows beside the pointer; nothing of an empty text."""
    return f"<title>{escape(text)}</title>" if text else ""


def upright(kind: str, share: float, top: float, bottom: float) -> str:
    """A vertical line at a share of the width."""
    x = percent(share)
    return f'<line{classes(*kind.split())} x1="{x}" x2="{x}" y1="{pixel(top)}" y2="{pixel(bottom)}"/>'


def anchor(share: float, width: float = 0.04) -> str:
    """Text near an end of the drawn area must not reach over it; the style sheet sets all other in the middle."""
    return ' text-anchor="start"' if share < width else ' text-anchor="end"' if share > 1 - width else ""
