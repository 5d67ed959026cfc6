"""Parts of papers that print or draw a table as it was imported, such as costs that no result goes with."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.base import AssayError
from assay.model.units import choices_hint
from assay.report import numbers
from assay.report.charts.series import MAX_SERIES, ChartSeries, SeriesPoint, bars_drawing, lines_drawing
from assay.report.charts.theme import swept_axis, tooltip_text
from assay.report.document import Block, Chart, Column, Num, Table
from assay.report.document import Cell as TableCell
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.report.selection.options import Conditions, Words
from assay.rooms.importers.shown.figures import imported_run
from assay.rooms.importers.work.results import SourceTable

_MAX_ROWS = 400
_MAX_TITLE = 120
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
"""Numbers that a table may print, with or without commas between thousands."""


class ImportedOptions(PartOptions):
    """Options that parts of imported tables have in common.

    Attributes:
        run: The run; empty: the only one of the paper that has the table.
        table: Name of the imported file, without its ending.
        where: Heading -> the cells that rows must have; a list of several.
        titles: Heading -> what to print in its place.
        caption: Text in place of the generated one; where the table comes from stands behind it in any case.
    """

    run: str = ""
    table: str
    where: Conditions = Field(default_factory=dict)
    titles: Mapping[str, Annotated[str, Field(max_length=_MAX_TITLE)]] = Field(default_factory=dict)
    caption: Annotated[str, Field(max_length=2000)] = ""


class ImportedTableOptions(ImportedOptions):
    """Options of a table; `columns` are headings, in order; empty: all."""

    columns: Words = ()


class ImportedChartOptions(ImportedOptions):
    """Options of a chart.

    Attributes:
        kind: `lines` or `bars`.
        x: Heading of what stands along the axis.
        values: Headings of numbers, a line or bar for each.
        series: Heading with a line or bar for each of its cells; then there is one heading in `values`.
        value_title: What the values are, with their unit.
    """

    kind: Literal["lines", "bars"]
    x: str
    values: Words = Field(min_length=1)
    series: str = ""
    value_title: Annotated[str, Field(max_length=_MAX_TITLE)] = ""


class _ChosenRows(NamedTuple):
    """The chosen rows of a table.

    Attributes:
        rows: Line in the file, and heading -> cell.
    """

    source: SourceTable
    rows: list[tuple[int, dict[str, str]]]


def table_part(options: ImportedTableOptions, context: PaperContext) -> list[Block]:
    """Return an imported table with its cells as they are printed.

    Raises:
        AssayError: The paper has no such table, or it has no such heading or row.
    """
    found = _chosen(options, context)
    headings = options.columns or found.source.headings
    _check_headings(found.source, headings)
    if len(found.rows) > _MAX_ROWS:
        raise AssayError(
            f"table `{options.table}` has {len(found.rows):,} rows", f"choose at most {_MAX_ROWS} with where"
        )
    columns = []
    for heading in headings:
        cells = [row[heading] for _, row in found.rows if row[heading]]
        is_numeric = bool(cells) and all(_number(cell) is not None for cell in cells)
        columns.append(Column(_title(options, heading), is_numeric=is_numeric))
    rows = tuple(tuple(_cell(row[heading]) for heading in headings) for _, row in found.rows)
    return [Table(options.table, tuple(columns), rows, _caption(options, found.source))]


def chart_part(options: ImportedChartOptions, context: PaperContext) -> list[Block]:
    """Return a chart of numbers of an imported table.

    Raises:
        AssayError: The paper has no such table, or what is to be drawn is no number.
    """
    found = _chosen(options, context)
    _check_headings(found.source, [options.x, *options.values, *([options.series] if options.series else [])])
    if options.series and len(options.values) > 1:
        raise AssayError("with `series` there can only be one of `values`", "leave `series` or the others out")
    named = _named_values(options, found)
    if len(named) > MAX_SERIES:
        raise AssayError(f"there would be {len(named)} lines or bars of a group", f"at most {MAX_SERIES}; use where")
    title = options.value_title or numbers.listing([_title(options, heading) for heading in options.values])
    x_title, legend = _title(options, options.x), _title(options, options.series) if options.series else ""
    drawn = {x for points in named.values() for x in points}
    groups = [x for x in dict.fromkeys(row[options.x] for _, row in found.rows) if x in drawn]
    if options.kind == "bars":
        places = {name: float(number) for number, name in enumerate(groups)}
    else:
        places = {name: _required(name, options.x, options) for name in groups}
    series = [
        ChartSeries(name, number, tuple(_point(places[x], value, name, x) for x, value in points.items()))
        for number, (name, points) in enumerate(named.items())
    ]
    if options.kind == "bars":
        drawing = bars_drawing(series, groups, x_title, title, legend)
    else:
        axis = swept_axis(x_title, sorted(places.values()))
        drawing = lines_drawing(series, axis, title, legend)
    words = f"{title} by {x_title[:1].lower()}{x_title[1:]}"
    return [Chart(options.table, words, _caption(options, found.source), drawing, wide=options.kind == "bars")]


def _named_values(options: ImportedChartOptions, found: _ChosenRows) -> dict[str, dict[str, float]]:
    """Return line or bar -> cell along x -> value; rows without a value are left out.

    Raises:
        AssayError: A value is no number, or two rows have the same place.
    """
    named: dict[str, dict[str, float]] = {}
    for line, row in found.rows:
        for heading in options.values:
            if not row[heading]:
                continue
            name = row[options.series] if options.series else _title(options, heading)
            points = named.setdefault(name, {})
            if row[options.x] in points:
                words = f"line {line} of `{options.table}` is a second row with {options.x} {row[options.x]}"
                raise AssayError(words, "choose one with where, or name a heading for series")
            points[row[options.x]] = _required(row[heading], heading, options)
    if not named:
        raise AssayError(
            f"no chosen row of `{options.table}` has {numbers.listing(list(options.values))}",
            "name other headings, or choose other rows with where",
        )
    return named


def _point(place: float, value: float, name: str, x: str) -> SeriesPoint:
    return SeriesPoint(place, value, tooltip=tooltip_text(name, x, numbers.significant(value)))


def _required(text: str, heading: str, options: ImportedChartOptions) -> float:
    value = _number(text)
    if value is None:
        hint = "lines need numbers along x: use kind: bars" if heading == options.x else "name another heading"
        raise AssayError(f"{heading} of `{options.table}` is no number: `{text}`", hint)
    return value


def _number(text: str) -> float | None:
    return float(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


def _cell(text: str) -> TableCell:
    value = _number(text)
    return Num(text, value) if value is not None else text or numbers.NONE


def _title(options: ImportedOptions, heading: str) -> str:
    return options.titles.get(heading, numbers.capitalized(heading.replace("_", " ")))


def _caption(options: ImportedOptions, source: SourceTable) -> str:
    origin = f"Imported from {Path(source.file).name}, as printed there; not measured here."
    text = options.caption
    return f"{text}{'' if text.endswith(('.', '!', '?')) else '.'} {origin}" if text else origin


def _chosen(options: ImportedOptions, context: PaperContext) -> _ChosenRows:
    """Return the table and the rows that an author names.

    Raises:
        AssayError: There is none, or several.
    """
    source = _source(options, context)
    rows = [(line, dict(zip(source.headings, cells, strict=False))) for line, cells in source.rows]
    rows = [(line, {heading: row.get(heading, "").strip() for heading in source.headings}) for line, row in rows]
    for heading, wanted in options.where.items():
        _check_headings(source, [heading])
        known = dict.fromkeys(row[heading] for _, row in rows)
        for text in wanted:
            if text not in known:
                raise AssayError(f"no row of `{options.table}` has {heading} `{text}`", choices_hint(text, known))
        rows = [(line, row) for line, row in rows if row[heading] in wanted]
    _check_headings(source, options.titles)
    return _ChosenRows(source, rows)


def _source(options: ImportedOptions, context: PaperContext) -> SourceTable:
    names = (options.run,) if options.run else options.runs
    found: list[SourceTable] = []
    every: list[str] = []
    for view in context.named_runs(names).values():
        if not view.run.imports:
            continue
        tables = [output.table for output in imported_run(Path(view.run.folder)).outputs if output.table is not None]
        every += [Path(table.file).stem for table in tables]
        found += [table for table in tables if Path(table.file).stem == options.table]
    if not found:
        raise AssayError(f"no table `{options.table}` was imported", choices_hint(options.table, dict.fromkeys(every)))
    if len(found) > 1:
        raise AssayError(f"{len(found)} imported tables are named `{options.table}`", "name the run")
    return found[0]


def _check_headings(source: SourceTable, headings: Sequence[str] | Mapping[str, str]) -> None:
    for heading in headings:
        if heading not in source.headings:
            words = f"`{Path(source.file).stem}` has no heading `{heading}`"
            raise AssayError(words, choices_hint(heading, source.headings))


TABLE = PartKind(table_part, options=ImportedTableOptions, short_option="table")
CHART = PartKind(chart_part, options=ImportedChartOptions)
