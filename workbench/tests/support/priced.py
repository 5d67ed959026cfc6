"""Runs with prices that tests share."""

from decimal import Decimal
from typing import Any

from builders import make_analysis

from assay.model.money.amount import Payment, Term
from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import FrozenPrices
from assay.model.money.use import DesignChoice, Use
from assay.model.result.result import RunAnalysis
from assay.money.books.books import load_book
from assay.money.cost.designs import load_template
from assay.money.cost.stored_prices import freeze, priced_design

BOOK = "aws-eu-west-1-2016"
VOLUMES = DesignChoice(design="nfs-volumes", set={"instance": "c4.large", "volume": "st1", "capacity": "5TB"})
DISKS = DesignChoice(design="nfs-instance-store", set={"instance": "d2.8xlarge"})


def prices(
    use: Use = Use(),  # noqa: B008
    book: PriceBook | None = None,
    term: Term = "on-demand",
    payment: Payment | None = None,
    **chosen: DesignChoice,
) -> FrozenPrices:
    """Of `disk` with volumes and `memory` with its own disks, unless others are named."""
    designs = chosen or {"disk": VOLUMES, "memory": DISKS}
    built = {
        name: priced_design(item, load_template(item.design).build(item.set), use) for name, item in designs.items()
    }
    return freeze(built, book or load_book(BOOK), term, payment, use)


def book(price: str = "1", **changes: Any) -> PriceBook:
    """Of one provider and region, with prices of what `VOLUMES` needs."""
    rows = [
        {"dimension": "instance", "item": "c4.large", "price": price, "unit": "hour", "source": "a test"},
        {"dimension": "volume-capacity", "item": "st1", "price": "0.05", "unit": "GB-month", "source": "a test"},
    ]
    data = {"book": "made-up", "provider": "aws", "region": "eu-west-1", "date": "2026-11-01", "currency": "USD"}
    return PriceBook.model_validate({**data, "hours_per_month": 730, "rows": rows, **changes})


def priced_run(frozen: FrozenPrices | None = None) -> RunAnalysis:
    """`make_analysis` with prices."""
    analysis = make_analysis()
    run = analysis.run.model_copy(update={"prices": frozen or prices()})
    return analysis.model_copy(update={"run": run})


def near(value: Decimal | float, expected: float) -> bool:
    """Equal but for the rounding of floats."""
    return abs(float(value) - expected) <= 1e-9 * max(1.0, abs(expected))
