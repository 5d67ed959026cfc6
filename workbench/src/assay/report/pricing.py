"""What designs cost and can do at most, as cells and tables: of a run's targets, and of `assay price` alike."""

from collections.abc import Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, money, rounded
from assay.model.money.price import UNITS, Book
from assay.model.money.priced import DesignCeiling
from assay.model.units import about_count, about_size
from assay.money.cost.cost import Charge, Cost
from assay.money.cost.limits import Metric
from assay.money.cost.metrics import per_unit
from assay.report import numbers
from assay.report.document import Cell, Column, Facts, Num, Share, Table

_WHAT: dict[Metric, str] = {
    "read": "GB/s of reading",
    "write": "GB/s of writing",
    "read_iops": "1,000 read IOPS",
    "write_iops": "1,000 write IOPS",
}


def what(metric: Metric) -> str:
    """What a month's cost is counted for: `GB/s of reading`."""
    return _WHAT[metric]


def rate(value: float, metric: Metric) -> str:
    """Bytes or operations per second, with the unit."""
    return f"{about_size(value)}/s" if metric in ("read", "write") else f"{about_count(value)} IOPS"


def money_cell(amount: Decimal | None, without_requests: bool = False) -> Num:
    """An amount without its currency; one in which requests are not priced says so."""
    if amount is None:
        return Num(numbers.NONE, None)
    words = f"about {money(amount)}, without requests" if without_requests else money(amount)
    return Num(words, float(amount))


def amount_columns(currency: str) -> tuple[Column, ...]:
    """Of what `amount_cells` says."""
    return (
        *(Column(name, currency, numeric=True) for name in ("Hour", "Month", "Year", "Three years")),
        Column("Usable", "TB", numeric=True),
        Column("TB-month", currency, numeric=True),
    )


def amount_cells(cost: Cost, usable: int | None, without_requests: bool = False) -> list[Cell]:
    """A cost by the hour of running, month, year and three years; the bytes for data, and a month of a TB of them.

    Args:
        cost: The cost.
        usable: Bytes for data; None if they are not known.
        without_requests: Requests are paid for, but are not in it.
    """
    amounts = (cost.hour if cost.duty else None, cost.month, cost.year, cost.three_years)
    terabytes = usable / 1e12 if usable else None
    return [
        *(money_cell(amount, without_requests) for amount in amounts),
        Num(numbers.NONE if terabytes is None else numbers.significant(terabytes), terabytes),
        money_cell(per_terabyte(cost, usable), without_requests),
    ]


def per_terabyte(cost: Cost, usable: int | None) -> Decimal | None:
    """A month of a usable terabyte (10^12 bytes); None if the bytes for data are not known."""
    return EXACT.divide(EXACT.multiply(cost.month, Decimal(10) ** 12), Decimal(usable)) if usable else None


def bill_table(name: str, cost: Cost, book: Book) -> Table:
    """What is paid for, at which price, and whence the price is known; `name` is the id of the table."""
    columns = (
        Column("What"),
        Column("Pieces", numeric=True),
        Column("Each"),
        Column("Price"),
        Column("Month", book.currency, numeric=True),
        Column("Share", numeric=True, detail=True),
        Column("Prices of"),
        Column("Source"),
    )
    rows = tuple(_charge(charge, cost, book) for charge in cost.charges)
    return Table(name, columns, rows, f"All of it: {money(cost.month, book.currency)} a month.")


def _charge(charge: Charge, cost: Cost, book: Book) -> tuple[Cell, ...]:
    line, row = charge.line, charge.row
    month = charge.month(cost.duty)
    share = float(EXACT.divide(month, cost.month)) if cost.month else None
    return (
        line.what,
        Num(f"{line.pieces.normalize():,f}", float(line.pieces)),
        _each(charge),
        price_words(charge, book.currency),
        Num(f"{money(charge.job)} a job", float(charge.job)) if line.per == "job" else money_cell(month),
        Num(numbers.share(share), share),
        str(book.date_of(row)),
        f"{row.source}{f'; {row.note}' if row.note else ''}",
    )


def _each(charge: Charge) -> str:
    """The quantity of one piece, in the unit that its price is in."""
    line, unit = charge.line, charge.row.unit
    per = {"job": " for each job", "once": " once", "hour": " an hour"}.get(line.per, "")
    quantity = rounded(EXACT.divide(line.each, Decimal(UNITS[unit].factor)), 3).normalize()
    return f"{quantity:,f} {unit}{'' if unit in ('hour', 'unit-hour') else per}"


def price_words(charge: Charge, currency: str) -> str:
    """A row's price as it is in the book: `0.119 USD per hour`, `0 to 10240, then 0.085 USD per GB`."""
    row = charge.row
    tiers = (f"{tier.price:f}" + (f" to {tier.up_to:f}" if tier.up_to else "") for tier in row.tiers)
    price = f"{row.price.normalize():f}" if row.price is not None else ", then ".join(tiers)
    words = [f"{price} {currency} per {row.unit}"]
    if row.free:
        words.append(f"the first {row.free.normalize():f} of each free")
    if row.upfront:
        words.append(f"{money(row.upfront, currency)} upfront for {charge.once_months} months")
    return ", ".join(words)


def limit_table(name: str, ceilings: Sequence[DesignCeiling], cost: Cost) -> Table:
    """What a design can do at most, by the catalogue; `name` is the id of the table."""
    columns = (
        Column("Of"),
        Column("Sustained", "at most", numeric=True),
        Column("Burst", numeric=True),
        Column("Burst lasts"),
        Column("Set by"),
        Column("Unit price", f"{cost.currency}/month", numeric=True),
    )
    return Table(name, columns, tuple(_limit(found, cost) for found in ceilings))


def _limit(found: DesignCeiling, cost: Cost) -> tuple[Cell, ...]:
    burst = Num(numbers.NONE, None) if found.burst is None else Num(rate(found.burst, found.metric), found.burst)
    long = "" if found.burst is None else "not published"
    if found.burst is not None and found.burst_seconds is not None:
        long = numbers.seconds(found.burst_seconds)
    return (
        what(found.metric),
        Num(rate(found.value, found.metric), found.value),
        burst,
        long,
        found.layer,
        money_cell(per_unit(cost.month, found.value, found.metric)),
    )


def limit_facts(ceilings: Sequence[DesignCeiling]) -> Facts:
    """How the limits were computed, layer by layer."""
    found = {ceiling.layer: ceiling for ceiling in ceilings if ceiling.how}
    return Facts(tuple((name, f"{one.how} ({one.source})" if one.source else one.how) for name, one in found.items()))


def ceiling_share(value: float, limit: DesignCeiling | None) -> Share:
    """What a rate is of a design's limit."""
    return (
        Share(None)
        if limit is None
        else Share(value / limit.value, f"{limit.layer}: {rate(limit.value, limit.metric)}")
    )
