"""What would change a decision: prices, the ends of intervals, the duty cycle."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from assay.model.advice import Change
from assay.model.need import Need
from assay.model.price import EXACT, money, total
from assay.price.checks import Assessed, deciding_first, order
from assay.price.cost import Charge, Cost
from assay.price.words import amount, percent

STEPS = (Decimal("0.8"), Decimal("1.2"))
Item = tuple[str, str, str]


def price_changes(best: Assessed, others: Sequence[Assessed], need: Need) -> Iterator[Change]:
    """Prices of which 20 % more or less would make another one the best: of each item, and of a whole design.

    Terms stay as they are. An item's price is one row of the book, wherever it is used.

    Args:
        best: The one that is chosen.
        others: All others that meet the need.
        need: Its months and preference.
    """
    if need.prefer == "cost":
        # What costs more than this stays dearer whatever one price does.
        others = [item for item in others if item.paid * STEPS[0] <= best.paid * STEPS[1]]
    shares = {id(item): _by_item(item, need) for item in (best, *others)}
    items = sorted({name for parts in shares.values() for name in parts})
    for name in items:
        for step in STEPS:
            change = _with_item(best, others, need, shares, name, step)
            if change is not None:
                yield change
    for step in STEPS:

        def whole(item: Assessed, step: Decimal = step) -> Decimal:
            return item.paid * step if item.variant.template == best.variant.template else item.paid

        rival = _first(best, others, need, whole)
        if rival is not None:
            text = f"if all of {best.variant.template} cost {_step(step)}, {rival.variant.label} would be the choice "
            text += f"({_month(best.paid * step, need, best)} against {_month(rival.paid, need, rival)} a month)"
            yield Change(kind="price", text=text, to=rival.variant.label, at=step)


def _with_item(
    best: Assessed,
    others: Sequence[Assessed],
    need: Need,
    shares: dict[int, dict[Item, Decimal]],
    name: Item,
    step: Decimal,
) -> Change | None:
    def changed(item: Assessed) -> Decimal:
        return item.paid + shares[id(item)].get(name, Decimal(0)) * (step - 1)

    rival = _first(best, others, need, changed)
    if rival is None:
        return None
    what = " ".join(part for part in name[:2]) + (f" ({name[2]})" if name[2] != "on-demand" else "")
    text = f"if {what} cost {_step(step)}, {rival.variant.label} would be the choice "
    text += f"({_month(changed(rival), need, rival)} against {_month(changed(best), need, best)} a month)"
    return Change(kind="price", text=text, to=rival.variant.label, at=step)


def _first(
    best: Assessed, others: Sequence[Assessed], need: Need, cost: Callable[[Assessed], Decimal]
) -> Assessed | None:
    """Who is better than the best one at these costs; None if nobody is."""
    if not others:
        return None
    costs = [(order(item, cost(item), need), item) for item in others]
    least, rival = min(costs, key=lambda pair: pair[0])
    return rival if least < order(best, cost(best), need) else None


def _by_item(item: Assessed, need: Need) -> dict[Item, Decimal]:
    """What each price contributes to all that is paid."""
    found: dict[Item, Decimal] = {}
    for charge in item.variant.best.cost.charges:
        key = (charge.row.dimension, charge.row.item, charge.row.term)
        fixed, running = _parts(charge, need.months)
        paid = EXACT.add(fixed, EXACT.multiply(running, need.duty))
        found[key] = EXACT.add(found.get(key, Decimal(0)), paid)
    return found


def interval_changes(
    best: Assessed, others: Sequence[Assessed], failed: Sequence[Assessed], need: Need
) -> Iterator[Change]:
    """The ends of intervals at which the best one fails, or a cheaper one that failed would do.

    Args:
        best: The one that is chosen.
        others: All others that meet the need.
        failed: Those that do not.
        need: What is asked for.
    """
    for check in best.checks:
        figure = best.figures.get(check.requirement)
        if check.certain or figure is None or figure.low is None:
            continue
        rival = next((item for item in deciding_first(others, need) if item.sure), None)
        then = rival.variant.label if rival is not None else "nothing that is proven"
        text = f"at the low end of its interval, {amount(figure.metric, figure.low)}, {best.variant.label} fails "
        text += f"{check.requirement}; then {then} would be the choice"
        yield Change(
            kind="interval", text=text, to=rival.variant.label if rival else None, at=Decimal(repr(figure.low))
        )
    yield from _could_do(best, failed, need)


def _could_do(best: Assessed, failed: Sequence[Assessed], need: Need) -> Iterator[Change]:
    for item in deciding_first([item for item in failed if item.paid < best.paid], need):
        figures = [item.figures.get(name) for name in sorted(item.failing)]
        wanted = [getattr(need, name, None) for name in sorted(item.failing)]
        if figures and all(
            figure is not None and figure.high is not None and isinstance(asked, float) and figure.high >= asked
            for figure, asked in zip(figures, wanted, strict=True)
        ):
            figure = figures[0]
            assert figure is not None and figure.high is not None
            end = amount(figure.metric, figure.high)
            text = f"at the high end of its interval, {end}, {item.variant.label} would do, for "
            text += f"{_month(item.paid, need, item)} a month"
            yield Change(kind="interval", text=text, to=item.variant.label, at=Decimal(repr(figure.high)))
            return


def duty_changes(best: Assessed, others: Sequence[Assessed], need: Need) -> Iterator[Change]:
    """The duty cycles next to the need's from which on another variant or term is cheaper.

    Paid(d) = fixed + running x d for each; the cheapest over d is their lower envelope.

    Args:
        best: The one that is chosen.
        others: All others that meet the need.
        need: Its months and duty cycle.
    """
    if need.prefer != "cost":
        return
    lines = [
        (*_line(offer.cost, need.months), item, offer) for item in (best, *others) for offer in item.variant.offers
    ]
    fixed, running = _line(best.variant.best.cost, need.months)
    for up in (False, True):
        meetings = []
        for other_fixed, other_running, item, offer in lines:
            slope = EXACT.subtract(running, other_running)
            # Only a flatter line can be below at more duty, and a steeper one at less.
            if slope == 0 or (slope > 0) != up:
                continue
            duty = EXACT.divide(EXACT.subtract(other_fixed, fixed), slope)
            if (need.duty < duty <= 1) if up else (0 < duty < need.duty):
                meetings.append((duty, item, offer))
        if meetings:
            duty, item, offer = (min if up else max)(meetings, key=lambda meeting: meeting[0])
            where = "above" if up else "below"
            term = "" if len(item.variant.offers) == 1 else f" on term {offer.term}"
            text = (
                f"{where} a duty cycle of {percent(duty)}, {item.variant.label}{term} would be cheaper; the need says "
            )
            text += percent(need.duty)
            yield Change(kind="duty", text=text, to=item.variant.label, at=duty)


def _line(cost: Cost, months: int) -> tuple[Decimal, Decimal]:
    """All that is paid at no duty, and what full duty adds; together as `Cost.paid`."""
    parts = [_parts(charge, months) for charge in cost.charges]
    return total(fixed for fixed, _ in parts), total(running for _, running in parts)


def _parts(charge: Charge, months: int) -> tuple[Decimal, Decimal]:
    fixed = EXACT.multiply(charge.fixed, Decimal(months))
    if charge.once_months:
        fixed = EXACT.add(fixed, EXACT.multiply(charge.once, Decimal(-(-months // charge.once_months))))
    return fixed, EXACT.multiply(charge.running, Decimal(months))


def _step(step: Decimal) -> str:
    return f"{percent(abs(step - 1))} {'less' if step < 1 else 'more'}"


def _month(paid: Decimal, need: Need, item: Assessed) -> str:
    return money(paid / need.months, item.variant.best.cost.currency)
