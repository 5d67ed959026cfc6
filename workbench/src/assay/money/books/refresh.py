"""A price book renewed from the provider's price list files: the rows stay, their prices change."""

import datetime as dt
import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, FINEST, TERM_MONTHS, out_of_bounds
from assay.model.money.price import UNITS, Book, Row, Tier, row_name
from assay.money.books.bulk import Attributes, Offered, OfferFile, Wanted
from assay.money.books.offers import LINKS, Rule, has_prefix, offer_url, rule_for, term_fits, usage_of

_GIVEN = {
    "hrs": ("hours", 1),
    "hours": ("hours", 1),
    "gb-mo": ("byte-months", None),
    "gb-month": ("byte-months", None),
    "gb": ("bytes", None),
    "iops-mo": ("IOPS-months", 1),
    "mibps-mo": ("byte/s-months", 2**20),
    "gibps-mo": ("byte/s-months", 2**30),
    "ios": ("requests", 1),
    "requests": ("requests", 1),
    "readrequestunits": ("requests", 1),
    "writerequestunits": ("requests", 1),
    "readcapacityunit-hrs": ("unit-hours", 1),
    "writecapacityunit-hrs": ("unit-hours", 1),
}
"""Units of the files: kind, and base units in one. None: AWS prints GB; its base is what the book's row says."""
UPFRONT = "quantity"
_OF_THE_OLD_SOURCE = ("doubtful", "not seen in", "undated")
"""A note that says so speaks of where the old price was found, and goes with it."""


@dataclass(frozen=True)
class Change:
    """A row that the files have a price of.

    Attributes:
        old, new: Before and after; only date and source differ if the price is still that.
    """

    old: Row
    new: Row

    @property
    def is_new(self) -> bool:
        """Whether the price is another one."""
        return _prices(self.old) != _prices(self.new)


@dataclass(frozen=True)
class Refreshed:
    """A book with new prices.

    Attributes:
        changes: Rows that were found, in the book's order.
        left: Rows that keep their old price and date, and why.
    """

    book: Book
    changes: tuple[Change, ...]
    left: tuple[tuple[Row, str], ...]


def needed_files(book: Book) -> list[str]:
    """Addresses of the files that have the book's rows.

    Raises:
        AssayError: The book is historic, the provider has no such files, or they have none of the rows.
    """
    if book.historic:
        raise AssayError(f"{book.book} is of the past on purpose: its prices stay", "refresh a book of the present")
    if book.provider != "aws":
        raise AssayError(
            f"only price list files of aws are read; the book {book.book} is of {book.provider}",
            "write the prices into a table and use `assay prices import`",
        )
    offers = dict.fromkeys(rule.offer for rule in map(rule_for, book.rows) if rule)
    if not offers:
        raise AssayError(f"none of the rows of {book.book} is in AWS's price list files", "nothing was changed")
    return [offer_url(offer, book.region) for offer in offers]


def wanted_of(book: Book) -> Wanted:
    """Picks the products that a book's rows stand for."""
    rules: dict[str, list[Rule]] = defaultdict(list)
    for rule in filter(None, map(rule_for, book.rows)):
        for usage in rule.usage:
            rules[usage].append(rule)

    def wanted(attributes: Attributes) -> bool:
        return any(rule.fits(attributes, book.region) for rule in rules.get(usage_of(attributes), ()))

    return wanted


def refresh(book: Book, files: Sequence[OfferFile]) -> Refreshed:
    """The book with the files' prices.

    Of each row found, price, date and source are set; a first tier or amount that is free stays as the book has it,
    since free tiers of an account are no property of what is priced. The book's date is that of its oldest row.

    Raises:
        AssayError: No row was renewed at all.
    """
    changes: list[Change] = []
    left: list[tuple[Row, str]] = []
    told: list[str] = []
    rows: list[Row] = []
    for row in book.rows:
        try:
            found = _renewed(row, book, files)
        except _NoMatchError as error:
            left.append((row, str(error)))
            told += [] if isinstance(error, _AbsentError) else [left_text(row, str(error))]
            rows.append(row.model_copy(update={"date": book.date_of(row)}))
        else:
            changes.append(Change(row, found))
            rows.append(found)
    if not changes:
        raise _nothing(book, files, told)
    date = min(row.date for row in rows if row.date)
    dated = [row.model_copy(update={"date": None if row.date == date else row.date}) for row in rows]
    new = {**book.model_dump(exclude={"rows"}), "date": date}
    renewed = Book.model_validate({**new, "rows": [row.model_dump() for row in dated]})
    return Refreshed(renewed, tuple(changes), tuple(left))


