"""What would change a decision: prices, reading, the ends of intervals, the duty cycle."""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from assay.model.money.amount import EXACT, exact_sum, format_money
from assay.model.units import about_number, about_size
from assay.money.cost.cost import Charge
from assay.rooms.advice.model.advice import DecisionChange
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.checks import Assessment, sorted_best_first
from assay.rooms.advice.work.pricer import TermOffer, assumed_hours
from assay.rooms.advice.work.texts import amount, count_text, item_text, missing_prices_text, percent, rounded_12
from assay.rooms.advice.work.traffic import Side, follows_from_rate, monthly_traffic, traffic_sides

MIN_DUTY = Decimal("0.001")
"""Share of the time below which a change is of no interest."""
MAX_HOURS = 4
"""Hours a month for each server, above which they are not tried: one administrator for 40 servers."""
STEPS = (Decimal("0.8"), Decimal("1.2"))
READING_FACTORS = (Decimal("0.5"), Decimal(2))
"""Least and most reading that is tried, as a factor of what is read."""
Item = tuple[str, str, str]


def price_changes(best: Assessment, others: Sequence[Assessment]) -> Iterator[DecisionChange]:
    """Yield prices that at 20 % more or less would change the choice: of each item, the chosen design, and each rival.

    Terms stay the same. An item's price is one row of the book, wherever it is used; all prices of the chosen design
    are those of its family in the book. The budget still applies: a change may exclude the choice, and may admit what
    only the budget excludes.

    Args:
        best: The chosen variant.
        others: All others that meet the need, or fail only the budget.
    """
    if best.need.prefer == "cost":
        # More expensive variants stay so whatever a single price does.
        most = best.variant.best.comparison_cost * STEPS[1]
        near = [item for item in others if item.variant.offers[0].comparison_cost * STEPS[0] <= most]
    else:
        near = list(others)
    shares = {id(item): _by_item(item) for item in (best, *near)}
    for name in sorted({name for parts in shares.values() for name in parts}):
        what = item_text(name[0], name[1]) + (f" ({name[2]})" if name[2] != "on-demand" else "")
        for step in STEPS:

            def changed(item: Assessment, name: Item = name, step: Decimal = step) -> Decimal:
                return item.present_value + shares[id(item)].get(name, Decimal(0)) * (step - 1)

            yield from _change(f"{what} cost", step, best, near, changed)
    own = best.variant.template
    kin = {own, *(item.variant.template for item in near if _is_kin(item, best))}
    rivals = sorted({item.variant.template for item in near} - {own})
    for template, step in [*((own, step) for step in STEPS), *((template, STEPS[0]) for template in rivals)]:
        changed_designs = kin if template == own else {template}

        def whole(item: Assessment, names: set[str] = changed_designs, step: Decimal = step) -> Decimal:
            return item.present_value * step if item.variant.template in names else item.present_value

        yield from _change(f"all of {template} cost", step, best, near, whole)


def _is_kin(item: Assessment, best: Assessment) -> bool:
    """Return whether a design is of the family of the best one and paid by the same book."""
    same_family = item.variant.design.family == best.variant.design.family
    return same_family and item.variant.prices.name == best.variant.prices.name


def _change(
    what: str,
    step: Decimal,
    best: Assessment,
    others: Sequence[Assessment],
    cost: Callable[[Assessment], Decimal],
) -> Iterator[DecisionChange]:
    """Yield what would be chosen at these costs, if it is another variant or none."""
    budget = _total_budget(best.need)
    is_affordable = budget is None or cost(best) <= budget
    costs = [(item.rank(cost(item)), item) for item in others if budget is None or cost(item) <= budget]
    least, rival = min(costs, key=lambda pair: pair[0], default=(None, None))
    now = _month(cost(best), best)
    is_better = rival is not None and least is not None and least < best.rank(cost(best)) and cost(rival) != cost(best)
    if rival is not None and (not is_affordable or is_better):
        text = f"if {what} {_step(step)}, {rival.variant.label} would be the choice "
        missing = rival.variant.best.missing_prices
        lacks = f", without {missing_prices_text(missing)}" if missing else ""
        if is_affordable and best.need.prefer == "cost" and cost(rival) > cost(best):
            lacks += ", without administration, of which it needs less"
        text += f"({_month(cost(rival), rival)} a month instead of {now}{lacks})"
        yield DecisionChange(kind="price", text=text, to=rival.variant.label, at=step)
    elif not is_affordable:
        text = f"if {what} {_step(step)}, no design would meet the need: the choice would be {now} a month, "
        text += "which is above the budget"
        yield DecisionChange(kind="price", text=text, to=None, at=step)


