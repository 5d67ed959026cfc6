"""The part `printed_chart` of papers: lines or bars of numbers of a table of an imported run, as they are printed."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from assay.model.base import AssayError
from assay.model.units import choices_hint
from assay.report import numbers
from assay.report.charts.series import MAX_SERIES, ChartSeries, SeriesPoint, bars_drawing, lines_drawing
from assay.report.charts.theme import swept_axis, tooltip_text
from assay.report.document import Block, Chart
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.rooms.importers.audit.tables.cells import AuditedTable
from assay.rooms.importers.shown.paper_printed import chosen_rows, headings_with_titles, printed_table


class PrintedChartOptions(PartOptions):
    """Options of the part.

    Attributes:
        run: A run of the paper; may be left out in a paper of one run.
        table: File name of the table, such as `costs.csv`.
        kind: `lines` or `bars`.
        x: Heading of what stands along the axis.
        values: Headings of numbers with titles, a line or bar for each.
        series: Heading with a line or bar for each of its cells; then there is one heading in `values`.
        where: Heading -> the text that rows must have there.
        x_title: Title of the axis; empty: the heading.
        caption: Words below the chart.
    """

    run: str = ""
    table: str
    kind: Literal["lines", "bars"]
    x: str
    values: Annotated[dict[str, str], BeforeValidator(headings_with_titles)] = Field(min_length=1)
    series: str = ""
    where: dict[str, str] = Field(default_factory=dict)
    x_title: Annotated[str, Field(max_length=120)] = ""
    caption: Annotated[str, Field(max_length=1000)] = ""


def chart_blocks(options: PrintedChartOptions, context: PaperContext) -> list[Block]:
    """Return the chart.

    Raises:
        AssayError: There is no such run, table or column, or what is to be drawn is no number.
    """
    table = printed_table(options.run, options.runs, options.table, context)
    for heading in (options.x, *options.values, *filter(None, [options.series]), *options.where):
        if heading not in table.columns:
            raise AssayError(f"{options.table} has no column `{heading}`", choices_hint(heading, table.columns))
    if options.series and len(options.values) > 1:
        raise AssayError("with `series` there can only be one of `values`", "leave `series` or the others out")
    named = _named_values(options, table)
    if len(named) > MAX_SERIES:
        raise AssayError(f"there would be {len(named)} lines or bars of a group", f"at most {MAX_SERIES}; use where")
    groups = list(dict.fromkeys(x for points in named.values() for x in points))
    groups.sort(key=table.columns[options.x].texts.index)
    is_lines = options.kind == "lines"
    places = {x: _along(table, options, x) if is_lines else float(number) for number, x in enumerate(groups)}
    series = [
        ChartSeries(name, number, tuple(_point(places[x], value, name, x) for x, value in points.items()))
        for number, (name, points) in enumerate(named.items())
    ]
    title = numbers.listing(list(options.values.values()))
    x_title = options.x_title or options.x.replace("_", " ")
    if is_lines:
        drawing = lines_drawing(series, swept_axis(x_title, sorted(places.values())), title, options.series)
    else:
        drawing = bars_drawing(series, groups, x_title, title, options.series)
    caption = options.caption or f"As printed: {options.table}."
    return [Chart("printed-chart", f"{title} by {x_title}", caption, drawing, wide=not is_lines)]


def _named_values(options: PrintedChartOptions, table: AuditedTable) -> dict[str, dict[str, float]]:
    """Return line or bar -> cell along x -> value; empty cells are left out.

    Raises:
        AssayError: A value is no number, or two rows have the same place.
    """
    named: dict[str, dict[str, float]] = {}
    columns = table.columns
    for row in chosen_rows(table, options.where, options.table):
        for heading, title in options.values.items():
            if not columns[heading].texts[row]:
                continue
            points = named.setdefault(columns[options.series].texts[row] if options.series else title, {})
            x = columns[options.x].texts[row]
            if x in points:
                words = f"two rows of {options.table} have {options.x} `{x}`"
                raise AssayError(words, "choose one with where, or name a heading for series")
            points[x] = _number(table, heading, row, options.table, "name another heading")
    if not named:
        words = f"no chosen row of {options.table} has {numbers.listing(list(options.values))}"
        raise AssayError(words, "name other headings, or choose other rows with where")
    return named


def _along(table: AuditedTable, options: PrintedChartOptions, x: str) -> float:
    row = table.columns[options.x].texts.index(x)
    return _number(table, options.x, row, options.table, "lines need numbers along x: use kind: bars")


def _number(table: AuditedTable, heading: str, row: int, name: str, hint: str) -> float:
    column = table.columns[heading]
    if not column.is_numeric or not column.digits[row]:
        raise AssayError(f"{heading} of {name} is no number: `{column.texts[row]}`", hint)
    return float(column.digits[row])


def _point(place: float, value: float, name: str, x: str) -> SeriesPoint:
    return SeriesPoint(place, value, tooltip=tooltip_text(name, x, numbers.significant(value)))


PRINTED_CHART = PartKind(chart_blocks, "", PrintedChartOptions)
