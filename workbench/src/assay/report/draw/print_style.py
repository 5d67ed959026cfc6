"""Colours and strokes of charts in print: what report.css says of their classes in light mode, as attributes."""

from collections.abc import Set

FONT = "Libertinus Serif, Georgia, serif"
NARROW_FONT = "Libertinus Serif, Arial, Helvetica, Liberation Sans, sans-serif"
"""Fonts of diagrams, whose texts must not be wider than `letters.py` has them."""
INK, SOFT, LINE, MARK, ACCENT = "#1c2733", "#4a5560", "#d5dce2", "#8a95a0", "#0b4f7d"
GOOD, DOUBT, BAD = "#1b7f5c", "#9a6700", "#b3261e"
SHADES = {
    **dict(
        zip(
            (f"t{number}" for number in range(8)),
            ("#0072b2", "#c04f00", "#007d5c", "#a3447a", "#9a6700", "#2a7fae", "#7a5195", "#555"),
            strict=True,
        )
    ),
    "good": GOOD,
    "bad": BAD,
    "soft": SOFT,
}
"""Class -> the colour of what is drawn."""
DASH_PATTERNS = {"d1": "6 3", "d2": "2 2", "d3": "8 3 2 3", "d4": "10 4"}
Style = dict[str, str]
"""Attributes of an SVG element."""

_LINES: tuple[tuple[str, Style], ...] = (
    ("grid", {"stroke": LINE}),
    ("edge", {"stroke": MARK}),
    ("interval", {"stroke": "SHADE", "stroke-width": "1.6"}),
    ("range", {"stroke": INK, "stroke-width": "1.2"}),
    ("join", {"stroke": "SHADE", "stroke-width": "1.2"}),
    ("task", {"stroke": "SHADE", "stroke-width": "9"}),
    ("middle", {"stroke": INK, "stroke-width": "2"}),
    ("one", {"stroke": INK, "stroke-dasharray": "4 3"}),
    ("change", {"stroke": "SHADE", "stroke-width": "1.4", "stroke-dasharray": "4 3"}),
    ("mark", {"stroke": SOFT, "stroke-dasharray": "3 3"}),
    ("here", {"stroke": ACCENT, "stroke-dasharray": "2 3"}),
    ("cross", {"stroke": SOFT, "stroke-width": "0.8", "stroke-dasharray": "5 3"}),
    ("level", {"stroke": BAD, "stroke-dasharray": "7 3"}),
)
_PATHS: tuple[tuple[str, Style], ...] = (
    ("thin", {"stroke-width": "1.1"}),
    ("strong", {"stroke-width": "3.2"}),
    ("ideal", {"stroke-width": "1.2", "stroke-dasharray": "5 4", "stroke-opacity": "0.6"}),
    ("face", {"stroke": INK, "stroke-width": "0.5"}),
    ("front", {"stroke-width": "1.4", "stroke-dasharray": "5 4"}),
)
_TEXTS: tuple[tuple[str, Style], ...] = (
    ("title", {"fill": INK, "font-size": "11.5", "font-weight": "bold"}),
    ("up", {"text-anchor": "end"}),
    ("over", {"text-anchor": "start"}),
    ("start", {"text-anchor": "start"}),
    ("said", {"text-anchor": "start", "fill": DOUBT, "font-size": "10"}),
    ("level", {"text-anchor": "start", "fill": BAD}),
    ("doubt", {"fill": DOUBT, "font-size": "10"}),
    ("here", {"fill": ACCENT, "font-weight": "bold"}),
    ("sign", {"fill": "#fff", "font-size": "10", "font-weight": "bold"}),
    ("light", {"fill": "#fff"}),
    ("dark", {"fill": INK}),
    ("good", {"fill": GOOD}),
    ("bad", {"fill": BAD, "font-size": "6.8"}),
    ("small", {"font-size": "9"}),
)


def style_of(tag: str, names: Set[str]) -> Style:
    """Return the attributes of an element, by its classes and those of the elements around it."""
    shade = next((colour for name, colour in SHADES.items() if name in names), SOFT)
    look = {"line": _line, "path": _path, "text": _text, "rect": _rect}.get(tag, _shape)(names)
    return {name: shade if value == "SHADE" else value for name, value in look.items()}


