"""Update a price book from the provider's price list: the rows stay, their prices change."""

import datetime as dt
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, FINEST_AMOUNT, TERM_MONTHS, out_of_bounds
from assay.model.money.price import UNITS, PriceBook, PriceRow, PriceTier, row_name
from assay.rooms.pricelists.work.price_list import (
    SAVINGS,
    UPFRONT,
    WHOLE_TERM,
    Attributes,
    ListedPrice,
    PriceListFile,
    ProductFilter,
    ProductRule,
)
from assay.rooms.pricelists.work.providers import PROVIDERS, Provider, source_of, url_of

_OF_THE_OLD_SOURCE = ("doubtful", "not seen in", "undated")
"""A note with one of these phrases describes the old price's source, and is removed with it."""


@dataclass(frozen=True)
class RowChange:
    """A row that the files have a price for.

    Attributes:
        old, new: The row before and after; if the price is the same, only date and source differ.
    """

    old: PriceRow
    new: PriceRow

    @property
    def is_new(self) -> bool:
        """Whether the price changed."""
        return _prices(self.old) != _prices(self.new)


@dataclass(frozen=True)
class RefreshResult:
    """A book with new prices.

    Attributes:
        changes: Rows with a price in the lists, in the book's order.
        skipped: Rows that keep their old price and date, and why.
    """

    book: PriceBook
    changes: tuple[RowChange, ...]
    skipped: tuple[tuple[PriceRow, str], ...]


def provider_of(book: PriceBook) -> Provider:
    """Return the provider whose price list has the book's rows.

    Raises:
        AssayError: The book is historic, or the provider's list cannot be read.
    """
    if book.historic:
        raise AssayError(f"{book.book} is historic: its prices are not refreshed", "refresh a current book")
    provider = PROVIDERS.get(book.provider)
    if provider is None:
        raise AssayError(
            f"price lists of {', '.join(PROVIDERS)} are read; the book {book.book} is of {book.provider}",
            "write the prices into a table and use `assay prices import`",
        )
    return provider


def needed_urls(book: PriceBook) -> list[str]:
    """Return the URLs of the lists that have the book's rows.

    Raises:
        AssayError: As `provider_of`; or no list has any of the rows.
    """
    provider = provider_of(book)
    urls = provider.list_urls(book)
    if not urls:
        raise AssayError(f"none of the rows of {book.book} is in {provider.label}", "nothing was changed")
    return urls


def product_filter(book: PriceBook) -> ProductFilter:
    """Return a filter for the products that a book's rows stand for, by a rule or by their SKU."""
    provider = provider_of(book)
    rules: dict[str, list[ProductRule]] = defaultdict(list)
    for rule in filter(None, map(provider.rule_for, book.rows)):
        for key in provider.rule_keys(rule):
            rules[key].append(rule)
    skus = {sku for row in book.rows for sku in _skus(row)}

    def wanted(attributes: Attributes) -> bool:
        if skus and not skus.isdisjoint((attributes.get("sku", ""), attributes.get("meterid", ""))):
            return True
        return any(rule.fits(attributes, book.region) for rule in rules.get(provider.index_key(attributes), ()))

    return wanted


def _skus(row: PriceRow) -> list[str]:
    """Return a row's SKUs; a price in tiers or parts has several."""
    return [sku for sku in row.sku.replace(",", " ").replace("+", " ").split() if sku]


