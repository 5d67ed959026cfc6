"""What must hold of every diagram: nothing overlaps, nothing leaves it, and each text is inside its box."""

from itertools import combinations, pairwise

from assay.report.draw.diagram import BoxShape, Diagram, TextShape, Wire

NESTING = {"frame", "host", "outside"}
"""Looks of boxes that may have others in them."""
Area = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def faults(diagram: Diagram) -> list[str]:
    """What is wrong with a diagram, one line each."""
    boxes = [shape for shape in diagram.shapes if isinstance(shape, BoxShape)]
    texts = [shape for shape in diagram.shapes if isinstance(shape, TextShape)]
    wires = [shape for shape in diagram.shapes if isinstance(shape, Wire)]
    whole = (0.0, 0.0, diagram.width, diagram.height)
    found = [f"box {box} leaves the diagram" for box in boxes if not _within(_area(box), whole)]
    found += [f"`{text.text}` leaves the diagram" for text in texts if not _within(_text_area(text), whole)]
    found += [
        f"{wire} leaves the diagram" for wire in wires for x, y in wire.points if not _within((x, y, x, y), whole)
    ]
    for one, other in combinations(boxes, 2):
        nested = _within(_area(other), _area(one)) and one.look in NESTING
        if _overlap(_area(one), _area(other)) and not nested:
            found.append(f"boxes overlap: {one} {other}")
    for one, other in combinations(texts, 2):
        if _overlap(_text_area(one), _text_area(other)):
            found.append(f"texts overlap: `{one.text}` `{other.text}`")
    for text in texts:
        area = _text_area(text)
        found += [
            f"`{text.text}` crosses the edge of {box}"
            for box in boxes
            if _overlap(area, _area(box)) and not _within(area, _area(box))
        ]
        found += [
            f"a line crosses `{text.text}`" for wire in wires if _crosses(wire, area) and not _is_on_bar(text, boxes)
        ]
    found += [
        f"a line crosses {box}"
        for box in boxes
        if box.look in ("host", "outside", "disk")
        for wire in wires
        if _crosses(wire, _area(box))
    ]
    return found


def _area(box: BoxShape) -> Area:
    return box.x, box.y, box.x + box.width, box.y + box.height


def _text_area(text: TextShape) -> Area:
    half = text.size / 2
    return text.left, text.y - half, text.left + text.width, text.y + half


def _within(inner: Area, outer: Area) -> bool:
    slack = 0.01
    return all(
        (
            inner[0] >= outer[0] - slack,
            inner[1] >= outer[1] - slack,
            inner[2] <= outer[2] + slack,
            inner[3] <= outer[3] + slack,
        )
    )


def _overlap(one: Area, other: Area) -> bool:
    slack = 0.01
    across = min(one[2], other[2]) - max(one[0], other[0])
    return across > slack and min(one[3], other[3]) - max(one[1], other[1]) > slack


def _crosses(wire: Wire, area: Area) -> bool:
    """Whether a part of a line is inside; the line may end at the edge."""
    for (x0, y0), (x1, y1) in pairwise(wire.points):
        part = (min(x0, x1) - 0.3, min(y0, y1) - 0.3, max(x0, x1) + 0.3, max(y0, y1) + 0.3)
        inside = (area[0] + 0.5, area[1] + 0.5, area[2] - 0.5, area[3] - 0.5)
        if _overlap(part, inside):
            return True
    return False


def _is_on_bar(text: TextShape, boxes: list[BoxShape]) -> bool:
    """Whether a text stands in a switch or cable, which is drawn over the lines behind it."""
    return any(box.look in ("switch", "cable") and _within(_text_area(text), _area(box)) for box in boxes)