def _line(names: Set[str]) -> Style:
    look: Style = {"stroke": "SHADE", "stroke-width": "2"} if "keys" in names else {}
    return look | _chosen(_LINES, names) | _dash(names)


def _path(names: Set[str]) -> Style:
    return {"fill": "none", "stroke": "SHADE", "stroke-width": "1.8"} | _dash(names) | _chosen(_PATHS, names)


def _dash(names: Set[str]) -> Style:
    return next(({"stroke-dasharray": dash} for name, dash in DASH_PATTERNS.items() if name in names), {})


def _text(names: Set[str]) -> Style:
    return {"fill": SOFT, "font-size": "11", "text-anchor": "middle"} | _chosen(_TEXTS, names)


def _rect(names: Set[str]) -> Style:
    if "bar" in names or "keys" in names:
        return {"fill": "#fff", "stroke": "SHADE", "stroke-width": "1.4"} if "open" in names else {"fill": "SHADE"}
    if "none" in names:
        return {"fill": "#fff", "stroke": BAD, "stroke-dasharray": "3 2"}
    if "hatched" in names:
        return {"stroke": INK, "stroke-dasharray": "3 2", "stroke-width": "1.2"}
    return {"stroke": "#fff", "stroke-width": "1.5"} if "map" in names else {}


def _shape(names: Set[str]) -> Style:
    """Return the look of a circle or another shape."""
    if "sign" in names:
        return {"r": "7.5", "fill": INK}
    if "unseen" in names:
        return {"r": "0", "fill": "none"}
    if "interval" in names or "keys" in names:
        return {"r": "4", "fill": "SHADE"}
    if "lane" in names:
        open_look = {"fill": "none", "stroke": "SHADE"}
        return open_look if "open" in names else {"fill": "SHADE", "fill-opacity": "0.5"}
    if "open" in names:
        return {"r": "4.2", "fill": "#fff", "stroke": "SHADE", "stroke-width": "1.8"}
    if "small" in names:
        return {"r": "2.2", "fill": "SHADE", "fill-opacity": "0.6"}
    return {"r": "5" if "large" in names else "3.6", "fill": "SHADE", "stroke": "#fff", "stroke-width": "0.6"}


def _chosen(looks: tuple[tuple[str, Style], ...], names: Set[str]) -> Style:
    """Return the attributes of all these classes together; a later one has precedence."""
    found: Style = {}
    for name, look in looks:
        if name in names:
            found |= look
    return found


_DIAGRAM: dict[str, Style] = {
    "host": {"fill": "#fff", "stroke": SOFT, "stroke-width": "1"},
    "outside": {"fill": "#fff", "stroke": MARK, "stroke-width": "1", "stroke-dasharray": "4 3"},
    "frame": {"fill": "#f5f7f9", "stroke": MARK, "stroke-width": "0.8"},
    "switch": {"fill": "#dfe7ee", "stroke": SOFT, "stroke-width": "1"},
    "cable": {"fill": "#fff", "stroke": SOFT, "stroke-width": "1"},
    "disk": {"fill": "#eef2f5", "stroke": SOFT, "stroke-width": "0.8"},
    "field": {"fill": "#fff", "stroke": INK, "stroke-width": "0.8"},
    "shaded": {"fill": "#dfe7ee", "stroke": INK, "stroke-width": "0.8"},
    "wire": {"fill": "none", "stroke": SOFT, "stroke-width": "1.2"},
    "arrow": {"fill": "none", "stroke": SOFT, "stroke-width": "1.2"},
    "head": {"fill": SOFT},
    "dot": {"fill": SOFT},
    "name": {"fill": INK, "font-weight": "bold"},
    "small": {"fill": SOFT},
}


def diagram_style(tag: str, look: str) -> Style:
    """Return the attributes of a shape or text of a diagram; they differ by shades of grey, not by colours alone."""
    return _DIAGRAM.get(look, {"fill": INK} if tag == "text" else {})
