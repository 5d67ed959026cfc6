"""A guess at the roles of a table's columns, as a roles file for the user to check."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.model.study.parameters import DEFINITIONS
from assay.rooms.importers.work.guess.columns import DATES, UNKNOWN_HEADING, guess_numbers, guess_texts, is_comment
from assay.rooms.importers.work.guess.iozone_log import guess_log
from assay.rooms.importers.work.guess.separators import Separators, find_separators, is_numeric
from assay.rooms.importers.work.guess.text import roles_text
from assay.rooms.importers.work.guess.words import (
    EMPTY,
    TOTALS,
    HeadingParts,
    extras_of,
    operation_of,
    order_of,
    size_of,
    split_heading,
)
from assay.rooms.importers.work.results import OutputError
from assay.rooms.importers.work.table_roles import COMMENT, DESCRIPTIONS, FIGURES, IGNORED, UNKNOWN
from assay.rooms.importers.work.table_text import TextTable, heading_row, is_number, markdown_rule, raw_rows, read_table

_MAJORITY = 0.6
"""Share of cells that must be alike for a column to be of that kind."""
_MAX_OPERATION = 40
"""Most characters of the name of an operation."""
_MAX_WIDE_WORDS = 4
"""Most words of a heading that is the size of records."""
_SIZES = ("record_size", "file_size", "object_size")


class Guess(NamedTuple):
    """A guess.

    Attributes:
        text: A complete roles file.
        doubts: What is unsure in it.
        is_clear: Some columns are rates and the like, and how their numbers are written is not in doubt.
    """

    text: str
    doubts: tuple[str, ...]
    is_clear: bool


@dataclass
class GuessedColumn:
    """A column, and what is guessed of it; the fields are those of `ColumnRole`."""

    heading: str
    parts: HeadingParts
    cells: tuple[str, ...]
    is_numeric: bool
    role: str = "ignored"
    unit: str = ""
    values: dict[str, AxisValue | dict[str, AxisValue]] = field(default_factory=dict)
    blank: bool = False
    constants: dict[str, AxisValue] = field(default_factory=dict)

    @property
    def texts(self) -> tuple[str, ...]:
        """Its different cells that are not blank and sum up nothing."""
        return tuple(dict.fromkeys(cell for cell in self.cells if cell and not TOTALS.fullmatch(cell)))


@dataclass
class GuessedRoles:
    """A guess in parts; the fields are those of `Roles`."""

    separator: str
    skip: int
    headings: int
    numbers: Separators
    columns: list[GuessedColumn]
    constants: dict[str, AxisValue] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    tool: str = ""

    def of_role(self, *roles: str) -> list[GuessedColumn]:
        """Return the columns with one of some roles."""
        return [column for column in self.columns if column.role in roles]

    @property
    def figures(self) -> list[GuessedColumn]:
        """Columns of figures."""
        return self.of_role(*FIGURES)

    def doubt(self, column: GuessedColumn, words: str) -> None:
        """Note what is unsure of a column."""
        if words:
            self.doubts.append(f"{column.heading}: {words}")


def guess_roles(text: str) -> Guess:
    """Return a guess at the roles of a table.

    Raises:
        OutputError: It is no table.
    """
    skip, headings, title = _place(text)
    table = read_table(text, "", skip, headings)
    found = GuessedRoles(table.separator, skip, headings, Separators(), _columns(table))
    numeric = [cell for column in found.columns if column.is_numeric for cell in column.cells if cell]
    found.numbers, doubt = find_separators(numeric, table.separator)
    found.doubts += [doubt] if doubt else []
    for column in found.columns:
        _guess_column(found, column)
    for column in found.of_role("operation", "order"):
        _guess_values(found, column)
    guess_log(found)
    _guess_wide(found, title)
    _guess_wide_targets(found, title)
    _guess_target(found)
    _guess_operation(found, title)
    _ignore_sums(found)
    _settle_figures(found)
    _fill_units(found, title)
    _continue_blanks(found)
    _distinguish_rows(found)
    _ignore_totals(found)
    if not found.figures:
        found.doubts.insert(0, "no column looks like a rate: is it a table of results?")
    return Guess(roles_text(found), tuple(dict.fromkeys(found.doubts)), bool(found.figures) and not doubt)


def _place(text: str) -> tuple[int, int, str]:
    """Return how many rows precede the headings, how many the headings have, and the words above."""
    lines = text.split("\n")
    rule = markdown_rule(lines)
    if rule is not None:
        return 0, 1, " ".join(line.strip("# ") for line in lines[: rule - 1])
    rows, _ = raw_rows(text, "")
    at = heading_row(rows)
    if at is None:
        raise OutputError(1, "no row of headings above rows with numbers", "name the columns in the first row")
    title = " ".join(cell for row in rows[:at] for cell in row.cells if cell)
    upper, lower = rows[at].cells, rows[at + 1].cells
    words = [cell for cell in lower if cell]
    is_double = len(words) > 1 and not any(is_numeric(cell) for cell in words)
    has_gap = any(not cell and at < len(lower) and lower[at] for at, cell in enumerate(upper))
    return at, 2 if is_double and has_gap else 1, title


def _columns(table: TextTable) -> list[GuessedColumn]:
    found = []
    for at, name in enumerate(table.headings):
        cells = tuple(row.cells[at] for row in table.rows)
        some = [cell for cell in cells if cell and cell.lower() not in EMPTY and not TOTALS.fullmatch(cell)]
        numeric = sum(map(is_numeric, some)) >= _MAJORITY * max(1, len(some))
        found.append(GuessedColumn(name, split_heading(name), cells, numeric))
    return found


def _guess_column(found: GuessedRoles, column: GuessedColumn) -> None:
    """Set the role of a column, and what its cells say."""
    texts = column.texts
    operations = [text for text in texts if len(text) <= _MAX_OPERATION and _direction_of(text)]
    is_other = column.is_numeric or is_comment(column.parts) or bool(found.of_role("operation"))
    if not is_other and texts and len(operations) >= _MAJORITY * len(texts):
        column.role = "operation"
        return
    if not column.is_numeric and texts and all(order_of(text) for text in texts):
        column.role = "order"
        return
    parts = column.parts
    units = [split_heading(found.numbers.plain(text).lstrip("0123456789.,' ")) for text in texts]
    if column.is_numeric and not parts.kind and units and units[0].kind in ("bytes/s", "1/s"):
        parts = parts._replace(kind=units[0].kind)
    sized = sum(bool(size_of(text)) and not is_number(text) for text in texts)
    guess = guess_numbers(parts) if column.is_numeric else guess_texts(parts)
    if column.is_numeric and guess.role in ("hosts", "servers", "lanes") and not all(map(is_number, texts)):
        guess = guess_texts(column.parts)
    column.role = guess.role
    found.doubt(column, guess.doubt)
    if column.role in DEFINITIONS and len(found.of_role(column.role)) > 1:
        column.role = "ignored"
        found.doubt(column, f"ignored, since another column is {guess.role} already")
        return
    if column.role in _SIZES:
        _guess_sizes(found, column, bool(sized))
    elif column.role in FIGURES:
        has_units = any(is_numeric(text) and not is_number(found.numbers.plain(text)) for text in texts)
        column.unit = "" if has_units else column.parts.unit
        named = column.parts if column.unit else next((one for one in units if one.doubt), HeadingParts(""))
        found.doubts += [named.doubt] if named.doubt else []
    elif column.parts.kind in ("ns", "bytes") and column.role in DEFINITIONS and DEFINITIONS[column.role].kind.unit:
        column.unit = column.parts.unit


def _guess_sizes(found: GuessedRoles, column: GuessedColumn, has_units: bool) -> None:
    """Set the unit of a column of sizes, or what each of its cells says."""
    if not has_units:
        column.unit = column.parts.unit
        found.doubt(column, column.parts.doubt)
        if not column.unit:
            largest = max((float(text) for text in column.texts if re.fullmatch("[0-9.]{1,15}", text)), default=0)
            column.unit = "bytes" if largest >= 2**16 else "KiB"
            found.doubt(column, f"it has no unit: {column.unit} is a guess")
        return
    for text in column.texts:
        size = size_of(text)
        if size and not re.fullmatch("[0-9.]+ ?([KMGT]i|[MGT])?B", text):
            column.values[text] = size
            found.doubt(column, f"`{text}` is taken as {size}")


def _direction_of(text: str) -> str:
    """Return the operation that a text names, also by one letter."""
    return {"r": "read", "w": "write"}.get(text.lower(), "") or operation_of(text)


def _guess_values(found: GuessedRoles, column: GuessedColumn) -> None:
    """Say what the cells of a column of operations or orders mean."""
    own = {split.role for split in found.columns if split.role in DEFINITIONS}
    read = _direction_of if column.role == "operation" else order_of
    for text in column.texts:
        value = read(text)
        if not value:
            column.values[text] = "ignored"
            found.doubt(column, f"`{text}` is no operation that is known: rows with it are left out")
            continue
        extras = {name: one for name, one in extras_of(text).items() if name not in own}
        if extras:
            column.values[text] = {column.role: value, **extras}
        elif text not in WORK or text != value:
            column.values[text] = value


def _guess_target(found: GuessedRoles) -> None:
    """Choose one column as target; other columns of texts tell results apart, or are comments."""
    targets = found.of_role("target")
    if not targets:
        unknown = [column for column in found.of_role("comment") if _is_unknown(found, column) and all(column.cells)]
        for column in unknown[:1]:
            column.role = "target"
            found.doubts.remove(f"{column.heading}: {UNKNOWN_HEADING}")
            found.doubt(column, "taken as what was under test, since nothing else is")
    for column in targets[1:]:
        if len(column.texts) > 1:
            found.doubt(column, "taken as part of the target's name")
        else:
            column.role = "comment"
    if not found.of_role("target") and not any("target" in column.constants for column in found.columns):
        found.doubts.append("no column says what was under test: write `with: {target: ...}`")


def _is_unknown(found: GuessedRoles, column: GuessedColumn) -> bool:
    return f"{column.heading}: {UNKNOWN_HEADING}" in found.doubts


def _guess_wide_targets(found: GuessedRoles, title: str) -> None:
    """Take columns of numbers with unknown names as rates of targets of these names, if there are no other rates."""
    named = [column for column in found.of_role("throughput", "iops") if column.parts.kind or column.constants]
    if found.of_role("target") or named or not found.of_role("operation"):
        return
    roles = ("ignored", "hosts", "throughput")
    unknown = [column for column in found.columns if column.is_numeric and column.role in roles]
    kind = split_heading(title).kind
    if len(unknown) < 2:
        return
    for column in unknown:
        column.role, column.constants = "iops" if kind == "1/s" else "throughput", {"target": column.heading}
        found.doubts = [one for one in found.doubts if not one.startswith(f"{column.heading}: ")]
        found.doubt(column, f"taken as {column.role} of a target of this name")


def _guess_wide(found: GuessedRoles, title: str) -> None:
    """Give columns of figures what their headings say: operation, record size, number of the run."""
    titled = split_heading(title)
    has_operations = bool(found.of_role("operation"))
    for column in found.columns:
        if not column.is_numeric or column.role not in (*FIGURES, "ignored", "repeat", "lanes", "hosts"):
            continue
        words = column.parts.name
        size = size_of(words) if len(words.split()) <= _MAX_WIDE_WORDS else ""
        run = re.fullmatch(r"(?:r|run|lauf|iteration|trial) ?#?([0-9]+).*", words)
        if (
            column.role in ("ignored", "repeat")
            and (size or run)
            and not found.of_role("record_size" if size else "repeat")
        ):
            if titled.kind in ("bytes/s", "1/s"):
                column.role = "throughput" if titled.kind == "bytes/s" else "iops"
            else:
                column.role = "throughput"
            found.doubts = [one for one in found.doubts if not one.startswith(f"{column.heading}: ")]
        if column.role not in FIGURES:
            continue
        if not has_operations and (operation := operation_of(words)):
            column.constants["operation"] = operation
        if size and not found.of_role("record_size"):
            column.constants["record_size"] = size
        if run:
            column.constants["repeat"] = run[1]


def _guess_operation(found: GuessedRoles, title: str) -> None:
    """Find the operation of all results, if no column has it."""
    if found.of_role("operation"):
        return
    named = [column for column in found.figures if "operation" in column.constants]
    operations = {column.constants["operation"] for column in named}
    rates = [column for column in found.figures if column.role in ("throughput", "iops")]
    if len(operations) == 1 and any(column not in named for column in rates):
        found.constants["operation"] = operations.pop()
        for column in named:
            del column.constants["operation"]
        found.doubts.append(f"with: operation: {found.constants['operation']} is read from `{named[0].heading}`")
    elif not operations:
        found.constants["operation"] = operation_of(title) or UNKNOWN
        what = "is read from the title" if operation_of(title) else "is missing: write which operation was measured"
        found.doubts.append(f"with: operation {what}")


def _ignore_sums(found: GuessedRoles) -> None:
    """Ignore rates over all operations beside those of each operation."""
    rates = found.of_role("throughput", "iops", "bytes", "ops")
    operations = {column.constants["operation"] for column in rates if "operation" in column.constants}
    if len(operations) > 1 and not found.of_role("operation"):
        for column in rates:
            if "operation" not in column.constants:
                column.role, column.unit = IGNORED, ""
                found.doubt(column, "ignored, since it does not say of which operation it is")


def _settle_figures(found: GuessedRoles) -> None:
    """Ignore figures that belong to no rate, and a second rate of the same results."""
    has_runs = any("repeat" in column.constants for column in found.figures)
    taken: set[tuple[str, str]] = set()
    rated = {
        str(one.constants) for one in found.of_role("throughput", "iops", "bytes", "ops") if _is_own(one, has_runs)
    }
    for column in found.figures:
        key = (column.role, str(column.constants))
        if not _is_own(column, has_runs) or str(column.constants) not in rated or key in taken:
            column.role, column.unit, column.constants = "ignored", "", {}
            found.doubt(column, "ignored, since it is not known which result of a row it is of")
        taken.add(key)


def _is_own(column: GuessedColumn, has_runs: bool) -> bool:
    return not has_runs or "repeat" in column.constants


def _fill_units(found: GuessedRoles, title: str) -> None:
    """Give figures without a unit that of the title; else the user must write it."""
    titled = split_heading(title)
    if size := re.search(r"file size:? ([0-9.]+ ?[kmgt]i?b?)", title, re.IGNORECASE):
        found.constants["file_size"] = size_of(size[1])
    for column in found.figures:
        texts = [text for text in column.texts if text.lower() not in EMPTY]
        if column.unit or column.role in ("ops", "iops"):
            column.unit = column.unit or ("1/s" if column.role == "iops" else "")
        elif all(is_number(found.numbers.plain(text)) for text in texts):
            quantity = FIGURES[column.role]
            column.unit = titled.unit if titled.kind == quantity else UNKNOWN
            if column.unit == UNKNOWN:
                found.doubt(column, "it has no unit: write it in place of `?`")
            else:
                found.doubts += [titled.doubt] if titled.doubt else []


def _continue_blanks(found: GuessedRoles) -> None:
    """Continue cells that are merged over several rows."""
    figures = found.figures
    for column in found.columns:
        if column.role in (*FIGURES, IGNORED, COMMENT):
            continue
        for at, cell in enumerate(column.cells):
            total = any(TOTALS.fullmatch(one.cells[at]) for one in found.columns)
            if at and not cell and not total and any(one.cells[at] for one in figures) and column.cells[0]:
                column.blank = True
        if column.blank:
            found.doubt(column, "blank cells are taken to mean the same as the cell above")


def _ignore_totals(found: GuessedRoles) -> None:
    """Leave out rows that sum up others, as one of their texts says."""
    for column in found.columns:
        totals = [cell for cell in dict.fromkeys(column.cells) if TOTALS.fullmatch(cell)]
        if totals and column.role == IGNORED:
            column.role = COMMENT
        if column.role not in FIGURES:
            column.values |= dict.fromkeys(totals, IGNORED)


def _distinguish_rows(found: GuessedRoles) -> None:
    """Let a column of dates or texts tell results apart that are otherwise of the same work."""
    for role, candidates in (("repeat", DATES), ("workload", re.compile(""))):
        for column in found.of_role("comment"):
            if found.of_role("repeat") or not _has_duplicates(found):
                return
            if candidates.search(column.parts.name) and len(column.texts) > 1 and all(column.cells):
                column.role = role
                found.doubt(column, f"taken as {role}, since nothing else tells some rows apart")


def _has_duplicates(found: GuessedRoles) -> bool:
    described = found.of_role(*DESCRIPTIONS, *DEFINITIONS)
    rows = list(_described(described, found.figures))
    return len(set(rows)) < len(rows)


def _described(columns: Sequence[GuessedColumn], figures: Sequence[GuessedColumn]) -> Iterator[tuple[str, ...]]:
    above: Mapping[int, str] = {}
    for at in range(len(figures[0].cells) if figures else 0):
        above = {
            number: column.cells[at] or (above.get(number, "") if column.blank else "")
            for number, column in enumerate(columns)
        }
        if any(one.cells[at] for one in figures):
            yield tuple(above.values())
