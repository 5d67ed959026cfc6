"""Tables of papers recomputed from designs, catalogue and price books, next to the printed figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from assay.model.base import AssayError
from assay.model.frozen import Frozen
from assay.model.money.amount import EXACT, Amount, Term
from assay.model.money.price import Bill, PriceBook
from assay.model.study.axis import fault
from assay.model.units import choices_hint
from assay.model.yaml_files import read_model
from assay.money.books.books import load_book
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import price_bill
from assay.money.cost.designs import load_template
from assay.money.cost.limits import design_limits
from assay.money.papers.audit import (
    MONTHS,
    NONE,
    Mistakes,
    PrintedFigure,
    digits_of,
    explaining_mistakes,
    format_digits,
)
from assay.money.papers.formulas import Formula, FormulaInput

PRESETS = Path(__file__).with_name("presets")
GUIDE = "docs/guides/price.md"
THOUSAND, BINARY = Decimal(1000), Decimal(1024)


class CostColumn(Frozen):
    """A column of a cost table."""

    of: Literal["hour", "month", "year", "three_years"]
    term: Term = "on-demand"
    digits: int = Field(ge=0, le=6)


class CostRow(Frozen):
    """A row of a cost table: a design with its parameter values.

    Attributes:
        set: Parameter -> value.
        printed: The printed figure of each column of the table.
    """

    set: dict[str, Any]
    printed: tuple[str, ...]


class CostTable(Frozen):
    """A cost table: one design with several values of its parameters."""

    table: str
    design: str
    columns: dict[str, CostColumn]
    rows: tuple[CostRow, ...]

    @model_validator(mode="after")
    def _complete(self) -> "CostTable":
        for place, row in enumerate(self.rows):
            if len(row.printed) != len(self.columns):
                hint = f"write {len(self.columns)}: {', '.join(self.columns)}"
                raise fault(f"{len(row.printed)} printed figures", hint, "rows", place, "printed")
        return self


class ClientRates(Frozen):
    """Rates measured with a number of clients, in MB/s of 10^6 bytes."""

    clients: int
    write: Amount
    read: Amount


class PrintedCosts(Frozen):
    """What the paper prints for an option: money per hour, in the book's currency."""

    hour: str
    per_tb: str
    per_gbs_write: str


class MeasuredOption(Frozen):
    """A file system that the paper built and measured.

    Attributes:
        capacity_tb: Capacity as the paper prints it.
        scaling: Rates measured with growing client counts.
    """

    option: str
    design: str
    set: dict[str, Any]
    capacity_tb: Amount
    printed: PrintedCosts
    scaling: tuple[ClientRates, ...] = Field(min_length=1)

    def rate(self, mistakes: Mistakes) -> Decimal:
        """Return the best write rate in GB/s, or what a mistake takes for it."""
        rates = [point.read if "read" in mistakes else point.write for point in self.scaling]
        rate = rates[-1] if "last" in mistakes else max(rates)
        return EXACT.divide(rate, BINARY if "binary" in mistakes else THOUSAND)


class PaperFigure(Frozen):
    """A single figure.

    Attributes:
        printed: As the paper prints it; None: the paper does not have it.
        digits: Decimal digits to show if it is not printed.
        book: Price book, if it is not the preset's.
    """

    what: str
    unit: str
    printed: str | None = None
    digits: int = Field(2, ge=0, le=6)
    book: str | None = None
    formula: Formula


class Preset(Frozen):
    """The tables and figures of one paper."""

    preset: str
    about: str
    source: str
    book: str
    tables: tuple[CostTable, ...] = ()
    options: tuple[MeasuredOption, ...] = ()
    figures: tuple[PaperFigure, ...] = ()


@dataclass(frozen=True)
class ComputedFigure:
    """A recomputed figure.

    Attributes:
        group: Figures of one group come from one computation: a mistake must explain all of them.
        text: The value with the digits of `printed`, or with those that the preset states.
        how: The formula with its numbers.
        mistakes: Sets of mistakes that explain the printed figures of its group; empty if all are right, or none does.
    """

    what: str
    group: str
    unit: str
    value: Decimal
    text: str
    printed: str | None
    how: str
    mistakes: tuple[Mistakes, ...] = ()

    @property
    def is_right(self) -> bool | None:
        """Whether the printed figure equals the computed one; None if none is printed."""
        return None if self.printed is None else self.text == self.printed


@dataclass(frozen=True)
class TableRow:
    """A row of a cost table.

    Attributes:
        cells: Column name -> recomputed figure.
        storage_tb: Usable capacity in TB.
    """

    table: str
    design: str
    set: Mapping[str, Any]
    storage_tb: Decimal
    cells: Mapping[str, ComputedFigure]


def preset_names() -> list[str]:
    """Return the names of the presets that come with Assay."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


@cache
def load_preset(name: str) -> Preset:
    """Return a preset by name.

    Raises:
        AssayError: There is no such preset.
    """
    if name not in preset_names():
        raise AssayError(f"there is no preset `{name}`", choices_hint(name, preset_names()))
    path = PRESETS / f"{name}.yaml"
    return read_model(Preset, path.read_bytes(), path.name, GUIDE)


def table_rows(preset: Preset) -> list[TableRow]:
    """Return all rows of the preset's cost tables, in order."""
    book = load_book(preset.book)
    return [row for table in preset.tables for row in _table(table, book)]


