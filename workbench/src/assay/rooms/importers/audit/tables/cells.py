"""A table as the rules see it: columns of texts, and of numbers within their printed rounding."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from assay.model.study.parameters import DEFINITIONS
from assay.rooms.importers.audit.findings import tail
from assay.rooms.importers.audit.tables.intervals import Interval, exactly, is_printed_number, rounded
from assay.rooms.importers.work.results import SourceTable
from assay.rooms.importers.work.table_numbers import digits_of
from assay.rooms.importers.work.table_roles import (
    DERIVED,
    DESCRIPTIONS,
    FIGURES,
    IGNORED,
    LOG,
    PROCESSES,
    Roles,
    parse_roles,
)

if TYPE_CHECKING:
    from assay.rooms.importers.audit.tables.search import Found

CHANCE = 1e-3
"""Chance below which zeros at the end of so many numbers are no coincidence."""
MIN_SHARE = 0.6
"""Share of cells that must be numbers in a column of numbers."""


class TableFinding(NamedTuple):
    """What a rule says of a table.

    Attributes:
        line: Line of the row that it is about, or of the headings.
        column: The heading of the column; empty for the whole table.
        text: One sentence.
        numbers: Its numbers by name.
        lines: Further rows that it is about.
        plain: The sentence for readers who do not have the table; empty: `text`.
    """

    line: int
    column: str
    text: str
    numbers: dict[str, object] = {}  # noqa: RUF012 - never changed
    lines: tuple[int, ...] = ()
    plain: str = ""


class TableColumn:
    """A column.

    Attributes:
        heading: Its heading.
        texts: Its cells; empty ones, and those that mean nothing, are empty.
        digits: The numbers in its cells, digit by digit; empty where there is none.
    """

    def __init__(self, heading: str, texts: Sequence[str], digits: Sequence[str]) -> None:
        self.heading, self.texts, self.digits = heading, tuple(texts), tuple(digits)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether most of its cells are numbers."""
        count = sum(map(bool, self.texts))
        return count > 0 and sum(map(bool, self.digits)) >= MIN_SHARE * count

    @cached_property
    def padded(self) -> tuple[str, ...]:
        """Its numbers with the zeros at the end that spreadsheets leave out: `5` between `4.5` and `3.5` is `5.0`.

        Numbers get no more digits than the longest one of the column has: `50.3` beside `1.75` stays as it is. Nor
        do those of which there are more than chance gives zeros: four of `536` among twenty of `336.82` are rounded.
        """
        known = [text for text in self.digits if text and "e" not in text.lower()]
        places = max((_places(text) for text in known), default=0)
        most = max((_significant(text) for text in known), default=0)
        missing = [places - _places(text) for text in known]
        likely = {
            zeros
            for zeros in set(missing)
            if tail(len(known), sum(each >= zeros for each in missing), 0.1**zeros) > CHANCE
        }
        return tuple(
            _padded(text, places, most)
            if text and "e" not in text.lower() and places - _places(text) in likely
            else text
            for text in self.digits
        )

    @cached_property
    def is_whole(self) -> bool:
        """Whether all its numbers are whole."""
        return not any("." in text or "e" in text.lower() for text in self.digits)


def _places(digits: str) -> int:
    return len(digits.partition(".")[2])


def _significant(digits: str) -> int:
    return len(digits.replace(".", "").lstrip("-0"))


def _padded(digits: str, places: int, most: int) -> str:
    whole, _, fraction = digits.partition(".")
    missing = min(places - len(fraction), most - _significant(digits))
    return f"{whole}.{fraction}{'0' * missing}" if missing > 0 and _significant(digits) else digits


class AuditedTable:
    """A table that is audited.

    Attributes:
        source: Its cells.
        roles: What its columns are.
        columns: Heading -> column.
        lines: Line of each row.
        found: The formulas that headings say, once they are found.
        indexes: Headings -> rows by the texts that they have there, filled by formulas over rows.
    """

    def __init__(self, source: SourceTable, roles: Roles | None = None) -> None:
        self.source = source
        self.roles = roles or parse_roles(source.roles.encode(), source.file)
        self.found: tuple[Found, ...] | None = None
        self.indexes: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
        self.lines = tuple(line for line, _ in source.rows)
        self.columns = {
            heading: self._column(heading, [cells[at] for _, cells in source.rows])
            for at, heading in enumerate(source.headings)
        }

    def _column(self, heading: str, cells: Sequence[str]) -> TableColumn:
        role = self.roles.columns.get(heading)
        texts = ["" if cell in self.roles.empty else cell for cell in cells]
        if role is not None and role.blank:
            above = ""
            texts = [above := text or above for text in texts]
        return TableColumn(heading, texts, [digits_of(text, self.roles) for text in texts])

    def role(self, heading: str) -> str:
        """Return the role of a column."""
        found = self.roles.columns.get(heading)
        return found.role if found else IGNORED

    @property
    def numeric(self) -> tuple[TableColumn, ...]:
        """Its columns of numbers, in order."""
        return tuple(column for column in self.columns.values() if column.is_numeric)

    @cached_property
    def keys(self) -> tuple[TableColumn, ...]:
        """The columns that say what a row is of."""
        names = (*DESCRIPTIONS, *DEFINITIONS)
        return tuple(column for name, column in self.columns.items() if self.role(name) in names)

    @cached_property
    def figures(self) -> tuple[TableColumn, ...]:
        """The columns of what was measured."""
        return tuple(column for name, column in self.columns.items() if self.role(name) in (*FIGURES, *PROCESSES))

    def number(self, heading: str, row: int) -> Interval | None:
        """Return the number of a cell within its printed rounding; None if it has none.

        Whole numbers of columns that are no figures are counts, and exact.
        """
        column = self.columns[heading]
        text = column.padded[row]
        if not text or not is_printed_number(text):
            return None
        is_count = column.is_whole and self.role(heading) not in (*FIGURES, *PROCESSES, DERIVED)
        return exactly(text) if is_count else rounded(text)

    @cached_property
    def others(self) -> Mapping[str, "AuditedTable"]:
        """The tables beside this one that its formulas sum up, by file name."""
        plain = self.roles.model_copy(update={"columns": {}})
        return {other.file: AuditedTable(other, plain) for other in self.source.others}

    def described(self, row: int) -> str:
        """Return what a row is of: its keys, or its first texts."""
        texts = (each for name, each in self.columns.items() if not each.is_numeric and self.role(name) != DERIVED)
        columns = self.keys or tuple(texts)[:2]
        return " / ".join(dict.fromkeys(column.texts[row] for column in columns if column.texts[row]))

    def shortly_described(self, row: int) -> str:
        """Return the texts that tell a row from others: columns that say the same in all rows are left out."""
        texts = [each for name, each in self.columns.items() if self.role(name) not in (DERIVED, IGNORED, *LOG)]
        words = [each for each in texts if not each.is_numeric and len(set(each.texts)) > 1]
        return ", ".join(dict.fromkeys(each.texts[row] for each in words if each.texts[row]))

    def place_of(self, row: int) -> str:
        """Return where in the original a row stands, by its own column of places, or by the roles file."""
        known = (self.columns[name].texts[row] for name in ("place", "section", "where") if name in self.columns)
        found = next((text for text in known if text), "") or self.roles.source
        return f"section {found}" if re.fullmatch(r"[0-9.]+", found) else found

    def rows(self) -> Iterator[int]:
        """Yield the index of each row."""
        return iter(range(len(self.lines)))
