"""Spreadsheets become tables: sheets, merged headings, dates, numbers with all digits, and what cannot be read."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from assay.model.base import AssayError, LineError
from assay.rooms.importers.work.registry import UnknownColumnsError, read_outputs
from assay.rooms.importers.work.results import ImportOptions, ToolOutput
from assay.rooms.importers.work.spreadsheet_process import cell_text
from assay.rooms.importers.work.table_roles import RolesFile, parse_roles

RATES = (100.123456789012, 1 / 3, 1e-7)
NUMBERS = ("100.123456789012", "0.3333333333333333", "0.0000001")


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    """Write a workbook with sheets."""
    with xlsxwriter.Workbook(path, {"default_date_format": "dd/mm/yy"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for at, row in enumerate(rows):
                sheet.write_row(at, 0, row)
    return path


def results(*rates: object) -> list[list[Any]]:
    rows = [[dt.datetime(2026, 11, 1), f"s{number}", rate, 0.5] for number, rate in enumerate(rates, 1)]
    return [["Measured by us"], [], ["date", "server", "write", ""], ["", "", "MB/s", "GB"], *rows]


def guessed(path: Path) -> UnknownColumnsError:
    with pytest.raises(UnknownColumnsError) as error:
        read_outputs(str(path))
    return error.value


def with_roles(path: Path, roles: str) -> list[ToolOutput]:
    return read_outputs(str(path), ImportOptions(roles=RolesFile("r.yaml", parse_roles(roles.encode(), "r.yaml"))))


def test_the_guess_names_the_sheet_and_reads_it(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", Notes=[["read me"]], Results=results(*RATES), Older=results(5, 6))
    guess = guessed(path)
    assert "separator" not in guess.roles
    assert 'sheet: "Results"' in guess.roles and "`Older`" in guess.doubts[0]
    assert "write / MB/s" in guess.roles and "date: {role: comment}" in guess.roles
    roles = guess.roles.replace("role: target", "role: target, blank: above")
    (output,) = with_roles(path, roles)
    assert [one.figures[0].text for one in output.results] == list(NUMBERS)
    assert [one.line for one in output.results] == [5, 6, 7] and output.results[0].target == "s1"
    assert output.results[0].options["date"] == "2026-11-01"
    (older,) = with_roles(path, roles.replace("Results", "Older"))
    assert [one.figures[0].text for one in older.results] == ["5", "6"]
    with pytest.raises(AssayError, match="it has no sheet `Result`"):
        with_roles(path, roles.replace("Results", "Result"))


def test_a_line_is_a_row(tmp_path: Path) -> None:
    roles = guessed(workbook(tmp_path / "a.xlsx", Results=results(1, 2, 3))).roles
    with pytest.raises(LineError) as error:
        with_roles(workbook(tmp_path / "b.xlsx", Results=results(1, 2, "a lot")), roles)
    assert error.value.line == 7


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (475333.0, "475333"),
        (1e22, "10000000000000000000000"),
        (2.5e-5, "0.000025"),
        (True, "true"),
        (" a\nb ", "a b"),
        (dt.date(2026, 11, 1), "2026-11-01"),
        (dt.timedelta(seconds=90), "0:01:30"),
        (float("inf"), "inf"),
    ],
)
def test_cells_are_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_what_takes_all_memory_or_is_damaged_is_refused(tmp_path: Path) -> None:
    far = tmp_path / "far.xlsx"
    with xlsxwriter.Workbook(far) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, "b")
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes(workbook(tmp_path / "a.xlsx", A=results(1)).read_bytes()[:-700])
    for path in (far, cut):
        with pytest.raises(AssayError, match="a spreadsheet that cannot be read"):
            read_outputs(str(path))