def _table(table: CostTable, book: PriceBook) -> Iterator[TableRow]:
    template = load_template(table.design)
    checked: dict[str, list[PrintedFigure]] = {name: [] for name in table.columns}
    built = []
    for row in table.rows:
        design = template.build(row.set)
        bill = make_bill(design)
        built.append((row, design_limits(design).usable, bill))
        for (name, column), printed in zip(table.columns.items(), row.printed, strict=True):
            checked[name].append(PrintedFigure(printed, partial(_column_value, bill, book, column), frozenset(MONTHS)))
    why = {name: tuple(explaining_mistakes(figures)) for name, figures in checked.items()}
    for place, (row, usable, bill) in enumerate(built):
        cells = {
            name: ComputedFigure(
                what=f"{table.design} {row.set}",
                group=f"{table.table}, {name}",
                unit=book.currency,
                value=(value := checked[name][place].compute(NONE)),
                text=format_digits(value, column.digits),
                printed=row.printed[list(table.columns).index(name)],
                how=f"{len(bill.lines)} lines of the bill, {book.hours_per_month} hours a month ({book.book})",
                mistakes=why[name],
            )
            for name, column in table.columns.items()
        }
        yield TableRow(table.table, table.design, row.set, EXACT.divide(Decimal(usable), Decimal(10**12)), cells)


def _column_value(bill: Bill, book: PriceBook, column: CostColumn, mistakes: Mistakes) -> Decimal:
    hours = next((hours for name, hours in MONTHS.items() if name in mistakes), None)
    by_month = book if hours is None else book.model_copy(update={"hours_per_month": hours})
    cost = price_bill(bill, by_month, column.term)
    return {"hour": cost.hour, "month": cost.month, "year": cost.year, "three_years": cost.three_years}[column.of]


def figures(preset: Preset) -> list[ComputedFigure]:
    """Return the figures outside cost tables, in order, with the mistakes that explain wrong printed ones."""
    return [*_options(preset), *_single(preset)]


def _options(preset: Preset) -> list[ComputedFigure]:
    if not preset.options:
        return []
    book = load_book(preset.book)
    by_group: dict[str, list[ComputedFigure]] = {}
    checked: dict[str, list[PrintedFigure]] = {}
    for choice in preset.options:
        for group, computed, figure in _choice(choice, book):
            by_group.setdefault(group, []).append(computed)
            checked.setdefault(group, []).append(figure)
    explained = {group: tuple(explaining_mistakes(group_figures)) for group, group_figures in checked.items()}
    return [
        ComputedFigure(**{**vars(computed), "mistakes": explained[group]})
        for group, group_figures in by_group.items()
        for computed in group_figures
    ]


def _choice(choice: MeasuredOption, book: PriceBook) -> Iterator[tuple[str, ComputedFigure, PrintedFigure]]:
    design = load_template(choice.design).build(choice.set)
    hour = price_bill(make_bill(design), book).hour
    storage = ", ".join(f"{group.count} x {group.instance}" for group in design.servers)
    rate = choice.rate(NONE)

    def per_write(mistakes: Mistakes) -> Decimal:
        return EXACT.divide(hour, choice.rate(mistakes))

    computations = (
        ("an hour", choice.printed.hour, lambda _: hour, NONE, storage),
        (
            "an hour for each TB",
            choice.printed.per_tb,
            lambda _: EXACT.divide(hour, choice.capacity_tb),
            NONE,
            f"{hour} / {choice.capacity_tb} TB",
        ),
        (
            "an hour for each GB/s of write",
            choice.printed.per_gbs_write,
            per_write,
            frozenset({"read", "binary", "last"}),
            f"{hour} / {rate} GB/s, the best of {len(choice.scaling)} client counts",
        ),
    )
    for group, printed, compute, knows, how in computations:
        figure = PrintedFigure(printed, compute, knows)
        value = compute(NONE)
        text = format_digits(value, 2)
        yield (
            group,
            ComputedFigure(choice.option, group, book.currency, value, text, printed, f"{how} ({book.book})"),
            figure,
        )


def _single(preset: Preset) -> Iterator[ComputedFigure]:
    values: dict[str, Decimal] = {}
    for figure in preset.figures:
        context = FormulaInput(load_book(figure.book or preset.book), dict(values))
        value = figure.formula.value(context)
        values[figure.what] = value
        printed = figure.printed
        checked = _checked(figure, context)
        yield ComputedFigure(
            what=figure.what,
            group=figure.what,
            unit=figure.unit,
            value=value,
            text=format_digits(value, figure.digits if printed is None else digits_of(printed)),
            printed=printed,
            how=figure.formula.how(context),
            mistakes=() if checked is None else tuple(explaining_mistakes([checked])),
        )


def _checked(figure: PaperFigure, context: FormulaInput) -> PrintedFigure | None:
    if figure.printed is None:
        return None
    return PrintedFigure(
        figure.printed, lambda mistakes: figure.formula.value(context, mistakes), figure.formula.possible_mistakes
    )


def wrong_groups(figures: Sequence[ComputedFigure]) -> dict[str, list[ComputedFigure]]:
    """Return the groups that have a wrong printed figure: group -> its figures."""
    groups: dict[str, list[ComputedFigure]] = {}
    for one in figures:
        groups.setdefault(one.group, []).append(one)
    return {name: group for name, group in groups.items() if any(one.is_right is False for one in group)}