@dataclass(frozen=True)
class _SkuRule:
    """The rule for a row that is found by its SKU alone."""

    skus: tuple[str, ...]
    units: Mapping[str, tuple[str, int | None]]
    offers: Sequence[str] = ()
    sums: Sequence[tuple[str, Decimal]] = ()
    bounds: Sequence[Decimal | None] = field(default=(None,))

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Return whether a product has one of the SKUs or Azure meter IDs, in the region if it has one."""
        if attributes.get("regioncode", region) not in (region, ""):
            return False
        return attributes.get("sku") in self.skus or attributes.get("meterid") in self.skus

    def parts(self, fitting: Sequence[ListedPrice]) -> list[list[ListedPrice]]:
        """Return all products as one part."""
        return [list(fitting)]


def refresh(book: PriceBook, files: Sequence[PriceListFile], today: dt.date | None = None) -> RefreshResult:
    """Return the book with the lists' prices.

    A row that is found gets its price, date and source from the list. A free first tier or free amount stays as the
    book has it: the lists do not state the free tiers of an account. The book's date is that of its oldest row.

    Args:
        book: The book.
        files: The lists that were read.
        today: Date of reading, stored in each row that is found; None: the present day.

    Raises:
        AssayError: No row was updated.
    """
    provider, read_date = provider_of(book), today or dt.date.today()
    changes: list[RowChange] = []
    left: list[tuple[PriceRow, str]] = []
    problems: list[str] = []
    rows: list[PriceRow] = []
    for row in book.rows:
        try:
            updated = _updated_row(row, book, files, provider).model_copy(update={"read_on": read_date})
        except _NoMatchError as error:
            left.append((row, str(error)))
            problems += [] if isinstance(error, _AbsentError) else [skipped_text(row, str(error))]
            rows.append(row.model_copy(update={"date": book.date_of(row)}))
        else:
            changes.append(RowChange(row, updated))
            rows.append(updated)
    if not changes:
        raise _no_row_error(book, files, problems)
    date = min(row.date for row in rows if row.date)
    dated = [row.model_copy(update={"date": None if row.date == date else row.date}) for row in rows]
    new = {**book.model_dump(exclude={"rows"}), "date": date}
    renewed = PriceBook.model_validate({**new, "rows": [row.model_dump() for row in dated]})
    return RefreshResult(renewed, tuple(changes), tuple(left))


def _no_row_error(book: PriceBook, files: Sequence[PriceListFile], problems: Sequence[str]) -> AssayError:
    """Return the error if no row was updated; `problems` are rows that the files have, each with the reason."""
    names = ", ".join(file.name for file in files)
    others = sorted({currency for file in files for currency in file.skipped_currencies})
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        return AssayError(f"no row of {book.book} is updated from {names}: {problems[0]}{more}", "give other files")
    if others:
        message = f"{names}: prices in {', '.join(others)}; the book {book.book} is in {book.currency}"
        return AssayError(message, f"give files with prices in {book.currency}")
    return AssayError(f"no row of {book.book} is in {names}", f"give files of {book.provider} for {book.region}")


class _NoMatchError(Exception):
    """A row cannot be updated; the message gives the reason."""


class _AbsentError(_NoMatchError):
    """The files do not have the row."""


def _updated_row(row: PriceRow, book: PriceBook, files: Iterable[PriceListFile], provider: Provider) -> PriceRow:
    rule = provider.rule_for(row) or (_SkuRule(tuple(_skus(row)), provider.units) if row.sku else None)
    if rule is None:
        spot = row.term == "spot" and provider.name == "aws"
        raise _AbsentError("the files have no spot prices" if spot else "no rule finds it in the files")
    lists = [(file, _offered_prices(file, rule.offers)) for file in files]
    of_offer = [(file, found) for file, found in lists if found or file.offer in rule.offers]
    if not of_offer:
        raise _AbsentError(f"no file of {rule.offers[0]} was read" if rule.offers else "not in the files")
    for file, found in of_offer:
        fitting = [each for each in found if rule.fits(each.attributes, book.region) and provider.term_fits(row, each)]
        if fitting:
            prices = _price_of(row, book, rule, fitting)
            date = file.date or dt.date.min
            if date < book.date_of(row):
                raise _NoMatchError(f"the file is of {date}, older than the row")
            source, url = source_of(provider, file, prices.of), url_of(file, prices.of)
            return _row_with(row, prices, {"source": source, "url": url, "date": date})
    raise _AbsentError("not in the file" if len(of_offer) == 1 else "not in the files")


def _offered_prices(file: PriceListFile, offers: Sequence[str]) -> list[ListedPrice]:
    return [each for offer in offers for each in file.prices_of(offer)] if offers else file.prices


@dataclass(frozen=True)
class _Prices:
    """Tiers in the row's unit, and the upfront fee.

    Attributes:
        of: The product of each part of the price.
    """

    tiers: tuple[PriceTier, ...]
    upfront: Decimal = Decimal(0)
    of: tuple[ListedPrice, ...] = field(default=(), compare=False)


def _price_of(row: PriceRow, book: PriceBook, rule: ProductRule, fitting: Sequence[ListedPrice]) -> _Prices:
    """Return the price on which all fitting products of each part agree."""
    parts = rule.parts(fitting)
    if rule.sums:
        return _summed(row, rule, parts)
    part_prices = [_agreed_prices(row, book, rule, part) for part in parts]
    if len(part_prices) == 1:
        return part_prices[0]
    tiers = [
        part.tiers[-1].model_copy(update={"up_to": bound}) for part, bound in zip(part_prices, rule.bounds, strict=True)
    ]
    return _Prices(tuple(tiers), of=tuple(each.of[0] for each in part_prices))


def _summed(row: PriceRow, rule: ProductRule, parts: Sequence[Sequence[ListedPrice]]) -> _Prices:
    """Return a price that the list states in parts, such as a machine's by core and by GiB of memory."""
    total, of = Decimal(0), []
    for (unit, quantity), part in zip(rule.sums, parts, strict=True):
        prices = {each.price for each in part}
        if not part:
            raise _NoMatchError("a price component is not in the file")
        if len(prices) > 1 or any(each.unit != unit or each.end is not None for each in part):
            texts = sorted({f"{each.price:f} for {each.unit or 'no unit'}" for each in part})
            raise _NoMatchError(
                f"the file has a price component at {', '.join(texts[:4])}, not at one price for {unit}"
            )
        total = EXACT.add(total, EXACT.multiply(part[0].price, quantity))
        of.append(part[0])
    return _Prices((PriceTier(price=_converted(row, total, Decimal(1))),), of=tuple(of))


