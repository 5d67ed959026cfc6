"""Price books from CSV tables: each line is a price, or one tier of a price."""

import csv
import datetime as dt
import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from assay.model.base import AssayError
from assay.model.money.price import PriceBook, PriceRow
from assay.model.source import Problem, type_message
from assay.model.units import choices_hint, display_value
from assay.money.books.books import GUIDE
from assay.rooms.pricelists.work.book_yaml import LATE_HINT

NEEDED = ("dimension", "item", "unit", "price")
COLUMNS = (
    *NEEDED,
    *("up_to", "free", "term", "payment", "upfront", "interruptions", "source", "date", "currency", "note"),
)
"""Allowed columns. A line with `up_to` is a tier; the next line of the same item is the next tier."""
_OF_ALL_TIERS = tuple(name for name in COLUMNS if name not in ("dimension", "item", "price", "up_to"))
_OPTIONS = {"hours_per_month": "hours"}


@dataclass
class _Group:
    """The lines of one price: several if it has tiers."""

    lines: list[int] = field(default_factory=list)
    cells: list[dict[str, str]] = field(default_factory=list)

    def continues_with(self, cells: Mapping[str, str]) -> bool:
        """Return whether the next line is another tier of this price."""
        same = ("dimension", "item", "term", "payment")
        return bool(self.cells[-1].get("up_to")) and all(self.cells[0].get(key) == cells.get(key) for key in same)

    def mismatch(self) -> "Problem | None":
        """Return the first tier line with another value than the first line, in a column that a price has only once."""
        first = self.cells[0]
        for line, cells in list(zip(self.lines, self.cells, strict=True))[1:]:
            for key in _OF_ALL_TIERS:
                value, first_value = cells.get(key), first.get(key) or ""
                if value and value != first_value:
                    message = (
                        f"{key}: {display_value(value)}, but the first tier of {first['item']} (line "
                        f"{self.lines[0]}) has "
                    )
                    hint = f"write one {key} for all tiers of a price, or leave it out below the first"
                    return _at(line, message + (display_value(first_value) if first_value else "none"), hint)
        return None

    def as_row(self, source: str) -> dict[str, Any]:
        """Return the price as a row of a book file."""
        first = self.cells[0]
        row: dict[str, Any] = {key: value for key, value in first.items() if value and key not in ("up_to", "price")}
        row.setdefault("source", source)
        if len(self.cells) > 1 or first.get("up_to"):
            row["tiers"] = [{key: each[key] for key in ("up_to", "price") if each.get(key)} for each in self.cells]
        elif first.get("price"):
            row["price"] = first["price"]
        return row


def import_csv(
    text: str, file: str, head: Mapping[str, object], today: dt.date
) -> tuple[PriceBook | None, tuple[Problem, ...]]:
    """Return the book that a table makes, or what is wrong with its lines.

    Args:
        text: The table; its first line names the columns, `COLUMNS` in any order.
        file: Its name, which is the source of prices that state none.
        head: Fields of the book besides its rows: book, provider, region, date, currency, hours_per_month.
        today: The present day; later dates are refused.

    Raises:
        AssayError: The head is wrong; the message names the command's option.
    """
    problems: list[Problem] = []
    groups = _groups(text, problems)
    rows: list[PriceRow] = []
    for group in groups:
        mismatch = group.mismatch()
        if mismatch:
            problems.append(mismatch)
            continue
        try:
            rows.append(PriceRow.model_validate(group.as_row(f"imported from {file}")))
        except ValidationError as error:
            problems += [_problem(each, group) for each in error.errors(include_url=False)]
    if not groups and not problems:
        problems.append(Problem(line=1, column=1, message="the table has no prices", hint="write one price a line"))
    if problems:
        return None, tuple(sorted(problems, key=lambda problem: problem.line))
    try:
        book = PriceBook.model_validate({**head, "rows": [row.model_dump() for row in rows]})
    except ValidationError as error:
        return None, tuple(_book_problem(each, groups) for each in error.errors(include_url=False))
    late = tuple(_future_date(path, date, groups) for path, date in book.future_dates(today))
    return (None, late) if late else (book, ())


