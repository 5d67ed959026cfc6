"""Charts of results that an author orders: lines, bars, heat maps and surfaces."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.report import numbers
from assay.report.document import Block, Chart, Gallery
from assay.report.draw.drawing import Drawing, HeatMap, Surface
from assay.report.selection import facts, highlights
from assay.report.selection.captions import part_words, selection_words
from assay.report.selection.cells import Cell, Key, Selection
from assay.report.selection.contents import ChartContents
from assay.report.selection.fields import heat_map, surface
from assay.report.selection.lines_and_bars import bar_chart, line_chart
from assay.report.selection.options import SelectionOptions, Words
from assay.report.selection.quantities import shown_unit
from assay.report.selection.tables import ordered_keys, split_cells
from assay.report.view import RunView

MAX_PICTURES = 60
"""Most pictures of one part."""

ChartKind = Literal["lines", "bars", "heat", "surface"]
_NEEDS: dict[ChartKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lines": (("x",), ("series",)),
    "bars": (("x",), ("series",)),
    "heat": (("x", "y"), ("series",)),
    "surface": (("x", "y"), ()),
}
"""Options that a kind needs, and those that it may have, too."""
_LOOKS: dict[ChartKind, str] = {"lines": "Hollow", "bars": "Hollow", "heat": "Hatched", "surface": "Marked"}


class ChartOptions(SelectionOptions):
    """Options of a chart.

    Attributes:
        kind: `lines`, `bars`, `heat` (a map) or `surface` (in three dimensions).
        x: Property along the first axis.
        y: Property along the second axis of a heat map or surface.
        series: Properties with a line or bars for each of their values; of a heat map a panel for each.
    """

    kind: ChartKind
    x: str = ""
    y: str = ""
    series: Words = ()


def chart_blocks(options: ChartOptions, views: Mapping[str, RunView]) -> list[Block]:
    """Return the charts that are ordered.

    Raises:
        AssayError: The order names something that does not exist, chooses nothing, or more than can be drawn.
    """
    axes = _axes(options)
    selection = Selection(options, views)
    parts = split_cells(selection, selection.cells((*options.split, *axes)))
    if len(parts) > MAX_PICTURES:
        raise AssayError(f"there would be {len(parts)} pictures", f"at most {MAX_PICTURES}; choose some with where")
    charts = tuple(_chart(selection, options, axes, part, cells) for part, cells in parts.items())
    return [Gallery(charts)] if len(charts) > 1 else list(charts)


def _axes(options: ChartOptions) -> tuple[str, ...]:
    """Return the properties of a chart's axes and of its lines, bars or panels.

    Raises:
        AssayError: The kind needs another option, or has no such option.
    """
    needed, further = _NEEDS[options.kind]
    for name in ("x", "y", "series"):
        value = getattr(options, name)
        if name in needed and not value:
            raise AssayError(f"a chart of kind {options.kind} needs `{name}`", f"write {name}: and a property")
        if value and name not in (*needed, *further):
            raise AssayError(f"a chart of kind {options.kind} has no `{name}`", "leave it out, or use split")
    axes = tuple(value for value in (options.x, options.y, *options.series) if value)
    every = (*options.split, *axes)
    if doubled := [key for key in every if every.count(key) > 1]:
        raise AssayError(f"`{doubled[0]}` stands there twice", "leave it out of x, y, series or split")
    return axes


def _chart(
    selection: Selection, options: ChartOptions, axes: Sequence[str], part: Key, cells: Mapping[Key, Cell]
) -> Chart:
    known = {key: cell for key, cell in cells.items() if cell.figure is not None and None not in key}
    if not known:
        where = f" for {part_words(selection, part)}" if part else ""
        without = [name for place, name in enumerate(axes) if all(key[place] is None for key in cells)]
        reason = f"no result has {without[0]}" if without else selection.quantity.missing
        raise AssayError(f"there is nothing to draw{where}: {reason}", "choose others with where, or another value")
    results = [one for cell in known.values() for one in cell.results] or selection.results
    values = [cell.figure.value for cell in known.values() if cell.figure is not None]
    unit = shown_unit(selection.quantity, results, options.unit, values)
    marks = facts.Marks(selection, known.values())
    for key, words in facts.lacking_points(selection, axes, known).items():
        marks.add_lacking(known[key], words)
    orders = {name: _values(selection, name, [key[place] for key in known]) for place, name in enumerate(axes)}
    contents = ChartContents(selection, tuple(axes), orders, known, unit, marks, len(options.series))
    title = part_words(selection, part, is_title=True) if part else selection_words(selection, part, axes)
    caption = _caption(options, contents, selection_words(selection, (), axes) if part else "")
    if left_out := sum(None in key and cell.figure is not None for key, cell in cells.items()):
        names = [name for place, name in enumerate(axes) if any(key[place] is None for key in cells)]
        caption += f" Left out: {numbers.plural(left_out, 'value')} without {numbers.listing(names)}."
    return Chart("chart", title, caption, _drawing(options.kind, contents), wide=options.kind != "lines")


def _values(selection: Selection, name: str, values: Iterable[AxisValue]) -> list[AxisValue]:
    return [key[0] for key in ordered_keys(selection, (name,), [(value,) for value in values])]


def _drawing(kind: ChartKind, contents: ChartContents) -> Drawing | HeatMap | Surface:
    if kind == "lines":
        return line_chart(contents)
    if kind == "bars":
        return bar_chart(contents)
    return heat_map(contents) if kind == "heat" else surface(contents)


def _caption(options: ChartOptions, contents: ChartContents, title: str) -> str:
    cells = contents.cells.values()
    texts = [
        options.caption or title,
        highlights.sentence(contents, options.kind == "lines") if facts.are_all_ok(cells) else "",
        facts.summary_sentence(contents.selection, cells),
        facts.repeats_sentence(contents.selection, cells),
        "Thin lines: 95 % interval." if options.kind in ("lines", "bars") and contents.has_intervals else "",
        facts.mixture_sentence(cells),
        contents.selection.quantity.remark(contents.selection.results),
        *contents.marks.chart_sentences(_LOOKS[options.kind]),
    ]
    return " ".join(text if text.endswith((".", "!", "?")) else f"{text}." for text in texts if text)
