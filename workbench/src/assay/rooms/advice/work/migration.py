"""Migration: moving data in over a link, and the cost of leaving a cloud."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from assay.model.money.amount import format_money
from assay.model.units import about_size
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.market import Market, transfer_out
from assay.rooms.advice.work.traffic import first_bytes, leased_way

LINK_SHARE = 0.8
"""Share of a link that a copy of many files fills on average; a planning figure, not measured."""


@dataclass(frozen=True)
class MigrationEstimate:
    """The migration of a need's data.

    Attributes:
        size_bytes: Bytes to move.
        duration_s: Time on the need's link.
        cost: Cost of leaving the present cloud; None: no book has a price.
    """

    size_bytes: int
    duration_s: float
    cost: Decimal | None


def moving_seconds(need: Need, link: float) -> float:
    """Return how long moving the data in takes over a link of so many bytes per second."""
    return first_bytes(need) / (link * LINK_SHARE)


def migration_estimate(need: Need, market: Market, provider: str | None) -> MigrationEstimate | None:
    """Return the migration to a provider; None if nothing must be moved, or the provider has the data already."""
    plan = need.migration
    if plan is None or plan.origin == provider:
        return None
    size = first_bytes(need)
    seconds = moving_seconds(need, plan.link)
    if plan.origin == "own":
        return MigrationEstimate(size, seconds, Decimal(0))
    book = market.book_to_leave(plan.origin)
    way = leased_way(need, plan.origin) or "internet"
    cost = transfer_out(book, size, way) if book is not None else None
    return MigrationEstimate(size, seconds, cost)


def migration_cost(need: Need, market: Market, provider: str | None) -> Decimal:
    """Return the one-time cost of migration; 0 if there is none, or if no book has a price (a note reports that)."""
    migration = migration_estimate(need, market, provider)
    return Decimal(0) if migration is None or migration.cost is None else migration.cost


def migration_notes(need: Need, market: Market) -> Iterator[str]:
    """Yield how long migration takes, and what leaving the present cloud costs."""
    others = [sold.provider for sold in market.sold]
    migration = next(
        (each for provider in others if (each := migration_estimate(need, market, provider)) is not None), None
    )
    if need.migration is None or migration is None:
        return
    origin = need.migration.origin
    time = (
        f"{about_size(migration.size_bytes)} over {about_size(need.migration.link)}/s, {LINK_SHARE:.0%} "
        "of which a copy can use"
    )
    text = f"moving the data from {origin} takes {migration.duration_s / 86400:,.1f} days: {time}"
    if migration.cost is None:
        yield f"{text}; egress cost is not included: give a price book of {origin} that has it"
    elif migration.cost:
        egress = format_money(migration.cost, market.currency)
        yield f"{text}; egress costs {egress} once, for all designs except those of {origin}"
    else:
        yield text
