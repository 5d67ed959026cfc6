"""The part `price` of papers: designs by several price books, and the tables of a published paper computed again."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.money.price import DEFAULT_BOOK, PriceBook, one_currency
from assay.model.money.use import DesignChoice, Use
from assay.report import numbers
from assay.report.document import Block, Cell, Column, Num, Paragraph, Table
from assay.report.paper_part import PaperContext, PartKind, PartOptions
from assay.report.pricing import money_cell

if TYPE_CHECKING:
    from assay.money.papers.presets import ComputedFigure, TableRow


_PARTS = {
    "filesystem": "a file system",
    "instance": "instances",
    "object": "objects",
    "power": "electricity",
    "purchase": "hardware",
    "rack": "rack space",
    "service": "a fee",
    "snapshot": "snapshots",
    "table": "a table",
    "transfer": "traffic",
    "volume": "volumes",
}
"""First word of a dimension of a price book -> what is sold, in words."""


class PriceOptions(PartOptions):
    """Options of the part.

    Attributes:
        preset: A paper whose tables are computed again, in place of all else.
        designs: Designs as `assay price` takes them, `NAME:key=value`.
        books: Price books, the oldest first.
        capacity: Each design is sized for it, such as `40TB`; empty: as its values say.
        names: Design as written above -> its name in the table.
        caption: Words below the table.
    """

    preset: str = ""
    designs: tuple[str, ...] = ()
    books: tuple[str, ...] = (DEFAULT_BOOK,)
    capacity: str = ""
    names: dict[str, str] = Field(default_factory=dict)
    caption: Annotated[str, Field(max_length=1000)] = ""


@dataclass(frozen=True, slots=True)
class _Priced:
    """What a design costs a month by one book; `month` is None if the book lacks a price, which `why` says.

    Attributes:
        dates: Those of the prices that were used.
        parts: Kinds of what the price is of, such as `instances`.
        has_client: The price includes the instance that uses the storage.
    """

    month: Decimal | None
    usable: int
    why: str = ""
    dates: tuple[dt.date, ...] = ()
    parts: tuple[str, ...] = ()
    has_client: bool = False

    @property
    def of_each_tb(self) -> Decimal | None:
        """Cost of a month for each usable TB (10^12 bytes); None without a price or a capacity."""
        return None if self.month is None or not self.usable else self.month * 10**12 / self.usable


def price_blocks(options: PriceOptions, context: PaperContext) -> list[Block]:
    """Return a table of designs by books, or the tables of a preset.

    Raises:
        AssayError: A design, book, capacity or preset is wrong, or no book prices a design.
    """
    if options.preset:
        if options.designs or options.capacity:
            raise AssayError("a preset has its own designs", "leave `designs` and `capacity` out, or `preset`")
        return list(_preset_blocks(options))
    if not options.designs or not options.books:
        raise AssayError("no design, or no book, is named", "write designs: [nfs-gp3] and books: [aws-us-east-1]")
    return _design_blocks(options, context)


def _design_blocks(options: PriceOptions, context: PaperContext) -> list[Block]:
    from assay.money.books.books import load_book

    books = [load_book(name, context.folder) for name in options.books]
    one_currency(books)
    rows: list[tuple[Cell, ...]] = []
    priced_by_name: dict[str, list[_Priced]] = {}
    for written in options.designs:
        name = options.names.get(written, written)
        priced = [_priced(written, options.capacity, book, context) for book in books]
        priced_by_name[name] = priced
        first, last = priced[0].month, priced[-1].month
        ratio = float(last / first) if first and last is not None and len(books) > 1 else None
        usable = Num(f"{priced[0].usable / 1e12:.4g}", float(priced[0].usable))
        months = [money_cell(cost) for one in priced for cost in (one.month, one.of_each_tb)]
        rows.append((name, usable, *months, *([_ratio(ratio)] if len(books) > 1 else [])))
    columns = [Column("Design"), Column("Usable", "TB", is_numeric=True)]
    for book in books:
        columns.append(Column(book.book, f"{book.currency} a month", is_numeric=True))
        columns.append(Column("of each TB", f"{book.currency} a month", is_numeric=True))
    columns += [Column("Last ÷ first", is_numeric=True)] if len(books) > 1 else []
    days = [[day for found in priced_by_name.values() for day in found[place].dates] for place in range(len(books))]
    used = "; ".join(_dates_words(book, some) for book, some in zip(books, days, strict=True))
    caption = " ".join((options.caption or "Cost of a month, all of it switched on, on demand.", f"Prices: {used}."))
    words = " ".join((*_lacking(priced_by_name), *_contents(priced_by_name)))
    return [Table("price", tuple(columns), tuple(rows), caption), *([Paragraph(words)] if words else [])]


def _lacking(priced: Mapping[str, Sequence[_Priced]]) -> Iterator[str]:
    """Yield what books have no price of, each with the designs that need it."""
    lacking: dict[str, list[str]] = {}
    for name, found in priced.items():
        for why in (one.why for one in found if one.why):
            lacking.setdefault(why, []).append(name)
    for why, names in lacking.items():
        yield f"{'; '.join(names)}: {why}."
    if lacking:
        yield "A book without a price does not say whether the part was sold."


def _contents(priced: Mapping[str, Sequence[_Priced]]) -> Iterator[str]:
    """Yield what the prices are of, and which common costs are in none of them."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for name, found in priced.items():
        parts = next((one.parts for one in found if one.parts), ())
        if parts:
            kinds.setdefault(parts, []).append(name)
    if not kinds:
        return
    for parts, names in kinds.items():
        yield f"In the price of {'; '.join(names)}: {numbers.listing(list(parts))}."
    counted = {part for parts in kinds for part in parts}
    absent = [part for part in ("administration", "snapshots", "traffic") if part not in counted]
    if not any(one.has_client for found in priced.values() for one in found):
        absent.insert(0, "clients")
    yield f"Not in the prices: {numbers.listing([*absent, 'tax'])}."


