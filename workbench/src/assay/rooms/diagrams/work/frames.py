"""Layouts of bits and bytes, such as frames of protocols: rows of 32 bits, the first bit at the left."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.report import numbers
from assay.report.diagrams.pieces import Piece, diagram_of, words
from assay.report.draw.diagram import BoxShape, Diagram, Shape, TextShape
from assay.report.draw.letters import text_width
from assay.rooms.diagrams.work.described import Name, Remark

PRESETS = Path(__file__).with_name("frames")
ROW_BITS = 32
_BIT_WIDTH, _ROW_HEIGHT, _RULER = 15.0, 23.0, 16.0
_PART_WIDTH = 124.0
_MAX_FIELDS = 200
_OPEN_ROWS = 2
"""Rows of a field of variable length."""


class FrameField(Frozen):
    """A field.

    Attributes:
        bits: Its length; None: it varies, and is the last one.
        short: What is written where there is no room for the name.
    """

    name: Name
    bits: Annotated[int | None, SingleField(axis.whole(1, 4096, optional=True))] = None
    short: Remark = ""


class FramePart(Frozen):
    """Fields that belong together, such as a header."""

    part: Name
    fields: tuple[FrameField, ...] = Field(min_length=1, max_length=_MAX_FIELDS)


class Frame(Frozen):
    """A layout.

    Attributes:
        source: Document that defines it.
    """

    frame: Name
    about: Remark = ""
    source: Remark = ""
    parts: tuple[FramePart, ...] = Field(min_length=1, max_length=40)

    @model_validator(mode="after")
    def _whole_rows(self) -> "Frame":
        last = (len(self.parts) - 1, len(self.parts[-1].fields) - 1)
        total = 0
        for place, part in enumerate(self.parts):
            for number, field in enumerate(part.fields):
                where = ("parts", place, "fields", number)
                if field.bits is None and (place, number) != last:
                    raise fault(f"{field.name} has no length, but others follow it", "write its `bits`", *where)
                if field.bits is None and total % ROW_BITS:
                    hint = f"add a field that fills the row: bits: {ROW_BITS - total % ROW_BITS}"
                    raise fault(f"{field.name} of variable length begins within a row of 32 bits", hint, *where)
                total += field.bits or 0
        return self

    @property
    def words(self) -> str:
        """All fields in order."""
        parts = []
        for part in self.parts:
            fields = [f"{field.name} ({_length(field)})" for field in part.fields]
            parts.append(f"{part.part}: {', '.join(fields)}.")
        return f"Rows of 32 bits, the first bit at the left. {' '.join(parts)}"


def _length(field: FrameField) -> str:
    if field.bits is None:
        return "variable"
    if field.bits % 8:
        return numbers.plural(field.bits, "bit")
    return numbers.plural(field.bits // 8, "byte")


def frame_diagram(frame: Frame) -> Diagram:
    """Return the diagram of a layout.

    Raises:
        AssayError: It is too high for a page.
    """
    shapes: list[Shape] = [*_ruler()]
    bit = 0
    bottom = _RULER
    for number, part in enumerate(frame.parts):
        first = bit
        for field in part.fields:
            shapes += _field_shapes(field, bit, number % 2 == 1)
            bit += field.bits or _OPEN_ROWS * ROW_BITS
        shapes.append(_part_words(part, first, bit))
        bottom = _top(bit - 1) + _ROW_HEIGHT
    width = _PART_WIDTH + ROW_BITS * _BIT_WIDTH + 1
    return diagram_of(Piece(width, bottom, tuple(shapes)), frame.words)


def _top(bit: int) -> float:
    return _RULER + bit // ROW_BITS * _ROW_HEIGHT


def _ruler() -> Iterator[Shape]:
    for bit in (*range(0, ROW_BITS, 4), ROW_BITS - 1):
        x = _PART_WIDTH + (bit + 0.5) * _BIT_WIDTH
        yield TextShape(x, _RULER / 2, str(bit), "small", "middle")


def _part_words(part: FramePart, first: int, end: int) -> TextShape:
    """Return the name of a part at the left, in the middle of the rows that begin with it."""
    start_row, end_row = -(-first // ROW_BITS), (end - 1) // ROW_BITS
    start_row = min(start_row, end_row)
    y = _RULER + (start_row + end_row + 1) / 2 * _ROW_HEIGHT
    return words(0, y, part.part, _PART_WIDTH - 8, "name")


def _field_shapes(field: FrameField, bit: int, is_shaded: bool) -> Iterator[Shape]:
    """Yield a box for each row that a field is in, or one for several whole rows; the name is in the widest one."""
    look = "shaded" if is_shaded else "field"
    left = field.bits or _OPEN_ROWS * ROW_BITS
    boxes: list[BoxShape] = []
    while left:
        column = bit % ROW_BITS
        rows = left // ROW_BITS if column == 0 and left >= ROW_BITS else 1
        count = rows * ROW_BITS if column == 0 and left >= ROW_BITS else min(left, ROW_BITS - column)
        width = _BIT_WIDTH * (ROW_BITS if rows > 1 else count)
        boxes.append(BoxShape(_PART_WIDTH + column * _BIT_WIDTH, _top(bit), width, rows * _ROW_HEIGHT, look))
        bit, left = bit + count, left - count
    yield from boxes
    widest = max(boxes, key=lambda box: box.width)
    for number, box in enumerate(boxes):
        x, y, room = box.x + box.width / 2, box.y + box.height / 2, box.width - 4
        name = field.name if box is widest else f"{field.name} ({'continued' if number else 'begins'})"
        if field.bits is None:
            name += " (variable)"
        if box is not widest and text_width(name, 10) > room:
            name = field.short or field.name
        is_short = bool(field.short) and text_width(name, 10) > room
        text = words(x, y, field.short if is_short else name, room, "", "middle")
        yield TextShape(x, y, text.text, "", "middle", field.name, is_abbreviation=True) if is_short else text
