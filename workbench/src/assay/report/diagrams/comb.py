"""Lays out things above and below bars, which are switches or cables, and joins each by lines to its bars.

Things stand in rows on a common grid of columns. A line leaves a thing at its side towards the bars; lines from further
rows go on in the gutters between columns. So no line crosses a box, and no line a text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import NamedTuple

from assay.report.diagrams.pieces import MAX_CARD, Layable, Piece, words
from assay.report.draw.diagram import SMALL_SIZE, TEXT_SIZE, BoxShape, Joint, Shape, TextShape, Wire
from assay.report.draw.letters import text_width

_GUTTER = 16.0
_SLOT = 5.0
"""Distance of lines in a gutter."""
_LABEL = 12.0
_FIRST_LEG = 0.15
"""Where the first of several lines leaves a box, as a share of the width that each of them has."""
_MIN_LEG = 16.0
"""Shortest line between a row and what is next to it."""
_BAR_HEIGHT = {"switch": 20.0, "cable": 17.0}


class Attachment(NamedTuple):
    """A line of a thing to a bar, by the bar's number; `labels` are lines of text beside it."""

    bar: int
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hung:
    """A thing with its lines."""

    block: Layable
    attachments: tuple[Attachment, ...] = ()

    @property
    def natural_width(self) -> float:
        """Its width, if there is room, with what is written beside its lines."""
        count = len(self.attachments)
        labels = [text_width(label, SMALL_SIZE) for each in self.attachments for label in each.labels]
        needed = (max(labels, default=0) + 8) * count / (1 - _FIRST_LEG) if count > 1 else 0
        return max(self.block.natural_width, min(needed, MAX_CARD))


@dataclass(frozen=True, slots=True)
class Bar:
    """A switch or a cable; `look` is that of its box."""

    text: str
    look: str = "switch"


class BarJoin(NamedTuple):
    """A line between two bars, by their numbers."""

    first: int
    second: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Comb:
    """What is laid out; no column is wider than `max_column`."""

    above: tuple[Hung, ...]
    bars: tuple[Bar, ...]
    below: tuple[Hung, ...]
    joins: tuple[BarJoin, ...] = ()
    max_column: float = inf

    @property
    def column_width(self) -> float:
        """Width of each thing, if there is room."""
        return min(self.max_column, max(one.natural_width for one in (*self.above, *self.below)))

    @property
    def min_width(self) -> float:
        """Its width with one thing in each row."""
        passing = max(len({each.bar for one in side for each in one.attachments}) for side in (self.above, self.below))
        return self.column_width + max(_GUTTER, 10 + _SLOT * passing) + self._margin

    @property
    def natural_width(self) -> float:
        """Its width with all things of a side in one row."""
        columns = max(len(self.above), len(self.below))
        return max(columns * (self.column_width + _GUTTER) + self._margin, self._bar_width)

    @property
    def _margin(self) -> float:
        """Room at the right for lines between bars and what is written beside them."""
        if not self.joins:
            return 0.0
        return max(text_width(join.label, SMALL_SIZE) for join in self.joins) + 10 * len(self.joins) + 14

    @property
    def _bar_width(self) -> float:
        return max((text_width(bar.text, TEXT_SIZE) + 24 for bar in self.bars), default=0)

    def piece(self, width: float) -> Piece:
        """Return its shapes, no wider than `width`."""
        return _Layout(self, width).piece()


class _Row(NamedTuple):
    """Things of one row, the piece of each, and where it begins; `top` is that of the whole row with its lines."""

    things: tuple[Hung, ...]
    pieces: tuple[Piece, ...]
    lefts: tuple[float, ...]
    is_nearest: bool

    @property
    def height(self) -> float:
        return max(piece.height for piece in self.pieces)

    @property
    def legs_height(self) -> float:
        """Height of the lines below or above the row, with their labels and turns."""
        counts = [len(each.labels) for one in self.things for each in one.attachments]
        if not counts:
            return 0.0 if self.is_nearest else _MIN_LEG
        labels = max(_MIN_LEG, max(counts) * _LABEL + 7)
        return labels + (0 if self.is_nearest else 4 + 4 * max(len(one.attachments) for one in self.things))


