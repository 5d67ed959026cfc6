"""What a chart of chosen results shows: its axes, values, unit and marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.charts.series import MAX_SERIES
from assay.report.charts.theme import tooltip_text
from assay.report.selection.cells import Key, ResultCell, Selection
from assay.report.selection.facts import Marks
from assay.report.selection.properties import heading_words, value_words
from assay.report.selection.quantities import CellValue, DisplayUnit


@dataclass(frozen=True)
class ChartContents:
    """What a picture shows.

    Attributes:
        axes: The properties by which cells differ.
        orders: Property -> its values in order.
        cells: The cells with a value, by their values of `axes`.
        unit: The unit of all values.
        marks: Which cells get a mark.
        series_count: How many of the last properties are those of lines, bars or panels.
    """

    selection: Selection
    axes: tuple[str, ...]
    orders: Mapping[str, Sequence[AxisValue]]
    cells: Mapping[Key, ResultCell]
    unit: DisplayUnit
    marks: Marks
    series_count: int

    @property
    def series_names(self) -> tuple[str, ...]:
        """The properties whose values are lines, bars or panels."""
        return self.axes[len(self.axes) - self.series_count :]

    @property
    def title(self) -> str:
        """What the values are, with their unit."""
        results = [one for cell in self.cells.values() for one in cell.results] or self.selection.results
        title = self.selection.quantity.title_of(results[0])
        return f"{title} ({self.unit.name})" if self.unit.name else title

    @property
    def has_intervals(self) -> bool:
        """Whether a value has an interval."""
        return any(cell.figure is not None and cell.figure.low is not None for cell in self.cells.values())

    def figure(self, key: Key) -> CellValue | None:
        """Return the value of a cell in the unit of the picture; None if there is none."""
        cell = self.cells.get(key)
        if cell is None or cell.figure is None:
            return None
        scale = self.unit.scale
        low, high = (None if end is None else end / scale for end in (cell.figure.low, cell.figure.high))
        return CellValue(cell.figure.value / scale, low, high)

    def tooltip(self, key: Key) -> str:
        """Return the position, value and verdicts of a cell, in lines."""
        where = [heading_words(name, value) for name, value in zip(self.axes, key, strict=True)]
        figure = self.figure(key)
        words = "" if figure is None else f"{numbers.significant(figure.value)} {self.unit.name}".strip()
        return tooltip_text(", ".join(where), words, ", ".join(map(str, self.cells[key].verdicts)))

    def series(self) -> list[Key]:
        """Return the values of the lines, bars or panels, each as the end of a cell's key; an empty one if all are one.

        Raises:
            AssayError: There are more than can be distinguished.
        """
        names, count = self.series_names, len(self.axes) - self.series_count
        orders = [list(self.orders[name]) for name in names]
        keys = {key[count:] for key in self.cells}
        found = sorted(keys, key=lambda key: [order.index(value) for order, value in zip(orders, key, strict=True)])
        if len(found) > MAX_SERIES:
            raise AssayError(
                f"{' and '.join(names)} have {len(found)} values, and a chart shows at most {MAX_SERIES}",
                "choose some with where, or make a picture for each with split",
            )
        return found

    def number(self, series: Key) -> int:
        """Return the number of a line or bar, which selects its look; a target has the same in every chart."""
        if self.series_names == ("target",):
            every = self.selection.targets
            if len(every) <= MAX_SERIES:
                return every.index(str(series[0]))
        return self.series().index(series)

    def name(self, series: Key) -> str:
        """Return the name of a line, bar or panel."""
        if self.series_count == 1:
            return series_name(self.series_names[0], series[0])
        return ", ".join(heading_words(name, value) for name, value in zip(self.series_names, series, strict=True))


def series_name(key: str, value: AxisValue) -> str:
    """Return a value as the name of a line, a bar or a group of bars."""
    return numbers.operation_title(str(value)) if key == "operation" else value_words(key, value)
