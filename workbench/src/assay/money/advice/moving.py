"""Moving data once: in over a link, with what leaving a cloud costs, and then to a colder class."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from assay.model.money.amount import EXACT, money
from assay.model.money.design import S3, Design, Efs
from assay.model.money.need import Need
from assay.model.units import about_size
from assay.money.advice.market import Market, Sold, transfer_out
from assay.money.cost.bill import EFS_MOVED, moved_item

LINK_SHARE = 0.8
"""Share of a link that a copy of many files fills on average; a planning figure, not measured."""


@dataclass(frozen=True)
class Moving:
    """Of the data of a need.

    Attributes:
        seconds: On the need's link.
        cost: Of leaving the cloud that holds them; None: no book says.
    """

    size: int
    seconds: float
    cost: Decimal | None


def moving(need: Need, market: Market, provider: str | None) -> Moving | None:
    """What moving in takes; None if nothing must be moved, or the data are with this provider already."""
    plan = need.migration
    if plan is None or plan.origin == provider:
        return None
    size = plan.size or need.capacity
    seconds = size / (plan.link * LINK_SHARE)
    if plan.origin == "own":
        return Moving(size, seconds, Decimal(0))
    sold = next((each for each in market.sold if each.provider == plan.origin), None)
    found = transfer_out(sold.book, size) if sold is not None else None
    return Moving(size, seconds, found)


def moving_cost(need: Need, market: Market, provider: str | None) -> Decimal:
    """What is paid once for it; 0 if nothing is, or if no book says (a note does then)."""
    found = moving(need, market, provider)
    return Decimal(0) if found is None or found.cost is None else found.cost


def moving_notes(need: Need, market: Market) -> Iterator[str]:
    """How long moving in takes, and what leaving costs; nothing if nothing must be moved."""
    others = [sold.provider for sold in market.sold]
    found = next((each for provider in others if (each := moving(need, market, provider)) is not None), None)
    if need.migration is None or found is None:
        return
    origin = need.migration.origin
    time = f"{about_size(found.size)} over {about_size(need.migration.link)}/s, {LINK_SHARE:.0%} of which a copy fills"
    text = f"moving the data from {origin} takes {found.seconds / 86400:,.1f} days: {time}"
    if found.cost is None:
        yield f"{text}; what leaving costs is not in it: give a price book of {origin}"
    elif found.cost:
        yield f"{text}; leaving costs {money(found.cost, market.currency)} once, which all but {origin} pay"
    else:
        yield text


def first_move(design: Design, need: Need, sold: Sold, factor: Decimal) -> Iterator[str]:
    """What it costs once to move what is there already to the class for cold data; the bill has what is written.

    Args:
        design: With its sizes.
        need: Whose record is the size of an object.
        sold: What prices it.
        factor: For support and tax.
    """
    service = design.service
    if isinstance(service, S3) and service.cold_class is not None and service.cold_share:
        name, dimension, item = service.cold_class, "object-requests", moved_item(service.cold_class)
        count = EXACT.divide(EXACT.multiply(Decimal(service.stored), service.cold_share), Decimal(need.profile.record))
        each = count.to_integral_value(ROUND_CEILING)
        what = f"{each:,} requests"
    elif isinstance(service, Efs) and service.infrequent:
        name, dimension, item = "infrequent access", "filesystem-access", EFS_MOVED
        each = EXACT.multiply(Decimal(service.stored), service.infrequent)
        what = about_size(int(each))
    else:
        return
    text = f"moving what is there already to {name} once is {what}"
    row = next((row for row in sold.book.rows if (row.dimension, row.item) == (dimension, item)), None)
    if row is None:
        yield f"{text}, of which the book has no price"
    else:
        yield f"{text}: {money(EXACT.multiply(row.cost(each), factor), sold.book.currency)} that are not in the price"