def administration_changes(best: Assessment, others: Sequence[Assessment]) -> Iterator[DecisionChange]:
    """Yield how many hours of administration, which are not stated, would change the choice.

    Args:
        best: The chosen variant.
        others: All others that meet the need.
    """
    if best.need.prefer != "cost":
        return
    if best.variant.best.assumed_work:
        rivals = [item for item in others if not item.variant.best.assumed_work]
        found = [(hours, item) for item in rivals if (hours := _break_even_hours(best, item)) is not None]
        hours, rival = min(found, key=lambda pair: pair[0], default=(Decimal(0), None))
        if rival is None or hours > MAX_HOURS * best.variant.design.run_servers:
            return
        servers = count_text(best.variant.design.run_servers, "server")
        text = f"if the {servers} of {best.variant.label} took more than {about_number(hours)} h of administration a "
        text += f"month, {rival.variant.label} would be the choice ({rival.month_text} a month)"
    else:
        rival = passed_over(best, others)
        hours = None if rival is None else _break_even_hours(rival, best)
        if rival is None or hours is None:
            return
        text = (
            f"if its {count_text(rival.variant.design.run_servers, 'server')} took less than {about_number(hours)} h "
        )
        text += f"of administration a month, {rival.variant.label} would be the choice ({rival.month_text} a month)"
    yield DecisionChange(kind="administration", text=text, to=rival.variant.label, at=rounded_12(hours))


def passed_over(best: Assessment, others: Sequence[Assessment]) -> Assessment | None:
    """Return the cheapest variant that costs less than the best one without its administration; None: there is none.

    None, too, if designs are not compared by cost.
    """
    if best.need.prefer != "cost":
        return None
    least = best.present_value
    offers = [(item.variant.offers[0], item) for item in others]
    cheaper = [
        (offer.present_value, item) for offer, item in offers if offer.present_value < least and offer.assumed_work
    ]
    return min(cheaper, key=lambda pair: pair[0])[1] if cheaper else None


def _break_even_hours(run: Assessment, service: Assessment) -> Decimal | None:
    """Return the hours of a month at which a variant that the user runs costs as much as a service."""
    offer = run.variant.best
    hours = assumed_hours(run.variant.design, run.need)
    if not offer.assumed_work or service.present_value < run.present_value:
        return None
    return EXACT.divide(EXACT.multiply(service.present_value - run.present_value, hours), offer.assumed_work)


def _total_budget(need: Need) -> Decimal | None:
    """Return the total budget over all months; None: there is none."""
    if need.budget is None:
        return None
    return need.budget.amount * (1 if need.budget.per == "all" else need.months)


def _by_item(item: Assessment) -> dict[Item, Decimal]:
    """Return what each price contributes to the total, with support, tax and discount."""
    parts: dict[Item, Decimal] = {}
    for charge, paid in _paid(item, item.variant.best.cost.charges):
        key = (charge.row.dimension, charge.row.item, charge.row.term)
        parts[key] = EXACT.add(parts.get(key, Decimal(0)), paid)
    return parts


def _paid(item: Assessment, charges: Sequence[Charge]) -> Iterator[tuple[Charge, Decimal]]:
    """Yield each of these charges with what it contributes to the total, with support, tax and discount."""
    offer, need = item.variant.best, item.need
    # Support, tax and discount scale all lines alike; the one-time cost of migration is not a line.
    whole = EXACT.subtract(offer.present_value, offer.migration_cost)
    bare = offer.cost.committed_cost(need.months)
    scale = EXACT.divide(whole, bare) if bare else Decimal(1)
    for charge in charges:
        fixed, running = _parts(charge, item)
        yield charge, EXACT.multiply(EXACT.add(fixed, EXACT.multiply(running, need.duty)), scale)