def _future_date(path: Sequence[str | int], date: dt.date, groups: Sequence[_Group]) -> Problem:
    message = f"{date} is in the future"
    if path == ("date",):
        raise AssayError(f"--date: {message}", LATE_HINT)
    return _at(groups[int(path[1])].lines[0], f"date: {message}", LATE_HINT)


def _groups(text: str, problems: list[Problem]) -> list[_Group]:
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    groups: list[_Group] = []
    columns: Sequence[str] = ()
    line = 1
    try:
        for cells in reader:
            start, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = [cell.strip().lower() for cell in cells]
                if not _columns_are_right(columns, start, problems):
                    return []
            elif len(cells) > len(columns):
                message = f"{len(cells)} cells, but {len(columns)} columns"
                problems.append(_at(start, message, "put text with a comma into double quotes"))
            else:
                texts = (cell.strip().replace("\r\n", "\n") for cell in cells)
                named = dict(zip(columns, texts, strict=False))
                _add(groups, named, start)
    except csv.Error as error:
        problems.append(_at(line, f"not a table: {error}", "save it as CSV with commas and double quotes"))
    return groups


def _add(groups: list[_Group], cells: dict[str, str], line: int) -> None:
    if not groups or not groups[-1].continues_with(cells):
        groups.append(_Group())
    groups[-1].lines.append(line)
    groups[-1].cells.append(cells)


def _columns_are_right(columns: Sequence[str], line: int, problems: list[Problem]) -> bool:
    for name in columns:
        if name not in COLUMNS:
            hint = "separate columns by commas" if ";" in name or "\t" in name else choices_hint(name, COLUMNS)
            problems.append(_at(line, f"unknown column {display_value(name)}", hint))
        elif columns.count(name) > 1:
            problems.append(_at(line, f"the column {display_value(name)} comes twice", "remove or rename one of them"))
            return False
    missing = [name for name in NEEDED if name not in columns]
    if missing and not problems:
        hint = f"the first line names the columns: {','.join(NEEDED)} and, if needed, {','.join(COLUMNS[4:])}"
        problems.append(_at(line, f"there is no column {' or '.join(missing)}", hint))
    return not problems


def _at(line: int, message: str, hint: str) -> Problem:
    return Problem(line=line, column=1, message=message, hint=hint)


def _problem(detail: ErrorDetails, group: _Group) -> Problem:
    """Return a row's problem with the line of the table that has it."""
    path = (*detail["loc"], *detail.get("ctx", {}).get("inner", ()))
    tier = next((part for before, part in itertools.pairwise(path) if before == "tiers"), 0)
    line = group.lines[tier] if isinstance(tier, int) and tier < len(group.lines) else group.lines[0]
    name = str(path[-1]) if path else ""
    if detail["type"] == "missing":
        return _at(line, f"the {name} is missing", "each line needs dimension, item, unit and price")
    if not path and not any(cells.get("price") for cells in group.cells):
        return _at(line, "the price is missing", "each line needs dimension, item, unit and price")
    message, hint = _message_and_hint(detail)
    return _at(line, f"{name}: {message}" if name in COLUMNS and detail["loc"] else message, hint)


def _message_and_hint(detail: ErrorDetails) -> tuple[str, str]:
    context = detail.get("ctx", {})
    if detail["type"] == "study":
        return context["message"], context["hint"]
    return type_message(detail) or (detail["msg"].lower(), f"see {GUIDE}")


def _book_problem(detail: ErrorDetails, groups: Sequence[_Group]) -> Problem:
    """Return a problem between two rows with the line of the later one."""
    inner = (*detail["loc"], *detail.get("ctx", {}).get("inner", ()))
    place = inner[1] if inner[:1] == ("rows",) and isinstance(inner[1], int) else None
    message, hint = _message_and_hint(detail)
    if place is None:
        raise AssayError(f"--{_OPTIONS.get(str(inner[0]), inner[0])}: {message}", hint)
    return _at(groups[place].lines[0], message, hint)
