"""Prices as a run stores them: designs with their bills, ceilings, and the rows of the book that were used."""

from collections.abc import Mapping
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, Payment, Term, exact_sum
from assay.model.money.design import Design
from assay.model.money.price import Bill, PriceBook
from assay.model.money.priced_designs import DesignCeiling, FrozenPrices, PricedDesign
from assay.model.money.use import DesignChoice, Use
from assay.money.cost.bill import make_bill
from assay.money.cost.cost import Cost, frozen_book, price_bill, with_marginal_jobs
from assay.money.cost.limits import METRICS, Limits, Metric, design_limits

BY_USE = frozenset(
    {
        "transfer-out",
        "transfer-zone",
        "transfer-region",
        "gateway-traffic",
        "object-requests",
        "object-retrieval",
        "table-requests",
        "filesystem-access",
        "volume-requests",
        "snapshot-capacity",
        "filesystem-backup",
    }
)
"""Dimensions that are paid by use: a run's share of them is not known in advance."""


_EGRESS = ("transfer-out", "internet", "on-demand", "")
"""The key of the price of data sent to the internet."""


def priced_design(chosen: DesignChoice, design: Design, use: Use) -> PricedDesign:
    """Return a design with its bill, capacity and ceilings.

    Raises:
        AssayError: The catalogue does not have a part, or not in that size.
    """
    limits = design_limits(design)
    return PricedDesign(
        chosen=chosen,
        design=design,
        bill=make_bill(design, use),
        usable=limits.usable,
        how_usable=limits.how_usable,
        ceilings=design_ceilings(limits),
    )


def design_ceilings(limits: Limits) -> tuple[DesignCeiling, ...]:
    """Return the layer that limits a design for each metric where a limit is known."""
    ceilings = (_ceiling(limits, metric) for metric in METRICS)
    return tuple(ceiling for ceiling in ceilings if ceiling is not None)


def _ceiling(limits: Limits, metric: Metric) -> DesignCeiling | None:
    layer = limits.binding_layer(metric)
    value = limits.sustained(metric)
    if layer is None or value is None:
        return None
    burst, seconds = limits.burst(metric) or (None, None)
    return DesignCeiling(
        metric=metric,
        layer=layer.layer,
        value=value,
        burst=burst,
        burst_seconds=seconds,
        how=layer.how,
        source=layer.source,
    )


def freeze(
    designs: Mapping[str, PricedDesign],
    book: PriceBook,
    term: Term,
    payment: Payment | None,
    use: Use,
    hosts: Bill = Bill(),  # noqa: B008
    with_egress: bool = False,
) -> FrozenPrices:
    """Return the prices that are stored with a run.

    Args:
        designs: Target -> its design.
        book: The whole book.
        term: Term of the instances.
        payment: Payment option of a reservation.
        use: How the designs are used.
        hosts: Rented hosts that belong to no design, and the network of a stack.
        with_egress: Keep the price of data sent to the internet, though no bill has any.

    Raises:
        AssayError: The book lacks a price.
    """
    bills = [*(item.bill for item in designs.values()), hosts]
    costs = [price_bill(bill, book, term, payment, use.duty) for bill in bills]
    frozen = frozen_book(book, costs, [row for row in book.rows if with_egress and row.key == _EGRESS])
    return FrozenPrices(term=term, payment=payment, use=use, book=frozen, designs=dict(designs), hosts=hosts)


def egress_cost(prices: FrozenPrices, size: int) -> Decimal | None:
    """Return what bytes sent to the internet cost, at the first price beyond what is free each month.

    None if no such price was stored.
    """
    row = next((row for row in prices.book.rows if row.key == _EGRESS), None)
    if row is None:
        return None
    paid = row.price if row.price is not None else next((tier.price for tier in row.tiers if tier.price), None)
    return None if paid is None else row.model_copy(update={"free": Decimal(0), "price": paid}).cost(Decimal(size))


def unpriced_items(bill: Bill, book: PriceBook, term: Term, payment: Payment | None, use: Use) -> dict[str, AssayError]:
    """Return the items of a bill that a book does not price on these terms, each with the reason.

    Args:
        bill: The bill, such as that of rented hosts.
        book: The book.
        term: Term of the instances.
        payment: Payment option of a reservation.
        use: How long they are used.
    """
    found = {}
    for line in bill.lines:
        try:
            price_bill(Bill(lines=(line,)), book, term, payment, use.duty)
        except AssayError as error:
            found[line.item] = error
    return found


def design_cost(prices: FrozenPrices, target: str, book: PriceBook | None = None) -> Cost:
    """Return the cost of a target's design.

    Args:
        prices: Prices stored with the run.
        target: Name of the target.
        book: Prices to use instead of the run's.

    Raises:
        AssayError: The book lacks a price.
    """
    bill = prices.designs[target].bill
    return with_marginal_jobs(price_bill(bill, book or prices.book, prices.term, prices.payment, prices.use.duty))


def hour_of_running(prices: FrozenPrices, target: str) -> Decimal:
    """Return the cost of an hour in which a target's design is switched on, without what is paid by use."""
    lines = prices.designs[target].bill.lines
    hourly = Bill(lines=tuple(line for line in lines if line.dimension not in BY_USE and line.per != "job"))
    return _hour(hourly, prices)


def hour_of_hosts(prices: FrozenPrices) -> Decimal:
    """Return the cost of an hour of the rented hosts that belong to no design, and of the network."""
    return _hour(prices.hosts, prices)


def _hour(bill: Bill, prices: FrozenPrices) -> Decimal:
    cost = price_bill(bill, prices.book, prices.term, prices.payment)
    return EXACT.divide(cost.month, cost.hours_per_month)


def hour_of_all_running(prices: FrozenPrices) -> Decimal:
    """Return the cost of an hour in which all designs and rented hosts are switched on."""
    return exact_sum([*(hour_of_running(prices, name) for name in prices.designs), hour_of_hosts(prices)])
