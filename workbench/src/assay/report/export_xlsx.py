"""Writes a run as a spreadsheet: summary, results, samples, kinds, tasks, ceilings, cost, environment, study."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.model.escape import escape_lines
from assay.model.result.result import RunAnalysis
from assay.model.result.verdict_counts import count_verdicts
from assay.model.study.names import is_counted
from assay.report.cost_sheet import write_cost_sheet
from assay.report.environments import readable_values
from assay.report.kinds_table import kinds_table
from assay.report.tables import FlatColumn, FlatTable, ceilings_table, results_table, samples_table
from assay.report.tasks_table import tasks_table

_WIDEST = 40
_MAX_BARS = 60
_MAX_CELL = 32_767
"""Most characters of a cell (Excel's specifications and limits); xlsxwriter would leave a longer text out."""
WORKBOOK_OPTIONS = {
    "nan_inf_to_errors": False,
    "strings_to_urls": False,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
}
"""Options of xlsxwriter: text never becomes a link, formula or number; the cost sheet writes its formulas itself."""
_TITLE = {"bold": True, "font_size": 14}


def write_xlsx(analysis: RunAnalysis, path: Path) -> None:
    """Write the workbook."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), WORKBOOK_OPTIONS) as book:
        book.worksheet_class = safe_sheet_class()
        created = datetime.fromtimestamp(analysis.run.created_at, tz=UTC).replace(tzinfo=None)
        book.set_properties(
            {
                "title": escape_lines(analysis.run.study),
                "author": "Assay",
                "comments": escape_lines(analysis.run.id),
                "created": created,
            }
        )
        summary = book.add_worksheet("Summary")
        results = results_table(analysis)
        _write_table(book, "Results", results)
        _write_table(book, "Samples", samples_table(analysis))
        _write_table(book, "Kinds", kinds_table(analysis))
        if (tasks := tasks_table(analysis)).records:
            _write_table(book, "Tasks", tasks)
        _write_table(book, "Ceilings", ceilings_table(analysis))
        write_cost_sheet(book, analysis)
        _write_pairs(book, "Environment", _environment(analysis))
        _write_study(book, analysis.run.study_text)
        _write_summary(book, summary, analysis, results)


def safe_sheet_class() -> Any:
    """Return a worksheet class that writes control and direction characters as visible escapes."""
    from xlsxwriter.worksheet import Worksheet

    class Safe(Worksheet):  # type: ignore[misc]
        """A worksheet whose texts are escaped, and cut off where Excel has no room for more."""

        def _write_string(self, row: int, col: int, string: str, cell_format: Any = None) -> Any:
            text = escape_lines(string)
            shown = text if len(text) <= _MAX_CELL else f"{text[: _MAX_CELL - 3]}..."
            return super()._write_string(row, col, shown, cell_format)

    return Safe


def _formats(book: Any) -> dict[str, Any]:
    return {
        "integer": book.add_format({"num_format": "#,##0"}),
        "number": book.add_format({"num_format": "#,##0.0"}),
        "share": book.add_format({"num_format": "0.0%"}),
    }


def _write_table(book: Any, name: str, table: FlatTable) -> None:
    """Write a sheet with a frozen, filtered heading and a number format for each column."""
    sheet = book.add_worksheet(name)
    head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    formats = _formats(book)
    for place, column in enumerate(table.columns):
        style = formats["share"] if column.name.endswith(("_spread", "_share")) else formats.get(column.kind)
        sheet.set_column(place, place, _width(column, table), style)
        sheet.write_string(0, place, column.name, head)
        sheet.write_comment(0, place, column.title)
    for line, record in enumerate(table.records, start=1):
        for place, column in enumerate(table.columns):
            value = record[column.name]
            if value not in (None, ""):
                if isinstance(value, str):
                    sheet.write_string(line, place, value)
                else:
                    sheet.write(line, place, value)
    sheet.freeze_panes(1, 4)
    sheet.autofilter(0, 0, max(1, len(table.records)), len(table.columns) - 1)


def _width(column: FlatColumn, table: FlatTable) -> float:
    if column.kind != "text":
        return max(11.0, min(18.0, len(column.name)))
    longest = max((len(str(record[column.name] or "")) for record in table.records[:200]), default=0)
    return min(_WIDEST, max(8, len(column.name), longest) + 1)


def _write_pairs(book: Any, name: str, pairs: Iterator[tuple[str, str, str]]) -> None:
    sheet = book.add_worksheet(name)
    bold = book.add_format({"bold": True})
    for place, heading in enumerate(("section", "name", "value")):
        sheet.write_string(0, place, heading, bold)
    for line, cells in enumerate(pairs, start=1):
        for place, text in enumerate(cells):
            sheet.write_string(line, place, text)
    sheet.set_column(0, 1, 24)
    sheet.set_column(2, 2, 100)
    sheet.freeze_panes(1, 0)


def _environment(analysis: RunAnalysis) -> Iterator[tuple[str, str, str]]:
    run = analysis.run
    for name, value in run.versions.items():
        yield "versions", name, value
    for place in run.places:
        limits = f"; {'; '.join(place.limits)}" if place.limits else ""
        yield "targets", place.target, f"{place.path}: {place.storage_chain}{limits}"
    for section, values in run.environment.items():
        for name, value in readable_values(values).items():
            yield section, name, value


def _write_study(book: Any, text: str) -> None:
    sheet = book.add_worksheet("Study")
    plain = book.add_format({"font_name": "Consolas"})
    sheet.set_column(0, 0, 120)
    for line, content in enumerate(text.splitlines()):
        sheet.write_string(line, 0, content, plain)


def _write_summary(book: Any, sheet: Any, analysis: RunAnalysis, results: FlatTable) -> None:
    run = analysis.run
    title, bold = book.add_format(_TITLE), book.add_format({"bold": True})
    wrap = book.add_format({"text_wrap": True, "valign": "top"})
    sheet.set_column(0, 0, 22)
    sheet.set_column(1, 1, 70)
    sheet.write_string(0, 0, run.study, title)
    started = datetime.fromtimestamp(run.created_at, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    facts = (
        ("Question", run.question or run.study),
        ("Run", run.id),
        ("Started", started),
        ("Status", run.status),
        ("Repeats", f"{run.finished} of {run.planned} executed, {run.repeats_words} of each case"),
        ("Command", run.command),
        *((("Imported", run.import_words),) if run.imports else ()),
        ("Units", "MB is 10^6 bytes, MiB is 2^20 bytes; units are in the column names"),
    )
    line = 1
    for name, value in facts:
        sheet.write_string(line, 0, name, bold)
        sheet.write_string(line, 1, value, wrap)
        line += 1
    line += 1
    sheet.write_string(line, 0, "Verdict", bold)
    sheet.write_string(line, 1, "Results", bold)
    first = line + 1
    counts = count_verdicts(row.verdicts for row in analysis.rows)
    for line, (verdict, count) in enumerate(counts.by_worst.items(), start=first):
        sheet.write_string(line, 0, verdict)
        sheet.write_number(line, 1, count)
    _verdict_chart(book, sheet, first, line)
    _rate_charts(book, sheet, results)
    for offset, note in enumerate(analysis.notes, start=line + 2):
        if offset == line + 2:
            sheet.write_string(offset - 1, 0, "Anomalies", bold)
        sheet.write_string(offset, 1, note, wrap)


def _verdict_chart(book: Any, sheet: Any, first: int, last: int) -> None:
    chart = book.add_chart({"type": "bar"})
    chart.add_series(
        {
            "name": "Results",
            "categories": ["Summary", first, 0, last, 0],
            "values": ["Summary", first, 1, last, 1],
            "data_labels": {"value": True},
        }
    )
    chart.set_title({"name": "Verdicts"})
    chart.set_legend({"none": True})
    sheet.insert_chart("D2", chart)


def _rate_charts(book: Any, sheet: Any, results: FlatTable) -> None:
    """Add a chart of throughput, and one of operations per second, if the run has such results."""
    kinds = {is_counted(str(record["operation"])) for record in results.records}
    place = 18
    for counted, column, title, unit in (
        (False, "throughput_median_bytes_per_s", "Throughput", "bytes/s"),
        (True, "iops_median_per_s", "Operations per second", "1/s"),
    ):
        if counted in kinds:
            sheet.insert_chart(f"D{place}", _rate_chart(book, results, column, title, unit))
            place += 22


def _rate_chart(book: Any, results: FlatTable, column: str, title: str, unit: str) -> Any:
    """Return a chart of the medians of the first results, as many as can be read."""
    names = [found.name for found in results.columns]
    last = min(len(results.records), _MAX_BARS)
    middle = names.index(column)
    chart = book.add_chart({"type": "column"})
    chart.add_series(
        {
            "name": f"Median {title.lower()}",
            "categories": ["Results", 1, names.index("target"), last, names.index("operation")],
            "values": ["Results", 1, middle, last, middle],
        }
    )
    rest = len(results.records) - last
    chart.set_title({"name": f"{title}, median over repeats" + (f" (first {last} results)" if rest else "")})
    chart.set_y_axis({"name": unit, "num_format": "0.0E+0"})
    chart.set_legend({"none": True})
    chart.set_size({"width": 960, "height": 400})
    return chart