def reading_changes(best: Assessment, others: Sequence[Assessment]) -> Iterator[DecisionChange]:
    """Yield the nearest amounts read in a month, above and below the need's, at which another variant costs less.

    All variants stay as they are. Those whose price of reading is not in proportion to what is read, such as by tiers,
    are left out.

    Args:
        best: The chosen variant.
        others: All others that meet the need, or fail only the budget.
    """
    need, hours = best.need, best.variant.best.cost.hours_per_month
    size = monthly_traffic(need, "read", hours)
    own = _paid_for_reading(best)
    if need.prefer != "cost" or follows_from_rate(need, "read") or not size.size_bytes or own is None:
        return
    crossings = []
    # What costs more than twice as much stays dearer at twice the reading.
    for item in (item for item in others if item.present_value <= 2 * best.present_value):
        paid = _paid_for_reading(item)
        if paid is not None and paid != own:
            gap = EXACT.subtract(item.present_value, best.present_value)
            factor = EXACT.add(Decimal(1), EXACT.divide(gap, EXACT.subtract(own, paid)))
            crossings.append((factor, item))
    least, most = READING_FACTORS
    above = [crossing for crossing in crossings if 1 < crossing[0] <= most]
    below = [crossing for crossing in crossings if least <= crossing[0] < 1]
    verb = "are assumed" if size.is_assumed else "are in the need"
    for word, found, nearest in (("more", above, min), ("less", below, max)):
        if found:
            factor, item = nearest(found, key=lambda crossing: crossing[0])
            read = about_size(float(size.size_bytes * factor))
            text = f"if {word} than {read} were read a month, {item.variant.label} would cost less; "
            text += f"{about_size(size.size_bytes)} {verb}"
            yield DecisionChange(kind="reading", text=text, to=item.variant.label, at=rounded_12(factor))


def _paid_for_reading(item: Assessment) -> Decimal | None:
    """Return what of the total is in proportion to the bytes read; None: something for reading is not."""
    charges = []
    for charge in item.variant.best.cost.charges:
        sides = _sides(charge, item)
        if "read" in sides:
            if charge.row.price is None or charge.row.free or len(sides) > 1:
                return None
            charges.append(charge)
    return exact_sum(paid for _, paid in _paid(item, charges)) if charges else Decimal(0)


def interval_changes(
    best: Assessment, others: Sequence[Assessment], failed: Sequence[Assessment]
) -> Iterator[DecisionChange]:
    """Yield the interval ends at which the best variant fails, or a cheaper failed one would meet the need.

    Args:
        best: The chosen variant.
        others: All others that meet the need.
        failed: Variants that fail.
    """
    for check in best.checks:
        figure = best.figures.get(check.requirement)
        if check.is_certain or figure is None or figure.low is None:
            continue
        rival = next((item for item in sorted_best_first(others) if item.is_certain), None)
        then = rival.variant.label if rival is not None else "no proven design"
        text = f"at the low end of its interval, {amount(figure.metric, figure.low)}, {best.variant.label} fails "
        text += f"{check.requirement}; then {then} would be the choice"
        to = rival.variant.label if rival else None
        yield DecisionChange(kind="interval", text=text, to=to, at=rounded_12(Decimal(repr(figure.low))))
    yield from _could_do(best, failed)


def _could_do(best: Assessment, failed: Sequence[Assessment]) -> Iterator[DecisionChange]:
    for item in sorted_best_first([item for item in failed if item.total_cost < best.total_cost]):
        figures = [item.figures.get(name) for name in sorted(item.failed_requirements)]
        wanted = [getattr(best.need, name, None) for name in sorted(item.failed_requirements)]
        if figures and all(
            figure is not None and figure.high is not None and isinstance(required, float) and figure.high >= required
            for figure, required in zip(figures, wanted, strict=True)
        ):
            figure = figures[0]
            assert figure is not None and figure.high is not None
            end = amount(figure.metric, figure.high)
            text = f"at the high end of its interval, {end}, {item.variant.label} would do, for "
            text += f"{item.month_text} a month"
            yield DecisionChange(
                kind="interval", text=text, to=item.variant.label, at=rounded_12(Decimal(repr(figure.high)))
            )
            return


