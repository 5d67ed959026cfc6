"""Assessed variants in the form that the advice shows."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, format_money
from assay.rooms.advice.model.advice import AdviceOption, BillLine, OptionPrice, RejectedDesign, RequirementCheck
from assay.rooms.advice.work.candidates import DesignVariants
from assay.rooms.advice.work.checks import Assessment, sorted_best_first
from assay.rooms.advice.work.texts import SOLD, count_text, rounded_12

TB, GB = Decimal(10**12), Decimal(10**9)


def option_of(item: Assessment) -> AdviceOption:
    """Return one variant with all that is known of it."""
    variant = item.variant
    return AdviceOption(
        label=variant.label,
        design=variant.template,
        family=variant.design.family,
        set=dict(variant.label_values),
        outcome=item.outcome,
        usable=variant.limits.usable,
        durability=variant.design.durability,
        rate=item.rate.value if item.rate is not None else None,
        basis=item.rate.basis if item.rate is not None else None,
        price=_price(item),
        figures=tuple(item.figures.values()),
        checks=item.checks,
        remarks=item.remarks,
        conditions=item.conditions,
        provider=variant.design.provider or variant.prices.provider,
        chance=item.chance,
        built_design=variant.design,
    )


def _price(item: Assessment) -> OptionPrice:
    offer, rate, need = item.variant.best, item.rate, item.need
    month = EXACT.divide(offer.total_cost, Decimal(need.months))

    def per_gbs(value: float | None) -> Decimal | None:
        return rounded_12(EXACT.divide(EXACT.multiply(month, GB), Decimal(repr(value)))) if value else None

    usable = Decimal(item.variant.limits.usable)
    return OptionPrice(
        currency=offer.cost.currency,
        term=offer.term,
        payment=offer.payment,
        paid=offer.total_cost,
        month=rounded_12(month),
        per_tb_month=rounded_12(EXACT.divide(EXACT.multiply(month, TB), usable)) if usable else Decimal(0),
        per_gbs_month=per_gbs(rate.value if rate else None),
        per_gbs_low=per_gbs(rate.high if rate else None),
        per_gbs_high=per_gbs(rate.low if rate else None),
        is_purchased=is_purchased(item),
        present_value=offer.present_value if need.discount else None,
        migration_cost=EXACT.add(offer.migration_cost, offer.upload_cost),
        administration=rounded_12(EXACT.divide(offer.assumed_work, Decimal(need.months))),
        client_month=(
            rounded_12(EXACT.divide(offer.client_cost, Decimal(need.months))) if offer.client_cost.is_finite() else None
        ),
        missing_prices=offer.missing_prices,
        books=books_of(item),
        lines=tuple(_lines(item)),
    )


def _lines(item: Assessment) -> list[BillLine]:
    """Return the lines of its bill, the most expensive first."""
    offer, sold, months = item.variant.best, item.variant.prices, item.need.months
    lines = []
    for charge in offer.cost.charges:
        alone = offer.cost.model_copy(update={"charges": (charge,)})
        lines.append(
            BillLine(
                what=charge.line.what,
                dimension=charge.row.dimension,
                item=charge.row.item,
                month=rounded_12(EXACT.divide(alone.committed_cost(months), Decimal(months))),
                book=sold.origin.get(charge.row.key, sold.name),
                date=charge.row.date,
            )
        )
    return sorted(lines, key=lambda line: -line.month)


def month_by_kind(price: OptionPrice) -> dict[str, Decimal]:
    """Return what is sold, in words -> its cost of a month, before support and tax."""
    months: dict[str, Decimal] = {}
    for line in price.lines:
        name = SOLD.get(line.dimension, line.dimension.replace("-", " "))
        months[name] = months.get(name, Decimal(0)) + line.month
    return months


def bill_difference(best: OptionPrice, other: OptionPrice) -> str:
    """Return what a month of the other costs less and more, by kind; empty if all that differs does so one way.

    Kinds that differ by less than 1 % of the bill of the best one are left out. Bills without a kind in common, such as
    of what is bought and what is rented, are not compared.
    """
    mine, others = month_by_kind(best), month_by_kind(other)
    if not mine.keys() & others.keys():
        return ""
    least = sum(mine.values(), Decimal(0)) / 100
    gaps = {name: others.get(name, Decimal(0)) - mine.get(name, Decimal(0)) for name in mine | others}
    shown = sorted(((gap, name) for name, gap in gaps.items() if abs(gap) >= least and gap), key=lambda each: each[0])
    if not shown or shown[0][0] > 0 or shown[-1][0] < 0:
        return ""
    parts = [f"{name} {format_money(abs(gap), best.currency)} {'less' if gap < 0 else 'more'}" for gap, name in shown]
    return ", ".join(parts)


def is_purchased(item: Assessment) -> bool:
    """Return whether it includes hardware that is bought."""
    return any(charge.row.dimension == "purchase" for charge in item.variant.best.cost.charges)


def books_of(item: Assessment) -> tuple[str, ...]:
    """Return the price books that a variant's prices come from, the design's own first."""
    sold = item.variant.prices
    books = dict.fromkeys(sold.origin[row.key] for row in item.variant.best.cost.rows if row.key in sold.origin)
    return tuple(sorted(books, key=lambda name: name != sold.name))


def best_of_each(assessed: Iterable[Assessment]) -> list[Assessment]:
    """Return the best variant of each design, the best design first."""
    best: dict[str, Assessment] = {}
    for item in sorted_best_first(assessed):
        best.setdefault(item.variant.template, item)
    return list(best.values())


def rejected_designs(
    designs: Sequence[DesignVariants],
    assessed: Sequence[Assessment],
    unpriced: Mapping[str, Sequence[Assessment]],
) -> tuple[RejectedDesign, ...]:
    """Return the designs without a variant that meets or may meet the need, each with its closest variant.

    Args:
        designs: All designs.
        assessed: Their variants that have a price.
        unpriced: Variants of each design without any price.
    """
    by_design: dict[str, list[Assessment]] = {}
    for item in assessed:
        by_design.setdefault(item.variant.template, []).append(item)
    results = []
    for design in designs:
        assessed_variants = by_design.get(design.name, [])
        if any(item.outcome != "failed" for item in assessed_variants) or (
            design.prices is not None and not design.count
        ):
            continue
        if assessed_variants:
            closest = min(assessed_variants, key=lambda item: (item.distance, item.total_cost))
            fails = _failing(design, closest)
            shown = option_of(closest)
            results.append(
                RejectedDesign(design=design.name, variants=design.count, closest=shown, failed_checks=fails)
            )
        else:
            results.append(_unpriced(design, unpriced.get(design.name, ())))
    return tuple(results)


def _failing(design: DesignVariants, closest: Assessment) -> tuple[RequirementCheck, ...]:
    """Return the checks that the closest variant fails; if it stands for all variants, only those that hold for all."""
    fails = [check for check in closest.checks if check.outcome == "failed"]
    for_all = [check for check in fails if check.requirement in ("access", "durability", "data")]
    return tuple(for_all if design.infeasible and for_all else fails)


def _unpriced(design: DesignVariants, assessed: Sequence[Assessment]) -> RejectedDesign:
    """Return a design without any price: what it fails is reported rather than its missing prices."""
    closest = min(assessed, key=lambda item: item.distance, default=None)
    if closest is None or closest.outcome != "failed":
        fits = closest is not None and closest.outcome == "met"
        return RejectedDesign(design=design.name, variants=design.count, why=_reason(design, fits))
    fails = _failing(design, closest)
    return RejectedDesign(design=design.name, variants=design.count, failed_checks=fails)


def _reason(design: DesignVariants, fits: bool) -> str:
    if design.prices is None:
        return f"there is no price book of {design.provider}"
    parts = []
    if design.unpriced:
        names = [name for name, _ in design.missing_prices.most_common(3)]
        does = "it meets the need, but " if fits else ""
        parts.append(f"{does}the book has no price of {' or '.join(names)}")
        if design.book and design.book != design.prices.name:
            parts.append(f"its own book is {design.book}: add it to `books`")
    if design.build_errors:
        text, count = design.build_errors.most_common(1)[0]
        parts.append(f"{count_text(count, 'variant')} not available: {text}")
    return "; ".join(parts) or "it has no variants"