def _dates_words(book: PriceBook, days: Sequence[dt.date]) -> str:
    """Return a book with the dates of the prices that were used of it."""
    ends = " to ".join(dict.fromkeys(str(day) for day in (min(days, default=book.date), max(days, default=book.date))))
    return f"{book.book}, {ends}, {book.hours_per_month} hours a month"


def _ratio(value: float | None) -> Num:
    return Num(numbers.NONE if value is None else f"{value:.2f}×", value)


def _file_or_name(written: str, folder: Path) -> str:
    """Return the path of a design beside the description, or the name of a shipped one."""
    try:
        return str(folder / written) if (folder / written).is_file() else written
    except OSError:
        # Too long for a path.
        return written


def _priced(written: str, capacity: str, book: PriceBook, context: PaperContext) -> _Priced:
    from assay.cli.money.price_choose import combine_designs
    from assay.cli.money.price_sizing import parse_capacity, size_designs
    from assay.money.cost.limits import design_limits
    from assay.money.cost.metrics import price_design

    ((chosen, design),) = combine_designs([_file_or_name(written, context.folder)], [], [])
    if capacity and not {"capacity", "stored"} & chosen.set.keys():
        ((chosen, design),) = size_designs([(chosen, design)], parse_capacity(capacity))
    try:
        option = price_design(
            DesignChoice(design=chosen.design, set=chosen.set), design, book, "on-demand", None, Use()
        )
    except AssayError as error:
        if error.exit_code != EXIT_REFUSED:
            raise
        return _Priced(None, design_limits(design).usable, error.message)
    used = tuple(book.date_of(row) for row in option.cost.rows)
    kinds = (row.dimension.split("-", 1)[0] for row in option.cost.rows)
    parts = tuple(dict.fromkeys(_PARTS.get(kind, kind) for kind in kinds))
    return _Priced(option.cost.month, option.limits.usable, "", used, parts, design.is_attached)


def _preset_blocks(options: PriceOptions) -> Iterator[Block]:
    from assay.money.papers.presets import figures, load_preset, table_rows, wrong_groups

    preset = load_preset(options.preset)
    rows, found = table_rows(preset), figures(preset)
    costs = [cell for row in rows for cell in row.cells.values()]
    printed = [one for one in (*costs, *found) if one.printed is not None]
    right = sum(bool(one.is_right) for one in printed)
    yield Paragraph(
        options.caption
        or f"{right} of {len(printed)} printed figures follow from {preset.book} and the catalogue; {preset.source}."
    )
    for name in dict.fromkeys(row.table for row in rows):
        yield _cost_table(name, [row for row in rows if row.table == name])
    if found:
        cells = tuple(
            (
                one.group if one.group == one.what else f"{one.what}: {one.group}",
                one.unit,
                Num(one.printed or numbers.NONE, float(one.printed) if one.printed else None),
                Num(one.text, float(one.value)),
                one.how,
            )
            for one in found
        )
        columns = (
            Column("Figure"),
            Column("Unit"),
            Column("Printed", is_numeric=True),
            Column("Computed", is_numeric=True),
            Column("How"),
        )
        yield Table("figures", columns, cells, "Figures outside of cost tables, as printed and as computed.")
    if words := list(_reasons(wrong_groups([*costs, *found]))):
        yield Paragraph(" ".join(words))


def _cost_cell(one: "ComputedFigure") -> Num:
    return Num(one.text if one.is_right is not False else f"{one.printed} ({one.text})", float(one.value))


def _cost_table(name: str, rows: "Sequence[TableRow]") -> Table:
    """Return a cost table, with the computed figure in brackets where another one is printed."""
    keys = list(rows[0].cells)
    titles = [key.removeprefix("cost_").removesuffix("_usd").replace("_", " ") for key in keys]
    unit = rows[0].cells[keys[0]].unit
    columns = [Column("Instance"), Column("Storage", "TB", is_numeric=True)]
    columns += [Column(title, unit, is_numeric=True) for title in titles]
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        storage = Num(f"{float(row.storage_tb):.4g}", float(row.storage_tb))
        costs = [_cost_cell(row.cells[key]) for key in keys]
        body.append((str(row.set.get("instance", "")), storage, *costs))
    is_right = all(cell.is_right is not False for row in rows for cell in row.cells.values())
    marks = (
        "as printed, and as computed" if is_right else "as printed, with what is computed in brackets where it differs"
    )
    caption = f"{name.replace('_', ' ').capitalize()}, {marks}."
    return Table(name, tuple(columns), tuple(body), caption)


def _reasons(groups: "Mapping[str, Sequence[ComputedFigure]]") -> Iterator[str]:
    """Yield which common mistake gives the printed figures of each group that are not what is computed."""
    from assay.money.papers.audit import mistakes_text

    for group, some in groups.items():
        reasons = " or ".join(mistakes_text(mistakes) for mistakes in some[0].mistakes)
        words = f"the printed figures are as {reasons}" if reasons else "no known mistake gives what is printed"
        yield f"{group[:1].upper()}{group[1:]}: {words}."


PRICE = PartKind(price_blocks, "", PriceOptions, short_option="preset")