def _nothing(book: Book, files: Sequence[OfferFile], told: Sequence[str]) -> AssayError:
    """Why no row was renewed: `told` are those that the files have, with the reason each."""
    names = ", ".join(file.name for file in files)
    others = sorted({currency for file in files for currency in file.others})
    if told:
        more = f", and {len(told) - 1} more" if len(told) > 1 else ""
        return AssayError(f"no row of {book.book} is renewed from {names}: {told[0]}{more}", "give other files")
    if others:
        message = f"{names}: prices in {', '.join(others)}; the book {book.book} is in {book.currency}"
        return AssayError(message, f"give files with prices in {book.currency}")
    return AssayError(f"no row of {book.book} is in {names}", f"give files of {book.provider} for {book.region}")


class _NoMatchError(Exception):
    """A row cannot be renewed; the message says why."""


class _AbsentError(_NoMatchError):
    """The files do not have it."""


def _renewed(row: Row, book: Book, files: Iterable[OfferFile]) -> Row:
    rule = rule_for(row)
    if rule is None:
        raise _AbsentError("the files have no spot prices" if row.term == "spot" else "no rule finds it in the files")
    of_offer = [file for file in files if file.offer == rule.offer]
    if not of_offer:
        raise _AbsentError(f"no file of {rule.offer} was read")
    for file in of_offer:
        fitting = [
            offered for offered in file.found if rule.fits(offered.attributes, book.region) and term_fits(row, offered)
        ]
        if fitting:
            prices = _one_price(row, rule, fitting)
            date = file.date or dt.date.min
            if date < book.date_of(row):
                raise _NoMatchError(f"the file is of {date}, older than the row")
            return _with(row, prices, f"AWS price list of {file.offer}: {file.name}", date)
    raise _AbsentError("not in the file" if len(of_offer) == 1 else "not in the files")


@dataclass(frozen=True)
class _Prices:
    """Tiers in the row's unit, and what is paid at once."""

    tiers: tuple[Tier, ...]
    upfront: Decimal = Decimal(0)


def _one_price(row: Row, rule: Rule, fitting: Sequence[Offered]) -> _Prices:
    """The price that all fitting products agree on; of those with and without the region's name, the latter."""
    without = [offered for offered in fitting if not has_prefix(offered.attributes) and rule.offer != LINKS]
    if len(rule.usage) > 1:
        tiers = []
        for usage, bound in zip(rule.usage, rule.bounds, strict=True):
            of_usage = [offered for offered in fitting if usage_of(offered.attributes) == usage]
            (tier,) = _agreed(row, of_usage).tiers[-1:]
            tiers.append(tier.model_copy(update={"up_to": bound}))
        return _Prices(tuple(tiers))
    return _agreed(row, without or fitting)


def _agreed(row: Row, offered: Sequence[Offered]) -> _Prices:
    by_sku: dict[str, list[Offered]] = defaultdict(list)
    for each in offered:
        by_sku[each.sku].append(each)
    found = list(dict.fromkeys(_of_product(row, each) for each in by_sku.values()))
    if not found:
        raise _NoMatchError("a tier of it is not in the file")
    if len(found) > 1:
        texts = sorted({tiers_text(each.tiers) for each in found})
        raise _NoMatchError(f"the file has it at {len(found)} prices: {', '.join(texts[:4])}")
    return found[0]


