"""All rules about tables, and what they find."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from assay.rooms.importers.audit.findings import AuditFinding, Severity
from assay.rooms.importers.audit.tables import derived, grids, labels, measured_rows, repeated, trends
from assay.rooms.importers.audit.tables.cells import AuditedTable, TableFinding
from assay.rooms.importers.work.results import ToolOutput


class TableRule(NamedTuple):
    """A rule about tables; the fields are those of `Rule`, but that `find` looks at one table."""

    id: str
    severity: Severity
    about: str
    basis: str
    find: Callable[[AuditedTable], Iterator[TableFinding]]


TABLE_RULES: tuple[TableRule, ...] = (
    TableRule(
        "derived-cell",
        "error",
        "A cell of a table is not what follows from other cells, by the formula of its column.",
        "arithmetic, within the printed rounding of all cells; the formula is stated, or the heading says it and most "
        "cells follow it",
        derived.derived_cells,
    ),
    TableRule(
        "stated-bound",
        "error",
        "A bound that a text states, such as `<1`, does not hold for what follows from other cells.",
        "arithmetic: no number within the printed rounding is within the bound",
        derived.stated_bounds,
    ),
    TableRule(
        "bound-at-most-points",
        "warning",
        "A bound that a text states holds at half of the points of a table or more, and not at the others.",
        "arithmetic, as for a bound that does not hold; the text may speak of the points at which it does",
        derived.bounds_at_most_points,
    ),
    TableRule(
        "bound-of-words",
        "warning",
        "A bound that a reader has put for words of a text, such as `<1.5?` for little, does not hold.",
        "arithmetic, with the reader's number: it is written beside the table, and another one may be as good",
        derived.bounds_of_words,
    ),
    TableRule(
        "unit-convention",
        "note",
        "Cells that follow from others are in another unit than they say: powers of 1000 for those of 1024.",
        "arithmetic; GB is often written for GiB, and a reader has to know which it is",
        derived.unit_conventions,
    ),
    TableRule(
        "cut-off",
        "warning",
        "Cells that follow from others are cut off where rounding gives another last digit.",
        "arithmetic; a reader takes a printed number for rounded",
        derived.cut_cells,
    ),
    TableRule(
        "another-formula",
        "warning",
        "A column follows another formula than its heading says: a median for a mean, another column, 1024 for 1000.",
        "all its cells are given by the one, within the printed rounding; chance below 0.001 over all attempts",
        derived.other_formula,
    ),
    TableRule(
        "summary-row",
        "error",
        "A row called total, average, median, minimum or maximum is not that of the rows above.",
        "arithmetic, within the printed rounding",
        repeated.summary_rows,
    ),
    TableRule(
        "latencies-in-order",
        "error",
        "A percentile, or the greatest latency, of a row is below a lower one.",
        "order statistics, within the printed rounding",
        measured_rows.latencies_in_order,
    ),
    TableRule(
        "rows-with-figures-of-others",
        "warning",
        "All rates of a row are those of a row of something else.",
        "measurements do not agree in three figures of twelve digits together",
        measured_rows.rows_alike,
    ),
    TableRule(
        "different-values",
        "warning",
        "A figure stands in two places with different values (columns `what`, `place`, `value`).",
        "one of them is wrong, or they are of different things",
        repeated.different_values,
    ),
    TableRule(
        "two-spellings",
        "warning",
        "Two names of a column differ only in case, blanks, hyphens, or characters that look alike.",
        "programs take them for two things",
        labels.spellings,
    ),
    TableRule(
        "count-of-range",
        "warning",
        "A range such as `491-510` holds another number than a column says that fits the other rows.",
        "counting, both ends included",
        labels.counts_of_ranges,
    ),
    TableRule(
        "count-in-words",
        "warning",
        "A text such as `8 x c3.8xlarge` has another count than a column says that fits the other rows.",
        "counting",
        labels.counts_in_words,
    ),
    TableRule(
        "unknown-instance",
        "warning",
        "An instance type is not in the catalogue, which has its family in other sizes.",
        "the providers' lists of instance types",
        labels.unknown_instances,
    ),
    TableRule(
        "row-twice",
        "warning",
        "A row is of the same as an earlier one, and nothing tells them apart.",
        "repeats have a column that counts them",
        grids.rows_twice,
    ),
    TableRule(
        "count-of-columns",
        "warning",
        "A heading such as `mean of 5 runs` says another number than the table has columns of runs.",
        "counting",
        trends.count_of_columns,
    ),
    TableRule(
        "price-of-book",
        "warning",
        "The price of an instance's hour is not that of the price book which the roles file names.",
        "the book's rows, each with its source, within the printed rounding",
        trends.price_of_book,
    ),
    TableRule(
        "missing-combination",
        "note",
        "A value of a column lacks combinations that most of its other values have.",
        "an otherwise full grid",
        grids.missing_combinations,
    ),
    TableRule(
        "missing-cells",
        "note",
        "Matrices over two sizes lack cells that the others have.",
        "an otherwise full grid",
        grids.missing_cells,
    ),
    TableRule(
        "gap-in-series",
        "note",
        "A running number is left out.",
        "eight and more numbers that rise by one",
        grids.gaps_in_series,
    ),
    TableRule(
        "cell-among-neighbours",
        "note",
        "A cell over two sizes is three times all its neighbours or more, or a third or less.",
        "three neighbours or more, which differ far less from each other; a cache may do it, or a digit that is wrong",
        grids.cell_among_neighbours,
    ),
    TableRule(
        "factor-of-trend",
        "note",
        "A figure is about 10, 100 or 1000 times what the points before and after give, or such a part of it.",
        "five points and more that otherwise differ by a factor of five at most from one to the next",
        trends.factor_of_trend,
    ),
    TableRule(
        "spread-of-repeats",
        "note",
        "Three and more repeats of a result differ by a factor of 1.5 or more.",
        "something that the table does not state changed between them; their mean says little",
        measured_rows.spread_of_repeats,
    ),
    TableRule(
        "figures-alike",
        "note",
        "Three and more results in a row have the same figures.",
        "measurements of three digits seldom agree; a limit that all reach may do it",
        repeated.figures_alike,
    ),
    TableRule(
        "units-of-cells",
        "note",
        "Cells of a column have units of bits and of bytes, or of powers of 1000 and of 1024.",
        "a reader compares the numbers",
        labels.units_of_cells,
    ),
)
"""In the order in which they are documented."""


def audit_tables(outputs: Sequence[ToolOutput]) -> list[AuditFinding]:
    """Return all findings about the tables that outputs were read from."""
    found = []
    for output in outputs:
        if output.table is not None:
            table = AuditedTable(output.table)
            found += [_finding(rule, table, each) for rule in TABLE_RULES for each in rule.find(table)]
    return found


def _finding(rule: TableRule, table: AuditedTable, found: TableFinding) -> AuditFinding:
    role = table.roles.columns.get(found.column)
    assumes = role.assumes if role is not None and rule.severity == "error" else ""
    row = table.lines.index(found.line) if found.line in table.lines else None
    return AuditFinding(
        rule=rule.id,
        severity="warning" if assumes else rule.severity,
        file=table.source.file,
        line=found.line,
        result=found.column,
        text=found.text,
        numbers={name: str(value) for name, value in found.numbers.items()},
        others=tuple(f"{table.source.file}:{line}" for line in found.lines),
        plain=f"{found.plain}. Assumed: {assumes}" if assumes and found.plain else found.plain,
        source=table.roles.source if row is None else table.place_of(row),
    )


class RecomputedCells(NamedTuple):
    """How many derived cells of tables were recomputed.

    Attributes:
        cells: Cells that a formula was computed for.
        columns: Their columns.
        unknown: Cells for which the formula gives nothing, since something that goes in is not known.
    """

    cells: int
    columns: int
    unknown: int


def recomputed_cells(outputs: Sequence[ToolOutput]) -> RecomputedCells:
    """Return how many derived cells of the tables that outputs were read from were recomputed."""
    tables = [AuditedTable(output.table) for output in outputs if output.table is not None]
    columns = [column for table in tables for column in derived.recomputed(table)]
    bounds = sum(1 for table in tables for _ in derived.bounded_cells(table))
    unknown = sum(len(column.unknown) for column in columns)
    return RecomputedCells(sum(len(column.values) for column in columns) + bounds, len(columns), unknown)