class _Layout:
    """One comb at one width."""

    def __init__(self, comb: Comb, width: float) -> None:
        self._comb = comb
        self._gutter = _GUTTER
        room = width - comb._margin
        for _ in range(2):
            self._column = min(comb.column_width, room - self._gutter)
            most = max(1, int((room + 0.5) // (self._column + self._gutter)))
            sides = [side for side in (comb.above, comb.below) if side]
            self._columns = max(ceil(len(side) / ceil(len(side) / most)) for side in sides)
            self._gutter = max(_GUTTER, 10 + _SLOT * self._max_passing())
        grid = self._columns * (self._column + self._gutter) - (self._gutter if self._max_passing() == 0 else 0)
        self._width = min(width, max(grid + comb._margin, comb._bar_width))
        self._left = max(0.0, (self._width - comb._margin - grid) / 2)

    def _max_passing(self) -> int:
        """Return how many lines are in a gutter at most: those of a column to one bar are one line there."""
        most = 0
        for side in (self._comb.above, self._comb.below):
            rows = self._split(side)
            for column in range(self._columns):
                passing = [row[column].attachments for row in rows[1:] if column < len(row)]
                most = max(most, len({each.bar for attachments in passing for each in attachments}))
        return most

    def _split(self, side: Sequence[Hung]) -> list[tuple[Hung, ...]]:
        """Return the rows of a side, that next to the bars first."""
        return [tuple(side[at : at + self._columns]) for at in range(0, len(side), self._columns)]

    def _rows(self, side: Sequence[Hung]) -> list[_Row]:
        split = self._split(side)
        rows = []
        for number, things in enumerate(split):
            lefts = [self._left + place * (self._column + self._gutter) for place in range(len(things))]
            if len(split) == 1:
                room = self._width - self._comb._margin
                spare = room - lefts[-1] - self._column - lefts[0]
                lefts = [left + spare / 2 for left in lefts]
            pieces = tuple(one.block.piece(self._column) for one in things)
            rows.append(_Row(things, pieces, tuple(lefts), number == 0))
        return rows

    def piece(self) -> Piece:
        """Return all shapes."""
        above, below = self._rows(self._comb.above), self._rows(self._comb.below)
        upper = [min(join.first, join.second) for join in self._comb.joins]
        gap = max(9.0, 5 + _LABEL * max(map(upper.count, upper), default=0))
        top = sum(row.height + row.legs_height for row in above)
        tops, y = [], top
        for bar in self._comb.bars:
            tops.append(y)
            y += _BAR_HEIGHT[bar.look] + gap
        bottom = y - gap if self._comb.bars else y + (_MIN_LEG if above and below else 0)
        bottoms = [at + _BAR_HEIGHT[bar.look] for at, bar in zip(tops, self._comb.bars, strict=True)]
        boxes: list[Shape] = []
        wires: list[Shape] = []
        texts: list[Shape] = []
        y = top
        slots: dict[tuple[int, int], int] = {}
        for row in above:
            edge = y - row.legs_height
            for piece, left in zip(row.pieces, row.lefts, strict=True):
                boxes += piece.at(left + (self._column - piece.width) / 2, edge - piece.height)
            self._wire(row, edge, 1, tops, slots, wires, texts)
            y = edge - row.height
        y, slots = bottom, {}
        for row in below:
            edge = y + row.legs_height
            for piece, left in zip(row.pieces, row.lefts, strict=True):
                boxes += piece.at(left + (self._column - piece.width) / 2, edge)
            self._wire(row, edge, -1, bottoms, slots, wires, texts)
            y = edge + row.height
        lines = [shape for shape in wires if isinstance(shape, Wire)]
        joints = [shape for shape in wires if not isinstance(shape, Wire)]
        joined = list(self._joined(tops, bottoms))
        lines += [shape for shape in joined if isinstance(shape, Wire)]
        rest = [shape for shape in joined if not isinstance(shape, Wire)]
        bars = list(self._bars(tops))
        return Piece(self._width, y, (*lines, *bars, *boxes, *joints, *rest, *texts))

    def _wire(
        self,
        row: _Row,
        edge: float,
        direction: int,
        ends: Sequence[float],
        slots: dict[tuple[int, int], int],
        wires: list[Shape],
        texts: list[Shape],
    ) -> None:
        """Add the lines of a row.

        Args:
            row: The row.
            edge: Where its boxes end towards the bars.
            direction: 1 if the bars are below the row, -1 if they are above it.
            ends: Where lines end at each bar.
            slots: Place of the line from each column to each bar, in the gutter behind the column.
            wires: Gets the lines with their ends.
            texts: Gets what is written beside them.
        """
        for column, (thing, piece, left) in enumerate(zip(row.things, row.pieces, row.lefts, strict=True)):
            count = len(thing.attachments)
            first = left + (self._column - piece.width) / 2
            shares = _leg_shares(thing.attachments, piece.width)
            for number, (attachment, share) in enumerate(zip(thing.attachments, shares, strict=True)):
                x = first + piece.width * share
                room = piece.width * ((number + 1) / count - share) - 6
                for line, label in enumerate(attachment.labels[::direction]):
                    y = edge + direction * (9 + _LABEL * line)
                    texts.append(words(x + 4, y, label, room, "small"))
                end = ends[attachment.bar]
                points = [(x, edge)]
                if not row.is_nearest:
                    turn = edge + direction * (row.legs_height - 4 * (number + 1))
                    slot = slots.setdefault((column, attachment.bar), sum(1 for key in slots if key[0] == column))
                    x = left + self._column + 6 + _SLOT * slot
                    points += [(points[0][0], turn), (x, turn)]
                    wires.append(Joint(x, turn))
                wires += [Wire((*points, (x, end))), Joint(x, end)]

    def _bars(self, tops: Sequence[float]) -> Iterator[Shape]:
        for bar, top in zip(self._comb.bars, tops, strict=True):
            height = _BAR_HEIGHT[bar.look]
            yield BoxShape(0, top, self._width, height, bar.look)
            yield words(self._width / 2, top + height / 2, bar.text, self._width - 12, "", "middle")

    def _joined(self, tops: Sequence[float], bottoms: Sequence[float]) -> Iterator[Shape]:
        labels: dict[int, int] = {}
        for number, join in enumerate(self._comb.joins):
            upper, lower = sorted((join.first, join.second))
            x = self._width - 8 - 10 * number
            yield Wire(((x, bottoms[upper]), (x, tops[lower])))
            yield Joint(x, bottoms[upper])
            yield Joint(x, tops[lower])
            if join.label:
                right = self._width - 8 - 10 * len(self._comb.joins)
                line = labels[upper] = labels.get(upper, -1) + 1
                yield TextShape(right, bottoms[upper] + 8.5 + _LABEL * line, join.label, "small", "end")


def _leg_shares(attachments: Sequence[Attachment], width: float) -> list[float]:
    """Return where lines leave a box, as shares of its width: in the middle, further left if a label needs the room."""
    if len(attachments) != 1:
        return [(number + _FIRST_LEG) / len(attachments) for number in range(len(attachments))]
    needed = max((text_width(label, SMALL_SIZE) for label in attachments[0].labels), default=0) + 8
    return [min(0.5, max(0.08, 1 - needed / width))]