def duty_changes(best: Assessment, others: Sequence[Assessment]) -> Iterator[DecisionChange]:
    """Yield the nearest duty cycles, above and below the need's, at which another variant or term becomes cheaper.

    Paid(d) = fixed + running x d for each; the cheapest over d is their lower envelope.

    Args:
        best: The chosen variant.
        others: All others that meet the need, or fail only the budget.
    """
    need = best.need
    if need.prefer != "cost" or need.discount or need.migration is not None:
        return
    lines = [(*_compared(item, offer), item, offer) for item in (best, *others) for offer in item.variant.offers]
    fixed, running = _compared(best, best.variant.best)
    budget = _total_budget(need)
    for up in (False, True):
        crossings = []
        for other_fixed, other_running, item, offer in lines:
            slope = EXACT.subtract(running, other_running)
            # At a higher duty only a flatter line can be cheaper, at a lower duty only a steeper one.
            if slope == 0 or (slope > 0) != up:
                continue
            duty = EXACT.divide(EXACT.subtract(other_fixed, fixed), slope)
            if (need.duty < duty <= 1) if up else (MIN_DUTY < duty < need.duty):
                crossings.append((duty, item, offer))
        first = min(crossings, key=lambda crossing: crossing[0])[0] if crossings and up else None
        limit = _affordable_duty(best, budget) if up and budget is not None else None
        if limit is not None and limit < 1 and (first is None or limit < first):
            # Below the first crossing all others are still more expensive.
            text = (
                f"if it runs more than {percent(limit)} of the time, no design would meet the need: "
                f"{best.variant.label} "
            )
            text += f"would be above the budget; the need says {percent(need.duty)}"
            yield DecisionChange(kind="duty", text=text, to=None, at=rounded_12(limit))
        elif crossings:
            duty, item, offer = (min if up else max)(crossings, key=lambda crossing: crossing[0])
            than = "more" if up else "less"
            term = "" if len(item.variant.offers) == 1 else f" on term {offer.term}"
            text = f"if it runs {than} than {percent(duty)} of the time, {item.variant.label}{term} would be cheaper; "
            text += f"the need says {percent(need.duty)}"
            yield DecisionChange(kind="duty", text=text, to=item.variant.label, at=rounded_12(duty))


def _line(item: Assessment, offer: TermOffer) -> tuple[Decimal, Decimal]:
    """Return what is paid at duty 0, and what full duty adds; their sum is `Cost.committed_cost`."""
    parts = [_parts(charge, item) for charge in offer.cost.charges]
    return EXACT.multiply(exact_sum(fixed for fixed, _ in parts), offer.factor), EXACT.multiply(
        exact_sum(running for _, running in parts), offer.factor
    )


def _compared(item: Assessment, offer: TermOffer) -> tuple[Decimal, Decimal]:
    """Return `_line` with the administration that is assumed, which grows with duty."""
    fixed, running = _line(item, offer)
    return fixed, EXACT.add(running, EXACT.divide(offer.assumed_work, item.need.duty))


def _affordable_duty(best: Assessment, budget: Decimal) -> Decimal | None:
    """Return the duty at which the best variant costs the budget; None: duty does not matter."""
    fixed, running = _line(best, best.variant.best)
    return EXACT.divide(EXACT.subtract(budget, fixed), running) if running else None


def _parts(charge: Charge, item: Assessment) -> tuple[Decimal, Decimal]:
    need, months = item.need, Decimal(item.need.months)
    fixed = EXACT.multiply(charge.fixed, Decimal(charge.months_paid(need.months)))
    running = EXACT.multiply(charge.running, months)
    if charge.once:
        fixed = EXACT.add(fixed, EXACT.multiply(charge.once, Decimal(charge.times_paid(need.months))))
    sides = _sides(charge, item)
    if sides and all(follows_from_rate(need, side) for side in sides):
        # Requests computed from the rates are made only while the design is on.
        return EXACT.subtract(fixed, fixed), EXACT.add(running, EXACT.divide(fixed, need.duty))
    return fixed, running


def _sides(charge: Charge, item: Assessment) -> frozenset[Side]:
    """Return which traffic of a month a charge depends on."""
    if charge.line.per != "month":
        return frozenset()
    if charge.row.dimension == "transfer-out" and item.need.monthly.egress is None:
        return frozenset() if item.facts.leaving is None else frozenset({item.facts.leaving})
    return traffic_sides(charge.row.dimension, charge.row.item)


def _step(step: Decimal) -> str:
    return f"{percent(abs(step - 1))} {'less' if step < 1 else 'more'}"


def _month(paid: Decimal, item: Assessment) -> str:
    text = format_money(paid / item.need.months, item.variant.best.cost.currency)
    return f"{text}, discounted," if item.need.discount else text