def _agreed_prices(row: PriceRow, book: PriceBook, rule: ProductRule, offered: Sequence[ListedPrice]) -> _Prices:
    by_sku: dict[tuple[str, ...], list[ListedPrice]] = defaultdict(list)
    for each in offered:
        by_sku[each.sku, each.attributes.get("meterid", "")].append(each)
    prices = list(dict.fromkeys(_product_prices(row, book, rule, each) for each in by_sku.values()))
    if not prices:
        raise _NoMatchError("a price tier is not in the file")
    if len(prices) > 1:
        known = [each for each in prices if each.of[0].sku in _skus(row)]
        if len(known) == 1:
            return known[0]
        texts = sorted({tiered_price_text(each.tiers, each.upfront) for each in prices})
        raise _NoMatchError(f"the file has {len(prices)} different prices: {', '.join(texts[:4])}")
    return prices[0]


def _product_prices(row: PriceRow, book: PriceBook, rule: ProductRule, lines: Sequence[ListedPrice]) -> _Prices:
    of = (lines[0],)
    totals = [each for each in lines if each.unit == WHOLE_TERM]
    if totals or lines[0].term == SAVINGS:
        return _committed(row, book, rule, totals or lines)
    upfront = [each.price for each in lines if each.unit.lower() == UPFRONT]
    ranges = sorted((each for each in lines if each.unit.lower() != UPFRONT), key=lambda each: each.start)
    if len(upfront) > 1 or (row.term in TERM_MONTHS) < bool(upfront):
        raise _NoMatchError("the file has more than one upfront fee for this row")
    if row.payment in ("all-upfront", "partial-upfront") and not any(upfront):
        raise _NoMatchError(f"the file has no upfront fee for this row, which is paid {row.payment}")
    if row.payment == "no-upfront" and any(upfront):
        raise _NoMatchError("the file has an upfront fee for this row, which is paid no-upfront")
    if not ranges and upfront and row.payment == "all-upfront":
        return _Prices((PriceTier(price=Decimal(0)),), upfront[0], of)
    if not ranges or ranges[-1].end is not None:
        raise _NoMatchError("the file has no price for quantities without an upper limit")
    for before, after in itertools.pairwise(ranges):
        if before.end != after.start or before.start >= after.start:
            raise _NoMatchError(f"the file's tiers do not join at {before.end}")
    tiers = []
    for each in ranges:
        factor = _factor(row, book, rule, each.unit)
        bound = None if each.end is None else _plain(EXACT.multiply(each.end, factor))
        tiers.append(PriceTier(up_to=bound, price=_converted(row, each.price, factor)))
    return _Prices(tuple(tiers), upfront[0] if upfront else Decimal(0), of)


def _committed(row: PriceRow, book: PriceBook, rule: ProductRule, lines: Sequence[ListedPrice]) -> _Prices:
    """Return the price of a term with a single figure in the list: the total of the term, or the cost of an hour.

    The total is the same for each way to pay: all upfront, half upfront, or by the hour.
    """
    if len(lines) > 1:
        raise _NoMatchError("the file has more than one price of its term")
    hours = EXACT.multiply(Decimal(TERM_MONTHS[row.term]), book.hours_per_month)
    line = lines[0]
    if line.unit == WHOLE_TERM:
        total, hourly = line.price, EXACT.divide(line.price, hours)
    else:
        hourly = EXACT.divide(line.price, _factor(row, book, rule, line.unit))
        total = EXACT.multiply(hourly, hours)
    share = {"all-upfront": Decimal(1), "partial-upfront": Decimal("0.5")}.get(row.payment or "", Decimal(0))
    upfront = _converted(row, EXACT.multiply(total, share), Decimal(1))
    rest = _converted(row, EXACT.multiply(hourly, 1 - share), Decimal(1))
    return _Prices((PriceTier(price=rest),), upfront, (line,))