def _of_product(row: Row, lines: Sequence[Offered]) -> _Prices:
    upfront = [each.price for each in lines if each.unit.lower() == UPFRONT]
    ranges = sorted((each for each in lines if each.unit.lower() != UPFRONT), key=lambda each: each.start)
    if len(upfront) > 1 or (row.term in TERM_MONTHS) < bool(upfront):
        raise _NoMatchError("the file has more than one upfront fee of it")
    if row.payment in ("all-upfront", "partial-upfront") and not any(upfront):
        raise _NoMatchError(f"the file has no upfront fee of it, and it is paid {row.payment}")
    if row.payment == "no-upfront" and any(upfront):
        raise _NoMatchError("the file has an upfront fee of it, and it is paid no-upfront")
    if not ranges and upfront and row.payment == "all-upfront":
        return _Prices((Tier(price=Decimal(0)),), upfront[0])
    if not ranges or ranges[-1].end is not None:
        raise _NoMatchError("the file has no price of the last part of its quantity")
    for before, after in itertools.pairwise(ranges):
        if before.end != after.start or before.start >= after.start:
            raise _NoMatchError(f"the file's tiers do not join at {before.end}")
    tiers = []
    for each in ranges:
        factor = _factor(row, each.unit)
        bound = None if each.end is None else _plain(EXACT.multiply(each.end, factor))
        tiers.append(Tier(up_to=bound, price=_converted(row, each.price, factor)))
    return _Prices(tuple(tiers), upfront[0] if upfront else Decimal(0))


def _factor(row: Row, given: str) -> Decimal:
    """Units of the row in one of the file's."""
    kind, size = _GIVEN.get(given.lower(), ("", 1))
    unit = UNITS[row.unit]
    if kind != unit.kind:
        raise _NoMatchError(f"the file sells it by {given}, not by {row.unit}")
    if size is None:
        size = 2**30 if "iB" in row.unit else 10**9
    return EXACT.divide(Decimal(size), Decimal(unit.factor))


def _converted(row: Row, price: Decimal, factor: Decimal) -> Decimal:
    """A price for one unit of the row, to the finest that a book holds."""
    exact = EXACT.divide(price, factor)
    value = exact.quantize(FINEST, context=EXACT)
    if out_of_bounds(value) or bool(value) != bool(exact):
        raise _NoMatchError(f"its price for each {row.unit} cannot be written")
    return _plain(value)


def _plain(value: Decimal) -> Decimal:
    """Without zeros at its end and without exponent."""
    return Decimal(format(value.normalize(EXACT), "f"))


def _with(row: Row, prices: _Prices, source: str, date: dt.date) -> Row:
    paid = prices.tiers[1:] if len(prices.tiers) > 1 and not prices.tiers[0].price else prices.tiers
    free = row.tiers[:1] if row.tiers and not row.tiers[0].price else ()
    bound = free[0].up_to if free else None
    tiers = (*free, *paid)
    if bound is not None and paid[0].up_to is not None and paid[0].up_to <= bound:
        raise _NoMatchError(f"the file's first tier ends at {paid[0].up_to}, within what the book has as free")
    flat = len(tiers) == 1
    values = {
        "price": tiers[0].price if flat else None,
        "tiers": () if flat else tiers,
        "upfront": prices.upfront,
        "source": source,
        "date": date,
        "note": "" if any(words in row.note for words in _OF_THE_OLD_SOURCE) else row.note,
    }
    return row.model_copy(update=values)


def _prices(row: Row) -> tuple[object, ...]:
    return row.price, row.tiers, row.upfront


def price_text(row: Row) -> str:
    """`0.096`, `494 upfront + 0`, `0.023 to 51200, 0.022`."""
    text = tiers_text(row.tiers) if row.tiers else f"{row.price:f}"
    return f"{row.upfront:f} upfront + {text}" if row.upfront else text


def tiers_text(tiers: Iterable[Tier]) -> str:
    """`0.023 to 51200, 0.022`."""
    return ", ".join(f"{tier.price:f}" if tier.up_to is None else f"{tier.price:f} to {tier.up_to:f}" for tier in tiers)


def change_text(change: Change) -> str:
    """How much the price rose or fell, of rows with a single price; else empty."""
    old, new = change.old.price, change.new.price
    if change.old.upfront or change.new.upfront:
        old, new = change.old.upfront, change.new.upfront
    if not old or new is None:
        return ""
    return f"{(new - old) / old * 100:+.1f} %"


def left_text(row: Row, why: str) -> str:
    """`instance m5.large, spot: spot prices are not in the files`."""
    return f"{row_name(row)}: {why}"
