"""Warnings about a variant: growth, data loss, missing measurements, costs by use, old prices."""

import datetime as dt
from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import EXACT, exact_sum, format_money
from assay.model.units import about_size
from assay.money.cost.bill import one_reading
from assay.money.cost.cost import Charge, Cost
from assay.money.cost.limits import METRICS
from assay.money.cost.network_traffic import bought_switches, used_ports
from assay.rooms.advice.model.advice import Remark, RequirementCheck
from assay.rooms.advice.work.facts import RuleInput, RuleResult, failed_check
from assay.rooms.advice.work.losses import yearly_loss
from assay.rooms.advice.work.texts import amount, percent
from assay.rooms.advice.work.traffic import (
    assumed_reading_text,
    client_ports,
    cold_byte_share,
    derived_traffic_text,
    monthly_traffic,
    requests_for,
)

MAX_LOSS = 0.01
"""Chance of losing all data in a year from which there is a warning; also the limit if durability is required."""
OLD_DAYS = 180
OLD_SHARE = Decimal("0.1")
"""Share of the price: a smaller share from old or doubtful rows is not reported."""
OLD_RULE, DOUBTFUL_RULE = "old_prices", "doubtful_prices"


def growth(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that growth is included in the required capacity and rates from the start.

    Source: the need.
    """
    need = facts.need
    if need.growth:
        rates = [amount(name, value) for name in METRICS if (value := getattr(need, name)) is not None]
        text = f"{percent(need.growth)} of growth is included in capacity and rates: {about_size(need.capacity)}"
        text += f" and {', '.join(rates)} are required and paid for from the start" if rates else " are required"
        yield Remark(rule="growth", stance="note", text=text, source="the need")


def volume_loss(facts: RuleInput) -> Iterator[RuleResult]:
    """Check the chance of losing all data in a year: without redundancy, one failed volume loses everything.

    Persistent data of which no copy is elsewhere may not exceed the limit that the need states; else 1 % a year if it
    requires a class of durability. Other chances are reported from 1 % on.
    Source: the catalogue's entry of the type.
    """
    need, loss = facts.need, yearly_loss(facts.design)
    limit = _loss_limit(facts)
    if loss is None:
        if need.max_loss is not None and limit < 1:
            text = f"the chance of losing the data in a year is not known; at most {percent(need.max_loss)} is accepted"
            source = f"design {facts.variant.template}"
            yield RequirementCheck(
                requirement="durability", outcome="unproven", text=text, rule="volume_loss", source=source
            )
    elif loss.chance > limit:
        text = f"{loss.text}; at most {percent(limit)} is accepted"
        text += "" if need.max_loss is not None else " unless `max_loss` allows more"
        share = float(limit) / loss.chance
        yield failed_check("durability", "volume_loss", text, loss.source, share)
    elif loss.chance > MAX_LOSS:
        yield Remark(rule="volume_loss", stance="against", text=loss.text, source=loss.source)
    elif need.max_loss is not None and need.data == "persistent":
        text = f"{loss.text}; at most {percent(need.max_loss)} is accepted"
        yield RequirementCheck(
            requirement="durability", outcome="met", text=text, rule="volume_loss", source=loss.source
        )


def _loss_limit(facts: RuleInput) -> float:
    """Return the chance of loss in a year above which a design is excluded."""
    need = facts.need
    if need.data != "persistent" or facts.has_copy:
        return 1.0
    if need.max_loss is not None:
        return float(need.max_loss)
    return MAX_LOSS if need.durability is not None else 1.0


def both_at_once(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield that reads and writes were measured separately, though they may share a disk.

    Source: the evidence.
    """
    need = facts.need
    for read, write in (("read", "write"), ("read_iops", "write_iops")):
        both_required = getattr(need, read) is not None and getattr(need, write) is not None
        if both_required and facts.is_measured(read) and facts.is_measured(write):
            text = "reads and writes were measured each alone; both at once were not measured"
            source = "; ".join(dict.fromkeys((facts.figures[read].source, facts.figures[write].source)))
            yield Remark(rule="evidence", stance="note", text=text, source=source)


def switch_ports(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield which ports the switches of own hardware connect, and whether those of clients are among them.

    Source: the design; the number follows by `bought_switches`.
    """
    design, need = facts.design, facts.need
    clients = client_ports(need, design)
    switches = bought_switches(design, clients)
    if switches is None:
        return
    piece, count = switches
    text = f"{count} x {piece.item} connect {used_ports(design)} ports of the design's hardware"
    text += f" and {clients} of clients" if clients else ""
    text += "" if need.clients is not None or design.link is not None else "; state `clients` for the ports of theirs"
    yield Remark(rule="switch_ports", stance="note", text=text, source=f"design {facts.variant.template}")


def requests_unknown(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield the requests and bytes that are paid for and were computed from the rates, or that are assumed.

    Source: the design's bill.
    """
    need, cost = facts.need, facts.variant.best.cost
    hours, currency = cost.hours_per_month, cost.currency
    if not facts.pays_for_traffic:
        return
    source = f"design {facts.variant.template}"
    text = derived_traffic_text(need, hours)
    if text:
        yield Remark(rule="monthly", stance="note", text=f"{text}; they cost money here", source=source)
    if need.monthly.egress is None and facts.leaving is not None:
        what = "reads" if facts.leaving == "read" else "writes"
        size = about_size(monthly_traffic(need, facts.leaving, hours).size_bytes)
        text = f"all {what} leave the cloud, {size} a month: state `monthly.egress` if it is less"
        yield Remark(rule="egress", stance="note", text=text, source=source)
    text = assumed_reading_text(need, hours)
    if text:
        once = reading_cost(facts)
        text += "" if once is None else f"; reading all data once costs {format_money(once, currency)}"
        yield Remark(rule="requests_unknown", stance="against", text=text, source=source, about="reading")


def reading_cost(facts: RuleInput) -> Decimal | None:
    """Return what reading all data once costs, with support and tax; None if a price is missing."""
    need, design, offer = facts.need, facts.design, facts.variant.best
    requests = requests_for(need, design, "read", need.capacity)
    lines = one_reading(design, need.capacity, requests, cold_byte_share(design))
    book = facts.variant.prices.book
    try:
        costs = [book.row(line.dimension, line.item, "on-demand", None).cost(line.each) for line in lines]
    except AssayError:
        return None
    return EXACT.multiply(exact_sum(costs), offer.factor)


def old_share(cost: Cost, months: int, today: dt.date) -> tuple[Decimal, dt.date] | None:
    """Return the share of the cost from rows older than `OLD_DAYS`, and the date of the oldest; None: there are none.

    Args:
        cost: Its rows have dates; those without are taken as new.
        months: Months that are paid.
        today: The present day.
    """
    old = [
        charge for charge in cost.charges if charge.row.date is not None and (today - charge.row.date).days > OLD_DAYS
    ]
    share = _share(cost, old, months)
    dates = [charge.row.date for charge in old if charge.row.date is not None]
    return None if share is None else (share, min(dates))


def _share(cost: Cost, charges: Sequence[Charge], months: int) -> Decimal | None:
    """Return the share of the cost that some of its charges are; None: there are none, or it costs nothing."""
    whole = cost.committed_cost(months)
    if not charges or not whole:
        return None
    return EXACT.divide(cost.model_copy(update={"charges": tuple(charges)}).committed_cost(months), whole)


def old_prices(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield the share of a price from old rows, above a tenth; historic books are old on purpose.

    Source: the rows' dates.
    """
    if facts.variant.prices.book.historic:
        return
    old = old_share(facts.variant.best.cost, facts.need.months, dt.date.today())
    if old is not None and old[0] > OLD_SHARE:
        text = f"{percent(old[0])} of the price comes from rows older than {OLD_DAYS} days, the oldest of {old[1]}"
        yield Remark(rule=OLD_RULE, stance="note", text=text, source="price book")


def doubtful_prices(facts: RuleInput) -> Iterator[RuleResult]:
    """Yield the share of a price from rows that were taken over from elsewhere, above a tenth, and why.

    Source: the rows.
    """
    cost, months = facts.variant.best.cost, facts.need.months
    found = [charge for charge in cost.charges if charge.row.doubtful]
    share = _share(cost, found, months)
    if share is not None and share > OLD_SHARE:
        largest = max(found, key=lambda charge: _share(cost, [charge], months) or Decimal(0))
        text = f"{percent(share)} of the price is doubtful ({largest.row.doubtful})"
        yield Remark(rule=DOUBTFUL_RULE, stance="note", text=text, source="price book")