def _factor(row: PriceRow, book: PriceBook, rule: ProductRule, list_unit: str) -> Decimal:
    """Return the row's units in one unit of the list; hourly units are turned into months with the book's hours."""
    kind, size = rule.units.get(list_unit.lower(), ("", 1))
    unit, hours = UNITS[row.unit], Decimal(1)
    if kind.endswith("hours") and kind.replace("hours", "months") == unit.kind:
        kind, hours = unit.kind, book.hours_per_month
    if kind != unit.kind:
        raise _NoMatchError(f"the file has it by {list_unit or 'no unit'}, not by {row.unit}")
    if size is None:
        size = 2**30 if "iB" in row.unit else 10**9
    return EXACT.divide(Decimal(size), EXACT.multiply(Decimal(unit.factor), hours))


def _converted(row: PriceRow, price: Decimal, factor: Decimal) -> Decimal:
    """Return a price for one unit of the row, rounded to the finest that a book holds."""
    exact = EXACT.divide(price, factor)
    value = exact.quantize(FINEST_AMOUNT, context=EXACT)
    if out_of_bounds(value) or bool(value) != bool(exact):
        raise _NoMatchError(f"its price for each {row.unit} is out of the range of a price book")
    return _plain(value)


def _plain(value: Decimal) -> Decimal:
    """Return a number without trailing zeros and exponent."""
    return Decimal(format(value.normalize(EXACT), "f"))


def _row_with(row: PriceRow, prices: _Prices, found: Mapping[str, object]) -> PriceRow:
    paid = prices.tiers[1:] if len(prices.tiers) > 1 and not prices.tiers[0].price else prices.tiers
    free = row.tiers[:1] if row.tiers and not row.tiers[0].price else ()
    bound = free[0].up_to if free else None
    tiers = (*free, *paid)
    if bound is not None and paid[0].up_to is not None and paid[0].up_to <= bound:
        raise _NoMatchError(f"the file's first tier ends at {paid[0].up_to}, within the free tier of the book")
    flat = len(tiers) == 1
    values = {
        "price": tiers[0].price if flat else None,
        "tiers": () if flat else tiers,
        "upfront": prices.upfront,
        "sku": (" + " if len(tiers) == 1 else ", ").join(dict.fromkeys(each.sku for each in prices.of)),
        **found,
        "doubtful": "",
        "note": "" if any(words in row.note for words in _OF_THE_OLD_SOURCE) else row.note,
    }
    return row.model_copy(update=values)


def _prices(row: PriceRow) -> tuple[object, ...]:
    return row.price, row.tiers, row.upfront


def price_text(row: PriceRow) -> str:
    """Return a row's price in words: `0.096`, `494 upfront + 0`, `0.023 to 51200, 0.022`."""
    return tiered_price_text(row.tiers or (PriceTier(price=row.price or Decimal(0)),), row.upfront)


def tiered_price_text(tiers: Iterable[PriceTier], upfront: Decimal) -> str:
    """Return tiers and upfront fee in words: `494 upfront + 0`, `0.023 to 51200, 0.022`."""
    text = tiers_text(tiers)
    return f"{upfront:f} upfront + {text}" if upfront else text


def tiers_text(tiers: Iterable[PriceTier]) -> str:
    """Return tiers in words: `0.023 to 51200, 0.022`."""
    return ", ".join(f"{tier.price:f}" if tier.up_to is None else f"{tier.price:f} to {tier.up_to:f}" for tier in tiers)


def change_percent(change: RowChange) -> Decimal | None:
    """Return the change of the price in percent: of the upfront fee, or the first paid tier; None: it was 0 before."""
    old, new = _first_paid(change.old), _first_paid(change.new)
    if change.old.upfront or change.new.upfront:
        old, new = change.old.upfront, change.new.upfront
    return (new - old) / old * 100 if old else None


def _first_paid(row: PriceRow) -> Decimal:
    if row.price is not None:
        return row.price
    return next((tier.price for tier in row.tiers if tier.price), Decimal(0))


def change_text(change: RowChange) -> str:
    """Return the change in percent: `+3.1 %`; empty if the price was 0 before."""
    percent = change_percent(change)
    return "" if percent is None else f"{percent:+.1f} %"


def skipped_text(row: PriceRow, why: str) -> str:
    """Return a row and why it keeps its price: `instance m5.large, spot: spot prices are not in the files`."""
    return f"{row_name(row)}: {why}"
