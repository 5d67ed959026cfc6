"""Which block is on which disk of a RAID, as Linux md lays it out.

Levels 5 and 6: left-symmetric, the default of mdadm(8); level 10: two copies, near (md(4)).
"""

from typing import Annotated

from pydantic import model_validator

from assay.model.frozen import Frozen
from assay.model.study import axis
from assay.model.study.axis import SingleField, fault
from assay.model.units import format_size
from assay.report import numbers
from assay.report.diagrams.pieces import Piece, diagram_of, words
from assay.report.draw.diagram import BoxShape, Diagram, Shape, TextShape
from assay.rooms.diagrams.work.described import Name, RaidLevel, check_raid

_MAX_DISKS = 16
_MIN_ROWS, _MAX_ROWS = 3, 8
_COPIES = 2
_GAP, _HEAD, _ROW = 10.0, 24.0, 21.0
_MIN_WIDTH, _MAX_WIDTH, _ALL = 27.0, 74.0, 600.0


class RaidLayout(Frozen):
    """A RAID whose layout is drawn.

    Attributes:
        chunk: Size of a block in bytes; None: it is not named.
        names: Of the disks; empty: they are numbered from 0.
    """

    level: RaidLevel
    disks: Annotated[int, SingleField(axis.whole(1, _MAX_DISKS))]
    chunk: Annotated[int | None, SingleField(axis.size(512, 2**40, optional=True))] = None
    names: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _enough(self) -> "RaidLayout":
        check_raid(self.level, self.disks, "disks")
        if self.names and len(self.names) != self.disks:
            raise fault(f"{len(self.names)} names for {self.disks} disks", "name each disk, or none", "names")
        return self

    @property
    def rows(self) -> int:
        """Rows that are drawn: until each disk had parity, within bounds."""
        return min(_MAX_ROWS, max(_MIN_ROWS, self.disks)) if self.level in (5, 6) else _MIN_ROWS

    def cell(self, row: int, disk: int) -> str:
        """Return what is in a row of a disk: the number of a block, `P` or `Q`."""
        count = self.disks
        if self.level == 0:
            return str(row * count + disk)
        if self.level == 1:
            return str(row)
        if self.level == 10:
            return str((row * count + disk) // _COPIES)
        parities = 1 if self.level == 5 else 2
        parity = count - 1 - row % count
        behind = (disk - parity) % count
        if behind < parities:
            return "PQ"[behind]
        return str(row * (count - parities) + behind - parities)

    def name(self, disk: int) -> str:
        """Return the name of a disk."""
        return self.names[disk] if self.names else f"disk {disk}"

    @property
    def summary(self) -> str:
        """How data is laid out, and what may fail."""
        block = f"Blocks of {format_size(self.chunk)}" if self.chunk else "Blocks"
        return {
            0: f"{block} go to the {self.disks} disks in turn; the loss of any disk loses data.",
            1: f"Each of the {self.disks} disks has all blocks; all but one may fail.",
            5: f"{block} go to {self.disks} disks in turn, with a parity block P in each row, on another disk each "
            "time; one disk may fail.",
            6: f"{block} go to {self.disks} disks in turn, with two parity blocks P and Q in each row, on other disks "
            "each time; two disks may fail.",
            10: f"{block} go to {self.disks} disks in turn, each to two disks; {self._ten}.",
        }[self.level]

    @property
    def words(self) -> str:
        """All that is drawn, in words."""
        rows = "; ".join(
            f"{self.name(disk)}: {', '.join(self.cell(row, disk) for row in range(self.rows))}"
            for disk in range(self.disks)
        )
        return f"{self.summary} From the first row: {rows}; and so on."

    @property
    def _ten(self) -> str:
        return "one disk of each pair may fail" if self.disks % _COPIES == 0 else "any one disk may fail"

    @property
    def title(self) -> str:
        """Name of the figure."""
        return f"RAID {self.level} over {numbers.plural(self.disks, 'disk')}"


def raid_diagram(raid: RaidLayout) -> Diagram:
    """Return the diagram of a RAID."""
    width = min(_MAX_WIDTH, max(_MIN_WIDTH, (_ALL + _GAP) / raid.disks - _GAP))
    height = _HEAD + raid.rows * _ROW + 20
    shapes: list[Shape] = []
    for disk in range(raid.disks):
        x = disk * (width + _GAP)
        shapes.append(BoxShape(x, 0, width, height, "host"))
        name = raid.name(disk) if raid.names or width >= _MIN_WIDTH * 1.6 else str(disk)
        shapes.append(words(x + width / 2, _HEAD / 2, name, width - 4, "name", "middle"))
        for row in range(raid.rows):
            text = raid.cell(row, disk)
            y = _HEAD + row * _ROW
            shapes.append(BoxShape(x + 3, y, width - 6, _ROW - 3, "field" if text.isdigit() else "shaded"))
            shapes.append(
                TextShape(x + width / 2, y + (_ROW - 3) / 2, text, "" if text.isdigit() else "name", "middle")
            )
        shapes.append(TextShape(x + width / 2, height - 10, "…", "", "middle"))
    return diagram_of(Piece(raid.disks * (width + _GAP) - _GAP, height, tuple(shapes)), raid.words)
