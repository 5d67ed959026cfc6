"""Costs and limits of designs as cells and tables, for reports and for `assay price`."""

from collections.abc import Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, format_money, round_half_up
from assay.model.money.price import UNITS, PriceBook
from assay.model.money.priced_designs import DesignCeiling
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


def metric_words(metric: Metric) -> str:
    """Return the unit that a month's cost is given for: `GB/s of reading`."""
    return _WHAT[metric]


def rate_text(value: float, metric: Metric) -> str:
    """Return bytes or operations per second with the unit."""
    return f"{about_size(value)}/s" if metric in ("read", "write") else f"{about_count(value)} IOPS"


def money_cell(amount: Decimal | None, without_requests: bool = False) -> Num:
    """Return an amount as a cell, without its currency; the text says so if requests are not priced."""
    if amount is None:
        return Num(numbers.NONE, None)
    words = f"about {format_money(amount)}, without requests" if without_requests else format_money(amount)
    return Num(words, float(amount))


def amount_columns(currency: str) -> tuple[Column, ...]:
    """Return the columns of `amount_cells`."""
    return (
        *(Column(name, currency, is_numeric=True) for name in ("Hour", "Month", "Year", "Three years")),
        Column("Usable", "TB", is_numeric=True),
        Column("TB-month", currency, is_numeric=True),
    )


def amount_cells(cost: Cost, usable: int | None, without_requests: bool = False) -> list[Cell]:
    """Return a cost per hour of running, month, year and three years, the usable TB, and the cost of a TB for a month.

    Args:
        cost: The cost.
        usable: Bytes for data; None if they are not known.
        without_requests: Requests are charged but not part of the cost.
    """
    amounts = (cost.hour if cost.duty else None, cost.month, cost.year, cost.three_years)
    terabytes = usable / 1e12 if usable else None
    return [
        *(money_cell(amount, without_requests) for amount in amounts),
        Num(numbers.NONE if terabytes is None else numbers.significant(terabytes), terabytes),
        money_cell(per_terabyte(cost, usable), without_requests),
    ]


def per_terabyte(cost: Cost, usable: int | None) -> Decimal | None:
    """Return the cost of a usable terabyte (10^12 bytes) for a month; None if the bytes for data are not known."""
    return EXACT.divide(EXACT.multiply(cost.month, Decimal(10) ** 12), Decimal(usable)) if usable else None


def bill_table(name: str, cost: Cost, book: PriceBook) -> Table:
    """Return a bill with the price of each line and the source of that price; `name` is the id of the table."""
    columns = (
        Column("What"),
        Column("Pieces", is_numeric=True),
        Column("Each"),
        Column("Price"),
        Column("Month", book.currency, is_numeric=True),
        Column("Share", is_numeric=True, is_detail=True),
        Column("Prices of"),
        Column("Source"),
    )
    rows = tuple(_charge(charge, cost, book) for charge in cost.charges)
    return Table(name, columns, rows, f"All of it: {format_money(cost.month, book.currency)} a month.")


def _charge(charge: Charge, cost: Cost, book: PriceBook) -> tuple[Cell, ...]:
    line, row = charge.line, charge.row
    month = charge.month(cost.duty)
    share = float(EXACT.divide(month, cost.month)) if cost.month else None
    return (
        line.what,
        Num(f"{line.pieces.normalize():,f}", float(line.pieces)),
        _each(charge),
        price_words(charge, book.currency),
        Num(f"{format_money(charge.job)} a job", float(charge.job)) if line.per == "job" else money_cell(month),
        Num(numbers.share(share), share),
        str(book.date_of(row)),
        f"{row.source}{f'; {row.remarks}' if row.remarks else ''}",
    )


def _each(charge: Charge) -> str:
    """Return the quantity of one piece, in the unit of its price."""
    line, unit = charge.line, charge.row.unit
    per = {"job": " for each job", "once": " once", "hour": " an hour"}.get(line.per, "")
    quantity = round_half_up(EXACT.divide(line.each, Decimal(UNITS[unit].factor)), 3).normalize()
    return f"{quantity:,f} {unit}{'' if unit in ('hour', 'unit-hour') else per}"


def price_words(charge: Charge, currency: str) -> str:
    """Return a price as the book states it: `0.119 USD per hour`, `0 to 10240, then 0.085 USD per GB`."""
    row = charge.row
    tiers = (f"{tier.price:f}" + (f" to {tier.up_to:f}" if tier.up_to else "") for tier in row.tiers)
    price = f"{row.price.normalize():f}" if row.price is not None else ", then ".join(tiers)
    words = [f"{price} {currency} per {row.unit}"]
    if row.free:
        words.append(f"the first {row.free.normalize():f} of each free")
    if row.upfront:
        words.append(f"{format_money(row.upfront, currency)} upfront for {charge.once_months} months")
    return ", ".join(words)


def limit_table(name: str, ceilings: Sequence[DesignCeiling], cost: Cost) -> Table:
    """Return a table of the most that a design can do by the catalogue; `name` is the id of the table."""
    columns = (
        Column("Of"),
        Column("Sustained", "at most", is_numeric=True),
        Column("Burst", is_numeric=True),
        Column("Burst lasts"),
        Column("Set by"),
        Column("Unit price", f"{cost.currency}/month", is_numeric=True),
    )
    return Table(name, columns, tuple(_limit(found, cost) for found in ceilings))


def _limit(found: DesignCeiling, cost: Cost) -> tuple[Cell, ...]:
    burst = Num(numbers.NONE, None) if found.burst is None else Num(rate_text(found.burst, found.metric), found.burst)
    duration = "" if found.burst is None else "not published"
    if found.burst is not None and found.burst_seconds is not None:
        duration = numbers.seconds(found.burst_seconds)
    return (
        metric_words(found.metric),
        Num(rate_text(found.value, found.metric), found.value),
        burst,
        duration,
        found.layer,
        money_cell(per_unit(cost.month, found.value, found.metric)),
    )


def limit_facts(ceilings: Sequence[DesignCeiling]) -> Facts:
    """Return how the limits were computed, layer by layer."""
    found = {ceiling.layer: ceiling for ceiling in ceilings if ceiling.how}
    return Facts(tuple((name, f"{one.how} ({one.source})" if one.source else one.how) for name, one in found.items()))


def ceiling_share(value: float, limit: DesignCeiling | None) -> Share:
    """Return a rate as a share of a design's limit."""
    return (
        Share(None)
        if limit is None
        else Share(value / limit.value, f"{limit.layer}: {rate_text(limit.value, limit.metric)}")
    )
